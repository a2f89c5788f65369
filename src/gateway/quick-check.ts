import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { isPlainSchema } from "./plain-schema.ts";

// Most arguments fit a simple schema. One function for all tools finds that out: V8 has to warm up each of the
// functions that the compiler makes, and with many tools it never does.

/** A plain schema in a form that is fast to check: every plan has the same fields, which V8 reads fastest. */
export interface SchemaPlan {
  /** Bits of `typeBits`. */
  readonly types: number;
  readonly values: ReadonlySet<unknown> | undefined;
  readonly anyOf: readonly SchemaPlan[] | undefined;
  readonly atLeast: number;
  readonly atMost: number;
  readonly above: number;
  readonly below: number;
  readonly charactersMin: number;
  readonly charactersMax: number;
  readonly itemsMin: number;
  readonly itemsMax: number;
  readonly items: SchemaPlan | undefined;
  readonly fields: ReadonlyMap<string, Field>;
  readonly requiredCount: number;
  readonly defaults: readonly (readonly [name: string, value: Json])[];
  /** For fields that have no plan of their own. */
  readonly others: SchemaPlan | undefined;
}

interface Field {
  readonly plan: SchemaPlan;
  readonly isRequired: boolean;
}

const typeBits = {
  string: 1,
  number: 2,
  integer: 4,
  boolean: 8,
  null: 16,
  array: 32,
  object: 64,
} as const;
const anyType = 127;
/** About 10 ms. Schemas in `anyOf` multiply the checks of a value; the compiler has a thread for such. */
const checksMax = 200_000;

/** Undefined for a schema that only the compiler understands. */
export function planSchema(schema: JsonObject): SchemaPlan | undefined {
  if (!isPlainSchema(schema)) return undefined;
  const { $schema: _draft, ...rest } = schema;
  return plan(rest, true);
}

/** Keywords that change nothing, or that `plan` reads. With any other, every value is left to the compiler. */
const known = new Set(
  `title description $comment default type enum const anyOf minimum maximum exclusiveMinimum exclusiveMaximum
  minLength maxLength minItems maxItems items properties required additionalProperties`.split(
    /\s+/,
  ),
);

/** `fills`: whether defaults are filled in, which the compiler does not do inside of `anyOf`. */
function plan(schema: unknown, fills: boolean): SchemaPlan {
  if (schema === true) return anything;
  if (!isObject(schema) || !Object.keys(schema).every((key) => known.has(key))) return nothing;
  const { type, items, anyOf, additionalProperties: additional = true } = schema;
  const others = additional === true ? undefined : plan(additional, fills);
  const fields = planFields(schema, others, fills);
  if (!fields) return nothing;
  const number = (key: string, otherwise: number): number =>
    typeof schema[key] === "number" ? schema[key] : otherwise;
  return {
    types: typeof type === "string" ? typeBits[type as keyof typeof typeBits] : anyType,
    values: valuesOf(schema),
    anyOf: Array.isArray(anyOf) ? anyOf.map((inner) => plan(inner, false)) : undefined,
    atLeast: number("minimum", Number.NEGATIVE_INFINITY),
    atMost: number("maximum", Number.POSITIVE_INFINITY),
    above: number("exclusiveMinimum", Number.NEGATIVE_INFINITY),
    below: number("exclusiveMaximum", Number.POSITIVE_INFINITY),
    charactersMin: number("minLength", 0),
    charactersMax: number("maxLength", Number.POSITIVE_INFINITY),
    itemsMin: number("minItems", 0),
    itemsMax: number("maxItems", Number.POSITIVE_INFINITY),
    items: items === undefined ? undefined : plan(items, fills),
    fields,
    requiredCount: [...fields.values()].filter(({ isRequired }) => isRequired).length,
    defaults: fills ? defaultsOf(schema) : [],
    others,
  };
}

/** Undefined if a name also belongs to every object, such as `constructor`. */
function planFields(
  { properties, required }: JsonObject,
  others: SchemaPlan | undefined,
  fills: boolean,
): ReadonlyMap<string, Field> | undefined {
  const names = new Set(Array.isArray(required) ? required.map(String) : []);
  const inner = isObject(properties) ? properties : {};
  const all = [...names, ...Object.keys(inner)];
  if (all.some((name) => name in Object.prototype)) return undefined;
  return new Map(
    all.map((name) => {
      const own = Object.hasOwn(inner, name) ? plan(inner[name], fills) : others;
      return [name, { plan: own ?? anything, isRequired: names.has(name) }];
    }),
  );
}

function defaultsOf({ properties }: JsonObject): SchemaPlan["defaults"] {
  return Object.entries(isObject(properties) ? properties : {}).flatMap(([name, inner]) => {
    const value = isObject(inner) ? (inner.default as Json | undefined) : undefined;
    return value === undefined ? [] : [[name, value] as const];
  });
}

function valuesOf(schema: JsonObject): ReadonlySet<unknown> | undefined {
  const given = Array.isArray(schema.enum) ? schema.enum : undefined;
  if (!Object.hasOwn(schema, "const")) return given && new Set(given);
  return new Set(given && !given.includes(schema.const as Json) ? [] : [schema.const]);
}

const anything = plan({}, false);
const nothing: SchemaPlan = { ...anything, types: 0 };

let checksLeft = 0;

/**
 * Fills in defaults in place. True if the value certainly fits; false means unknown: the compiler
 * decides, and names the errors.
 */
export function certainlyFits(plan: SchemaPlan, value: unknown): boolean {
  checksLeft = checksMax;
  return fits(plan, value);
}

function fits(plan: SchemaPlan, value: unknown): boolean {
  const { types, values, anyOf } = plan;
  if (--checksLeft < 0) return false;
  if (values !== undefined && !values.has(value)) return false;
  if (anyOf !== undefined && !anyOf.some((inner) => fits(inner, value))) return false;
  switch (typeof value) {
    case "string":
      return (types & typeBits.string) !== 0 && fitsText(plan, value.length);
    case "number":
      return fitsNumber(plan, value);
    case "boolean":
      return (types & typeBits.boolean) !== 0;
    case "object":
      if (value === null) return (types & typeBits.null) !== 0;
      return Array.isArray(value)
        ? (types & typeBits.array) !== 0 && fitsItems(plan, value)
        : (types & typeBits.object) !== 0 && fitsFields(plan, value as Record<string, unknown>);
    default:
      return false;
  }
}

/** A character has one or two units, so some lengths leave the number of characters open. */
function fitsText({ charactersMin, charactersMax }: SchemaPlan, units: number): boolean {
  return (
    units <= charactersMax &&
    (units >= 2 * charactersMin || (charactersMin <= 1 && units >= charactersMin))
  );
}

function fitsNumber({ types, atLeast, atMost, above, below }: SchemaPlan, value: number): boolean {
  const isTyped =
    (types & typeBits.number) !== 0 ||
    ((types & typeBits.integer) !== 0 && Number.isInteger(value));
  return (
    isTyped &&
    Number.isFinite(value) &&
    value >= atLeast &&
    value <= atMost &&
    value > above &&
    value < below
  );
}

function fitsItems({ itemsMin, itemsMax, items }: SchemaPlan, value: readonly unknown[]): boolean {
  if (value.length < itemsMin || value.length > itemsMax) return false;
  return items === undefined || value.every((item) => fits(items, item));
}

function fitsFields(plan: SchemaPlan, value: Record<string, unknown>): boolean {
  for (const [name, filled] of plan.defaults)
    if (value[name] === undefined) value[name] = Array.isArray(filled) ? [...filled] : filled;
  let required = 0;
  for (const name in value) {
    const inner = value[name];
    const field = plan.fields.get(name);
    if (inner === undefined) return false;
    if (field?.isRequired) required++;
    const own = field === undefined ? plan.others : field.plan;
    if (own !== undefined && !fits(own, inner)) return false;
  }
  return required === plan.requiredCount;
}
