import { describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { bootTime } from "../../src/base/timing.ts";
import type { Tool } from "../../src/tool.ts";
import { type Grant, keepTime, noteTime } from "../../src/trust/ledger.ts";
import { pinOf } from "../../src/trust/pin.ts";
import { createTrust } from "../../src/trust/trust.ts";
import { modern, type RawClient } from "../servers/client.ts";
import { until } from "../servers/until.ts";
import { openWorld, type World } from "./world.ts";

/** Who may call what, who is asked, and what becomes of the answers. */
const forms = { elicitation: {} };
const deleting = { name: "files.delete_file", arguments: { path: "a" } };

async function callIt(client: RawClient, params: JsonObject = deleting): Promise<JsonObject> {
  return (await client.request("tools/call", params)).result as JsonObject;
}

/** Calls, and lets the user give an answer. */
async function callAndSay(
  client: RawClient,
  decision: string,
  params: JsonObject = deleting,
): Promise<JsonObject> {
  const id = client.ask("tools/call", params);
  client.send({
    jsonrpc: "2.0",
    id: (await client.heard("elicitation/create")).id,
    result: { action: "accept", content: { decision } },
  });
  return (await client.answer(id)).result as JsonObject;
}

function levelOf({ door }: World, name: string): string | undefined {
  const target = door.hall.registry.findTool(name);
  return target && door.hall.trust?.judge(target).level;
}

/** How the tools of a server are described in a list. */
async function describedIn(client: RawClient, server: string): Promise<readonly unknown[]> {
  const { tools } = (await client.result("tools/list")) as { readonly tools: readonly Tool[] };
  return tools.filter(({ name }) => name.startsWith(server)).map(({ description }) => description);
}

describe("levels", () => {
  test("a review by another process shows in lists before any call", async () => {
    await using world = await openWorld();
    const client = await world.connect();
    const before = await describedIn(client, "files");
    const { servers } = await world.ledger.read();
    await world.ledger.change((entries) => ({ ...entries, servers: {} }));
    expect(await describedIn(client, "files")).not.toEqual(before);
    await world.ledger.change((entries) => ({ ...entries, servers }));
    expect(await describedIn(client, "files")).toEqual(before);
  });

  test("all tools of servers start untrusted; a review lifts them to verified, a grant to trusted, and nothing else does", async () => {
    await using world = await openWorld();
    const names = world.door.hall.registry
      .tools()
      .filter(({ toolkit }) => toolkit.source === "upstream")
      .map(({ fullName }) => fullName);
    expect(names.map((name) => [name, levelOf(world, name)])).toEqual([
      ["files.delete_file", "verified"],
      ["files.read_file", "verified"],
      ["files.write_file", "verified"],
      ["mail.send_email", "trusted"],
      ["shop.buy", "untrusted"],
      ["shop.look", "untrusted"],
      ["web.fetch_page", "verified"],
    ]);
    await world.ledger.change(() => ({ servers: {}, grants: {} }));
    await world.door.hall.trust?.refresh();
    expect(names.map((name) => levelOf(world, name))).toEqual(names.map(() => "untrusted"));
  });

  test("a safe tool that was verified runs, a destructive one is blocked, a trusted destructive one runs, an unknown one is not found", async () => {
    await using world = await openWorld();
    const client = await world.connect();
    expect(await callIt(client, { name: "files.read_file", arguments: {} })).toMatchObject({
      content: [{ text: "nothing" }],
    });
    expect(await callIt(client)).toMatchObject({
      isError: true,
      structuredContent: { error_type: "approval_needed" },
    });
    // In another conversation: this one has read a file.
    const other = await world.connect();
    expect(await callIt(other, { name: "mail.send_email", arguments: {} })).toMatchObject({
      content: [{ text: "done" }],
    });
    expect(await callIt(client, { name: "shop.look", arguments: {} })).toMatchObject({
      isError: true,
      structuredContent: {
        error_type: "denied",
        suggestion: expect.stringContaining("guildhall verify"),
      },
    });
    expect((await client.request("tools/call", { name: "files.nothing" })).error).toMatchObject({
      code: -32602,
    });
    expect(world.ran).toEqual(["mail.send_email"]);
    expect(world.decisions.map(({ kind, tool }) => [kind, tool])).toEqual([
      ["blocked", "files.delete_file"],
      ["destructive call", "mail.send_email"],
      ["blocked", "shop.look"],
    ]);
  });

  test("every tool reads, changes, or is unknown", async () => {
    await using world = await openWorld();
    const { registry, trust } = world.door.hall;
    for (const target of registry.tools())
      expect(["reads", "changes", "unknown"]).toContain(trust?.judge(target).marks.effect);
  });

  test("arguments that do not fit are refused before trust is looked at", async () => {
    await using world = await openWorld();
    expect(
      await callIt(await world.connect(forms), {
        name: "files.delete_file",
        arguments: { path: 5 },
      }),
    ).toMatchObject({
      structuredContent: { error_type: "validation" },
    });
    expect(world.decisions).toEqual([]);
  });

  test("a grant ends when its time is up, and holds for one definition of the tool", async () => {
    let now = 1_000;
    await using world = await openWorld({ now: () => now });
    const [tool] = world.files.tools.filter(({ name }) => name === "delete_file");
    await world.ledger.change((entries) => ({
      ...entries,
      grants: {
        "files.delete_file": { grantedAt: 0, until: 2_000, pin: tool ? pinOf(tool) : "" },
        "files.write_file": { grantedAt: 0, pin: "of something else" },
      },
    }));
    await world.door.hall.trust?.refresh();
    expect([levelOf(world, "files.delete_file"), levelOf(world, "files.write_file")]).toEqual([
      "trusted",
      "verified",
    ]);
    now = 2_000;
    expect(levelOf(world, "files.delete_file")).toBe("verified");
  });

  test("a grant that has ended does not come back when the clock is set back", async () => {
    await using world = await openWorld();
    const [tool] = world.files.tools.filter(({ name }) => name === "delete_file");
    const grant = { grantedAt: 0, until: 2_000, pin: tool ? pinOf(tool) : "" };
    const levelAt = async (now: number): Promise<string | undefined> => {
      const trust = createTrust({ ledger: world.ledger, now: () => now });
      trust.refresh();
      return trust.judge(world.door.hall.registry.getTool("files.delete_file")).level;
    };
    const write = (given: Grant): Promise<unknown> =>
      world.ledger.change((entries) => ({ ...entries, grants: { "files.delete_file": given } }));
    await write(grant);
    await noteTime(world.ledger, 1_900);
    expect(await levelAt(500)).toBe("trusted");
    await noteTime(world.ledger, 2_100);
    expect(await levelAt(500)).toBe("verified");

    const { boot, ms } = bootTime();
    const longer = { ...grant, until: 9_000 };
    await write({ ...longer, untilBoot: { boot, ms: ms + 60_000 } });
    expect(await levelAt(500)).toBe("trusted");
    await write({ ...longer, untilBoot: { boot, ms: ms - 1 } });
    expect(await levelAt(500)).toBe("verified");
    await write({ ...longer, untilBoot: { boot: "an earlier start", ms: ms - 1 } });
    expect(await levelAt(500)).toBe("trusted");
  });

  test("a hall notes the time every minute, for a machine that fails and comes back with an earlier clock", async () => {
    await using world = await openWorld();
    const grants = { "files.delete_file": { grantedAt: 0, until: 2_000, pin: "" } };
    await world.ledger.change((entries) => ({ ...entries, grants }));
    vi.useFakeTimers();
    const failed = vi.fn();
    const time = keepTime(world.ledger, { now: () => 1_500, failed });
    vi.advanceTimersByTime(60_000);
    vi.useRealTimers();
    await until(async () => (await world.ledger.read()).seenAt === 1_500, "the time is noted");
    await time.close();
    expect(failed).not.toHaveBeenCalled();
  });

  test("policy all asks for every tool, for one server or for all; the user's own config wins", async () => {
    const read = { name: "files.read_file", arguments: {} };
    const kindOf = async (
      options: Parameters<typeof openWorld>[0],
      params: JsonObject = read,
    ): Promise<unknown> => {
      await using world = await openWorld(options);
      const { structuredContent } = await callIt(await world.connect(), params);
      return (structuredContent as JsonObject | undefined)?.error_type;
    };
    expect(await kindOf({ policy: "all" })).toBe("approval_needed");
    expect(await kindOf({ policies: { files: "all" } })).toBe("approval_needed");
    expect(await kindOf({ policies: { web: "all" } })).toBeUndefined();
    expect(await kindOf({ overrides: { "files.read_file": "destructive" } })).toBe(
      "approval_needed",
    );
    expect(await kindOf({ overrides: { "files.*": "safe" } }, deleting)).toBeUndefined();
  });
});

describe("a person who is asked", () => {
  test("sees the call, and approves it once, for as long as the hall runs, or always", async () => {
    await using world = await openWorld();
    const client = await world.connect(forms);
    const id = client.ask("tools/call", deleting);
    const { params, id: question } = await client.heard("elicitation/create");
    expect(params).toMatchObject({
      message: expect.stringMatching(
        /^Allow this call\?\n\nfiles\.delete_file\n {2}path: a\n\nAsked because it is marked destructive/,
      ),
    });
    client.send({
      jsonrpc: "2.0",
      id: question,
      result: { action: "accept", content: { decision: "once" } },
    });
    expect((await client.answer(id)).result).toMatchObject({ content: [{ text: "done" }] });
    expect(await callAndSay(client, "hall")).toMatchObject({ content: [{ text: "done" }] });
    expect(await callIt(client, { ...deleting, arguments: { path: "b" } })).toMatchObject({
      content: [{ text: "done" }],
    });
    expect((await world.ledger.read()).grants).not.toHaveProperty(["files.delete_file"]);
    await world.ledger.change((entries) => ({ ...entries, revocations: 1 }));
    expect(await callAndSay(client, "always")).toMatchObject({ content: [{ text: "done" }] });
    expect((await world.ledger.read()).grants).toHaveProperty(["files.delete_file"]);
    expect(
      world.decisions.filter(({ kind }) => kind === "approved").map(({ reason }) => reason),
    ).toEqual(["once", "hall", "always"]);
  });

  test("is asked through the answer with a state that cannot be forged", async () => {
    await using world = await openWorld();
    const client = await world.connect();
    const first = (await client.request("tools/call", modern(deleting, forms))).result as {
      requestState: string;
      inputRequests: Record<string, JsonObject>;
    };
    const inputResponses = Object.fromEntries(
      Object.keys(first.inputRequests).map((key) => [
        key,
        { action: "accept", content: { decision: "once" } },
      ]),
    );
    expect(
      (
        await client.request(
          "tools/call",
          modern({ ...deleting, requestState: first.requestState, inputResponses }, forms),
        )
      ).result,
    ).toMatchObject({
      content: [{ text: "done" }],
    });
    expect(world.ran).toEqual(["files.delete_file"]);
  });

  test("may answer in another terminal, and the client's question is taken back", async () => {
    await using world = await openWorld();
    const client = await world.connect(forms);
    const id = client.ask("tools/call", deleting);
    await client.heard("elicitation/create");
    const [pending] = world.door.hall.approvals.pending();
    world.door.hall.approvals.answer(pending?.token ?? "", "once");
    expect((await client.answer(id)).result).toMatchObject({ content: [{ text: "done" }] });
    await client.heard("notifications/cancelled");
    expect(world.door.hall.approvals.pending()).toEqual([]);
  });

  test("and a client that cannot ask after all leaves a question for another terminal", async () => {
    await using world = await openWorld();
    const client = await world.connect(forms);
    const id = client.ask("tools/call", deleting);
    client.send({
      jsonrpc: "2.0",
      id: (await client.heard("elicitation/create")).id,
      error: { code: -32601, message: "no forms here" },
    });
    expect((await client.answer(id)).result).toMatchObject({
      structuredContent: {
        error_type: "approval_needed",
        details: { preview: "files.delete_file\n  path: a" },
        next: [
          { do: "approve", tool: "files.delete_file" },
          { do: "trust", tool: "files.delete_file" },
        ],
      },
    });
  });

  test("of many calls that are the same each asks for itself: one yes lets one through", async () => {
    await using world = await openWorld();
    const client = await world.connect(forms);
    const ids = Array.from({ length: 10 }, () => client.ask("tools/call", deleting));
    const questions = await Promise.all(ids.map(() => client.heard("elicitation/create")));
    for (const [n, { id }] of questions.entries())
      client.send({
        jsonrpc: "2.0",
        id,
        result: { action: "accept", content: { decision: n === 3 ? "once" : "no" } },
      });
    await Promise.all(ids.map((id) => client.answer(id)));
    expect(world.ran).toEqual(["files.delete_file"]);
    expect(world.decisions.filter(({ kind }) => kind === "approved")).toHaveLength(1);
  });

  test("is not asked by nested calls: the outer answer names the approval, and afterwards the same call succeeds", async () => {
    await using world = await openWorld();
    const client = await world.connect(forms);
    const steps = {
      name: "relay.steps",
      arguments: {
        steps: [
          { tool: "files.delete_file", args: { path: "a" } },
          { tool: "files.delete_file", args: { path: "a" } },
        ],
      },
    };
    const first = await callIt(client, steps);
    expect((first._meta as JsonObject)["guildhall/approvals"]).toHaveLength(1);
    expect(JSON.stringify(first.content)).toContain("guildhall approvals");
    const [need] = world.door.hall.approvals.pending();
    expect(JSON.stringify(first)).not.toContain(need?.token);
    world.door.hall.approvals.answer(need?.token ?? "", "once");
    await callIt(client, steps);
    expect(world.ran).toEqual(["files.delete_file"]);
  });
});

describe("the flow guard", () => {
  const steps = (...names: readonly string[]): JsonObject => ({
    name: "relay.steps",
    arguments: { steps: names.map((tool) => ({ tool })) },
  });

  test("stops sending tools only after outside content was read in the same conversation, with the reason", async () => {
    await using world = await openWorld();
    const client = await world.connect();
    await callIt(client, steps("mail.send_email", "web.fetch_page", "mail.send_email"));
    expect(world.ran).toEqual(["mail.send_email"]);
    expect(world.decisions.at(-1)?.reason).toContain("through web.fetch_page");
    // Another conversation has read nothing.
    await callIt(await world.connect(), steps("mail.send_email"));
    expect(world.ran).toHaveLength(2);
  });

  test("exempts tools that the user names, readers or senders", async () => {
    for (const name of ["web.fetch_page", "mail.send_email", "mail.*"]) {
      await using world = await openWorld({ unguarded: [name] });
      await callIt(await world.connect(), steps("web.fetch_page", "mail.send_email"));
      expect(world.ran, name).toEqual(["mail.send_email"]);
    }
  });
});
