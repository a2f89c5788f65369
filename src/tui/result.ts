import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { harmlessLines, linesMax, wordOf } from "../base/harmless.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { makeOwnFolder } from "../base/own-folder.ts";
import type { OutputLine } from "./output.ts";
import type { Picture } from "./picture.ts";

/** What a tool's result comes to on the screen; pictures and sounds become files. */
export interface ShownResult {
  readonly lines: readonly OutputLine[];
  /** Files that were written, from the project's folder on. */
  readonly saved: readonly string[];
}

export type PictureReader = (bytes: Uint8Array) => Promise<Picture | undefined>;

export async function showResult(
  result: JsonObject,
  folder: string,
  readPicture: PictureReader = readPictureLazily,
): Promise<ShownResult> {
  const lines: OutputLine[] = [...streamsOf(result)];
  const saved: string[] = [];
  // What a command wrote is told once, and apart; its text says the same in one piece.
  const parts =
    lines.length > 0 || !Array.isArray(result.content) ? [] : result.content.filter(isObject);
  for (const part of parts) {
    const source =
      isObject(part._meta) && part._meta.stream === "stderr"
        ? "err"
        : result.isError === true
          ? "err"
          : "out";
    const media = mediaOf(part);
    if (media) {
      const picture =
        lines.filter((line) => line.picture).length < picturesMax
          ? await readPicture(media.bytes)
          : undefined;
      const stored = await saveMedia(media, folder);
      if ("file" in stored) saved.push(stored.file);
      lines.push({
        source,
        text:
          "file" in stored
            ? `${media.kind} saved to ${stored.file}`
            : `${media.kind} could not be saved: ${stored.problem}`,
        picture,
      });
    } else
      for (const line of harmlessLines(writePart(part), Math.max(1, linesMax - lines.length)))
        lines.push({ source, text: line });
    if (lines.length > linesMax) break;
  }
  return { lines, saved };
}

/** Commands say what they wrote to which stream. */
function streamsOf({ structuredContent }: JsonObject): readonly OutputLine[] {
  if (!isObject(structuredContent)) return [];
  const { stdout, stderr } = structuredContent;
  if (typeof stdout !== "string" || typeof stderr !== "string") return [];
  const linesOf = (text: string, source: "out" | "err"): readonly OutputLine[] =>
    text.trim() === ""
      ? []
      : harmlessLines(text.replace(/\n$/, "")).map((line) => ({ source, text: line }));
  return [...linesOf(stdout, "out"), ...linesOf(stderr, "err")];
}

function writePart(part: JsonObject): string {
  if (typeof part.text === "string") return part.text;
  if (part.type === "resource_link")
    return `${wordOf(part.name, "resource")}: ${wordOf(part.uri, "no address")}`;
  if (part.type === "resource" && isObject(part.resource) && typeof part.resource.text === "string")
    return part.resource.text;
  return JSON.stringify(part, null, 2);
}

const kinds: ReadonlyMap<unknown, string> = new Map([
  ["image/png", "png"],
  ["image/jpeg", "jpg"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
  ["image/svg+xml", "svg"],
  ["audio/wav", "wav"],
  ["audio/mpeg", "mp3"],
]);

/** The rest are only saved. */
const picturesMax = 4;

interface Media {
  readonly kind: "image" | "audio" | "file";
  readonly mimeType: unknown;
  readonly bytes: Buffer;
}

/** Undefined for what is text. */
function mediaOf({ type, data, mimeType, resource }: JsonObject): Media | undefined {
  if ((type === "image" || type === "audio") && typeof data === "string")
    return { kind: type, mimeType, bytes: Buffer.from(data, "base64") };
  if (type !== "resource" || !isObject(resource) || typeof resource.blob !== "string")
    return undefined;
  const family =
    typeof resource.mimeType === "string" ? resource.mimeType.split("/")[0] : undefined;
  const kind = family === "image" || family === "audio" ? family : "file";
  return { kind, mimeType: resource.mimeType, bytes: Buffer.from(resource.blob, "base64") };
}

async function readPictureLazily(bytes: Uint8Array): Promise<Picture | undefined> {
  return (await import("./picture.ts")).readPicture(bytes);
}

/** A full disk makes no failure of what went well. */
async function saveMedia(
  { kind, mimeType, bytes }: Media,
  folder: string,
): Promise<{ readonly file: string } | { readonly problem: string }> {
  // The name is ours to choose: a server's would be a path.
  const path = join(
    ".guildhall",
    "saved",
    `${kind}-${randomBytes(4).toString("hex")}.${kinds.get(mimeType) ?? "bin"}`,
  );
  try {
    makeOwnFolder(folder, ".guildhall", "saved");
    await writeFile(join(folder, path), bytes, { flag: "wx", mode: 0o600 });
    return { file: path };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
