import { Ajv, type ErrorObject, type FuncKeywordDefinition, str, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { RE2JS } from "re2js";
import { HallError, messageOf } from "../base/errors.ts";
import { isObject, type JsonObject, writeSorted } from "../base/json.ts";
import { findChecksPerValue } from "./schema-cost.ts";
import type { FieldError, Validator } from "./validate.ts";
import { ValidationWorker } from "./validation.ts";

/**
 * Compiles untrusted schemas with ajv. We bound size and depth, `$ref` never leaves the schema, and
 * patterns run on RE2, which has no exponential case (with the built-in engine 31 characters can block
 * the process for minutes).
 */
export type Compile = (schema: JsonObject, warn: (message: string) => void) => Validator;

const subschemasMax = 2_000;
const depthMax = 64;
const errorsMax = 10;

// ajv keys its pattern cache by `toString()`; without it all patterns would share one entry.
const regExp = Object.assign(
  (pattern: string) => {
    const expression = RE2JS.compile(pattern);
    return {
      test: (text: string) => expression.matcher(text).find(),
      toString: () => `/${pattern}/`,
    };
  },
  { code: "re2" },
);
const isRunnable = (pattern: string): boolean => {
  try {
    RE2JS.compile(pattern);
    return true;
  } catch {
    // RE2 has no look-around and no back-references.
    return false;
  }
};
const options = {
  strict: false,
  useDefaults: true,
  // `toString` and `__proto__` are ordinary property names here.
  ownProperties: true,
  multipleOfPrecision: 9,
  // Otherwise two tools with the same `$id` would collide.
  addUsedSchema: false,
  logger: false,
  code: { regExp },
} as const;
const drafts = { newest: Ajv2020, draft07: Ajv };
const create = (draft: keyof typeof drafts, allErrors: boolean) => {
  const ajv = formats.default(new drafts[draft]({ ...options, allErrors }));
  for (const keyword of ["minLength", "maxLength"] as const) {
    ajv.removeKeyword(keyword);
    ajv.addKeyword(lengthKeyword(keyword));
  }
  // ajv compares all pairs: seconds for 10,000 objects.
  ajv.removeKeyword("uniqueItems");
  return ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    validate: (isOn: boolean, items: readonly unknown[]) => !isOn || areUnique(items),
    error: { message: "must not have the same item twice" },
  });
};

/** ajv counts the characters of every text, 3 µs for 1 KB. The length nearly always decides. */
function lengthKeyword(keyword: "minLength" | "maxLength"): FuncKeywordDefinition {
  const isMax = keyword === "maxLength";
  return {
    keyword,
    type: "string",
    schemaType: "number",
    compile: (limit: number) =>
      isMax
        ? (text: string) => text.length <= limit || countCharacters(text) <= limit
        : (text: string) => text.length >= 2 * limit || countCharacters(text) >= limit,
    error: {
      message: ({ schemaCode }) =>
        str`must NOT have ${isMax ? "more" : "fewer"} than ${schemaCode} characters`,
    },
  };
}

/** A character beyond the first 65,536 has two units. */
function countCharacters(text: string): number {
  let count = text.length;
  for (let i = 1; i < text.length; i++) {
    const isPair =
      (text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800;
    if (isPair) count--;
  }
  return count;
}

const first = { newest: create("newest", false), draft07: create("draft07", false) };
// Finds every wrong field, so that a model can fix all at once. Created on the first error.
const every: Partial<typeof first> = {};

/** Cheap schemas are checked here, others in a worker that is ended if it takes too long. */
export const compile: Compile = (schema, warn) => {
  const safe = copySchema(schema, warn);
  const checksPerValue = findChecksPerValue(safe);
  const here = compileSchema(safe, schema);
  // The worker needs the draft too.
  const sent = { ...safe, $schema: schema.$schema };
  if (checksPerValue === undefined) return (value) => worker.validate(sent, value);

  const valuesMax = Math.floor(checksMax / checksPerValue);
  return (value) => (hasAtMost(valuesMax, value) ? here(value) : worker.validate(sent, value));
};

/** The most checks on the hall's own thread: about 20 ms. */
const checksMax = 2_000_000;
const worker = new ValidationWorker();

export type CompiledSchema = (value: unknown) => readonly FieldError[];

/** Throws EXECUTION if the schema is invalid. `safe` is a bounded copy of `schema`. */
export function compileSchema(safe: JsonObject, { $schema }: JsonObject): CompiledSchema {
  const draft = String($schema ?? "").includes("draft-07") ? "draft07" : "newest";
  const validate = compileWith(first[draft], safe);
  let validateEvery: ValidateFunction | undefined;
  return (value) => {
    if (validate(value)) return noErrors;
    // Listing every error of a huge value would cost more memory than the value.
    if (!hasAtMost(2_000, value)) return readErrors(validate.errors ?? []);
    every[draft] ??= create(draft, true);
    validateEvery ??= compileWith(every[draft], safe);
    validateEvery(value);
    return readErrors(validateEvery.errors ?? validate.errors ?? []);
  };
}

function compileWith(
  ajv: Pick<Ajv, "compile" | "removeSchema">,
  schema: JsonObject,
): ValidateFunction {
  try {
    return ajv.compile(schema);
  } catch (cause) {
    throw new HallError("EXECUTION", `the tool's schema is invalid: ${messageOf(cause)}`, {
      cause,
    });
  } finally {
    ajv.removeSchema(schema);
  }
}

/** Counts values; 100 characters of a text count as one. */
function hasAtMost(budget: number, value: unknown): boolean {
  return subtractValues(budget, value) >= 0;
}

/** Returns the rest of the budget, below zero once it is exceeded. */
function subtractValues(budget: number, value: unknown): number {
  let left = budget - (typeof value === "string" ? 1 + value.length / 100 : 1);
  if (typeof value !== "object" || value === null) return left;
  const fields = value as JsonObject;
  for (const key in fields) {
    if (left < 0) return left;
    left = subtractValues(left, fields[key]);
  }
  return left;
}

const noErrors: readonly FieldError[] = [];

function readErrors(errors: readonly ErrorObject[]): FieldError[] {
  return errors.slice(0, errorsMax).map(({ instancePath, keyword, params, message }) => ({
    path: errorPath(instancePath, keyword, params),
    message: describeError(keyword, params, message),
  }));
}

function errorPath(path: string, keyword: string, params: Record<string, unknown>): string {
  if (keyword === "required") return `${path}/${params.missingProperty}`;
  if (keyword === "additionalProperties") return `${path}/${params.additionalProperty}`;
  return path;
}

function describeError(
  keyword: string,
  params: Record<string, unknown>,
  message: string | undefined,
): string {
  switch (keyword) {
    case "required":
      return "is required";
    case "additionalProperties":
      return "is not a known field";
    case "enum":
      return `must be one of ${JSON.stringify(params.allowedValues)}`;
    default:
      return message ?? `fails "${keyword}"`;
  }
}

/** A bounded copy without `$schema` and without patterns RE2 cannot run; the tool checks those itself. */
function copySchema(schema: JsonObject, warn: (message: string) => void): JsonObject {
  let subschemas = 0;
  function copy(value: unknown, depth: number): unknown {
    if (depth > depthMax)
      throw new HallError(
        "EXECUTION",
        `the tool's schema is nested deeper than ${depthMax} levels`,
      );
    if (Array.isArray(value)) return value.map((item) => copy(item, depth + 1));
    if (!isObject(value)) return value;
    if (++subschemas > subschemasMax)
      throw new HallError("EXECUTION", `the tool's schema has more than ${subschemasMax} parts`);
    const fields = Object.entries(value).filter(([key, field]) => !isUnsafe(key, field));
    const isOpened =
      fields.length < Object.keys(value).length &&
      "patternProperties" in value &&
      !fields.some(([key]) => key === "patternProperties");
    return Object.fromEntries(
      fields
        .filter(([key]) => !(isOpened && closers.has(key)))
        .map(([key, field]) => [key, copy(field, depth + 1)]),
    );
  }
  function isUnsafe(key: string, field: unknown): boolean {
    const refused = patternsOf(key, field).find((pattern) => !isRunnable(pattern));
    if (refused !== undefined)
      warn(
        `RE2 cannot run the pattern ${JSON.stringify(refused.slice(0, 200))}; the tool must check it itself`,
      );
    return refused !== undefined;
  }
  const { $schema: _draft, ...rest } = copy(schema, 0) as Record<string, unknown>;
  return rest;
}

function areUnique(items: readonly unknown[]): boolean {
  return new Set(items.map((item) => writeSorted(item))).size === items.length;
}

function patternsOf(key: string, field: unknown): readonly string[] {
  if (key === "pattern" && typeof field === "string") return [field];
  return key === "patternProperties" && isObject(field) ? Object.keys(field) : [];
}

/** Dropped with `patternProperties`: without it they would reject properties that it allowed. */
const closers = new Set(["additionalProperties", "unevaluatedProperties"]);
