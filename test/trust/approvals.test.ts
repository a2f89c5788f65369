import { describe, expect, test } from "vitest";
import { type ApprovalSubject, approvalMsMax, createApprovals } from "../../src/trust/approvals.ts";
import { createToolkit } from "../servers/toolkits.ts";

/** Questions about calls: an approval lets one call through, the one it was given for, in time. */
const toolkit = createToolkit("files", {});
const tool = { name: "delete", inputSchema: { type: "object" } };
const target = { toolkit, tool, fullName: "files.delete" };
const subject: ApprovalSubject = {
  target,
  argumentsHash: "a",
  caller: "local",
  client: "claude-code 2.1",
  preview: "files.delete",
  callerPreview: "files.delete",
  why: "it may",
};

function openApprovals() {
  const clock = { ms: 1_000 };
  return { clock, approvals: createApprovals(() => clock.ms) };
}

describe("a question whose call has failed", () => {
  test("is the same for the same call, lets it through once, and not again", () => {
    const { approvals } = openApprovals();
    const { token } = approvals.leave(subject);
    expect(approvals.leave(subject).token).toBe(token);
    expect(approvals.pending().map((pending) => pending.token)).toEqual([token]);
    expect(approvals.take(subject)).toBeUndefined();
    approvals.answer(token, "once");
    expect(approvals.pending()).toEqual([]);
    expect([approvals.take(subject), approvals.take(subject)]).toEqual(["yes", undefined]);
    expect(() => approvals.answer(token, "once")).toThrow(
      "no call is waiting for approval with this token",
    );
  });

  test.each<[string, Partial<ApprovalSubject>]>([
    ["other arguments", { argumentsHash: "b" }],
    ["another caller", { caller: "ci" }],
    ["another tool", { target: { ...subject.target, tool: { ...tool, name: "drop" } } }],
    [
      "another definition of the tool",
      { target: { ...subject.target, tool: { ...tool, description: "new" } } },
    ],
    [
      "another toolkit of the same name for people",
      { target: { ...subject.target, toolkit: createToolkit("evil", {}) } },
    ],
  ])("does not let through %s", (_what, change) => {
    const { approvals } = openApprovals();
    approvals.answer(approvals.leave(subject).token, "once");
    expect(approvals.take({ ...subject, ...change })).toBeUndefined();
    expect(approvals.take(subject)).toBe("yes");
  });

  test("is open for five minutes, and an approval waits for its call that long", () => {
    const { approvals, clock } = openApprovals();
    const first = approvals.leave(subject);
    clock.ms += approvalMsMax;
    expect(approvals.pending()).toEqual([]);
    expect(() => approvals.answer(first.token, "once")).toThrow("expired");
    approvals.answer(approvals.leave(subject).token, "once");
    clock.ms += approvalMsMax;
    expect(approvals.take(subject)).toBeUndefined();
  });

  test("answered with no denies the same call once", () => {
    const { approvals } = openApprovals();
    approvals.answer(approvals.leave(subject).token, "no");
    expect([approvals.take(subject), approvals.take(subject)]).toEqual(["no", undefined]);
  });
});

describe("a question whose call waits", () => {
  test("is its call's alone: of a hundred that are the same, one yes lets one through", async () => {
    const { approvals } = openApprovals();
    const waiting = Array.from({ length: 100 }, () => approvals.ask(subject));
    expect(new Set(approvals.pending().map(({ token }) => token)).size).toBe(100);
    const settled: number[] = [];
    waiting.forEach(({ answered }, n) => void answered.then(() => settled.push(n)));
    approvals.answer(waiting[42]?.pending.token ?? "", "once");
    await new Promise((resolve) => setImmediate(resolve));
    expect(settled).toEqual([42]);
    expect(approvals.take(subject)).toBeUndefined();
  });

  test("leaves the list with its call, and the list is bounded", () => {
    const { approvals } = openApprovals();
    const waiting = Array.from({ length: 1_000 }, (_, at) =>
      approvals.ask({ ...subject, caller: `caller ${at % 5}` }),
    );
    expect(() => approvals.ask(subject)).toThrow("1000 calls are already waiting");
    for (const { close } of waiting) close();
    expect(approvals.pending()).toEqual([]);
  });

  test("has an unguessable token", () => {
    const { approvals } = openApprovals();
    expect(approvals.ask(subject).pending.token).toMatch(/^[0-9a-f]{24}$/);
  });
});
