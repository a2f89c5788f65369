import { spawn } from "node:child_process";
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  type DecipherGCM,
  randomBytes,
} from "node:crypto";
import { readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { HallError, messageOf } from "./errors.ts";
import { dataFolder, makePrivateFolder, replacePrivate, withFileLock } from "./files.ts";
import { isObject, parseObject } from "./json.ts";
import { loadUserKey, readOwnFile, readUserKey } from "./user-key.ts";

/** A name and its owner: a project, or without one the user for all projects, or a person who calls the hall. */
export interface SecretKey {
  readonly name: string;
  /** The real path of the project's folder. */
  readonly project?: string | undefined;
  /** See `Person.user`: the value is for their calls only. */
  readonly person?: string | undefined;
}

export interface KeptSecret extends SecretKey {
  /** `database`: a person's, which several halls share. */
  readonly kept: "keyring" | "file" | "database";
  /** The keyring has an older value, too: it did not answer when this one was stored. */
  readonly isOldInKeyring?: true | undefined;
  /** Milliseconds since 1970. */
  readonly changedAt: number;
}

type ReadSecret = SecretKey & ({ readonly value: string } | { readonly problem: string });

/**
 * The user's secrets: in the system keyring if there is one that works, else in encrypted files. An index has the names
 * and where each is kept, no values; it is replaced with every change, so that halls can watch it.
 */
export interface SecretStore {
  /** The file to watch. */
  readonly index: string;
  /** Throws DENIED if the index is not this user's alone. */
  list(): readonly KeptSecret[];
  /** A secret that cannot be read has the reason instead of its value. */
  read(wanted: readonly KeptSecret[]): Promise<readonly ReadSecret[]>;
  set(key: SecretKey, value: string): Promise<KeptSecret["kept"]>;
  /**
   * False if there is no such secret. Throws UNAVAILABLE if the keyring could not delete the value; the call
   * can be repeated.
   */
  remove(key: SecretKey): Promise<boolean>;
}

export const secretNamePattern = /^[A-Za-z_]\w{0,99}$/;
export const secretCharactersMax = 64 * 1024;

const lockMsMax = 20_000;

export function secretFolder(env: NodeJS.ProcessEnv = process.env): string {
  return join(dataFolder(env), "secrets");
}

export function openSecretStore(
  folder: string = secretFolder(),
  keyring: Keyring = systemKeyring,
): SecretStore {
  const index = join(folder, "index.json");
  const files = openSealedFiles(folder);

  function list(): readonly KeptSecret[] {
    const bytes = readOwnFile(index);
    return bytes ? parseIndex(bytes.toString("utf8"), index) : [];
  }

  async function change<T>(edit: () => Promise<T>): Promise<T> {
    makePrivateFolder(folder);
    return withFileLock(`${index}.lock`, lockMsMax, edit);
  }

  function writeIndex(secrets: readonly KeptSecret[]): Promise<void> {
    return replacePrivate(index, `${JSON.stringify({ secrets }, null, 2)}\n`);
  }

  let hasKeyring = true;

  async function keep(id: string, value: string): Promise<KeptSecret["kept"]> {
    // If there is no keyring, or it is locked or too small, stop asking it: each attempt takes time.
    hasKeyring &&= await keyring.write(id, value).then(
      () => true,
      () => false,
    );
    if (hasKeyring) await files.remove(id);
    else await files.write(id, value);
    return hasKeyring ? "keyring" : "file";
  }

  function clearKeyring(key: SecretKey): Promise<boolean> {
    return keyring.remove(idOf(key)).then(
      () => true,
      () => false,
    );
  }

  return {
    index,
    list,
    async read(wanted) {
      const inKeyring = wanted.filter(({ kept }) => kept === "keyring");
      const answers = await readKeyring(keyring, inKeyring.map(idOf));
      return wanted.map(({ name, project, person, kept }): ReadSecret => {
        const key = { name, project, person };
        const at = inKeyring.findIndex((each) => isSame(each, key));
        try {
          const value = kept === "file" ? files.read(idOf(key)) : answers(at);
          if (value === undefined) return { ...key, problem: "it was removed" };
          return { ...key, value };
        } catch (error) {
          return { ...key, problem: messageOf(error) };
        }
      });
    },
    set: (key, value) =>
      change(async () => {
        const before = list().find((each) => isSame(each, key));
        const others = list().filter((each) => !isSame(each, key));
        const kept = await keep(idOf(key), value);
        const isOld = kept === "file" && isInKeyring(before) && !(await clearKeyring(key));
        const old = isOld ? ({ isOldInKeyring: true } as const) : {};
        await writeIndex([...others, { ...key, kept, ...old, changedAt: Date.now() }]);
        return kept;
      }),
    remove: (key) =>
      change(async () => {
        const secrets = list();
        const found = secrets.find((each) => isSame(each, key));
        if (!found) return false;
        await files.remove(idOf(key));
        if (isInKeyring(found) && !(await clearKeyring(key)))
          throw new HallError(
            "UNAVAILABLE",
            `a value of ${key.name} is still in the system keyring, which did not answer`,
            { hint: "Unlock the keyring, then remove the secret again." },
          );
        await writeIndex(secrets.filter((each) => each !== found));
        return true;
      }),
  };
}

/** The answer of each account in order, or the failure of all. */
async function readKeyring(
  keyring: Keyring,
  accounts: readonly string[],
): Promise<(at: number) => string | undefined> {
  if (accounts.length === 0) return () => undefined;
  try {
    const values = await keyring.read(accounts);
    return (at) => values[at];
  } catch (cause) {
    return () => {
      throw new HallError("UNAVAILABLE", messageOf(cause), { cause });
    };
  }
}

function isInKeyring(secret: KeptSecret | undefined): boolean {
  return secret?.kept === "keyring" || secret?.isOldInKeyring === true;
}

/** A person's id has a line break before it, which no name of a secret has. */
function idOf({ name, project, person }: SecretKey): string {
  const id = project === undefined ? `user ${name}` : `project ${project} ${name}`;
  return person === undefined ? id : `${id}\n${person}`;
}

function isSame(a: SecretKey, b: SecretKey): boolean {
  return a.name === b.name && a.project === b.project && a.person === b.person;
}

function parseIndex(text: string, file: string): readonly KeptSecret[] {
  const { secrets } = parseObject(text) ?? {};
  if (Array.isArray(secrets) && secrets.every(isKept)) return secrets;
  throw new HallError("DENIED", `"${file}" is damaged`, {
    hint: "Remove it, then store your secrets again.",
  });
}

function isKept(value: unknown): value is KeptSecret {
  return (
    isObject(value) &&
    typeof value.name === "string" &&
    (value.project === undefined || typeof value.project === "string") &&
    (value.person === undefined || typeof value.person === "string") &&
    (value.kept === "keyring" || value.kept === "file") &&
    typeof value.changedAt === "number"
  );
}

/** The system's keyring: Secret Service on Linux, Keychain on macOS, Credential Manager on Windows. */
export interface Keyring {
  /** In the order of the accounts; undefined for those it does not have. Throws if it does not answer. */
  read(accounts: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** Reads the value back before it counts as kept. Throws. */
  write(account: string, value: string): Promise<void>;
  /** Throws. */
  remove(account: string): Promise<void>;
}

export const systemKeyring: Keyring = {
  read: (accounts) => ask(accounts.map((account) => ({ account }))),
  async write(account, value) {
    const [, kept] = await ask([{ account, value }, { account }]);
    if (kept !== value) throw new Error("the system keyring did not keep the value");
  },
  async remove(account) {
    await ask([{ account, value: null }]);
  },
};

interface Request {
  readonly account: string;
  /** To write; null removes it. Without a value it is read. */
  readonly value?: string | null;
}

const answerMsMax = 3_000;

/**
 * Runs in a process of its own, because the library blocks its thread while it connects, and a keyring that asks for a
 * password never answers. On Linux the kernel's keyring is not used: it forgets everything at a restart.
 */
const script = `
let text = "";
process.stdin.on("data", (part) => { text += part; }).on("end", () => {
  const { library, requests } = JSON.parse(text);
  const { Entry } = require(library);
  const answers = requests.map(({ account, value }) => {
    const entry = new Entry("guildhall", account, { linux: { store: "secret-service" } });
    if (value === undefined) return entry.getPassword();
    if (value === null) entry.deleteCredential();
    else entry.setPassword(value);
    return null;
  });
  process.stdout.write(JSON.stringify({ answers }));
});
`;

/** Accounts and values pass through pipes: other users can see the arguments of a process. */
async function ask(requests: readonly Request[]): Promise<readonly (string | undefined)[]> {
  const library = createRequire(import.meta.url).resolve("@napi-rs/keyring");
  const child = spawn(process.execPath, ["-e", script], {
    stdio: ["pipe", "pipe", "ignore"],
    timeout: answerMsMax,
    killSignal: "SIGKILL",
  });
  const output = new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    child.once("error", reject);
    child.once("close", () => resolve(text));
  });
  // It may have ended before it read everything; its answer tells.
  child.stdin.on("error", () => {});
  child.stdin.end(JSON.stringify({ library, requests }));
  const text = await output;
  const answer: unknown = text === "" ? undefined : JSON.parse(text);
  if (!isObject(answer) || !Array.isArray(answer.answers))
    throw new Error("the system keyring did not answer");
  return answer.answers.map((value) => (typeof value === "string" ? value : undefined));
}

/**
 * Secrets on disk: one encrypted file each, in a folder that only this user can use, with the key beside them. The id
 * is authenticated too, so that a file cannot be put in the place of another.
 */
export interface SealedFiles {
  /** Undefined if there is none. Throws DENIED if the file was changed, or is not this user's alone. */
  read(id: string): string | undefined;
  write(id: string, text: string): Promise<void>;
  /** True if there was one. */
  remove(id: string): Promise<boolean>;
  /** All texts, by ids that they contain themselves. Leaves out what was not written under that id. */
  list(idIn: (text: string) => string): readonly string[];
}

const algorithm = "aes-256-gcm";
const ivBytes = 12;
const tagBytes = 16;
const version = 1;

export function openSealedFiles(folder: string): SealedFiles {
  const fileOf = (id: string): string =>
    join(folder, `${createHash("sha256").update(id).digest("hex").slice(0, 32)}.sealed`);

  return {
    read(id) {
      const file = fileOf(id);
      const bytes = readOwnFile(file);
      if (!bytes) return undefined;
      const key = readUserKey(folder);
      const text = key && unseal(bytes, key, id);
      if (text !== undefined) return text;
      throw new HallError("DENIED", `"${file}" cannot be decrypted: it or its key was changed`, {
        hint: "Store the secret again.",
      });
    },
    async write(id, text) {
      makePrivateFolder(folder);
      const key = await loadUserKey(folder);
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, key.subarray(0, 32), iv, {
        authTagLength: tagBytes,
      }).setAAD(Buffer.from(id));
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      await replacePrivate(
        fileOf(id),
        Buffer.concat([Buffer.of(version), iv, cipher.getAuthTag(), sealed]),
      );
    },
    remove: (id) =>
      rm(fileOf(id)).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === "ENOENT") return false;
          throw error;
        },
      ),
    list(idIn) {
      const key = readUserKey(folder);
      if (!key) return [];
      const names = readdirSync(folder).filter((name) => name.endsWith(".sealed"));
      return names.flatMap((name) => {
        const bytes = readOwnFile(join(folder, name));
        if (!bytes || bytes.length < start) return [];
        // The id is needed to authenticate the text, and the text has it.
        const unchecked = decipherOf(bytes, key).update(bytes.subarray(start), undefined, "utf8");
        return unseal(bytes, key, idIn(unchecked)) ?? [];
      });
    },
  };
}

/** Where the sealed text begins. */
const start = 1 + ivBytes + tagBytes;

function decipherOf(bytes: Buffer, key: Buffer): DecipherGCM {
  const iv = bytes.subarray(1, 1 + ivBytes);
  return createDecipheriv(algorithm, key.subarray(0, 32), iv, { authTagLength: tagBytes });
}

/** Undefined if it is not what was written under this id with this key. */
function unseal(bytes: Buffer, key: Buffer, id: string): string | undefined {
  if (bytes[0] !== version || bytes.length < start) return undefined;
  try {
    const decipher = decipherOf(bytes, key)
      .setAAD(Buffer.from(id))
      .setAuthTag(bytes.subarray(1 + ivBytes, start));
    return `${decipher.update(bytes.subarray(start), undefined, "utf8")}${decipher.final("utf8")}`;
  } catch {
    return undefined;
  }
}
