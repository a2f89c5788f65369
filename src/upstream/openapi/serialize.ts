import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { ApiParameter, Operation, Serialization } from "./operation.ts";

/** The parameters of a request, each where the document puts it. */
export interface WrittenParameters {
  /** With its first slash. */
  readonly path: string;
  /** Encoded `name=value` pairs. */
  readonly query: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
}

/** Throws VALIDATION for a value that would lead elsewhere than the operation's path, or break a header. */
export function writeParameters(
  { parameters, path: template }: Pick<Operation, "parameters" | "path">,
  args: JsonObject,
): WrittenParameters {
  const query: string[] = [];
  const cookies: string[] = [];
  const headers: Record<string, string> = {};
  let path = template;
  for (const parameter of parameters) {
    const value = args[parameter.argument];
    if (value === undefined || value === null) continue;
    switch (parameter.in) {
      case "path":
        path = path.replaceAll(`{${parameter.name}}`, () => pathText(parameter, value));
        break;
      case "query":
        query.push(...writePairs(parameter.name, plainOr(parameter, value), parameter));
        break;
      case "cookie":
        cookies.push(...writePairs(parameter.name, plainOr(parameter, value), parameter));
        break;
      case "header":
        headers[parameter.name.toLowerCase()] = headerText(parameter, value);
        break;
    }
  }
  // A URL drops such a segment, and the request would go to another operation.
  if (path.split("/").some((segment) => /^(\.|%2e){1,2}$/i.test(segment)))
    throw refused("a path parameter must not be . or ..");
  return { path, query, headers, cookies };
}

function plainOr({ isJson }: ApiParameter, value: unknown): unknown {
  return isJson ? JSON.stringify(value) : value;
}

function pathText(parameter: ApiParameter, value: unknown): string {
  const text = joined(parameter, plainOr(parameter, value), encodeText);
  if (text === "") throw refused(`the path parameter "${parameter.argument}" is empty`);
  return text;
}

function headerText(parameter: ApiParameter, value: unknown): string {
  const text = joined(parameter, plainOr(parameter, value), (part) => part);
  if (!isHeaderValue(text))
    throw refused(`"${parameter.argument}" has a character that a header cannot have`);
  return text;
}

export function isHeaderValue(text: string): boolean {
  return !/[^\t\x20-\x7e\x80-\xff]/.test(text);
}

type Encode = (text: string) => string;

/** The styles of paths and headers: simple, label and matrix. */
function joined({ name, style, explode }: ApiParameter, value: unknown, encode: Encode): string {
  const key = encode(name);
  const parts = partsOf(value, explode, encode);
  if (style === "label") return `.${parts.join(explode ? "." : ",")}`;
  if (style !== "matrix") return parts.join(",");
  if (explode && isObject(value)) return parts.map((part) => `;${part}`).join("");
  if (explode) return parts.map((part) => matrixPair(key, part)).join("");
  return matrixPair(key, parts.join(","));
}

function matrixPair(key: string, text: string): string {
  return text === "" ? `;${key}` : `;${key}=${text}`;
}

/** A single value; the items of a list; the fields of an object as `k=v`, or as `k` and `v` in turn. */
function partsOf(value: unknown, explode: boolean, encode: Encode): readonly string[] {
  if (Array.isArray(value)) return value.map((item) => encode(plain(item)));
  if (!isObject(value)) return [encode(plain(value))];
  return Object.entries(value).flatMap(([key, item]) => {
    const [left, right] = [encode(key), encode(plain(item))];
    return explode ? [`${left}=${right}`] : [left, right];
  });
}

const separators = { form: ",", spaceDelimited: "%20", pipeDelimited: "%7C" } as const;

/** The styles of queries, cookies and forms, as encoded `name=value` pairs. */
export function writePairs(
  name: string,
  value: unknown,
  { style, explode, allowReserved = false }: Serialization,
): readonly string[] {
  const encode = allowReserved ? encodeReserved : encodeText;
  const key = encodeText(name);
  if (style === "deepObject") return deepPairs(name, value, encode);
  if (explode && isObject(value)) return partsOf(value, true, encode);
  if (explode) return partsOf(value, false, encode).map((part) => `${key}=${part}`);
  const separator = style in separators ? separators[style as keyof typeof separators] : ",";
  return [`${key}=${partsOf(value, false, encode).join(separator)}`];
}

/** `filter[age][min]=3`; the specification leaves deeper levels and lists open, and most servers read this. */
function deepPairs(name: string, value: unknown, encode: Encode): readonly string[] {
  if (Array.isArray(value))
    return value.flatMap((item, at) => deepPairs(`${name}[${at}]`, item, encode));
  if (!isObject(value)) return [`${encodeText(name)}=${encode(plain(value))}`];
  return Object.entries(value).flatMap(([key, item]) =>
    item === undefined ? [] : deepPairs(`${name}[${key}]`, item, encode),
  );
}

/** A value inside of a list or an object that is written in a style. */
export function plain(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export function encodeText(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    throw refused("a parameter contains half of a character");
  }
}

/** Reserved characters stay, except those that would end the value. */
function encodeReserved(text: string): string {
  return encodeText(text).replace(/%(3A|2F|3F|5B|5D|40|24|2C|3B|3D)/g, decodeURIComponent);
}

export function refused(message: string): HallError {
  return new HallError("VALIDATION", message, { hint: "Nothing was sent." });
}
