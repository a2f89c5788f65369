import { isObject, type JsonObject } from "../../base/json.ts";
import type { Config } from "../../config/schema.ts";
import type { Person } from "../../tool.ts";
import { isScope } from "../rights.ts";

export type IssuerConfig = Config["auth"]["issuers"][string];

/** The person and the rights that an access token stands for. */
export interface Claimed {
  readonly person: Person;
  readonly scopes: readonly string[];
}

/**
 * Reads the claims of a verified token. Issuers write the same facts in different ways: scopes in `scope` or `scp`, as
 * a text or a list, application rights in `roles` or `permissions`, and the client in `azp`, `client_id`, `cid` or
 * `appid`. Returns the reason if the token cannot stand for a person.
 */
export function readClaims(claims: JsonObject, issuer: IssuerConfig): Claimed | string {
  const user = claimAt(claims, issuer.user);
  if (!isName(user)) return `it has no claim ${issuer.user} that names a person`;
  // Entra leaves out long lists of groups and says so here. Rules about groups would not see them.
  if (isObject(claims._claim_names) && issuer.groups in claims._claim_names)
    return "it leaves out the person's groups, because there are too many";
  const token = ["azp", "client_id", "cid", "appid"].map((name) => claims[name]).find(isName);
  return {
    person: {
      user: `${user}@${issuer.url}`,
      groups: wordsOf(claimAt(claims, issuer.groups)).slice(0, groupsMax),
      issuer: issuer.url,
      token,
    },
    scopes: readScopes(claims, issuer),
  };
}

/** Why a token is something else than an access token that its bearer may use. */
export function findMisuse(claims: JsonObject, header: JsonObject = {}): string | undefined {
  const headerType = String(header.typ ?? "JWT")
    .toLowerCase()
    .replace("application/", "");
  if (headerType !== "jwt" && headerType !== "at+jwt") return "it is not an access token";
  // Keycloak names the kind of each token. Only ID tokens have the hash of a code or of another token.
  const { typ = "Bearer", at_hash, c_hash, nonce, token_use = "access" } = claims;
  const isOther = String(typ).toLowerCase() !== "bearer" || token_use !== "access";
  if (isOther || at_hash !== undefined || c_hash !== undefined || nonce !== undefined)
    return "it is not an access token";
  return claims.cnf === undefined
    ? undefined
    : "it is bound to a key, and no proof of it is accepted";
}

const groupsMax = 1_000;
const nameLengthMax = 256;

/** The name that a client asks the issuer for to get a right. */
export function scopeNameOf(right: string, issuers: readonly IssuerConfig[]): string {
  const named = issuers.flatMap(({ scopes }) => Object.entries(scopes));
  return named.find(([, granted]) => granted === right)?.[0] ?? right;
}

/** Roles and permissions count only where the config names them: `admin` may be a role of something else. */
function readScopes(claims: JsonObject, { scopes }: IssuerConfig): readonly string[] {
  const given = [claims.scope, claims.scp].flatMap(wordsOf);
  const named = new Set([...given, ...[claims.roles, claims.permissions].flatMap(wordsOf)]);
  // Clients ask Entra for api://ID/Name, and the token says Name.
  const granted = Object.entries(scopes).flatMap(([name, right]) =>
    named.has(name) || named.has(name.slice(name.lastIndexOf("/") + 1)) ? [right] : [],
  );
  return [...new Set([...given.filter((scope) => isScope(scope)), ...granted])];
}

/** A claim by its name, which may contain dots, or by the path to it. */
function claimAt(claims: JsonObject, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return name
    .split(".")
    .reduce<unknown>(
      (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
      claims,
    );
}

function wordsOf(value: unknown): readonly string[] {
  const words = typeof value === "string" ? value.split(" ") : value;
  return Array.isArray(words) ? words.filter(isName) : [];
}

function isName(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value !== "" &&
    value.length <= nameLengthMax &&
    !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(value)
  );
}
