import * as z from "zod/mini";

/** The words that the schema of the config is written in. */

export function field<Schema extends z.core.$ZodType>(description: string, schema: Schema): Schema {
  z.globalRegistry.add(schema, { description });
  return schema;
}

type Shape = z.core.$ZodLooseShape;

export function object<Fields extends Shape>(description: string, fields: Fields) {
  return field(description, z.strictObject(fields));
}

export function optional<Fields extends Shape>(description: string, fields: Fields) {
  return field(description, z.optional(z.strictObject(fields)));
}

/** An optional object whose fields all have defaults. */
export function section<Fields extends Shape>(description: string, fields: Fields) {
  return field(description, withDefaults(fields));
}

function withDefaults<Fields extends Shape>(fields: Fields) {
  return z.prefault(z.strictObject(fields), {} as z.input<z.ZodMiniObject<Fields, z.core.$strict>>);
}

export function flag() {
  return z._default(z.boolean(), false);
}

export function list(lengthMax?: number) {
  return z._default(z.array(text(lengthMax)), []);
}

export function map<Value extends z.core.$ZodType>(value: Value, keyLengthMax?: number) {
  return z._default(z.record(text(keyLengthMax), value), {});
}

export function text(lengthMax = 10_000) {
  return z.string().check(z.minLength(1), z.maxLength(lengthMax));
}

/** Calls a second on average, and how many at once. */
function allowanceFields(perSecond: number, burst: number) {
  return {
    perSecond: field("Calls per second, on average.", z._default(whole(0, 1_000_000), perSecond)),
    burst: field("Calls in one burst.", z._default(whole(1, 1_000_000), burst)),
  };
}

export function allowance(perSecond = 0, burst = 1) {
  return withDefaults(allowanceFields(perSecond, burst));
}

/** The same, with how many calls run at once and how many wait. */
export function capacity({ perSecond = 0, burst = 1, concurrent = 0, queue = 100 } = {}) {
  return withDefaults({
    ...allowanceFields(perSecond, burst),
    concurrent: field(
      "Calls that run at once; 0 means no limit.",
      z._default(whole(0, 100_000), concurrent),
    ),
    queue: field("Calls that may wait.", z._default(whole(0, 100_000), queue)),
  });
}

export function variableName() {
  return z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/));
}

export function whole(minimum: number, maximum: number) {
  return z.int().check(z.gte(minimum), z.lte(maximum));
}
