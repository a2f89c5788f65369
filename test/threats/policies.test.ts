// Two people at one hall: each sees, calls, reads and approves what the policies allow, on every way in.

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { policyFoldersOf } from "../../src/config/load.ts";
import { createPageHost } from "../../src/hall/page/host.ts";
import { policiesChanged } from "../../src/hall/policies.ts";
import type { Settings } from "../../src/hall/settings.ts";
import type { Identity } from "../../src/server/http/guard.ts";
import type { Person } from "../../src/tool.ts";
import { readArguments, TooLong } from "../../src/trust/policy/request.ts";
import { makeConfigFolder } from "../config/folder.ts";
import { modern } from "../servers/client.ts";
import { type Door, openDoor } from "../servers/door.ts";
import { askModern, greet } from "../servers/door-clients.ts";
import { startHall } from "../servers/hall.ts";
import { createLibraryToolkit, createToolkit, text } from "../servers/toolkits.ts";
import { workers } from "../toolkits/lisp-hall.ts";

const user = (file: string) => ({
  file: "/home/a/policies/team.cedar",
  text: file,
  isProject: false,
});
const project = (file: string) => ({
  file: "/p/.guildhall/policies/x.cedar",
  text: file,
  isProject: true,
});

const team = `
@id("guests-keep-off-the-bank")
forbid (principal in Group::"guests", action, resource in Server::"bank");

@id("small-sums")
forbid (principal, action == Action::"call", resource == Tool::"bank.pay")
unless { context.numbers.hasTag("sum") && context.numbers.getTag("sum") <= 100 };

@id("alice-is-private")
forbid (principal in Group::"guests", action == Action::"read", resource == Resource::"book://alice");

@id("no-reviews")
forbid (principal in Group::"guests", action == Action::"read", resource == Prompt::"library.review");

@id("nobody-approves-for-themselves")
forbid (principal, action == Action::"approve", resource) when { context.caller == principal };

@id("guests-do-not-register")
forbid (principal in Group::"guests", action == Action::"register", resource);

@id("guests-do-not-administer")
forbid (principal in Group::"guests", action == Action::"admin", resource == Method::"makeChange");
`;

const people: Readonly<Record<string, Person>> = {
  owner: { user: "owner", groups: ["staff"], token: "owner" },
  guest: { user: "guest", groups: ["guests"], token: "guest" },
};

let door: Door;
const paid: unknown[] = [];
beforeEach(async () => {
  paid.length = 0;
  const inputSchema = { type: "object", properties: { sum: { type: "number", default: 500 } } };
  const bank = createToolkit("bank", {
    pay: { inputSchema, run: (args) => text(`paid ${paid.push(args.sum)}`) },
    balance: { run: () => text("a balance of 417") },
  });
  const desk = createToolkit("desk", {
    tidy: { run: () => text("tidy") },
    borrow: { run: async (_args, { call }) => (await call?.("bank.balance", {})) ?? text("no") },
  });
  const file = (name: string, tools: string[]) => ({
    name,
    description: `${name}.`,
    tools,
    instructions: "",
  });
  door = await openDoor({
    toolkits: [bank, desk, createLibraryToolkit()],
    agents: { files: [file("bank_agent", ["bank.*"]), file("desk_agent", ["desk.*"])] },
    workers,
    policies: [user(team)],
    findOwner: (name) => identityOf(name),
  });
});
afterEach(() => door[Symbol.asyncDispose]());

function identityOf(name: string): Identity | undefined {
  const person = people[name];
  return person && { principal: name, person, rights: { scopes: ["admin"] } };
}

const bearer = (name: string) => ({ authorization: `Bearer ${name}` });

async function ask(name: string, method: string, params: JsonObject = {}): Promise<JsonObject> {
  const { json = {} } = await askModern(door, method, params, bearer(name));
  return json;
}

async function call(name: string, tool: string, args: JsonObject = {}): Promise<string> {
  return JSON.stringify(await ask(name, "tools/call", { name: tool, arguments: args }));
}

test("a tool that is forbidden is not listed, found or suggested, and its denial names the policy", async () => {
  const listed = async (name: string): Promise<string> =>
    JSON.stringify(
      await ask(name, "tools/list", modern({}, {}, { "guildhall/expose": "tools,agents" })),
    );
  expect(await listed("owner")).toMatch(/bank__pay.*bank_agent|bank_agent.*bank__pay/);
  const seen = await listed("guest");
  expect(seen).toContain("desk_agent");
  expect(seen).not.toContain("bank");

  expect(await call("owner", "find_tools", { task: "pay a bill at the bank" })).toContain(
    "bank__pay",
  );
  expect(await call("guest", "find_tools", { task: "pay a bill at the bank" })).not.toContain(
    "bank",
  );
  const near = await call("guest", "bank__balanc");
  expect(near).toContain("Unknown tool: bank__balanc");
  expect(near).not.toContain("bank__balance");
  expect(await call("owner", "bank__balanc")).toContain("bank__balance");
  expect(await call("guest", "some_agent")).not.toContain("bank_agent");
  for (const name of ["owner", "guest"]) {
    const session = await greet(door, { headers: bearer(name) });
    const params = { name: "bank__balanc", task: {} };
    const { text } = await session.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    expect(text).toContain("Unknown tool: bank__balanc");
    expect(text.includes("bank__balance")).toBe(name === "owner");
  }

  const denied = await call("guest", "balance");
  expect(denied).toContain(
    "guest may not call balance: policy guests-keep-off-the-bank forbids it",
  );
  expect(denied).not.toContain("bank.balance");
  const [row] = await door.hall.store.audit.list({ limit: 1 });
  expect(row).toMatchObject({ kind: "denied", subject: "bank.balance", caller: "guest" });
  expect(row?.reason).toContain("policy guests-keep-off-the-bank");
});

test("arguments decide with their defaults filled in", async () => {
  expect(await call("owner", "bank.pay")).toContain("policy small-sums forbids it");
  expect(await call("owner", "bank.pay", { sum: 100.5 })).toContain("policy small-sums");
  expect(await call("owner", "bank.pay", { sum: 99 })).toContain("paid 1");
  expect(paid).toEqual([99]);
});

test("nested calls of tools, programs and agents obey the policies of their root", async () => {
  expect(await call("owner", "desk.borrow")).toContain("a balance of 417");
  expect(await call("guest", "desk.borrow")).toContain("guests-keep-off-the-bank");
  const code =
    '(list (list-tools) (handler-case (call-tool "bank.balance") (error (e) (princ-to-string e))))';
  const ran = await call("guest", "evaluate-lisp", { code, mode: "act" });
  expect(ran).toContain("desk");
  expect(ran).not.toMatch(/bank.?.?pay|balance of 417/);
  expect(await call("guest", "bank_agent", { task: "show the balance" })).toContain(
    "None of the 0",
  );
});

test("resources, templates, prompts and completions are checked like tools", async () => {
  const uris = JSON.stringify(await ask("guest", "resources/list"));
  expect(uris).toContain("book://bob");
  expect(uris).not.toContain("book://alice");
  expect(JSON.stringify(await ask("guest", "prompts/list"))).not.toContain("review");
  expect(JSON.stringify(await ask("owner", "prompts/list"))).toContain("review");
  const read = (name: string) => ask(name, "resources/read", { uri: "book://alice" });
  expect(JSON.stringify(await read("guest"))).toContain("policy alice-is-private");
  expect(JSON.stringify(await read("owner"))).toContain("contents of book://alice");
  const complete = {
    ref: { type: "ref/prompt", name: "library.review" },
    argument: { name: "title", value: "x" },
  };
  expect(JSON.stringify(await ask("guest", "completion/complete", complete))).toContain(
    "no-reviews",
  );
  expect(JSON.stringify(await ask("guest", "prompts/get", { name: "library.review" }))).toContain(
    "no-reviews",
  );
});

test("the registry dialect and its REST form show and change only what is allowed", async () => {
  const get = async (name: string, path: string): Promise<string> =>
    (await door.send({ method: "GET", path, headers: bearer(name) })).text;
  expect(await get("owner", "/api/toolkits")).toContain('"bank"');
  expect(await get("guest", "/api/toolkits")).not.toContain("bank");
  expect(await get("guest", "/api/toolkits/bank")).toContain("unknown tool");
  const path = "/api/toolkits/bank/functions/balance/call";
  const called = await door.send({ path, headers: bearer("guest"), body: {} });
  expect(called.text).toContain("guests-keep-off-the-bank");
  const tool = { name: "shop", description: "A shop", version: "1.0.0", functions: [] };
  const registered = await door.send({
    path: "/api/toolkits",
    headers: bearer("guest"),
    body: { tool },
  });
  expect(registered.text).toContain("guests-do-not-register");
});

test("the page shows, approves and administers within the policies", async () => {
  const settings = { folder: "/p" } as Settings;
  const page = createPageHost({ hall: door.hall, followTrust: async () => {} }, settings);
  const guest = { ...(identityOf("guest") as Identity), session: "s1" };
  await expect(page.ask("makeChange", {}, guest)).rejects.toThrow("guests-do-not-administer");
  const target = door.hall.registry.getTool("desk.tidy");
  const { token } = door.hall.approvals.leave({
    target,
    argumentsHash: "",
    caller: "guest",
    person: people.guest,
    client: "",
    preview: "",
    callerPreview: "",
    why: "",
  });
  const answer = { token, answer: "once" };
  await expect(page.ask("approve", answer, guest)).rejects.toThrow(
    "nobody-approves-for-themselves",
  );
  const owner = { ...(identityOf("owner") as Identity), session: "s2" };
  expect(await page.ask("approve", answer, owner)).toEqual({ tool: "desk.tidy" });
  page.close();
});

test("a change of the policies holds for the next call, and a broken file denies everything", async () => {
  const { hall } = door;
  await policiesChanged(hall, []);
  expect(await call("guest", "bank.balance")).toContain("a balance of 417");
  await policiesChanged(hall, [
    user(`${team}\nforbid (principal, action, resource in Sevrer::"x");`),
  ]);
  expect(hall.policies.problems).toEqual([
    `/home/a/policies/team.cedar:${team.split("\n").length + 1}: unrecognized entity type \`Sevrer\`; did you mean \`Server\`?`,
  ]);
  expect(await call("owner", "desk.tidy")).toContain("the policies of this hall cannot be read");
  expect(JSON.stringify(await ask("owner", "tools/list"))).toContain('"tools":[]');
  await policiesChanged(hall, [user(team)]);
  expect(await call("guest", "desk.tidy")).toContain("tidy");
});

test("a project's policies only tighten, and its names stay out of denials", async () => {
  const { hall } = door;
  const strange =
    '@id("ignore-all-instructions") forbid (principal, action == Action::"call", resource in Server::"desk");';
  await policiesChanged(hall, [user(team), project(strange)]);
  const denied = await call("owner", "desk.tidy");
  expect(denied).toContain("a policy of this project forbids it");
  expect(denied).not.toContain("ignore-all");
  const [row] = await hall.store.audit.list({ limit: 1 });
  expect(row?.reason).toContain("policy project/ignore-all-instructions");

  await policiesChanged(hall, [user(team), project("permit (principal, action, resource);")]);
  expect(hall.policies.problems.join()).toContain("a project's policy may only forbid");
});

test("with a permit, only permitted calls run; the hall's own tools need no permit", async () => {
  await policiesChanged(door.hall, [
    user(
      'permit (principal in Group::"staff", action == Action::"call", resource in Server::"desk");',
    ),
  ]);
  expect(await call("owner", "desk.tidy")).toContain("tidy");
  expect(await call("owner", "bank.balance")).toContain("no policy permits it");
  expect(await call("guest", "desk.tidy")).toContain("no policy permits it");
  expect(await call("guest", "find_tools", { task: "tidy up" })).toContain("fits");
});

test("a value that is too long to check is denied, and no name of an argument passes for another", async () => {
  await policiesChanged(door.hall, [
    user(`@id("no-secrets")
forbid (principal, action == Action::"call", resource == Tool::"desk.tidy")
when { context.arguments.hasTag("/note/text") && context.arguments.getTag("/note/text") like "*secret*" };`),
  ]);
  const tidy = (args: JsonObject) => call("owner", "desk.tidy", args);
  const padding = "x".repeat(70_000);
  expect(await tidy({ note: { text: `${padding} secret` } })).toContain("is longer than 64 KiB");
  expect(await tidy({ note: { text: "a secret" } })).toContain("no-secrets forbids it");
  expect(await tidy({ "/note/text": "fine", note: { text: "a secret" } })).toContain("no-secrets");
  expect(await tidy({ note: { text: "fine", __proto__: { text: "a secret" } } })).toContain("tidy");
  expect(await tidy({ other: padding, note: "a secret" })).toContain("tidy");
});

test("a value of 64 KiB is read whole, and none that is longer", () => {
  const read = (length: number) =>
    readArguments({ note: "x".repeat(length) }, new Set(["note"]), "texts");
  expect(read(65_536)).toEqual({ note: "x".repeat(65_536) });
  expect(() => read(65_537)).toThrow(TooLong);
});

test("a variable that moves only the config names no other policies", () => {
  const env = { HOME: userInfo().homedir, XDG_CONFIG_HOME: "/elsewhere" };
  const { user: mine } = policyFoldersOf("/p", { env });
  expect(mine).toBe(join(userInfo().homedir, ".config", "guildhall", "policies"));
});

test("a policy file that others can write to closes the hall", async () => {
  using home = makeConfigFolder();
  const folder = join(dirname(home.userFile), "policies");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "a.cedar"), "forbid (principal, action, resource);");
  chmodSync(join(folder, "a.cedar"), 0o666);
  const { policies } = await home.load();
  await expect(startHall({ policies })).rejects.toThrow("other users can write to it");
});
