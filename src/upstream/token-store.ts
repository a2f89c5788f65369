import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/client";
import { dataFolder, withFileLock } from "../base/files.ts";
import { isObject } from "../base/json.ts";
import { openSealedFiles, type SealedFiles } from "../base/secret-store.ts";

/**
 * The logins for one remote server: an encrypted file in the user's data folder, or a row that
 * several halls share. Its id is the URL, not the name, so that a config cannot use a known name to
 * get tokens for another URL.
 */
export interface TokenStore {
  /** Empty without a login. */
  read(): Promise<Logins>;
  /** Replaces the file as a whole. */
  write(logins: Logins): Promise<void>;
  /** Removes everything. True if there was a login. */
  clear(): Promise<boolean>;
  /** Lock for renewals across processes: a refresh token often works only once. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
}

export interface Logins {
  /** By issuer: credentials of one are never sent to another. */
  readonly accounts: Readonly<Record<string, Account>>;
  /** The issuer whose tokens are in use. */
  readonly issuer?: string | undefined;
  /** Scopes the server requires that were not granted yet; the next login requests them. */
  readonly wantedScope?: string | undefined;
}

export interface Account {
  /** Our client at this issuer. */
  readonly client: OAuthClientInformationMixed;
  readonly tokens?: OAuthTokens | undefined;
  /** The resource of the tokens (RFC 8707). */
  readonly resource?: string | undefined;
}

export interface TokenStoreOptions {
  readonly folder?: string | undefined;
  /** See `Person.user`. */
  readonly person?: string | undefined;
  /** Where it is kept if not in the folder. */
  readonly shared?: SharedLogins | undefined;
}

/** Logins that several halls share. All may throw UNAVAILABLE. */
export interface SharedLogins extends Pick<SealedFiles, "write" | "remove"> {
  read(id: string): Promise<string | undefined>;
  /** Runs work in one hall at a time. */
  exclusively<T>(id: string, work: () => Promise<T>): Promise<T>;
}

/** The id of a login; `loginOf` reads it. */
function idOf(place: string): string {
  return `login ${place}`;
}

/** The server and the person of an id. */
export function loginOf(id: string): { readonly url: string; readonly person?: string } {
  const [url = "", person] = id.slice(idOf("").length).split("\n");
  return person === undefined ? { url } : { url, person };
}

const noLogins: Logins = { accounts: {} };
const lockMsMax = 120_000;

/** The logins of the hall's user, or of a person with a login of their own. */
export function createTokenStore(
  url: string,
  { folder = join(dataFolder(), "tokens"), person, shared }: TokenStoreOptions = {},
): TokenStore {
  // A URL has no line break, so no URL is another one with a person.
  const place = person === undefined ? url : `${url}\n${person}`;
  const id = idOf(place);
  if (shared) return createSharedStore(shared, id, place);
  const files = openSealedFiles(folder);
  const digest = createHash("sha256").update(place).digest("hex");
  // Version 0.1 did not encrypt it.
  const plain = join(folder, `${digest.slice(0, 32)}.json`);

  return {
    async read() {
      const text = readSealed(files, id) ?? (await readFile(plain, "utf8").catch(() => ""));
      return text === "" ? noLogins : parse(text, place);
    },
    async write(logins) {
      await files.write(id, JSON.stringify({ url: place, ...logins }));
      await rm(plain, { force: true });
    },
    async clear() {
      const wasPlain = await rm(plain).then(
        () => true,
        () => false,
      );
      return (await files.remove(id)) || wasPlain;
    },
    exclusively: (work) => withFileLock(`${plain}.lock`, lockMsMax, work),
  };
}

/** The people with a login of their own to the server, of those on this machine. */
export function listPeople(url: string, folder = join(dataFolder(), "tokens")): readonly string[] {
  const places = openSealedFiles(folder)
    .list((text) => idOf(placeIn(text)))
    .map((text) => loginOf(idOf(placeIn(text))));
  return places.flatMap(({ url: of, person }) => (of === url ? (person ?? []) : []));
}

function placeIn(text: string): string {
  try {
    return String(JSON.parse(text).url);
  } catch {
    return "";
  }
}

function createSharedStore(shared: SharedLogins, id: string, place: string): TokenStore {
  return {
    async read() {
      const text = await shared.read(id);
      return text === undefined ? noLogins : parse(text, place);
    },
    write: (logins) => shared.write(id, JSON.stringify({ url: place, ...logins })),
    clear: () => shared.remove(id),
    exclusively: (work) => shared.exclusively(id, work),
  };
}

/** A file that was changed counts as none: a login replaces it. */
function readSealed(files: SealedFiles, id: string): string | undefined {
  try {
    return files.read(id);
  } catch {
    return undefined;
  }
}

function parse(text: string, url: string): Logins {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value) && value.url === url && isObject(value.accounts))
      return value as unknown as Logins;
  } catch {
    // A damaged file counts as empty; the next login replaces it.
  }
  return noLogins;
}
