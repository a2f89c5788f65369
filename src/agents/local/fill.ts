import { isObject, type JsonObject } from "../../base/json.ts";
import { assign } from "./assignment.ts";
import { type Certainty, certaintyOf } from "./certainty.ts";
import { consider, type FillableTool } from "./consider.ts";
import { type Candidate, type Weighed, weigh } from "./likelihood.ts";
import type { Reading } from "./mention.ts";
import type { Option } from "./options.ts";
import { type Parameter, parametersOf } from "./parameters.ts";
import { readTask } from "./reading.ts";

export interface Filled {
  /** Such as `city`, or `filter.since` inside an object. */
  readonly name: string;
  readonly value: unknown;
  readonly certainty: Certainty;
  /** The words of the task it was read from, or where else it comes from. */
  readonly from:
    | { readonly text: string; readonly start: number; readonly end: number }
    | "data"
    | "context"
    | "default";
  readonly isRequired: boolean;
  /** The task says it for this parameter and no other: an expression, the units of a conversion, a zone, `limit=5`. */
  readonly isOutright?: boolean;
}

export interface Filling {
  /** What was found, as the tool wants it. */
  readonly values: JsonObject;
  readonly filled: readonly Filled[];
  /** Required, and not a word about it. */
  readonly missing: readonly string[];
  /** Optional and left out, though the task may say something about it. */
  readonly unclear: readonly string[];
}

/** What came with a task. */
export interface Given {
  readonly data?: unknown;
  readonly context?: Reading | undefined;
}

/**
 * The arguments of a tool, read out of a task. Nothing is invented: every value is in the task's words, in `data`, or among the choices and
 * defaults of the schema.
 */
export function fill(
  task: Reading | string,
  tool: FillableTool,
  { data, context }: Given = {},
): Filling {
  const reading = typeof task === "string" ? readTask(task) : task;
  const parameters = parametersOf(tool.inputSchema);
  const given = giveData(parameters, data);
  const open = parameters.filter((parameter) => !given.has(parameter));
  const weighed = consider(reading, tool, open).map(weigh);
  const chosen = assign(weighed);
  const found = new Map<Parameter, Filled>();
  for (const [at, each] of weighed.entries()) {
    const filled = settle(each, chosen[at], reading);
    if (filled) found.set(each.parameter, filled);
  }
  const empty = open.filter(
    (parameter) => parameter.isRequired && (found.get(parameter)?.certainty ?? "guess") === "guess",
  );
  for (const [parameter, filled] of lookAround(empty, tool, { data, context }))
    found.set(parameter, filled);
  const filled = parameters.flatMap(
    (parameter) => given.get(parameter) ?? found.get(parameter) ?? [],
  );
  const names = new Set(filled.map(({ name }) => name));
  const missing = parameters
    .filter((parameter) => parameter.isRequired && !names.has(nameOf(parameter)))
    .map(nameOf);
  const unclear = weighed
    .filter(
      ({ parameter, nothing }) =>
        !names.has(nameOf(parameter)) && !parameter.isRequired && nothing < silentFrom,
    )
    .map(({ parameter }) => nameOf(parameter));
  return { values: build(parameters, filled), filled, missing, unclear };
}

/** From here on a task is taken to say nothing about a parameter. */
const silentFrom = 0.8;

const nameOf = ({ path }: Parameter): string => path.join(".");

/** What the caller handed over under the same name is meant; spelling of names is as people spell. */
function giveData(parameters: readonly Parameter[], data: unknown): Map<Parameter, Filled> {
  const given = new Map<Parameter, Filled>();
  if (!isObject(data)) return given;
  const keys = new Map(Object.entries(data).map(([key, value]) => [plain(key), value]));
  for (const parameter of parameters) {
    const value =
      keys.get(plain(nameOf(parameter))) ?? keys.get(plain(parameter.path.at(-1) ?? ""));
    if (value !== undefined && suits(value, parameter))
      given.set(parameter, {
        name: nameOf(parameter),
        value,
        certainty: "certain",
        from: "data",
        isRequired: parameter.isRequired,
      });
  }
  return given;
}

/** For what the task leaves open: what the context says, and data without a name where only one parameter is left for it. Never certain. */
function* lookAround(
  empty: readonly Parameter[],
  tool: FillableTool,
  { data, context }: Given,
): Generator<readonly [Parameter, Filled]> {
  const [only, ...others] = empty;
  if (only && others.length === 0 && data !== undefined && !isObject(data) && suits(data, only)) {
    yield [
      only,
      { name: nameOf(only), value: data, certainty: "likely", from: "data", isRequired: true },
    ];
    return;
  }
  if (!context || empty.length === 0) return;
  const weighed = consider(context, tool, empty).map(weigh);
  for (const [at, candidate] of assign(weighed).entries()) {
    const each = weighed[at] as Weighed;
    if (!candidate || certaintyOf(candidate, each) === "guess") continue;
    yield [
      each.parameter,
      {
        name: nameOf(each.parameter),
        value: candidate.option.value,
        certainty: "likely",
        from: "context",
        isRequired: true,
      },
    ];
  }
}

const plain = (key: string): string => key.toLowerCase().replace(/[^\p{L}\p{N}.]/gu, "");

function suits(value: unknown, { type, choices }: Parameter): boolean {
  if (choices && type !== "array") return choices.includes(value);
  switch (type) {
    case "any":
      return true;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function settle(
  weighed: Weighed,
  candidate: Candidate | undefined,
  { text }: Reading,
): Filled | undefined {
  const { parameter, nothing } = weighed;
  const name = nameOf(parameter);
  const { isRequired, fallback } = parameter;
  if (candidate && (isRequired || candidate.likelihood > nothing)) {
    const { option, likelihood } = candidate;
    const certainty = certaintyOf(candidate, weighed);
    // What is only a guess is worth showing where something must be said, not elsewhere.
    if (certainty === "guess" && (!isRequired || isWholeTask(option, text))) return undefined;
    if (!(isRequired && fallback && nothing > likelihood))
      return {
        name,
        value: option.value,
        certainty,
        from: { text: text.slice(option.start, option.end), start: option.start, end: option.end },
        isRequired,
        isOutright: option.kind === "pair",
      };
  }
  return isRequired && fallback
    ? { name, value: fallback.value, certainty: "likely", from: "default", isRequired }
    : undefined;
}

/** Nobody says nothing but the value. */
function isWholeTask({ start, end, kind }: Option, text: string): boolean {
  return (
    (kind === "rest" || kind === "phrase") &&
    text.slice(0, start).trim() === "" &&
    /^[\s.?!]*$/.test(text.slice(end))
  );
}

function build(parameters: readonly Parameter[], filled: readonly Filled[]): JsonObject {
  const values: Record<string, unknown> = {};
  for (const { name, value } of filled) {
    const path = parameters.find((parameter) => nameOf(parameter) === name)?.path ?? [name];
    let place = values;
    for (const step of path.slice(0, -1)) {
      place[step] ??= {};
      place = place[step] as Record<string, unknown>;
    }
    place[path.at(-1) ?? name] = value;
  }
  return values;
}
