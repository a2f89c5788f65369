import type { JsonObject } from "../base/json.ts";
import type { Compile } from "./compiler.ts";

/**
 * Validators for schemas that strangers wrote. Compiled on first use and kept; the compiler is loaded late because
 * it costs 50 ms.
 */
export interface Validators {
  /** The compiled validator, if there is one: the path of every call but the first. */
  ready(schema: JsonObject): Validator | undefined;
  /** Throws EXECUTION naming what is wrong with the schema. */
  load(schema: JsonObject): Promise<Validator>;
}

/** Fills in defaults in place; returns what does not fit, empty when all does. */
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

/** Loads the compiler once. Call it early, without waiting, to take it off the first call's path. */
export function loadCompiler(): Promise<Compile> {
  compiler ??= import("./compiler.ts").then(({ compile }) => compile);
  return compiler;
}
