import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { dataFolder } from "../../base/data-folder.ts";
import { HallError } from "../../base/errors.ts";
import { withFileLock } from "../../base/file-lock.ts";
import { isObject } from "../../base/json.ts";
import { placePrivate, replacePrivate } from "../../base/private-file.ts";

/**
 * Tokens a user has given to others by name, so that each can be told apart and taken back. Only their hashes are kept, readable by
 * nobody else. They open what the user's own token opens.
 */
export interface NamedTokens {
  /** Whose token this is. A token that was revoked a moment ago is nobody's. */
  find(token: string): string | undefined;
  list(): readonly NamedToken[];
  /** The token, which is not kept. Throws CONFLICT for a name that is taken. */
  create(name: string): Promise<string>;
  /** Throws NOT_FOUND. */
  revoke(name: string): Promise<void>;
}

export interface NamedToken {
  readonly name: string;
  readonly createdAt: number;
}

interface Kept extends NamedToken {
  readonly hash: Buffer;
}

const namePattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/;
/** What callers without a name are called. */
const reserved = new Set(["local", "token"]);

const lockMsMax = 10_000;

export function openNamedTokens(folder: string = dataFolder()): NamedTokens {
  const file = join(folder, "tokens.json");
  let kept: readonly Kept[] = [];
  let seen = "";

  /** Reads the file again when it is another: looking at it costs less than a request. */
  function current(): readonly Kept[] {
    const stat = statSync(file, { throwIfNoEntry: false });
    const stamp = stat ? `${stat.ino} ${stat.mtimeMs} ${stat.size}` : "";
    if (stamp !== seen) kept = stat ? parse(readFileSync(file, "utf8")) : [];
    seen = stamp;
    return kept;
  }

  function write(tokens: readonly Kept[]): Promise<void> {
    const entries = tokens.map(({ name, createdAt, hash }) => [
      name,
      { createdAt, hash: hash.toString("base64url") },
    ]);
    return replacePrivate(file, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
  }

  /** One change at a time: a token that is being revoked must not come back with another that is being made. */
  function change(edit: (tokens: readonly Kept[]) => readonly Kept[]): Promise<void> {
    return withFileLock(`${file}.lock`, lockMsMax, () => write(edit(current())));
  }

  return {
    find(token) {
      const hash = hashOf(token);
      return current().find((known) => timingSafeEqual(known.hash, hash))?.name;
    },
    list: () => current().map(({ name, createdAt }) => ({ name, createdAt })),
    async create(name) {
      if (!namePattern.test(name) || reserved.has(name.toLowerCase()))
        throw new HallError("INVALID_PARAMS", `"${name}" cannot be a token's name`, {
          hint: "Use 1 to 40 letters, digits, _, . and -, but not local or token.",
        });
      const token = randomBytes(32).toString("base64url");
      await change((tokens) => {
        if (tokens.some((known) => known.name === name))
          throw new HallError("CONFLICT", `there is already a token named ${name}`, {
            hint: `Take it back first: guildhall token revoke ${name}`,
          });
        return [...tokens, { name, createdAt: Date.now(), hash: hashOf(token) }];
      });
      return token;
    },
    revoke: (name) =>
      change((tokens) => {
        if (!tokens.some((known) => known.name === name))
          throw new HallError("NOT_FOUND", `there is no token named ${name}`, {
            hint: "See `guildhall token list`.",
          });
        return tokens.filter((known) => known.name !== name);
      }),
  };
}

/** A token has 32 random bytes: no salt or slow hash would make it harder to guess. */
function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** A file that cannot be read opens nothing. */
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
      return hash.length === 32 ? [{ name, createdAt: entry.createdAt, hash }] : [];
    });
  } catch {
    // Damaged: whoever holds a token is told that it is not valid.
    return [];
  }
}

const tokenCharactersMin = 16;

/** A token somebody chose on purpose. Throws when the file cannot be read or holds too little. */
export async function readTokenFile(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new HallError("NOT_FOUND", `the token file ${file} cannot be read (${cause.code})`, {
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
      hint: "Make one with: openssl rand -hex 32",
    },
  );
}

/** Whether others on this machine can read it, and so come in with it. Not refused: secrets that are mounted often look like this. */
export async function isOpenToOthers(file: string): Promise<boolean> {
  const { mode } = await stat(file);
  return (mode & 0o077) !== 0;
}

/** This user's own token, made at first start and readable by nobody else. */
export async function loadOwnToken(folder: string = dataFolder()): Promise<string> {
  const file = join(folder, "token");
  const known = await readFile(file, "utf8").catch(() => "");
  if (known.trim() !== "") return known.trim();
  const token = randomBytes(32).toString("base64url");
  if (await placePrivate(file, `${token}\n`)) return token;
  // Two halls started at once, and the other was faster; or the file is empty.
  const other = (await readFile(file, "utf8")).trim();
  if (other !== "") return other;
  await replacePrivate(file, `${token}\n`);
  return token;
}
