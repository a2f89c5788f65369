import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { dataFolder } from "../base/data-folder.ts";
import { HallError } from "../base/errors.ts";
import { withFileLock } from "../base/file-lock.ts";
import { hashOf } from "../base/hash.ts";
import { isObject } from "../base/json.ts";
import { placePrivate, replacePrivate } from "../base/private-file.ts";

/**
 * What a person has said about a project on this machine: which servers may be started, which tools were reviewed, which are
 * trusted. It lies in the user's data folder, never in the project, and is signed with a key of that folder: a cloned repository brings no
 * trust, and a file that somebody else has written counts as none.
 */
export interface Ledger {
  /** The newest contents. Never throws: what cannot be used is reported and counts as nothing. */
  read(): Promise<Entries>;
  /** Reads, changes and writes as one step, one process at a time. */
  change(edit: (entries: Entries) => Entries): Promise<Entries>;
  readonly file: string;
  /** What only this user's halls of this project can make, for what they keep elsewhere. */
  sign(text: string): Promise<string>;
}

export interface Entries {
  /** By the server's name. */
  readonly servers: Readonly<Record<string, Review>>;
  /** By toolkit and tool, `github.create_issue`, whatever prefix the config gives it. */
  readonly grants: Readonly<Record<string, Grant>>;
  /** Hash of the config's module patterns that may be loaded. */
  readonly modules?: string | undefined;
  /** Hash of the server the terminal client may start or speak to because the project's config says so. */
  readonly client?: string | undefined;
}

export interface Review {
  /** How the server is reached: a changed command is another server. */
  readonly source: string;
  /** The same as a person reads it, without values of variables and headers. */
  readonly reached: string;
  readonly reviewedAt: number;
  /** By the tool's own name. */
  readonly tools: Readonly<Record<string, ReviewedTool>>;
}

export interface ReviewedTool {
  readonly pin: string;
  readonly isDestructive: boolean;
  /** What was read when it was reviewed, to show what has changed. */
  readonly definition: unknown;
}

export interface Grant {
  readonly grantedAt: number;
  /** Milliseconds since 1970; without it the grant holds until it is revoked. */
  readonly until?: number | undefined;
  /** It holds for what the tool was then. */
  readonly pin: string;
}

export const noEntries: Entries = { servers: {}, grants: {} };

/** Trusts tools as they are now, until a time or until revoked. */
export function grantTools(
  ledger: Ledger,
  tools: readonly { readonly key: string; readonly pin: string }[],
  { until, now = Date.now }: { readonly until?: number | undefined; readonly now?: () => number },
): Promise<Entries> {
  const grantedAt = now();
  const granted = tools.map(({ key, pin }): [string, Grant] => [key, { grantedAt, until, pin }]);
  return ledger.change((entries) => ({
    ...entries,
    grants: { ...entries.grants, ...Object.fromEntries(granted) },
  }));
}

const lockMsMax = 10_000;

export interface LedgerOptions {
  /** Default: the user's data folder. */
  readonly folder?: string;
  warn(message: string): void;
}

export function openLedger(
  project: string,
  { folder = join(dataFolder(), "trust"), warn }: LedgerOptions,
): Ledger {
  const file = join(
    folder,
    `${createHash("sha256").update(project).digest("hex").slice(0, 32)}.json`,
  );

  async function read(): Promise<Entries> {
    const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT")
        warn(`${file} cannot be read (${error.code}): nothing is trusted`);
      return "";
    });
    if (text === "") return noEntries;
    const entries = parse(text, await readKey(folder), project);
    if (!entries)
      warn(
        `${file} is not signed by this user's key or damaged: nothing is trusted; run \`guildhall verify\``,
      );
    return entries ?? noEntries;
  }

  return {
    file,
    read,
    async sign(text) {
      return sign([project, text], (await readKey(folder)) ?? (await makeKey(folder)));
    },
    change: (edit) =>
      withFileLock(`${file}.lock`, lockMsMax, async () => {
        const key = (await readKey(folder)) ?? (await makeKey(folder));
        const entries = edit(await read());
        const body = { project, ...entries };
        await replacePrivate(
          file,
          `${JSON.stringify({ ...body, signature: sign(body, key) }, null, 2)}\n`,
        );
        return entries;
      }),
  };
}

/** Undefined for what is not ours: no key, no signature, another project's file under this name. */
function parse(text: string, key: Buffer | undefined, project: string): Entries | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!key || !isObject(value) || typeof value.signature !== "string") return undefined;
    const { signature, ...body } = value;
    const [ours, theirs] = [Buffer.from(sign(body, key)), Buffer.from(signature)];
    if (ours.length !== theirs.length || !timingSafeEqual(ours, theirs) || body.project !== project)
      return undefined;
    const { servers, grants, modules, client } = body;
    return isObject(servers) && isObject(grants)
      ? ({ servers, grants, modules, client } as unknown as Entries)
      : undefined;
  } catch {
    // Not JSON: said by the caller.
    return undefined;
  }
}

function sign(body: unknown, key: Buffer): string {
  return createHmac("sha256", key).update(hashOf(body)).digest("base64url");
}

async function readKey(folder: string): Promise<Buffer | undefined> {
  const key = await readFile(join(folder, "key")).catch(() => undefined);
  return key && key.length >= 32 ? key : undefined;
}

/** Projects share the key, and may want their first one at the same moment: whoever was first is right. */
async function makeKey(folder: string): Promise<Buffer> {
  await placePrivate(join(folder, "key"), randomBytes(32));
  const key = await readKey(folder);
  if (!key) throw new HallError("INTERNAL", `the key in ${folder} cannot be used`);
  return key;
}
