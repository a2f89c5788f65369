import cedar from "@cedar-policy/cedar-wasm/nodejs";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Person, Target, Toolkit } from "../../src/tool.ts";
import { markTool } from "../../src/trust/marks.ts";
import { Policies } from "../../src/trust/policy/policies.ts";
import {
  describeSubject,
  describeUser,
  type PolicyRequest,
} from "../../src/trust/policy/request.ts";

const policies = `
@id("developers-use-github")
permit (principal in Group::"developers", action == Action::"call", resource in Server::"github");

@id("everybody-reads")
permit (principal, action == Action::"call", resource) when { resource.class == "reads" };

@id("operators-do-all")
permit (principal in Group::"operators", action, resource);

@id("ci-deploys")
permit (principal, action == Action::"call", resource == Tool::"shell.deploy")
when { principal has token && principal.token == "ci" };

@id("ann-pays-a-little")
permit (principal == User::"ann", action == Action::"call", resource in Server::"bank")
when { context.numbers.hasTag("amount") && context.numbers.getTag("amount") <= 100 };

@id("nothing-after-strangers")
forbid (principal, action == Action::"call", resource is Tool)
when { context.taint.outside && resource.class == "changes" };

@id("no-etc")
forbid (principal, action == Action::"call", resource is Tool in Server::"files")
when { context.arguments.hasTag("path") && context.arguments.getTag("path") like "/etc/*" };

@id("bots-keep-out")
forbid (principal in Group::"bots", action in [Action::"call", Action::"list"], resource in Server::"bank");

@id("office-hours")
forbid (principal, action == Action::"call", resource == Tool::"shell.deploy")
unless { context.time.toTime() >= duration("8h") && context.time.toTime() < duration("18h") };
`;

const people: readonly (Person | undefined)[] = [
  undefined,
  { user: "ann", groups: [] },
  { user: "bob", groups: ["developers"] },
  { user: "eve@https://id.example", groups: ["operators", "bots"], issuer: "https://id.example" },
  { user: "ci", groups: ["bots"], token: "ci" },
];
const tools = [
  "github.list_issues",
  "github.delete_repository",
  "bank.transfer_money",
  "files.write_file",
  "shell.deploy",
];
const situations = [
  { args: { path: "/etc/passwd", amount: 100.5 }, hour: 9, outside: false },
  { args: { path: "/home/x", amount: 100 }, hour: 3, outside: false },
  { args: { amount: "50" }, hour: 17, outside: true },
  { args: {}, hour: 18, outside: false },
  { args: { path: ["/etc/x"], amount: -1e300 }, hour: 8, outside: false },
  { args: { path: "/etc/", amount: 7 }, hour: 12, outside: true },
  { args: { path: "etc/", amount: 101 }, hour: 7, outside: false },
  { args: { path: 7, amount: null }, hour: 10, outside: false },
] as const;

/** The same rules in plain words of JavaScript, without anything of the engine. */
function isAllowed(
  person: Person | undefined,
  tool: string,
  { args, hour, outside }: (typeof situations)[number],
): boolean {
  const groups = person?.groups ?? [];
  const server = tool.split(".")[0];
  const isReading = tool === "github.list_issues";
  const { path, amount } = args as { path?: unknown; amount?: unknown };
  const isInOffice = hour >= 8 && hour < 18;
  if (outside && !isReading) return false;
  if (server === "files" && typeof path === "string" && path.startsWith("/etc/")) return false;
  if (groups.includes("bots") && server === "bank") return false;
  if (tool === "shell.deploy" && !isInOffice) return false;
  if (groups.includes("developers") && server === "github") return true;
  if (isReading) return true;
  if (groups.includes("operators")) return true;
  if (tool === "shell.deploy" && person?.token === "ci") return true;
  if (person?.user === "ann" && server === "bank" && typeof amount === "number")
    return amount <= 100;
  return false;
}

function targetOf(name: string): Target {
  const [id = "", tool = ""] = name.split(".");
  const toolkit = { id, source: "upstream" } as Toolkit;
  return { toolkit, tool: { name: tool, inputSchema: {} }, fullName: name };
}

test("200 decisions are those of a naive reading, and of Cedar over all policies at once", async () => {
  let hour = 0;
  const now = () => Date.UTC(2026, 0, 5, hour);
  const ours = new Policies({ now });
  await ours.replace([{ file: "a.cedar", text: policies, isProject: false }]);
  expect(ours.problems).toEqual([]);
  cedar.preparsePolicySet("matrix", { staticPolicies: policies });
  const targets = tools.map(targetOf);
  let count = 0;
  for (const person of people)
    for (const target of targets)
      for (const situation of situations) {
        hour = situation.hour;
        const taint = situation.outside ? { outside: "web.fetch" } : {};
        const request: PolicyRequest = {
          caller: { person, client: "test" },
          action: "call",
          subject: { tool: target },
          arguments: situation.args,
          taint,
        };
        const about = `${person?.user} ${target.fullName} ${JSON.stringify(situation)}`;
        const expected = isAllowed(person, target.fullName, situation);
        expect(ours.refuses(request) === undefined, about).toBe(expected);
        expect(askCedar(request, now()), about).toBe(expected);
        // A listing may show too much, but never hides what some context allows.
        if (expected) expect(ours.shows(request.caller, request.subject), about).toBe(true);
        count += 1;
      }
  expect(count).toBe(200);
});

test("of forty policies that can apply, exactly those that do are named, and a failing one denies", async () => {
  const forty = Array.from({ length: 40 }, (_, at) => {
    const path = `context.arguments.getTag("path") like "*/${at}/*"`;
    const tests = [`context.arguments.hasTag("path") && ${path}`, "context.taint.outside"];
    return `@id("p${at}") forbid (principal, action == Action::"call", resource)
      when { ${tests.slice(0, (at % 2) + 1).join(" && ")} };`;
  });
  const overflow = `@id("sum") forbid (principal, action == Action::"call", resource)
    when { context.numbers.hasTag("n") && context.numbers.getTag("n") * 9007199254740991 > 5 };`;
  const ours = new Policies();
  const inexact = overflow.replace("9007199254740991", "9007199254740992");
  await ours.replace([{ file: "many.cedar", text: inexact, isProject: false }]);
  expect(ours.problems).toEqual([
    "many.cedar:1: a number is larger than 9007199254740991; write a smaller one",
  ]);
  await ours.replace([
    { file: "many.cedar", text: [...forty, overflow].join(""), isProject: false },
  ]);
  expect(ours.problems).toEqual([]);

  const target = targetOf("files.read_file");
  const rule = (args: JsonObject, outside?: string): unknown => {
    const { allows, by, failure } = ours.rule({
      caller: { client: "test" },
      action: "call",
      subject: { tool: target },
      arguments: args,
      taint: outside === undefined ? {} : { outside },
    });
    return [allows, by.map(({ name }) => name).sort(), failure !== undefined];
  };
  expect(rule({})).toEqual([true, [], false]);
  expect(rule({ path: "/home/a" })).toEqual([true, [], false]);
  expect(rule({ path: "/etc/7/x" })).toEqual([true, [], false]);
  expect(rule({ path: "/etc/7/x" }, "a page")).toEqual([false, ["p7"], false]);
  expect(rule({ path: "/8/7/12/x" })).toEqual([false, ["p12", "p8"], false]);
  expect(rule({ n: 2_000 })).toEqual([false, ["sum"], true]);
  expect(rule({ n: 0 })).toEqual([true, [], false]);
});

/** Cedar alone: the files as they are, and every entity. */
function askCedar(
  { caller, subject, arguments: args = {}, taint }: PolicyRequest,
  now: number,
): boolean {
  const user = describeUser(caller.person);
  const thing = describeSubject(subject, ({ tool }) => markTool(tool));
  const answer = cedar.statefulIsAuthorized({
    principal: user.uid,
    action: { type: "Action", id: "call" },
    resource: thing.uid,
    context: {
      arguments: { __entity: { type: "Texts", id: "call" } },
      numbers: { __entity: { type: "Numbers", id: "call" } },
      time: { __extn: { fn: "datetime", arg: new Date(now).toISOString() } },
      client: caller.client,
      taint: { outside: taint?.outside !== undefined, private: false },
    },
    preparsedPolicySetId: "matrix",
    entities: [
      user,
      thing,
      { uid: { type: "Texts", id: "call" }, attrs: {}, parents: [], tags: textsOf(args) },
      { uid: { type: "Numbers", id: "call" }, attrs: {}, parents: [], tags: numbersOf(args) },
    ],
  });
  return answer.type === "success" && answer.response.decision === "allow";
}

function textsOf(args: JsonObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      typeof value === "string" ? value : JSON.stringify(value),
    ]),
  );
}

function numbersOf({ amount }: JsonObject): Record<string, number> {
  if (typeof amount !== "number") return {};
  const whole = amount < 0 ? Math.floor(amount) : Math.ceil(amount);
  return { amount: Math.max(whole, Number.MIN_SAFE_INTEGER) };
}
