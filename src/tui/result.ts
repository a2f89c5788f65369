import { randomBytes } from "node:crypto";
import { closeSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isForPeople, readAdvice } from "../base/advice.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { openProjectFile } from "../base/project-files.ts";
import { linesMax, sanitize, sanitizeLines, wordOf } from "../base/sanitize.ts";
import { describeAdvice } from "./failure.ts";
import type { OutputLine } from "./output.ts";

/** A tool result as output lines. Images and audio are saved to files. */
export interface ShownResult {
  readonly lines: readonly OutputLine[];
  /** Saved files, relative to the project. */
  readonly saved: readonly string[];
}

export function showResult(result: JsonObject, folder: string): ShownResult {
  const lines: OutputLine[] = [...commandOutput(result)];
  const saved: string[] = [];
  // The text of a command's result repeats its streams.
  const parts = lines.length > 0 ? [] : partsOf(result);
  for (const part of parts) {
    const source = result.isError === true || isStderr(part) ? "err" : "out";
    const media = mediaOf(part);
    if (media) {
      const stored = saveMedia(media, folder);
      if (stored.file !== undefined) saved.push(stored.file);
      lines.push({ source, text: stored.text });
    } else {
      const room = Math.max(1, linesMax - lines.length);
      for (const text of sanitizeLines(writePart(part), room)) lines.push({ source, text });
    }
    if (lines.length > linesMax) break;
  }
  return { lines: [...lines, ...adviceLines(result)], saved };
}

/** The content meant for people; items for the model repeat `next` in its words. */
function partsOf({ content }: JsonObject): readonly JsonObject[] {
  return (Array.isArray(content) ? content : []).filter(isObject).filter(isForPeople);
}

function adviceLines({ isError, structuredContent }: JsonObject): readonly OutputLine[] {
  // A failure shows its advice below the output.
  if (isError === true || !isObject(structuredContent)) return [];
  const next = readAdvice(structuredContent.next);
  return next.length === 0 ? [] : [{ source: "out", text: sanitize(describeAdvice(next)) }];
}

function isStderr({ _meta }: JsonObject): boolean {
  return isObject(_meta) && _meta.stream === "stderr";
}

/** The streams of a command's result. */
function commandOutput({ structuredContent }: JsonObject): readonly OutputLine[] {
  if (!isObject(structuredContent)) return [];
  const { stdout, stderr } = structuredContent;
  if (typeof stdout !== "string" || typeof stderr !== "string") return [];
  const linesOf = (text: string, source: "out" | "err"): readonly OutputLine[] =>
    text.trim() === ""
      ? []
      : sanitizeLines(text.replace(/\n$/, "")).map((line) => ({ source, text: line }));
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

const extensions: ReadonlyMap<unknown, string> = new Map([
  ["image/png", "png"],
  ["image/jpeg", "jpg"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
  ["image/svg+xml", "svg"],
  ["audio/wav", "wav"],
  ["audio/mpeg", "mp3"],
]);

interface Media {
  readonly kind: "image" | "audio" | "file";
  readonly mimeType: unknown;
  readonly bytes: Buffer;
}

/** Undefined for text. */
function mediaOf({ type, data, mimeType, resource }: JsonObject): Media | undefined {
  if ((type === "image" || type === "audio") && typeof data === "string")
    return { kind: type, mimeType, bytes: Buffer.from(data, "base64") };
  if (type !== "resource" || !isObject(resource) || typeof resource.blob !== "string")
    return undefined;
  const family = wordOf(resource.mimeType, "").split("/")[0];
  const kind = family === "image" || family === "audio" ? family : "file";
  return { kind, mimeType: resource.mimeType, bytes: Buffer.from(resource.blob, "base64") };
}

/** A full disk does not fail the call. */
function saveMedia(
  { kind, mimeType, bytes }: Media,
  folder: string,
): { readonly text: string; readonly file?: string } {
  // A name from the server could be a path.
  const name = `${kind}-${randomBytes(4).toString("hex")}.${extensions.get(mimeType) ?? "bin"}`;
  const file = join(".guildhall", "saved", name);
  try {
    const opened = openProjectFile(folder, file, { exclusive: true });
    writeFileSync(opened, bytes);
    closeSync(opened);
    return { text: `${kind} saved to ${file}`, file };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { text: `cannot save the ${kind}: ${reason}` };
  }
}
