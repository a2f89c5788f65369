// Calls that wait for approval are bounded, for each caller and for all of them.
import { expect, test } from "vitest";
import { type ApprovalSubject, createApprovals } from "../../src/trust/approvals.ts";
import { createEchoToolkit } from "../servers/toolkits.ts";

function subjectOf(caller: string, call: number): ApprovalSubject {
  const tool = { name: "echo", inputSchema: { type: "object" } };
  return {
    target: { toolkit: createEchoToolkit(), tool, fullName: "echo.echo" },
    argumentsHash: `${call}`,
    caller,
    client: "",
    preview: "",
    callerPreview: "",
    why: "",
  };
}

test("a caller with hundreds of calls that wait for approval leaves room for others", () => {
  const approvals = createApprovals();
  for (let call = 0; call < 200; call++) approvals.leave(subjectOf("flooder", call));
  expect(() => approvals.leave(subjectOf("flooder", 200))).toThrow("already wait");
  expect(() => approvals.ask(subjectOf("flooder", 201))).toThrow("already wait");
  expect(approvals.leave(subjectOf("other", 0)).caller).toBe("other");
});
