import { createHash, randomBytes } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/client";
import { dataFolder } from "../base/data-folder.ts";
import { HallError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";

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
const lockPollMs = 25;

export function createTokenStore(url: string, folder: string = join(dataFolder(), "tokens")): TokenStore {
  const file = join(folder, `${createHash("sha256").update(url).digest("hex").slice(0, 32)}.json`);
  const lock = `${file}.lock`;

  return {
    async read() {
      const text = await readFile(file, "utf8").catch(() => "");
      return text === "" ? noLogins : parse(text, url);
    },
    async write(logins) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const draft = `${file}.${randomBytes(6).toString("hex")}`;
      try {
        await writeFile(draft, `${JSON.stringify({ url, ...logins }, null, 2)}\n`, { mode: 0o600, flag: "wx" });
        await rename(draft, file);
      } finally {
        await rm(draft, { force: true });
      }
    },
    clear: () =>
      rm(file).then(
        () => true,
        () => false,
      ),
    async exclusively(work) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await takeLock(lock);
      try {
        return await work();
      } finally {
        await rm(lock, { force: true });
      }
    },
  };
}

function parse(text: string, url: string): Logins {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value) && value.url === url && isObject(value.accounts)) return value as unknown as Logins;
  } catch {
    // Not ours to repair: a login writes it anew.
  }
  return noLogins;
}

async function takeLock(lock: string): Promise<void> {
  const giveUpAt = performance.now() + lockMsMax;
  while (performance.now() < giveUpAt) {
    try {
      await writeFile(lock, String(process.pid), { mode: 0o600, flag: "wx" });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (await isAbandoned(lock)) await rm(lock, { force: true });
    else await sleep(lockPollMs);
  }
  throw new HallError("UNAVAILABLE", "another process has been renewing the token for too long");
}

/** Whoever died with it would hold it for ever. */
async function isAbandoned(lock: string): Promise<boolean> {
  try {
    const [holder, { mtimeMs }] = await Promise.all([readFile(lock, "utf8"), stat(lock)]);
    if (Date.now() - mtimeMs > lockMsMax) return true;
    if (holder !== "") process.kill(Number(holder), 0);
    return false;
  } catch (error) {
    // No such process; any other failure means that the lock has just been given back.
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
