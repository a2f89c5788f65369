import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { makeHarmless } from "../base/harmless.ts";
import type { Secrets } from "../base/log.ts";
import { makeOwnFolder, openOwnFile } from "../base/own-folder.ts";
import type { OutputLine } from "./output.ts";

/** A run in a file: all that its ring forgets, and failures in full. */
export interface RunLog {
  /** From the project's folder on. */
  readonly path: string;
  write(lines: readonly OutputLine[]): void;
  note(text: string): void;
  /** Resolves when all of it is in the file. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface RunLogOptions {
  readonly folder: string;
  readonly about: string;
  readonly tool: string;
  readonly secrets: Secrets;
  now(): Date;
}

const bytesMax = 64 * 1024 * 1024;
const nameCharactersMax = 60;

/** Undefined where it cannot be written: a full disk stops no work. */
export function openRunLog({
  folder,
  about,
  tool,
  secrets,
  now,
}: RunLogOptions): RunLog | undefined {
  const stamp = now().toISOString().replace(/[-:]/g, "").replace(/\..*/, "").replace("T", "-");
  const name = [about, tool].map(plain).filter(Boolean).join("-");
  const path = join(".guildhall", "logs", `tui-${name}-${stamp}-${process.pid}.log`);
  let bytes = 0;
  try {
    makeOwnFolder(folder, ".guildhall", "logs");
    const stream = createWriteStream(path, { fd: openOwnFile(join(folder, path)) });
    let isBroken = false;
    stream.on("error", () => {
      isBroken = true;
    });
    const put = (text: string): void => {
      if (isBroken || bytes > bytesMax) return;
      bytes += text.length;
      stream.write(bytes > bytesMax ? "… the log is full\n" : secrets.scrub(text));
    };
    return {
      path,
      write(lines) {
        const at = now().toISOString();
        put(lines.map(({ source, text }) => `${at} ${source.padEnd(8)} ${text}\n`).join(""));
      },
      note: (text) => put(`${now().toISOString()} ${makeHarmless(text).replace(/\n/g, "\n  ")}\n`),
      flush: () =>
        new Promise((resolve) => (isBroken ? resolve() : stream.write("", () => resolve()))),
      close: () => new Promise((resolve) => (isBroken ? resolve() : stream.end(() => resolve()))),
    };
  } catch {
    return undefined;
  }
}

/** The part of a name that every file system takes. */
function plain(text: string): string {
  return text
    .replace(/[^\w.-]+/g, "-")
    .replace(/^[-.]+|-+$/g, "")
    .slice(0, nameCharactersMax);
}
