import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { findUrlFault } from "../../config/url.ts";
import { kindOfHost } from "../../net/host.ts";
import { fault, type OpenApiDocument } from "./document.ts";
import { type ApiOptions, fieldsOf, textOf } from "./operation.ts";

/**
 * The first server that a document, or a part of it, names, with the defaults of its variables; "" if a part names
 * none. Throws DENIED for an address that a document may not choose.
 */
export function findServer(
  { root }: OpenApiDocument,
  part: JsonObject,
  { url, allowPrivate, baseUrl }: ApiOptions,
  around: JsonObject = {},
): string {
  const listed = [part.servers, around.servers].find(
    (servers) => Array.isArray(servers) && servers.length > 0,
  );
  const [first] = (listed ?? (part === root ? [{ url: "/" }] : [])) as readonly unknown[];
  if (!isObject(first)) return "";
  const text = fieldsOf(first.variables).reduce(
    (written, [name, variable]) =>
      written.replaceAll(`{${name}}`, isObject(variable) ? textOf(variable.default) : ""),
    textOf(first.url),
  );
  const base = baseUrl ?? url;
  if (!URL.canParse(text, base))
    throw new HallError("VALIDATION", "the OpenAPI document names no server URL", {
      hint: 'Set "baseUrl" in the server\'s entry.',
    });
  const found = new URL(text, base);
  const problem = findUrlFault(found.href, false, allowPrivate);
  if (problem !== undefined) throw fault(`names a server that ${problem}`);
  // A file of the user's may name their own machine, as a config may; a document from elsewhere must not.
  const kind = kindOfHost(found.hostname);
  const isInside = kind === "private" || (kind === "loopback" && url !== undefined);
  const isKnown = base !== undefined && new URL(base).origin === found.origin;
  if (isInside && !isKnown && !allowPrivate)
    throw new HallError(
      "DENIED",
      `the OpenAPI document names ${found.origin}, which is not public`,
      {
        hint: 'Set "baseUrl" in the server\'s entry if you mean it.',
      },
    );
  return found.href.replace(/[/?#]+$/, "");
}
