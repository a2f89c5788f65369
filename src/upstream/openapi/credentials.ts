import { HallError } from "../../base/errors.ts";
import type { Authorizer } from "../oauth.ts";
import type { Api, Operation, Scheme } from "./operation.ts";
import { encodeText, isHeaderValue } from "./serialize.ts";

/** The credentials of one request. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: readonly string[];
  readonly cookies: readonly string[];
  /** They include a token that can be renewed. */
  readonly isOAuth: boolean;
}

export interface CredentialOptions {
  /** Values of the config, by scheme. */
  readonly auth: Readonly<Record<string, string>>;
  /** The config sends headers of its own, which may be credentials. */
  readonly hasHeaders: boolean;
  readonly authorizer: Authorizer | undefined;
}

export const noCredentials: Credentials = { headers: {}, query: [], cookies: [], isOAuth: false };

/** For the first set of schemes that the config has values for. Throws DENIED if there is none. */
export async function findCredentials(
  { security }: Pick<Operation, "security">,
  { schemes }: Pick<Api, "schemes">,
  options: CredentialOptions,
): Promise<Credentials> {
  const { auth, authorizer } = options;
  const isGiven = (name: string): boolean =>
    Object.hasOwn(auth, name) || (schemes[name]?.kind === "oauth2" && authorizer !== undefined);
  // A document without schemes says nothing about a login that the config describes.
  const sets = security.length === 0 && authorizer ? [oauthOnly] : security;
  const given = sets
    .filter((set) => set.length > 0)
    .find((set) => set.every(isGiven) || set === oauthOnly);
  if (!given) {
    const isOpen = sets.length === 0 || sets.some((set) => set.length === 0);
    if (isOpen || options.hasHeaders) return noCredentials;
    throw missing(sets, schemes);
  }
  const parts = await Promise.all(
    given.map((name) => writeScheme(schemes[name] ?? { kind: "oauth2" }, auth[name], authorizer)),
  );
  return {
    headers: Object.assign({}, ...parts.map(({ headers }) => headers)),
    query: parts.flatMap(({ query = [] }) => query),
    cookies: parts.flatMap(({ cookies = [] }) => cookies),
    isOAuth: parts.some(({ isOAuth }) => isOAuth === true),
  };
}

const oauthOnly: readonly string[] = ["oauth2"];

async function writeScheme(
  scheme: Scheme,
  value: string | undefined,
  authorizer: Authorizer | undefined,
): Promise<Partial<Credentials>> {
  if (scheme.kind === "oauth2" && value === undefined)
    return { headers: await tokenOf(authorizer), isOAuth: true };
  const text = value ?? "";
  if (!isHeaderValue(text))
    throw new HallError(
      "DENIED",
      "a credential contains a character that HTTP headers do not allow",
      {
        hint: "Set the secret again, on one line.",
      },
    );
  switch (scheme.kind) {
    case "apiKey": {
      if (scheme.in === "header") return { headers: { [scheme.name.toLowerCase()]: text } };
      const pair = `${encodeText(scheme.name)}=${encodeText(text)}`;
      return scheme.in === "query" ? { query: [pair] } : { cookies: [pair] };
    }
    case "basic":
      return { headers: { authorization: `Basic ${Buffer.from(text).toString("base64")}` } };
    case "bearer":
    case "oauth2":
      return { headers: { authorization: `Bearer ${text}` } };
  }
}

/** An API may answer anything to a caller without a token, so the first one is fetched before the request. */
async function tokenOf(authorizer: Authorizer | undefined): Promise<Credentials["headers"]> {
  const headers = (await authorizer?.headers()) ?? {};
  if (headers.authorization !== undefined || !authorizer) return { ...headers };
  await authorizer.authorize(new Response(null, { status: 401 }), undefined);
  return { ...(await authorizer.headers()) };
}

function missing(
  sets: readonly (readonly string[])[],
  schemes: Readonly<Record<string, Scheme>>,
): HallError {
  const names = [...new Set(sets.flat())];
  const [first = ""] = names;
  const field = schemes[first]?.kind === "oauth2" ? '"oauth"' : `"auth": {"${first}": "\${NAME}"}`;
  return new HallError("DENIED", `needs credentials for ${names.join(" or ")}`, {
    hint: `Nothing was sent. Set ${field} in the server's entry, and its value with \`guildhall secret set NAME\`.`,
  });
}
