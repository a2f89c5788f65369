import type { JsonObject } from "../base/json.ts";
import type { Compile } from "./compiler.ts";

/**
 * Validators for untrusted schemas, compiled on first use and cached. The compiler is loaded lazily
 * because loading it takes 50 ms.
 */
export interface Validators {
  /** The cached validator, if any: the path of every call but the first. */
  ready(schema: JsonObject): Validator | undefined;
  /** Throws EXECUTION if the schema cannot be compiled. */
  load(schema: JsonObject): Promise<Validator>;
}

/** Fills in defaults in place; returns the errors, empty if the value is valid. */
export type Validator = (value: unknown) => readonly FieldError[];

export interface FieldError {
  /** JSON pointer into the value. */
  readonly path: string;
  readonly message: string;
}

export function createValidators({ warn }: { warn(message: string): void }): Validators {
  const compiled = new WeakMap<JsonObject, Validator>();
  return {
    ready: (schema) => compiled.get(schema),
    async load(schema) {
      const compile = await loadCompiler();
      const validator = compiled.get(schema) ?? compile(schema, warn);
      compiled.set(schema, validator);
      return validator;
    },
  };
}

let compiler: Promise<Compile> | undefined;

/** Loads the compiler once. Call it early, without awaiting, to speed up the first tool call. */
export function loadCompiler(): Promise<Compile> {
  compiler ??= import("./compiler.ts").then(({ compile }) => compile);
  return compiler;
}
