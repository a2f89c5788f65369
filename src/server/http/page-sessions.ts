import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { dataFolder, replacePrivate, withFileLock } from "../../base/files.ts";
import { isObject } from "../../base/json.ts";
import { allRights } from "../rights.ts";
import type { AccessTokens } from "./access-tokens.ts";
import type { Identity } from "./guard.ts";
import { identityOf, type NamedTokens } from "./tokens.ts";

/**
 * Browsers that are signed in to the page. A session is two secrets: one in an HttpOnly cookie, which
 * scripts cannot read but every port of this host receives, and one that the page sends as a header,
 * which only its own origin can read. Both are needed for every request. Sessions are kept as hashes,
 * so that they survive a restart of the hall, and end with the token that they were opened with. Those
 * of access tokens are kept in memory with the token, which is checked for every request.
 */
export interface PageSessions {
  /** A code that signs in one browser as the user, once, within 60 s. */
  createCode(): string;
  /** Undefined for a code or token that is wrong, used or expired. */
  open(given: Credential): Promise<OpenedSession | undefined>;
  find(id: string, csrf: string): Promise<PageCaller | undefined>;
  close(id: string): Promise<void>;
}

/** The user of the page, and their session. */
export interface PageCaller extends Identity {
  readonly session: string;
}

export type Credential = { readonly code: string } | { readonly token: string };

export interface OpenedSession {
  readonly id: string;
  readonly csrf: string;
  readonly seconds: number;
}

interface Session {
  readonly id: string;
  readonly csrf: string;
  readonly until: number;
}

interface Kept extends Session {
  /** The digest of the hall's own token, or a named token by its name and date. */
  readonly by: { readonly own: string } | { readonly name: string; readonly createdAt: number };
}

interface WithToken extends Session {
  readonly token: string;
}

export interface PageSessionsOptions {
  /** The token that the listener accepts. */
  readonly token: string;
  readonly named: Pick<NamedTokens, "find" | "list">;
  /** Checks tokens that are neither ours nor named. */
  readonly accessTokens?: Pick<AccessTokens, "identify"> | undefined;
  readonly folder?: string;
  readonly now?: () => number;
}

const codeMsMax = 60_000;
const sessionMsMax = 7 * 24 * 3_600_000;
/** An access token ends earlier by itself. */
const tokenMsMax = 12 * 3_600_000;
const sessionsMax = 100;
const withTokenMax = 1_000;
const lockMsMax = 10_000;

export function openPageSessions({
  token,
  named,
  accessTokens,
  folder = dataFolder(),
  now = Date.now,
}: PageSessionsOptions): PageSessions {
  const file = join(folder, "page-sessions.json");
  const own = digest(token);
  /** Digests of the codes that nobody has used, and when they end. */
  const codes = new Map<string, number>();
  let withToken: readonly WithToken[] = [];

  const current = (): readonly Kept[] => readKept(file).filter(({ until }) => until > now());
  const change = (edit: (sessions: readonly Kept[]) => readonly Kept[]): Promise<void> =>
    withFileLock(`${file}.lock`, lockMsMax, () =>
      replacePrivate(file, `${JSON.stringify(edit(current()), null, 2)}\n`),
    );

  function callerOf({ by }: Pick<Kept, "by">): Identity | undefined {
    if ("own" in by) return by.own === own ? { principal: "token", rights: allRights } : undefined;
    const owner = named.list().find(({ name }) => name === by.name);
    // A later token of the same name is another one.
    if (owner?.createdAt !== by.createdAt) return undefined;
    if ((owner.expiresAt ?? Number.POSITIVE_INFINITY) <= now()) return undefined;
    return identityOf(owner);
  }

  function ownerOf(given: Credential): Kept["by"] | undefined {
    if ("code" in given) {
      const code = digest(given.code);
      const until = codes.get(code) ?? 0;
      codes.delete(code);
      return until > now() ? { own } : undefined;
    }
    if (isEqual(digest(given.token), own)) return { own };
    const principal = named.find(given.token)?.principal;
    const owner = named.list().find(({ name }) => name === principal);
    return owner && { name: owner.name, createdAt: owner.createdAt };
  }

  async function personOf(token: string): Promise<Identity | undefined> {
    const admission = await accessTokens?.identify(token);
    return admission && !("refusal" in admission) ? admission : undefined;
  }

  return {
    createCode() {
      for (const [code, until] of codes) if (until <= now()) codes.delete(code);
      const code = randomBytes(24).toString("base64url");
      codes.set(digest(code), now() + codeMsMax);
      return code;
    },
    async open(given) {
      const [id, csrf] = [secret(), secret()];
      const digests = { id: digest(id), csrf: digest(csrf) };
      const by = ownerOf(given);
      if (by && callerOf({ by })) {
        const session: Kept = { ...digests, by, until: now() + sessionMsMax };
        await change((sessions) => [...sessions.slice(1 - sessionsMax), session]);
        return { id, csrf, seconds: sessionMsMax / 1_000 };
      }
      if (!("token" in given) || !(await personOf(given.token))) return undefined;
      const session = { ...digests, token: given.token, until: now() + tokenMsMax };
      withToken = [...withToken.slice(1 - withTokenMax), session];
      return { id, csrf, seconds: tokenMsMax / 1_000 };
    },
    async find(id, csrf) {
      const [idDigest, csrfDigest] = [digest(id), digest(csrf)];
      const own = withToken.filter(({ until }) => until > now());
      const found = [...own, ...current()].find((session) => isEqual(session.id, idDigest));
      if (!found || !isEqual(found.csrf, csrfDigest)) return undefined;
      const caller = "token" in found ? await personOf(found.token) : callerOf(found);
      return caller && { ...caller, session: found.id };
    },
    async close(id) {
      withToken = withToken.filter((session) => session.id !== digest(id));
      await change((sessions) => sessions.filter((kept) => kept.id !== digest(id)));
    },
  };
}

function secret(): string {
  return randomBytes(32).toString("base64url");
}

/** The secrets are random, so a salt or a slow hash would add nothing. */
function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

function isEqual(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

/** A damaged file signs everybody out. */
function readKept(file: string): readonly Kept[] {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    return Array.isArray(value) ? value.filter(isKept) : [];
  } catch {
    return [];
  }
}

function isKept(value: unknown): value is Kept {
  if (!isObject(value) || !isObject(value.by)) return false;
  const { id, csrf, until, by } = value;
  const isNamed = typeof by.name === "string" && typeof by.createdAt === "number";
  return (
    typeof id === "string" &&
    typeof csrf === "string" &&
    typeof until === "number" &&
    (typeof by.own === "string" || isNamed)
  );
}
