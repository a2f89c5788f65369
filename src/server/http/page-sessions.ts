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
 * of access tokens are kept with the token, which is checked for every request: in memory, or
 * encrypted in the database that several halls share.
 */
export interface PageSessions {
  /** A code that signs in one browser as the user, once, within 60 s. Throws UNAVAILABLE. */
  createCode(): Promise<string>;
  /** Undefined for a code or token that is wrong, used or expired. Throws UNAVAILABLE. */
  open(given: Credential): Promise<OpenedSession | undefined>;
  /** Throws UNAVAILABLE. */
  find(id: string, csrf: string): Promise<PageCaller | undefined>;
  /** Throws UNAVAILABLE. */
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

interface ByName extends Session {
  /** The digest of the hall's own token, or a named token by its name and date. */
  readonly by: { readonly own: string } | { readonly name: string; readonly createdAt: number };
}

interface WithToken extends Session {
  readonly token: string;
}

type Kept = ByName | WithToken;

/** Data that several halls share, encrypted. All may throw UNAVAILABLE. */
export interface SharedSessions {
  /** Identifies the user in all halls, because each hall has its own token. */
  readonly own: string;
  /** Resolves once this hall knows what was decided in others, or cannot ask. */
  catchUp(): Promise<void> | undefined;
  readonly sessions: {
    get(key: string): string | undefined;
    put(key: string, text: string, ttlMs: number): Promise<void>;
    remove(key: string): Promise<boolean>;
  };
  readonly codes: {
    put(key: string, text: string, ttlMs: number): Promise<void>;
    take(key: string, isFor: (text: string) => boolean): Promise<string | undefined>;
  };
}

export interface PageSessionsOptions {
  /** The token that the listener accepts. */
  readonly token: string;
  readonly named: Pick<NamedTokens, "find" | "list">;
  /** Checks tokens that are neither ours nor named. */
  readonly accessTokens?: Pick<AccessTokens, "identify"> | undefined;
  readonly shared?: SharedSessions | undefined;
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
  shared,
  folder = dataFolder(),
  now = Date.now,
}: PageSessionsOptions): PageSessions {
  const kept = shared ? keepShared(shared) : keepHere(join(folder, "page-sessions.json"), now);
  const own = digest(token);
  /** The owner of sessions that were opened with a code: the user in all halls, not the token of one. */
  const ofCode = shared ? digest(shared.own) : own;

  function callerOf({ by }: ByName): Identity | undefined {
    if ("own" in by)
      return by.own === own || by.own === ofCode
        ? { principal: "token", rights: allRights }
        : undefined;
    const owner = named.list().find(({ name }) => name === by.name);
    // A later token of the same name is another one.
    if (owner?.createdAt !== by.createdAt) return undefined;
    if ((owner.expiresAt ?? Number.POSITIVE_INFINITY) <= now()) return undefined;
    return identityOf(owner);
  }

  async function ownerOf(given: Credential): Promise<ByName["by"] | undefined> {
    if ("code" in given)
      return (await kept.takeCode(digest(given.code))) ? { own: ofCode } : undefined;
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
    async createCode() {
      const code = randomBytes(24).toString("base64url");
      await kept.addCode(digest(code));
      return code;
    },
    async open(given) {
      const [id, csrf] = [secret(), secret()];
      const digests = { id: digest(id), csrf: digest(csrf) };
      await shared?.catchUp();
      const by = await ownerOf(given);
      if (by) {
        await kept.add({ ...digests, by, until: now() + sessionMsMax });
        return { id, csrf, seconds: sessionMsMax / 1_000 };
      }
      if (!("token" in given) || !(await personOf(given.token))) return undefined;
      await kept.add({ ...digests, token: given.token, until: now() + tokenMsMax });
      return { id, csrf, seconds: tokenMsMax / 1_000 };
    },
    async find(id, csrf) {
      await shared?.catchUp();
      const found = kept.find(digest(id));
      if (!found || found.until <= now() || !isEqual(found.csrf, digest(csrf))) return undefined;
      const caller = "token" in found ? await personOf(found.token) : callerOf(found);
      return caller && { ...caller, session: found.id };
    },
    close: (id) => kept.remove(digest(id)),
  };
}

/** Sessions and codes, by their digests. */
interface Keeper {
  find(id: string): Kept | undefined;
  add(session: Kept): Promise<void>;
  remove(id: string): Promise<void>;
  addCode(code: string): Promise<void>;
  /** True once. */
  takeCode(code: string): Promise<boolean>;
}

/** Sessions of a single hall: in a file, except for those with an access token, which are in memory. */
function keepHere(file: string, now: () => number): Keeper {
  /** Unused codes, with the time at which they expire. */
  const codes = new Map<string, number>();
  let withToken: readonly WithToken[] = [];
  const current = (): readonly ByName[] => readKept(file).filter(({ until }) => until > now());
  const change = (edit: (sessions: readonly ByName[]) => readonly ByName[]): Promise<void> =>
    withFileLock(`${file}.lock`, lockMsMax, () =>
      replacePrivate(file, `${JSON.stringify(edit(current()), null, 2)}\n`),
    );
  return {
    find: (id) => [...withToken, ...current()].find((session) => isEqual(session.id, id)),
    async add(session) {
      if ("token" in session) withToken = [...withToken.slice(1 - withTokenMax), session];
      else await change((sessions) => [...sessions.slice(1 - sessionsMax), session]);
    },
    async remove(id) {
      withToken = withToken.filter((session) => session.id !== id);
      await change((sessions) => sessions.filter((session) => session.id !== id));
    },
    async addCode(code) {
      for (const [known, until] of codes) if (until <= now()) codes.delete(known);
      codes.set(code, now() + codeMsMax);
    },
    async takeCode(code) {
      const until = codes.get(code) ?? 0;
      codes.delete(code);
      return until > now();
    },
  };
}

function keepShared({ sessions, codes }: SharedSessions): Keeper {
  return {
    find(id) {
      const text = sessions.get(id);
      return text === undefined ? undefined : (JSON.parse(text) as Kept);
    },
    add: (session) =>
      sessions.put(
        session.id,
        JSON.stringify(session),
        "token" in session ? tokenMsMax : sessionMsMax,
      ),
    remove: async (id) => void (await sessions.remove(id)),
    addCode: (code) => codes.put(`code ${code}`, "", codeMsMax),
    takeCode: async (code) => (await codes.take(`code ${code}`, () => true)) !== undefined,
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
function readKept(file: string): readonly ByName[] {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    return Array.isArray(value) ? value.filter(isKept) : [];
  } catch {
    return [];
  }
}

function isKept(value: unknown): value is ByName {
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
