import type { JsonObject } from "../../base/json.ts";
import type { Tool } from "../../tool.ts";

/** An API as its OpenAPI document describes it: everything that listing and calling its tools needs. */
export interface Api {
  readonly title: string;
  readonly version: string;
  /** Where its operations are, unless they name another server. */
  readonly baseUrl: string;
  readonly operations: readonly Operation[];
  readonly schemes: Readonly<Record<string, Scheme>>;
  /** Operations that cannot be used, each with the reason. */
  readonly skipped: readonly string[];
}

/** One operation: the tool it becomes, and how the tool's arguments make a request. */
export interface Operation {
  readonly tool: Tool;
  readonly method: string;
  readonly baseUrl: string;
  /** With `{name}` for path parameters. */
  readonly path: string;
  readonly parameters: readonly ApiParameter[];
  readonly body?: RequestBody;
  /** Sets of schemes, each of which is sufficient; none for an open operation. */
  readonly security: readonly (readonly string[])[];
}

export const styles = [
  "form",
  "simple",
  "label",
  "matrix",
  "spaceDelimited",
  "pipeDelimited",
  "deepObject",
] as const;
export type Style = (typeof styles)[number];

export interface Serialization {
  readonly style: Style;
  readonly explode: boolean;
  /** Characters such as / and ? stay as they are. */
  readonly allowReserved?: boolean;
}

export const places = ["path", "query", "header", "cookie"] as const;
export type ParameterPlace = (typeof places)[number];

export interface ApiParameter extends Serialization {
  /** Its name among the tool's arguments. */
  readonly argument: string;
  readonly name: string;
  readonly in: ParameterPlace;
  /** Written as JSON instead of by style. */
  readonly isJson?: boolean;
}

export type BodyKind = "json" | "form" | "multipart" | "text" | "binary";

export interface RequestBody {
  readonly mediaType: string;
  readonly kind: BodyKind;
  /** The argument that is the whole body, or one argument for each field. */
  readonly content: string | readonly BodyField[];
  /** Arguments that no parameter takes are fields of the body. */
  readonly takesOthers?: boolean;
}

export interface BodyField {
  readonly argument: string;
  readonly name: string;
  /** The argument is base64. */
  readonly isBinary?: boolean;
  readonly contentType?: string;
  /** Of a form's field; without it, lists are repeated and objects are JSON. */
  readonly serialization?: Serialization;
}

export type Scheme =
  | { readonly kind: "apiKey"; readonly in: "query" | "header" | "cookie"; readonly name: string }
  | { readonly kind: "basic" }
  | { readonly kind: "bearer" }
  | {
      readonly kind: "oauth2";
      readonly authorizationUrl?: string;
      readonly tokenUrl?: string;
      readonly scope?: string;
    };

/** The settings that the document's reader needs. */
export interface ApiOptions {
  /** Where the document is from; relative servers are resolved against it. */
  readonly url?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly allowPrivate: boolean;
  /** Globs of the operations to use, by tool name, `GET /path` or tag. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The fields of an object; none of anything else. */
export function fieldsOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.entries(value as JsonObject)
    : [];
}

/** The arguments of a tool, as schemas of the document. */
export interface Inputs {
  readonly properties: [string, JsonObject][];
  readonly required: string[];
}

export function serializationOf(
  { style, explode, allowReserved }: JsonObject,
  usual: Style,
): Serialization {
  const found = styles.find((known) => known === style) ?? usual;
  return {
    style: found,
    explode: typeof explode === "boolean" ? explode : found === "form" || found === "deepObject",
    ...(allowReserved === true ? { allowReserved } : {}),
  };
}

export function isJson(mediaType: string): boolean {
  return /^[\w.+-]+\/([\w.+-]+\+)?json\s*(;|$)/i.test(mediaType);
}
