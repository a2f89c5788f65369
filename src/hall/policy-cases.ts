import { parse } from "yaml";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { findNear } from "../base/text.ts";
import { ConfigError } from "../config/error.ts";
import type { Person, Target, Toolkit, ToolkitSource } from "../tool.ts";
import { type Marks, markTool } from "../trust/marks.ts";
import type { Ruling } from "../trust/policy/engine.ts";
import type { Policy } from "../trust/policy/parse.ts";
import { Policies } from "../trust/policy/policies.ts";
import type { PolicyRequest, Subject } from "../trust/policy/request.ts";
import { type PolicyAction, policyActions } from "../trust/policy/schema.ts";
import type { ToolTrust } from "./admin-contract.ts";
import { readToolTrust } from "./project-trust.ts";
import type { Settings } from "./settings.ts";
import { readPublished } from "./together/shared-policies.ts";

/** The policies of a project outside a hall, and the tools they are about. */
export interface PolicyView {
  readonly policies: Policies;
  /** A tool by its name; one that no server has counts as its name says. */
  toolOf(name: string, marks?: Partial<Marks>): Target;
  readonly tools: readonly ToolTrust[];
  /** For cases with a time of their own. */
  setTime(time: number | undefined): void;
}

interface ViewOptions {
  readonly needsTools?: boolean;
  /** With the policies that are published for all halls, as a hall obeys them. */
  readonly isShared?: boolean;
}

/** Throws ConfigError for files that cannot be used. */
export async function openPolicyView(
  settings: Settings,
  { needsTools = true, isShared = false }: ViewOptions = {},
): Promise<PolicyView> {
  const marks = new WeakMap<Target, Marks>();
  let time: number | undefined;
  const policies = new Policies({
    marksOf: (target) => marks.get(target) ?? markTool(target.tool),
    now: () => time ?? Date.now(),
  });
  await policies.replace(settings.loaded.policies);
  if (isShared) await policies.replaceShared(await readPublished(settings));
  if (policies.problems.length > 0) throw new ConfigError(policies.problems);
  const tools = needsTools ? await readToolTrust(settings) : [];
  return {
    policies,
    tools,
    setTime(next) {
      time = next;
    },
    toolOf(name, given = {}) {
      const known = tools.find((tool) => tool.key === name || tool.name === name);
      const target = known ? targetOf(known) : madeUp(name);
      marks.set(target, { ...(known?.marks ?? markTool(target.tool)), ...given });
      return target;
    },
  };
}

function targetOf({ name, toolkit, source, definition }: ToolTrust): Target {
  const owner = { id: toolkit, source: source as ToolkitSource } as Toolkit;
  return { toolkit: owner, tool: definition, fullName: name };
}

/** A name without a dot is one of the hall's own tools. */
function madeUp(fullName: string): Target {
  const dot = fullName.indexOf(".");
  const source = dot === -1 ? "hall" : "upstream";
  const toolkit = { id: fullName.slice(0, Math.max(0, dot)), source } as Toolkit;
  return { toolkit, tool: { name: fullName.slice(dot + 1), inputSchema: {} }, fullName };
}

export interface PolicyExplanation {
  readonly user: string;
  readonly tool: string;
  /** `depends`: the context of a call decides. */
  readonly decision: "allowed" | "denied" | "depends";
  readonly listed: boolean;
  /** The policies that decide it always. */
  readonly by: readonly PolicyLine[];
  /** The policies that depend on the arguments, the time, the client or the taint. */
  readonly open: readonly PolicyLine[];
  readonly why: string;
}

export interface PolicyLine {
  readonly name: string;
  readonly effect: Policy["effect"];
  readonly place: string;
  readonly text: string;
  /** The parts of the context that it reads. */
  readonly reads: readonly string[];
}

/** Throws NOT_FOUND for a tool that no server has. */
export async function explainPolicy(
  settings: Settings,
  { person, tool }: { readonly person: Person | undefined; readonly tool: string },
): Promise<PolicyExplanation> {
  const view = await openPolicyView(settings, { isShared: true });
  requireTool(tool, view.tools);
  const target = view.toolOf(tool);
  const caller = { person, client: "" };
  const subject = { tool: target };
  const { ruling, open } = view.policies.examine({ caller, action: "call", subject });
  const user = person?.user ?? "local";
  const listed = view.policies.shows(caller, subject);
  const decided = ruling.allows ? "allowed" : "denied";
  return {
    user,
    tool: target.fullName,
    decision: open.length > 0 ? "depends" : decided,
    listed,
    by: ruling.by.map(describePolicy),
    open: open.map(describePolicy),
    why: explainRuling(ruling, open, view.policies),
  };
}

function requireTool(name: string, tools: readonly ToolTrust[]): void {
  if (!name.includes(".") || tools.some((tool) => tool.key === name || tool.name === name)) return;
  const near = findNear(
    name,
    tools.map((tool) => tool.name),
  );
  const question = near.length > 0 ? `; did you mean ${near.join(", ")}?` : "";
  throw new HallError("NOT_FOUND", `unknown tool "${name}"${question}`, {
    next: [{ do: "run-command", command: "tools" }],
  });
}

function explainRuling(
  { allows, by }: Ruling,
  open: readonly Policy[],
  { isOn, all }: Policies,
): string {
  if (!isOn) return "there are no policies";
  const named = by.map(({ name }) => name).join(", ");
  if (named !== "" && !allows) return `${named} forbids it`;
  const isFree = allows && named === "" && all.some(({ effect }) => effect === "permit");
  const permits = named === "" ? "no policy forbids it" : `${named} permits it`;
  const otherwise = allows ? permits : "no policy permits it";
  if (open.length > 0) return `${otherwise}, unless the policies below decide otherwise for a call`;
  return isFree ? "the hall's own tools need no permit" : otherwise;
}

export function describePolicy({ name, effect, file, line, text, conditions }: Policy): PolicyLine {
  const { context, texts, longs } = conditions.needs;
  const fields = [...context].filter((field) => field !== "texts" && field !== "longs");
  const named = [...texts, ...longs].map((argument) => `the argument ${argument}`);
  const reads = [...new Set([...named, ...fields.map((field) => `the ${field}`)])];
  return { name, effect, place: `${file}:${line}`, text, reads };
}

export interface CaseResult {
  readonly number: number;
  readonly name: string;
  readonly passed: boolean;
  readonly expected: string;
  readonly decided: "allow" | "deny";
  readonly by: readonly string[];
}

/** Runs the cases of a JSON or YAML file. Throws INVALID_PARAMS for one that is not a case. */
export async function runPolicyCases(
  settings: Settings,
  text: string,
): Promise<readonly CaseResult[]> {
  const cases = parseCases(text);
  const view = await openPolicyView(settings);
  return cases.map((given, at) => {
    const number = at + 1;
    const { request, time } = readCase(given, view, number);
    view.setTime(time);
    const { allows, by } = view.policies.rule(request);
    const decided = allows ? "allow" : "deny";
    const names = by.map(({ name }) => name);
    const { expected, by: wanted } = given;
    const isBy = wanted === undefined || names.includes(String(wanted));
    return {
      number,
      name: typeof given.name === "string" ? given.name : nameCase(given),
      passed: expected === decided && isBy,
      expected: wanted === undefined ? String(expected) : `${expected} by ${wanted}`,
      decided,
      by: names,
    };
  });
}

function parseCases(text: string): readonly JsonObject[] {
  let parsed: unknown;
  try {
    parsed = parse(text);
  } catch (cause) {
    throw new HallError("INVALID_PARAMS", `the cases are neither JSON nor YAML: ${String(cause)}`);
  }
  const cases = isObject(parsed) ? parsed.cases : parsed;
  if (!Array.isArray(cases) || cases.length === 0 || !cases.every(isObject))
    throw new HallError("INVALID_PARAMS", "the file must have a list of cases");
  return cases;
}

function nameCase({ principal = "local", action = "call", resource }: JsonObject): string {
  const show = (value: unknown): string =>
    isObject(value) ? String(Object.values(value)[0]) : String(value);
  return `${show(principal)} ${String(action)} ${show(resource)}`;
}

const caseFields = ["name", "principal", "action", "resource", "context", "expected", "by"];
const contextFields = ["arguments", "time", "client", "taint", "caller"];

function readCase(
  given: JsonObject,
  view: PolicyView,
  number: number,
): { readonly request: PolicyRequest; readonly time: number | undefined } {
  const wrong = (what: string): never => {
    throw new HallError("INVALID_PARAMS", `case ${number}: ${what}`);
  };
  const { principal, action = "call", resource, context = {}, expected } = given;
  const strange = Object.keys(given).find((key) => !caseFields.includes(key));
  if (strange !== undefined)
    wrong(`unknown field "${strange}" (expected: ${caseFields.join(", ")})`);
  if (!isObject(context)) return wrong("context must be an object");
  const other = Object.keys(context).find((key) => !contextFields.includes(key));
  if (other !== undefined)
    wrong(`unknown field "context.${other}" (expected: ${contextFields.join(", ")})`);
  if (expected !== "allow" && expected !== "deny") wrong('expected must be "allow" or "deny"');
  const known = policyActions.find((each) => each === action);
  if (!known) return wrong(`unknown action (expected: ${policyActions.join(", ")})`);
  const time = context.time === undefined ? undefined : Date.parse(String(context.time));
  if (Number.isNaN(time)) wrong("context.time must be a time such as 2026-01-31T09:30:00Z");
  const taint = isObject(context.taint) ? context.taint : {};
  const subject =
    readSubject(resource, known, view) ?? wrong("resource must name what it is about");
  return {
    time,
    request: {
      caller: { person: readPerson(principal), client: String(context.client ?? "") },
      action: known,
      subject,
      arguments: isObject(context.arguments) ? context.arguments : {},
      taint: {
        ...(taint.outside === true ? { outside: "a tool" } : {}),
        ...(taint.private === true ? { private: "a tool" } : {}),
      },
      approvedFor: readPerson(context.caller),
    },
  };
}

/** `ann`, or an object with her groups, issuer and token. */
export function readPerson(principal: unknown): Person | undefined {
  if (typeof principal === "string") return personNamed(principal);
  if (!isObject(principal) || typeof principal.user !== "string") return undefined;
  const { user, groups, issuer, token } = principal;
  return {
    user,
    groups: Array.isArray(groups) ? groups.map(String) : [],
    ...(typeof issuer === "string" ? { issuer } : {}),
    ...(typeof token === "string" ? { token } : {}),
  };
}

function personNamed(user: string): Person | undefined {
  if (user === "local") return undefined;
  const at = user.lastIndexOf("@http");
  return at === -1
    ? { user, groups: [], token: user }
    : { user, groups: [], issuer: user.slice(at + 1) };
}

/** A name by the action, or an object that says what it is: tool with its class, prompt, resource. */
function readSubject(
  resource: unknown,
  action: PolicyAction,
  { toolOf }: PolicyView,
): Subject | undefined {
  if (isObject(resource)) {
    const { tool, class: effect, prompt, uri, server } = resource;
    const toolkit = { id: String(server ?? ""), source: "upstream" } as Toolkit;
    if (typeof tool === "string")
      return {
        tool: toolOf(tool, typeof effect === "string" ? { effect: effect as Marks["effect"] } : {}),
      };
    if (typeof prompt === "string") return { prompt, toolkit };
    return typeof uri === "string" ? { uri, toolkit } : undefined;
  }
  if (typeof resource !== "string") return undefined;
  if (action === "register") return { server: resource };
  if (action === "admin") return { method: resource };
  return action === "read" ? undefined : { tool: toolOf(resource) };
}
