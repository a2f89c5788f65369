import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject, TextOutcome } from "../base/json.ts";
import type { Outcome } from "../tool.ts";
import type { Compile } from "./compiler.ts";
import { certainlyFits, planSchema, type SchemaPlan } from "./quick-check.ts";
import { type EndStage, type ResolvedCall, type ResolvedStage, uncounted } from "./stage.ts";

/** Fills in the schema's defaults and rejects invalid arguments, naming every field. */
export const validateArguments =
  (validators: Validators): ResolvedStage =>
  (next) =>
  (call, context) => {
    const { inputSchema } = call.target.tool;
    const validator = validators.ready(inputSchema);
    const found = validator
      ? validator(call.arguments)
      : uncounted(call, validators.load(inputSchema)).then((loaded) => loaded(call.arguments));
    if (!(found instanceof Promise) && found.length === 0) return next(call, context);
    return repair(call, found, validators).then(() => next(call, context));
  };

/** Models often send null for what they leave out: optional fields that allow no null are dropped. */
async function repair(
  call: ResolvedCall,
  found: ReturnType<Validator>,
  validators: Validators,
): Promise<void> {
  const errors = await found;
  if (errors.length === 0) return;
  const dropped = errors.filter(({ path }) => dropNull(call.arguments, path));
  const validator = await validators.load(call.target.tool.inputSchema);
  if (dropped.length === 0 || (await validator(call.arguments)).length > 0) refuse(call, errors);
}

/** True if the pointer led to a null in an object. */
function dropNull(value: unknown, path: string): boolean {
  const keys = path
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last = keys.pop();
  const parent = keys.reduce<unknown>(
    (found, key) => (found as Record<string, unknown> | undefined)?.[key],
    value,
  );
  if (last === undefined || !isObject(parent) || parent[last] !== null) return false;
  delete (parent as Record<string, unknown>)[last];
  return true;
}

function refuse(call: ResolvedCall, errors: readonly FieldError[]): never {
  const summary = errors
    .map(({ path, message }) => (path === "" ? message : `${path} ${message}`))
    .join("; ");
  throw new HallError("VALIDATION", `invalid arguments for ${call.name}: ${summary}`, {
    details: { errors },
  });
}

/** Rejects results that break the protocol or the tool's own output schema. */
export const checkResult = (validators: Validators): EndStage => ({
  begin: (call) => ({
    succeeded(outcome) {
      if (outcome instanceof TextOutcome && !call.target.tool.outputSchema) return outcome;
      if (!Array.isArray(outcome?.content))
        throw new HallError("BAD_ANSWER", `${call.name} returned a result without "content"`);
      checkContent(outcome, call);
      return call.target.tool.outputSchema && !outcome.isError
        ? checkStructure(outcome, call, validators)
        : outcome;
    },
  }),
});

function checkContent(outcome: Outcome, { name, target }: ResolvedCall): void {
  // Most results are text only.
  if (outcome.isError === undefined && outcome.content.every(isText)) return;
  const errors: FieldError[] = [];
  checkContentOf({ ...outcome }, (path, message) => void errors.push({ path, message }), {
    acceptsTypes: target.toolkit.source === "upstream",
  });
  const [first] = errors;
  if (first)
    throw new HallError(
      "BAD_ANSWER",
      `${name} returned an invalid result: ${first.path} ${first.message}`,
      { details: { errors } },
    );
}

function isText(item: JsonObject | null): boolean {
  return item?.type === "text" && typeof item.text === "string";
}

async function checkStructure(
  outcome: Outcome,
  call: ResolvedCall,
  validators: Validators,
): Promise<Outcome> {
  const {
    name,
    target: { tool },
  } = call;
  const { structuredContent } = outcome;
  if (!tool.outputSchema) return outcome;
  if (structuredContent === undefined)
    throw new HallError(
      "BAD_ANSWER",
      `${name} has an output schema but returned no structured content`,
    );
  const validator =
    validators.ready(tool.outputSchema) ??
    (await uncounted(call, validators.load(tool.outputSchema)));
  const errors = await validator(structuredContent);
  if (errors.length > 0)
    throw new HallError("BAD_ANSWER", `the result of ${name} does not match its output schema`, {
      details: { errors },
    });
  return outcome;
}

/** Adds an error; `path` is a JSON pointer. */
export type Report = (path: string, message: string) => void;

/** Required fields by content type. */
const contentFields: Readonly<Record<string, readonly string[]>> = {
  text: ["text"],
  image: ["data", "mimeType"],
  audio: ["data", "mimeType"],
  resource_link: ["uri", "name"],
};

/** Checks `content` and `isError` of a tool's result. Types of a newer protocol are accepted from servers only. */
export function checkContentOf(
  { content, isError }: JsonObject,
  report: Report,
  { acceptsTypes = false }: { readonly acceptsTypes?: boolean } = {},
): void {
  if (isError !== undefined && typeof isError !== "boolean")
    report("/isError", "must be true or false");
  if (!Array.isArray(content)) report("/content", "must be an array");
  else
    content.forEach((item: unknown, index) => {
      checkItem(item, `/content/${index}`, { report, acceptsTypes });
    });
}

function checkItem(
  item: unknown,
  path: string,
  { report, acceptsTypes }: { readonly report: Report; readonly acceptsTypes: boolean },
): void {
  if (!isObject(item)) {
    report(path, "must be an object");
    return;
  }
  if (item.type === "resource") {
    const { resource } = item;
    if (!isObject(resource) || typeof resource.uri !== "string")
      report(`${path}/resource`, "must be an object with a uri");
    return;
  }
  const fields =
    typeof item.type === "string" && Object.hasOwn(contentFields, item.type)
      ? contentFields[item.type]
      : undefined;
  if (!fields && !(acceptsTypes && typeof item.type === "string"))
    report(
      `${path}/type`,
      `must be one of ${[...Object.keys(contentFields), "resource"].join(", ")}`,
    );
  for (const field of fields ?? [])
    if (typeof item[field] !== "string") report(`${path}/${field}`, "must be a string");
}

/**
 * Validators for untrusted schemas, made on first use and cached. The compiler is loaded for what the
 * quick check leaves open, because loading it takes 50 ms and 5 MB.
 */
export interface Validators {
  /** The validator, unless the schema has to be compiled first. */
  ready(schema: JsonObject): Validator | undefined;
  /** Throws EXECUTION if the schema cannot be compiled. */
  load(schema: JsonObject): Promise<Validator>;
}

/**
 * Fills in defaults in place; returns the errors, empty if the value is valid. A promise if the schema
 * is checked in a worker.
 */
export type Validator = (value: unknown) => readonly FieldError[] | Promise<readonly FieldError[]>;

export interface FieldError {
  /** JSON pointer into the value. */
  readonly path: string;
  readonly message: string;
}

export function createValidators({ warn }: { warn(message: string): void }): Validators {
  const quick = new WeakMap<JsonObject, Validator>();
  const compiled = new WeakMap<JsonObject, Validator>();
  const load = async (schema: JsonObject): Promise<Validator> => {
    const compile = await loadCompiler();
    const validator = compiled.get(schema) ?? compile(schema, warn);
    compiled.set(schema, validator);
    return validator;
  };
  const makeQuick = (schema: JsonObject): Validator | undefined => {
    const plan = planSchema(schema);
    if (!plan) return undefined;
    const validator = checkQuickly.bind(undefined, plan, () => load(schema));
    quick.set(schema, validator);
    return validator;
  };
  return {
    ready: (schema) => quick.get(schema) ?? compiled.get(schema) ?? makeQuick(schema),
    load,
  };
}

/** Bound for each schema instead of a closure, so that V8 optimises it once for all. */
function checkQuickly(
  plan: SchemaPlan,
  load: () => Promise<Validator>,
  value: unknown,
): ReturnType<Validator> {
  return certainlyFits(plan, value) ? noErrors : load().then((validate) => validate(value));
}

const noErrors: readonly FieldError[] = [];

let compiler: Promise<Compile> | undefined;

/** Most halls never need it. */
function loadCompiler(): Promise<Compile> {
  compiler ??= import("./compiler.ts").then(({ compile }) => compile);
  return compiler;
}
