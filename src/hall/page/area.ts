import { HallError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
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

/** `read`: looks. `call`: calls tools. `admin`: decides and changes. */
export type PageScope = "read" | "call" | "admin";

/** The methods of an area: the scope each requires, the fields of its parameters, and the work. */
export type Area<Methods> = {
  readonly [M in keyof Methods]: Methods[M] extends {
    readonly params: infer Params;
    readonly result: infer Result;
  }
    ? {
        readonly scope: PageScope;
        readonly fields?: { readonly [F in keyof Params]-?: Field };
        run(params: Params, caller: PageCaller): Promise<Result>;
      }
    : never;
};

/** Who decides, as the audit names them. The hall's own token belongs to the person whose hall this is. */
export function deciderOf({ principal }: Pick<PageCaller, "principal">): string {
  return principal === "token" ? localUser() : principal;
}

/** The type of a field; with `?` it may be missing. */
export type Field = `${"string" | "number" | "boolean" | "object" | "strings"}${"" | "?"}`;

/** Throws INVALID_PARAMS. */
export function checkFields(
  params: JsonObject,
  fields: Readonly<Record<string, Field>>,
): JsonObject {
  for (const [name, field] of Object.entries(fields)) {
    const value = params[name];
    const isMissing = value === undefined;
    if (isMissing ? field.endsWith("?") : isOfType(value, field.replace("?", ""))) continue;
    throw new HallError("INVALID_PARAMS", `"${name}" must be ${field.replace("?", "")}`);
  }
  return Object.fromEntries(Object.keys(fields).flatMap((name) => pair(name, params[name])));
}

function pair(name: string, value: unknown): readonly [string, unknown][] {
  return value === undefined ? [] : [[name, value]];
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "strings") return Array.isArray(value) && value.every((v) => typeof v === "string");
  if (type === "object")
    return typeof value === "object" && value !== null && !Array.isArray(value);
  return typeof value === type;
}
