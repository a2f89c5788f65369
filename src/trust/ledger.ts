import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { existsSync, readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../base/errors.ts";
import { dataFolder, replacePrivate, withFileLock } from "../base/files.ts";
import { hashOf, isObject } from "../base/json.ts";
import { type BootTime, bootTime } from "../base/timing.ts";
import { loadUserKey, readOwnFile, readUserKey } from "../base/user-key.ts";

/**
 * A user's decisions about one project on this machine: the servers that may start, the reviewed
 * tools, the trusted tools. It is in the user's data folder, never in the project, and is signed with
 * a key from that folder: a cloned repository brings no trust, and a forged file counts as empty.
 */
export interface Ledger {
  /** The current contents. Never throws: an unusable file is reported and counts as empty. */
  read(): Promise<Entries>;
  /**
   * The contents if any process changed them since this was asked last. Else it costs one stat,
   * which every call can afford.
   */
  readIfChanged(): Entries | undefined;
  /** Reads, edits and writes under a lock shared by all processes. */
  change(edit: (entries: Entries) => Entries): Promise<Entries>;
  readonly file: string;
  /** A signature that only this user's halls of this project can make, for data kept elsewhere. */
  sign(text: string): Promise<string>;
}

export interface Entries {
  /** By the server's name. */
  readonly servers: Readonly<Record<string, Review>>;
  /** By toolkit id and tool name (`github.create_issue`), independent of the configured prefix. */
  readonly grants: Readonly<Record<string, Grant>>;
  /**
   * A time that has passed: at the last grant, or when a hall closed. An earlier one means that the
   * clock was set back.
   */
  readonly seenAt?: number | undefined;
  /** Grows with each change that several halls share. */
  readonly revision?: number | undefined;
  /** How often something was taken back. Halls then also forget what they trust while they run. */
  readonly revocations?: number | undefined;
  /** The approved toolkit modules, by their path in the project, each with a digest of its contents. */
  readonly modules?: Readonly<Record<string, string>> | undefined;
  /** How their process runs; undefined in approvals by versions without sandboxes. */
  readonly moduleSandbox?: ReviewedSandbox | undefined;
  /** Hashes of the project's texts that models may read, by name. */
  readonly texts?: Readonly<Record<string, string>> | undefined;
  /** Hash of the approved server that the project's config names for the terminal client. */
  readonly client?: string | undefined;
}

export interface Review {
  /** Hash of the command or URL: a server with another command is a different server. */
  readonly source: string;
  /** The command or URL for display, without values of variables and headers. */
  readonly reached: string;
  readonly reviewedAt: number;
  /** The registry's digest of the package that starts it, where the command names an exact version. */
  readonly integrity?: string | undefined;
  /** Equal for the same server in another folder; undefined if a review counts in its own folder only. */
  readonly identity?: string | undefined;
  /** Signatures of the values that `reached` hides, by the name of the variable, header or option. */
  readonly hidden?: Readonly<Record<string, string>> | undefined;
  /** The limits that the user's config eased for it at that time, in words. */
  readonly eased?: string | undefined;
  /** How it runs; undefined in reviews by versions without sandboxes. */
  readonly sandbox?: ReviewedSandbox | undefined;
  /** By the tool's own name. */
  readonly tools: Readonly<Record<string, ReviewedTool>>;
  /** By name, URI and URI template. Reviews by version 0.1 have none of these. */
  readonly prompts?: Readonly<Record<string, Reviewed>> | undefined;
  readonly resources?: Readonly<Record<string, Reviewed>> | undefined;
  readonly templates?: Readonly<Record<string, Reviewed>> | undefined;
}

/** In a sandbox, with what a person has allowed beyond the config; or without one, and why. */
export type ReviewedSandbox =
  | { readonly kind: "on"; readonly learned: SandboxRights }
  | { readonly kind: "off"; readonly reason: string };

/** Files and folders, with their whole paths, and hosts. */
export interface SandboxRights {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly hosts: readonly string[];
}

/** A definition as a person approved it. */
export interface Reviewed {
  readonly pin: string;
  /** To show later changes. */
  readonly definition: unknown;
}

export interface ReviewedTool extends Reviewed {
  readonly isDestructive: boolean;
}

export interface Grant {
  readonly grantedAt: number;
  /** Expiry in milliseconds since 1970; without it the grant is valid until revoked. */
  readonly until?: number | undefined;
  /** The same on the clock that is never set, which counts until the machine is started again. */
  readonly untilBoot?: BootTime | undefined;
  /** The grant covers this definition only. */
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
  const { boot, ms } = bootTime();
  const untilBoot = until === undefined ? undefined : { boot, ms: ms + until - grantedAt };
  const grant = { grantedAt, until, untilBoot };
  const granted = tools.map(({ key, pin }): [string, Grant] => [key, { ...grant, pin }]);
  return ledger.change((entries) => ({
    ...entries,
    grants: { ...entries.grants, ...Object.fromEntries(granted) },
    seenAt: grantedAt,
  }));
}

/** Notes the time if a grant depends on it. */
export async function noteTime(ledger: Ledger, now: number): Promise<void> {
  const { grants, seenAt = 0 } = await ledger.read();
  if (seenAt < now && Object.values(grants).some(({ until = 0 }) => until > seenAt))
    await ledger.change((entries) => ({ ...entries, seenAt: now }));
}

/** If the power fails and the clock is set back, a limited grant may last this much longer. */
const noteMs = 60_000;

/** Notes the time while a hall runs, and at its end. Failures are reported. */
export function keepTime(
  ledger: Ledger,
  {
    now = Date.now,
    failed,
  }: { readonly now?: (() => number) | undefined; failed(err: unknown): void },
): { close(): Promise<void> } {
  const note = (): Promise<void> => noteTime(ledger, now()).catch(failed);
  const timer = setInterval(note, noteMs).unref();
  return {
    close() {
      clearInterval(timer);
      return note();
    },
  };
}

/** False once its time is over, even if the clock was set back since. */
export function isInForce(
  { until, untilBoot }: Grant,
  { seenAt = 0 }: Entries,
  now: number,
): boolean {
  if (until === undefined) return true;
  const { boot, ms } = bootTime();
  return Math.max(now, seenAt) < until && (untilBoot?.boot !== boot || ms < untilBoot.ms);
}

const lockMsMax = 10_000;

export interface LedgerOptions {
  /** Default: the user's data folder. */
  readonly folder?: string;
  warn(message: string): void;
}

function fileOf(project: string): string {
  return `${createHash("sha256").update(project).digest("hex").slice(0, 32)}.json`;
}

/** The decisions about all projects of this user, by the project's folder. Files that do not count are left out. */
export function readAllLedgers(
  folder: string = join(dataFolder(), "trust"),
): ReadonlyMap<string, { readonly file: string; readonly entries: Entries }> {
  const found = new Map<string, { readonly file: string; readonly entries: Entries }>();
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    try {
      const text = readOwnFile(join(folder, name))?.toString("utf8") ?? "";
      const { project } = JSON.parse(text);
      const entries =
        fileOf(project) === name ? parse(text, readUserKey(folder), project) : undefined;
      if (entries) found.set(project, { file: join(folder, name), entries });
    } catch {
      // The key, a lock, or a file that its own project reports.
    }
  }
  return found;
}

export function openLedger(
  project: string,
  { folder = join(dataFolder(), "trust"), warn }: LedgerOptions,
): Ledger {
  const file = join(folder, fileOf(project));

  let seen: Stats | undefined;

  function readText(): string {
    try {
      return readOwnFile(file)?.toString("utf8") ?? "";
    } catch (error) {
      warn(`cannot read "${file}" (${messageOf(error)}): all trust is ignored`);
      return "";
    }
  }

  function readKey(): Buffer | undefined {
    try {
      return readUserKey(folder);
    } catch {
      // Ignore a ledger that was signed with another key.
      return undefined;
    }
  }

  function readNow(): Entries {
    const text = readText();
    if (text === "") return noEntries;
    const entries = parse(text, readKey(), project);
    if (!entries)
      warn(
        `"${file}" is damaged or not signed with this user's key: all trust is ignored; run \`guildhall verify\``,
      );
    return entries ?? noEntries;
  }

  return {
    file,
    read: async () => readNow(),
    readIfChanged() {
      const now = statSync(file, { throwIfNoEntry: false });
      // Every change replaces the file.
      if (now?.ino === seen?.ino && now?.mtimeMs === seen?.mtimeMs && now?.size === seen?.size)
        return undefined;
      seen = now;
      return readNow();
    },
    async sign(text) {
      return sign([project, text], await loadUserKey(folder));
    },
    change: (edit) =>
      withFileLock(`${file}.lock`, lockMsMax, async () => {
        const key = await loadUserKey(folder);
        const entries = edit(readNow());
        const body = { project, ...entries };
        await replacePrivate(
          file,
          `${JSON.stringify({ ...body, signature: sign(body, key) }, null, 2)}\n`,
        );
        return entries;
      }),
  };
}

/** Undefined without a key, without a valid signature, or for the file of another project. */
function parse(text: string, key: Buffer | undefined, project: string): Entries | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!key || !isObject(value) || typeof value.signature !== "string") return undefined;
    const { signature, ...body } = value;
    const [ours, theirs] = [Buffer.from(sign(body, key)), Buffer.from(signature)];
    if (ours.length !== theirs.length || !timingSafeEqual(ours, theirs) || body.project !== project)
      return undefined;
    const { servers, grants, seenAt, revision, revocations, texts, client } = body;
    const { modules, moduleSandbox } = body;
    // Older versions kept a hash of the patterns, which says nothing of the files.
    const files = isObject(modules) ? modules : undefined;
    return isObject(servers) && isObject(grants)
      ? ({
          servers,
          grants,
          seenAt,
          revision,
          revocations,
          modules: files,
          moduleSandbox,
          texts,
          client,
        } as unknown as Entries)
      : undefined;
  } catch {
    // Not JSON: the caller reports it.
    return undefined;
  }
}

function sign(body: unknown, key: Buffer): string {
  return createHmac("sha256", key).update(hashOf(body)).digest("base64url");
}
