import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/client";
import { dataFolder } from "../base/data-folder.ts";
import { withFileLock } from "../base/file-lock.ts";
import { isObject } from "../base/json.ts";
import { replacePrivate } from "../base/private-file.ts";

/**
 * What logins left behind for one server elsewhere: a file in the user's data folder that nobody else can read. It is found by
 * the server's address, not by its name: a config that gives a known name to another address gets nothing.
 */
export interface TokenStore {
  /** What there is; nothing at all when nobody has logged in. */
  read(): Promise<Logins>;
  /** Replaces the file as a whole. */
  write(logins: Logins): Promise<void>;
  /** Forgets everything. True when there was something. */
  clear(): Promise<boolean>;
  /** Lets one process of this user at a time renew a token: a refresh token often works only once. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
}

export interface Logins {
  /** By issuer: what one of them gave is never shown to another. */
  readonly accounts: Readonly<Record<string, Account>>;
  /** The issuer whose tokens are in use. */
  readonly issuer?: string | undefined;
  /** Scopes the server asked for and nobody has granted yet; the next login asks for them. */
  readonly wantedScope?: string | undefined;
}

export interface Account {
  /** Who we are to this issuer. */
  readonly client: OAuthClientInformationMixed;
  readonly tokens?: OAuthTokens | undefined;
  /** What the tokens are for (RFC 8707). */
  readonly resource?: string | undefined;
}

const noLogins: Logins = { accounts: {} };
const lockMsMax = 120_000;

export function createTokenStore(
  url: string,
  folder: string = join(dataFolder(), "tokens"),
): TokenStore {
  const file = join(folder, `${createHash("sha256").update(url).digest("hex").slice(0, 32)}.json`);
  return {
    async read() {
      const text = await readFile(file, "utf8").catch(() => "");
      return text === "" ? noLogins : parse(text, url);
    },
    write: (logins) => replacePrivate(file, `${JSON.stringify({ url, ...logins }, null, 2)}\n`),
    clear: () =>
      rm(file).then(
        () => true,
        () => false,
      ),
    exclusively: (work) => withFileLock(`${file}.lock`, lockMsMax, work),
  };
}

function parse(text: string, url: string): Logins {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value) && value.url === url && isObject(value.accounts))
      return value as unknown as Logins;
  } catch {
    // Not ours to repair: a login writes it anew.
  }
  return noLogins;
}
