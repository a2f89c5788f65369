import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { dataFolder } from "../base/files.ts";
import { createRotatingFile, partsOf, type RotatingFile } from "../base/rotating-file.ts";
import type { Settings } from "./settings.ts";

/**
 * The stderr of servers and the reasons they ended, in the user's data folder: one file per server and
 * project, each line with its time. Halls and commands that start servers write to them, so that the
 * reason of a failed start is still there after the process that saw it.
 */
export interface ServerLogs {
  write(server: string, line: string): void;
  flush(): void;
}

export interface LogEntry {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly server: string;
  readonly text: string;
}

/** The logs of a project: `hall.log`, and `servers/NAME.log`. */
export async function logFolder(project: string): Promise<string> {
  const path = await realpath(project);
  const name = createHash("sha256").update(path).digest("hex").slice(0, 32);
  return join(dataFolder(), "logs", name);
}

export async function openServerLogs({
  folder,
  secrets,
  log,
}: Pick<Settings, "folder" | "secrets" | "log">): Promise<ServerLogs> {
  const logs = join(await logFolder(folder), "servers");
  const files = new Map<string, RotatingFile>();
  const failed = (err: unknown): void => log.warn({ err }, "cannot write the logs of servers");
  const open = (server: string): RotatingFile => {
    const file = createRotatingFile(join(logs, `${server}.log`), { hasOwnFolder: true, failed });
    files.set(server, file);
    return file;
  };
  return {
    write(server, line) {
      const file = files.get(server) ?? open(server);
      file.write(`${new Date().toISOString()} ${secrets.scrub(line.replace(/[\r\n]+/g, " "))}\n`);
    },
    flush() {
      for (const file of files.values()) file.flush();
    },
  };
}

export interface LogReader {
  /** The servers that have a log. */
  names(): readonly string[];
  /** The lines that were added since the last call, oldest first. */
  read(): readonly LogEntry[];
}

/** Reads the logs of one server, or of all. */
export async function readServerLogs(project: string, server?: string): Promise<LogReader> {
  const folder = join(await logFolder(project), "servers");
  const seen = new Map<string, { readonly state: string; readonly entries: LogEntry[] }>();
  const names = (): readonly string[] => listNames(folder);
  return {
    names,
    read: () =>
      names()
        .filter((name) => server === undefined || name === server)
        .flatMap((name) => {
          const file = join(folder, `${name}.log`);
          const before = seen.get(name);
          // Taken first: a line written meanwhile changes it.
          const state = stateOf(file);
          if (before?.state === state) return [];
          const entries = readEntries(file, name);
          seen.set(name, { state, entries });
          return entries.slice(countKnown(entries, before?.entries ?? []));
        })
        .sort((a, b) => a.at - b.at),
  };
}

function listNames(folder: string): readonly string[] {
  try {
    const files = readdirSync(folder).map((file) => /^(.+)\.log(?:\.1)?$/.exec(file)?.[1]);
    return [...new Set(files.filter((name) => name !== undefined))];
  } catch {
    // Nothing was ever started here.
    return [];
  }
}

/** Changes with every line that is written. */
function stateOf(file: string): string {
  const parts = partsOf(file).map((part) => statSync(part, { throwIfNoEntry: false }));
  return parts.map((part) => `${part?.size} ${part?.mtimeMs}`).join(" ");
}

function readEntries(file: string, server: string): LogEntry[] {
  return partsOf(file)
    .flatMap(readText)
    .flatMap((line) => {
      const [, time = "", text = ""] = /^(\S+) (.*)$/.exec(line) ?? [];
      const at = Date.parse(time);
      return Number.isNaN(at) ? [] : [{ at, server, text }];
    });
}

function readText(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch {
    // Not there yet, or just renamed.
    return [];
  }
}

/** How many of the entries were there before; a rotation may have removed the first ones. */
function countKnown(entries: readonly LogEntry[], before: readonly LogEntry[]): number {
  const last = before.at(-1);
  if (!last) return 0;
  const isLast = ({ at, text }: LogEntry): boolean => at === last.at && text === last.text;
  return entries.findLastIndex(isLast) + 1;
}
