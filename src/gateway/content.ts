import { isObject, type JsonObject } from "../base/json.ts";

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
