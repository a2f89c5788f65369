import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { HallError } from "../../base/errors.ts";
import { dataFolder, placePrivate, replacePrivate, withFileLock } from "../../base/files.ts";
import { isObject } from "../../base/json.ts";
import { isScope, type Rights } from "../rights.ts";
import type { Identity } from "./guard.ts";

/**
 * Tokens with names, so that each can be identified and revoked. Only hashes are stored, in a private
 * file.
 */
export interface NamedTokens {
  /** The owner of a token. Revoking takes effect at once. */
  find(token: string): Identity | undefined;
  list(): readonly NamedToken[];
  /** Returns the token, which is not stored. Throws CONFLICT if the name is in use. */
  create(name: string, options?: TokenOptions): Promise<string>;
  /** Throws NOT_FOUND. */
  revoke(name: string): Promise<void>;
  /** Marks a token as known to several halls, and returns its entry for them, without the token itself. */
  share(name: string): Promise<string>;
  /** Follows another hall: its entry, or undefined for a token that was revoked there. */
  adopt(name: string, entry: string | undefined): Promise<void>;
}

export interface NamedToken extends Rights {
  readonly name: string;
  readonly createdAt: number;
  readonly expiresAt?: number | undefined;
  /** True if several halls know it. */
  readonly isShared?: boolean | undefined;
}

/** Default: the scope `call`, all tools, until it is revoked. */
export interface TokenOptions extends Pick<NamedToken, "tools" | "expiresAt"> {
  readonly scopes?: readonly string[] | undefined;
}

interface Kept extends NamedToken {
  readonly hash: Buffer;
}

const namePattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/;
/** Principals of callers without a named token. */
const reserved = new Set(["local", "token"]);

const lockMsMax = 10_000;

export function openNamedTokens(folder: string = dataFolder()): NamedTokens {
  const file = join(folder, "tokens.json");
  let kept: readonly Kept[] = [];
  let seen = "";

  /** Reads the file again if it changed; a stat is cheap compared with a request. */
  function current(): readonly Kept[] {
    const stat = statSync(file, { throwIfNoEntry: false });
    const stamp = stat ? `${stat.ino} ${stat.mtimeMs} ${stat.size}` : "";
    if (stamp !== seen) kept = stat ? parse(readFileSync(file, "utf8")) : [];
    seen = stamp;
    return kept;
  }

  const entryOf = ({ name: _name, hash, ...token }: Kept): object => ({
    ...token,
    hash: hash.toString("base64url"),
  });

  function write(tokens: readonly Kept[]): Promise<void> {
    const entries = tokens.map((token) => [token.name, entryOf(token)]);
    return replacePrivate(file, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
  }

  /** Changes are locked: creating a token must not restore one that is being revoked. */
  function change(edit: (tokens: readonly Kept[]) => readonly Kept[]): Promise<void> {
    return withFileLock(`${file}.lock`, lockMsMax, () => write(edit(current())));
  }

  return {
    find(token) {
      const hash = hashOf(token);
      const owner = current().find((known) => timingSafeEqual(known.hash, hash));
      if (!owner || (owner.expiresAt ?? Number.POSITIVE_INFINITY) <= Date.now()) return undefined;
      return identityOf(owner);
    },
    list: () => current().map(({ hash: _hash, ...token }) => token),
    async create(name, { scopes = ["call"], tools, expiresAt } = {}) {
      if (!namePattern.test(name) || reserved.has(name.toLowerCase()))
        throw new HallError("INVALID_PARAMS", `invalid token name "${name}"`, {
          hint: "Use 1 to 40 letters, digits, _, . and -. The names local and token are reserved.",
        });
      const wrong = scopes.find((scope) => !isScope(scope));
      if (wrong !== undefined)
        throw new HallError("INVALID_PARAMS", `unknown scope "${wrong}"`, {
          hint: "Use call, read, register:NAME or admin.",
        });
      const token = randomBytes(32).toString("base64url");
      const createdAt = Date.now();
      await change((tokens) => {
        if (tokens.some((known) => known.name === name))
          throw new HallError("CONFLICT", `token "${name}" already exists`, {
            next: [{ do: "run-command", command: `token revoke ${name}` }],
          });
        // Both spellings name a tool; kept is `server.tool`, which stands for one tool only.
        const dotted = tools?.map((tool) => (tool.includes(".") ? tool : tool.replace("__", ".")));
        const entry = { name, createdAt, scopes, tools: dotted, expiresAt, hash: hashOf(token) };
        return [...tokens, entry];
      });
      return token;
    },
    revoke: (name) =>
      change((tokens) => {
        if (!tokens.some((known) => known.name === name))
          throw new HallError("NOT_FOUND", `unknown token "${name}"`, {
            next: [{ do: "run-command", command: "token list" }],
          });
        return tokens.filter((known) => known.name !== name);
      }),
    async share(name) {
      await change((tokens) =>
        tokens.map((token) => (token.name === name ? { ...token, isShared: true } : token)),
      );
      const shared = current().find((token) => token.name === name);
      return shared ? JSON.stringify(entryOf(shared)) : "";
    },
    async adopt(name, entry) {
      const known = current().find((token) => token.name === name);
      const [adopted] = entry === undefined ? [] : parse(`{"${name}":${entry}}`);
      if (adopted ? known?.hash.equals(adopted.hash) : !known) return;
      await change((tokens) => [
        ...tokens.filter((token) => token.name !== name),
        ...(adopted ? [adopted] : []),
      ]);
    },
  };
}

/** The caller that a named token stands for. */
export function identityOf({ name, scopes, tools }: NamedToken): Identity {
  return {
    principal: name,
    person: { user: name, groups: [], token: name },
    rights: { scopes, tools },
  };
}

/** A token is 32 random bytes, so a salt or a slow hash would add nothing. */
function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** A damaged file grants no access. */
function parse(text: string): readonly Kept[] {
  try {
    const value: unknown = JSON.parse(text);
    return Object.entries(isObject(value) ? value : {}).flatMap(([name, entry]) => {
      if (
        !isObject(entry) ||
        typeof entry.hash !== "string" ||
        typeof entry.createdAt !== "number" ||
        reserved.has(name.toLowerCase())
      )
        return [];
      const hash = Buffer.from(entry.hash, "base64url");
      const { createdAt, expiresAt, tools } = entry;
      const isShared = entry.isShared === true || undefined;
      // Tokens of 0.1 have no scopes and keep all rights. An unreadable limit is not dropped.
      const scopes = entry.scopes === undefined ? ["admin"] : entry.scopes;
      const isReadable =
        hash.length === 32 &&
        isList(scopes) &&
        (tools === undefined || isList(tools)) &&
        (expiresAt === undefined || typeof expiresAt === "number");
      return isReadable ? [{ name, createdAt, scopes, tools, expiresAt, hash, isShared }] : [];
    });
  } catch {
    // Every named token is invalid until the file is repaired.
    return [];
  }
}

const tokenCharactersMin = 16;

/** A token that the user chose. Throws if the file cannot be read or the token is too short. */
export async function readTokenFile(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new HallError("NOT_FOUND", `cannot read the token file ${file} (${cause.code})`, {
      cause,
      hint: "Check the path given with --token-file.",
    });
  });
  const token = text.trim();
  if (token.length >= tokenCharactersMin && !/\s/.test(token)) return token;
  throw new HallError(
    "DENIED",
    `the token in ${file} must be one word of at least ${tokenCharactersMin} characters`,
    {
      hint: "Create one with: openssl rand -hex 32",
    },
  );
}

/** True if other users can read the file. Only a warning, because mounted secrets often are readable. */
export async function isOpenToOthers(file: string): Promise<boolean> {
  const { mode } = await stat(file);
  return (mode & 0o077) !== 0;
}

/** The user's own token, created at the first start in a private file. */
export async function loadOwnToken(folder: string = dataFolder()): Promise<string> {
  const file = join(folder, "token");
  const known = await readFile(file, "utf8").catch(() => "");
  if (known.trim() !== "") return known.trim();
  const token = randomBytes(32).toString("base64url");
  if (await placePrivate(file, `${token}\n`)) return token;
  // Another hall has just created it, or the file is empty.
  const other = (await readFile(file, "utf8")).trim();
  if (other !== "") return other;
  await replacePrivate(file, `${token}\n`);
  return token;
}
