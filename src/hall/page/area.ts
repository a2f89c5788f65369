import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { PageCaller } from "../../server/http/page-sessions.ts";
import type { Project } from "../project.ts";
import { localUser } from "../project-store.ts";
import type { Settings } from "../settings.ts";

/** The parts of a hall that the areas of the page use. */
export interface PageParts extends Pick<Project, "hall" | "followTrust"> {
  readonly folder: string;
  /** The config as it is now: the page itself edits it. */
  settings(): Promise<Settings>;
}

/** The name under which the page calls tools. */
export const client = "Guildhall page";

/** `read`: looks. `call`: calls tools. `admin`: decides and changes. */
export type PageScope = "read" | "call" | "admin";

/** A method of the page: the scope that it requires, the fields of its parameters, and the work. */
export interface PageMethod<Params, Result> {
  readonly scope: PageScope;
  readonly fields: Fields;
  run(params: Params, caller: PageCaller): Promise<Result>;
}

export function method<const F extends Fields, Result>(
  scope: PageScope,
  fields: F,
  run: (params: ParamsOf<F>, caller: PageCaller) => Promise<Result>,
): PageMethod<ParamsOf<F>, Result> {
  return { scope, fields, run };
}

/** The parameters and results of an area, for the contract. */
export type MethodsOf<Area> = {
  readonly [M in keyof Area]: Area[M] extends PageMethod<infer params, infer result>
    ? { readonly params: params; readonly result: result }
    : never;
};

/** The type of a field; with `?` it may be missing. */
export type Fields = Readonly<Record<string, `${keyof FieldTypes}${"" | "?"}` | Shape<unknown>>>;

interface FieldTypes {
  readonly string: string;
  readonly number: number;
  readonly boolean: boolean;
  readonly object: JsonObject;
  readonly strings: readonly string[];
}

/** An object whose fields the method checks itself. */
interface Shape<T> {
  readonly type: "object";
  readonly of?: T;
}

export function shape<T>(): Shape<T> {
  return { type: "object" };
}

type ParamsOf<F extends Fields> = {
  readonly [K in keyof F as F[K] extends `${string}?` ? never : K]: ValueOf<F[K]>;
} & {
  readonly [K in keyof F as F[K] extends `${string}?` ? K : never]?: ValueOf<F[K]> | undefined;
};

type ValueOf<F> =
  F extends Shape<infer T>
    ? T
    : F extends `${infer Name extends keyof FieldTypes}?`
      ? FieldTypes[Name]
      : FieldTypes[F & keyof FieldTypes];

/** The person who decides, as the audit names them. The hall's own token stands for the hall's owner. */
export function deciderOf({ principal }: Pick<PageCaller, "principal">): string {
  return principal === "token" ? localUser() : principal;
}

/** Throws INVALID_PARAMS. */
export function checkFields(params: JsonObject, fields: Fields): JsonObject {
  for (const [name, field] of Object.entries(fields)) {
    const written = typeof field === "string" ? field : field.type;
    const type = written.replace("?", "");
    const mayMiss = params[name] === undefined && written.endsWith("?");
    if (mayMiss || isOfType(params[name], type)) continue;
    throw new HallError("INVALID_PARAMS", `"${name}" must be ${type}`);
  }
  const given = Object.keys(fields).filter((name) => params[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, params[name]]));
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "strings") return Array.isArray(value) && value.every((v) => typeof v === "string");
  return type === "object" ? isObject(value) : typeof value === type;
}
