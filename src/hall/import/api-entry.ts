import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { Scope } from "../../base/scope.ts";
import { plural } from "../../base/text.ts";
import type { Api, Scheme } from "../../upstream/openapi/operation.ts";
import { variable, variableName } from "./entry.ts";

interface Completed {
  readonly server: JsonObject;
  readonly notes: readonly string[];
}

/**
 * Adds to the entry of an API what its document says about where requests and credentials go. A person approves
 * the entry, so a later version of the document cannot send them elsewhere. Throws VALIDATION for a document that
 * cannot be used.
 */
export async function completeApi(name: string, server: JsonObject): Promise<Completed> {
  const { openapi, baseUrl, allowPrivate } = server;
  const isWritten = [openapi, baseUrl].every((text) => !String(text).includes("${"));
  if (typeof openapi !== "string" || !isWritten) return { server, notes: [] };
  const { readDocument } = await import("../../upstream/openapi/reader.ts");
  const scope = new Scope();
  const api = await readDocument(
    {
      openapi,
      baseUrl: typeof baseUrl === "string" ? baseUrl : undefined,
      allowPrivate: allowPrivate === true,
      include: textsOf(server.include),
      exclude: textsOf(server.exclude),
    },
    scope,
  ).finally(() => scope.close());
  const { auth, oauth } = completeAuth(name, server, api);
  const { auth: _given, ...rest } = server;
  return {
    server: {
      ...rest,
      baseUrl: api.baseUrl,
      ...(auth ? { auth } : {}),
      ...(oauth ? { oauth } : {}),
    },
    notes: [
      `${plural(api.operations.length, "operation")} at ${api.baseUrl}`,
      ...(auth || oauth || server.headers ? [] : describeSchemes(api)),
    ],
  };
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function completeAuth(
  name: string,
  { auth, oauth }: JsonObject,
  { schemes }: Api,
): { readonly auth?: JsonObject; readonly oauth?: JsonObject } {
  const given = Object.entries(isObject(auth) ? auth : {});
  const unknown = given.find(([scheme]) => !Object.hasOwn(schemes, scheme));
  if (unknown)
    throw new HallError(
      "VALIDATION",
      `the document has no security scheme "${unknown[0]}" (it has ${Object.keys(schemes).join(", ") || "none"})`,
      { hint: "Correct the name, or send the credential with --header." },
    );
  const issued = given.find(([key, value]) => isIssued(schemes[key]) && value === "");
  const found = issued && schemes[issued[0]];
  const values = given
    .filter((each) => each !== issued)
    .map(([key, value]) => [key, value === "" ? variable(variableName(`${name}_${key}`)) : value]);
  return {
    ...(values.length > 0 ? { auth: Object.fromEntries(values) } : {}),
    ...(found && !isObject(oauth) ? { oauth: loginOf(name, found) } : {}),
  };
}

function isIssued(scheme: Scheme | undefined): boolean {
  return scheme?.kind === "oauth2" && scheme.tokenUrl !== undefined;
}

function loginOf(name: string, scheme: Scheme): JsonObject {
  const { authorizationUrl, tokenUrl } = scheme.kind === "oauth2" ? scheme : {};
  return {
    ...(authorizationUrl === undefined ? { grant: "client_credentials" } : { authorizationUrl }),
    tokenUrl,
    clientId: variable(variableName(`${name}_CLIENT_ID`)),
    clientSecret: variable(variableName(`${name}_CLIENT_SECRET`)),
  };
}

function describeSchemes({ schemes, operations }: Api): readonly string[] {
  const used = new Set(operations.flatMap(({ security }) => security.flat()));
  const names = Object.keys(schemes).filter((scheme) => used.has(scheme));
  if (names.length === 0) return [];
  return [`operations need credentials (${names.join(", ")}): add it with --auth ${names[0]}`];
}
