import { isObject, type JsonObject } from "../../base/json.ts";
import type { OpenApiDocument } from "./document.ts";
import { fieldsOf, type Scheme, textOf } from "./operation.ts";

/** The schemes of a document that we can use. */
export function readSchemes(document: OpenApiDocument): Readonly<Record<string, Scheme>> {
  const { components } = document.root;
  const schemes = isObject(components) ? components.securitySchemes : undefined;
  return Object.fromEntries(
    fieldsOf(schemes).flatMap(([name, value]) => {
      const scheme = readScheme(document.resolve(value));
      return scheme ? [[name, scheme]] : [];
    }),
  );
}

function readScheme(scheme: JsonObject): Scheme | undefined {
  const { type, name, in: place, scheme: method, flows } = scheme;
  if (type === "apiKey" && (place === "query" || place === "header" || place === "cookie"))
    return { kind: "apiKey", in: place, name: textOf(name) };
  if (type === "http" && textOf(method).toLowerCase() === "basic") return { kind: "basic" };
  if (type === "http" && textOf(method).toLowerCase() === "bearer") return { kind: "bearer" };
  if (type === "openIdConnect") return { kind: "oauth2" };
  if (type !== "oauth2") return undefined;
  const { authorizationCode, clientCredentials } = isObject(flows) ? flows : {};
  const flow = [authorizationCode, clientCredentials].find(isObject) ?? {};
  const [authorizationUrl, tokenUrl] = [textOf(flow.authorizationUrl), textOf(flow.tokenUrl)];
  const scope = fieldsOf(flow.scopes)
    .map(([word]) => word)
    .join(" ");
  return {
    kind: "oauth2",
    ...(authorizationUrl === "" ? {} : { authorizationUrl }),
    ...(tokenUrl === "" ? {} : { tokenUrl }),
    ...(scope === "" ? {} : { scope }),
  };
}

/** The sets of schemes that an operation accepts; one that needs an unknown scheme is left out. */
export function readSecurity(
  { root }: OpenApiDocument,
  operation: JsonObject,
  schemes: Readonly<Record<string, Scheme>>,
): readonly (readonly string[])[] {
  const given = operation.security ?? root.security;
  return (Array.isArray(given) ? given : [])
    .map((set) => fieldsOf(set).map(([name]) => name))
    .filter((set) => set.every((name) => Object.hasOwn(schemes, name)));
}
