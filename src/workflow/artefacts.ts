import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, realpath, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { HallError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { mergeTexts } from "../base/three-way.ts";
import { checkInside, type Place } from "./place.ts";

/** A document as a step would write it, from the feature's folder on. */
export interface Draft {
  readonly path: string;
  readonly text: string;
}

export interface Written {
  readonly path: string;
  readonly change: "created" | "updated" | "merged" | "replaced" | "unchanged";
}

export interface WriteOptions {
  readonly place: Place;
  readonly memory: ArtefactMemory;
  /** Replaces what was edited by hand and cannot be merged. */
  readonly force: boolean;
  /** Texts that nobody has written anything into yet, such as a template that was copied. */
  readonly blanks?: readonly string[];
}

/** What the workflow wrote the last time, by file: what a file has beyond that was written by a person, and stays. */
export interface ArtefactMemory {
  read(): Promise<Readonly<Record<string, string>>>;
  write(texts: Readonly<Record<string, string>>): Promise<void>;
}

/** Writes all of them, or none when one of them was edited in a way that cannot be merged. */
export async function writeArtefacts(
  drafts: readonly Draft[],
  { place, memory, force, blanks = [] }: WriteOptions,
): Promise<readonly Written[]> {
  const remembered = await memory.read();
  const plans = await Promise.all(
    drafts.map(async (draft) => {
      const file = join(place.path, draft.path);
      const mine = await readInside(place, file);
      return {
        ...draft,
        file,
        ...resolveText(mine, { base: remembered[draft.path], next: draft.text, force, blanks }),
      };
    }),
  );
  const conflicts = plans.flatMap(({ path, conflict }) =>
    conflict === undefined ? [] : [`${path}: ${conflict}`],
  );
  if (conflicts.length > 0) {
    throw new HallError(
      "EXECUTION",
      `edited by hand, so nothing was written: ${conflicts.join("; ")}`,
      {
        hint: "Take the edits over by hand, or call again with force: true to replace the files.",
        details: { conflicts },
      },
    );
  }
  for (const { file, after, change } of plans) {
    if (change === "unchanged") continue;
    await checkInside(place, file);
    await replaceFile(file, after);
  }
  await memory.write({
    ...remembered,
    ...Object.fromEntries(drafts.map(({ path, text }) => [path, text])),
  });
  return plans.map(({ path, change }) => ({ path, change }));
}

interface Resolved {
  readonly after: string;
  readonly change: Written["change"];
  readonly conflict?: string;
}

interface Versions {
  /** What we wrote the last time. */
  readonly base: string | undefined;
  readonly next: string;
  readonly force: boolean;
  readonly blanks: readonly string[];
}

/** Three versions: what we wrote, what is there, what we would write. */
function resolveText(mine: string | undefined, { base, next, force, blanks }: Versions): Resolved {
  if (mine === undefined) return { after: next, change: "created" };
  const plain = mine.replaceAll("\r\n", "\n");
  const back = (text: string): string => (mine === plain ? text : text.replaceAll("\n", "\r\n"));
  if (plain === next) return { after: mine, change: "unchanged" };
  if (plain === base || plain.trim() === "" || blanks.includes(plain))
    return { after: back(next), change: "updated" };
  if (force) return { after: back(next), change: "replaced" };
  if (base === undefined)
    return { after: mine, change: "unchanged", conflict: "somebody else wrote it" };
  if (base === next) return { after: mine, change: "unchanged" };
  const { text, conflicts } = mergeTexts(base, plain, next);
  const [first] = conflicts;
  if (first)
    return {
      after: mine,
      change: "unchanged",
      conflict: `line ${first.line} was changed here and would be changed by this step`,
    };
  return { after: back(text), change: text === plain ? "unchanged" : "merged" };
}

const fileBytesMax = 2 * 1024 * 1024;

/** The text of a file, or undefined when there is none. A link in its place is not followed. */
export async function readInside(
  place: Pick<Place, "root">,
  file: string,
): Promise<string | undefined> {
  await checkInside(place, file);
  const handle = await open(
    file,
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  ).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (!handle) return undefined;
  try {
    const { size } = await handle.stat();
    if (size > fileBytesMax)
      throw new HallError(
        "TOO_LARGE",
        `${file} has ${size} bytes; at most ${fileBytesMax} are read`,
      );
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

/** Whole or not at all: a reader sees the old file or the new one, and a full disk leaves the old one. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const folder = dirname(file);
  await mkdir(folder, { recursive: true });
  const beside = join(
    await realpath(folder),
    `.${basename(file)}.${randomBytes(6).toString("hex")}`,
  );
  try {
    const handle = await open(beside, "wx", 0o666);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true });
    throw explainDisk(error, file);
  }
}

/** What a disk or a folder refuses, in words. */
export function explainDisk(error: unknown, file: string): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG") {
    return new HallError("EXECUTION", `there is no room on the disk for ${file}; it is as it was`, {
      cause: error,
      hint: "Make room, then run the step again.",
    });
  }
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
    return new HallError("EXECUTION", `${file} may not be written`, {
      cause: error,
      hint: "Change the folder's permissions, then run the step again.",
    });
  }
  return error;
}

/** Kept in the project's `.guildhall`, beside the files, so that another machine knows the same. */
export function openArtefactMemory(file: string): ArtefactMemory {
  return {
    async read() {
      const text = await readInside({ root: dirname(file) }, file).catch(() => undefined);
      try {
        const value: unknown = JSON.parse(text ?? "{}");
        const files = isObject(value) && isObject(value.files) ? value.files : {};
        return Object.fromEntries(
          Object.entries(files).filter(
            (entry): entry is [string, string] => typeof entry[1] === "string",
          ),
        );
      } catch {
        // Unreadable: then everything there counts as written by a person.
        return {};
      }
    },
    write: (files) => replaceFile(file, `${JSON.stringify({ version: 1, files }, null, 2)}\n`),
  };
}
