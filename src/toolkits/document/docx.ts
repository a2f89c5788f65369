import { inflateRawSync } from "node:zlib";
import { Parser } from "htmlparser2";
import { HallError } from "../../base/errors.ts";
import { TextSink } from "./text.ts";

/**
 * The text of a Word document: paragraphs, tables as tab-separated lines, then notes. Deleted text
 * and field codes are skipped.
 */
export function parseDocx(bytes: Uint8Array): { text: string; title?: string | undefined } {
  const zip = openZip(bytes);
  const main = zip.names.find((name) => /^word\/document\d*\.xml$/.test(name));
  const body = main === undefined ? undefined : zip.read(main);
  if (!body)
    throw new HallError("EXECUTION", "the document is not docx: it has no word/document.xml");
  const notes = ["word/footnotes.xml", "word/endnotes.xml"].map((name) => zip.read(name));
  const text = [body, ...notes]
    .map((part) => (part ? textOf(part).trim() : ""))
    .filter((part) => part !== "");
  return { text: text.join("\n\n"), title: titleOf(zip.read("docProps/core.xml")) };
}

const endMarks: Readonly<Record<string, string>> = { p: "\n", tc: "\t", tr: "\n" };
const startMarks: Readonly<Record<string, string>> = {
  tab: "\t",
  br: "\n",
  cr: "\n",
  noBreakHyphen: "-",
};
const depthMax = 1_000;

function textOf(xml: Buffer): string {
  const sink = new TextSink();
  let isText = false;
  let depth = 0;
  /** The depth of an alternative for older readers, which repeats the content; 0 for none. */
  let fallbackAt = 0;
  let cellDepth = 0;
  const parser = new Parser(
    {
      onopentagname(fullName) {
        if (++depth > depthMax)
          throw new HallError(
            "TOO_LARGE",
            "the document exceeds the limit of 1,000 nesting levels",
          );
        const name = localName(fullName);
        if (name === "Fallback") fallbackAt ||= depth;
        if (name === "tc") cellDepth++;
        isText = name === "t" && fallbackAt === 0;
        if (fallbackAt === 0 && startMarks[name]) sink.put(startMarks[name]);
      },
      ontext(text) {
        if (isText) sink.put(text);
      },
      onclosetag(fullName) {
        const name = localName(fullName);
        isText = false;
        if (fallbackAt === depth) fallbackAt = 0;
        depth--;
        if (name === "tc") cellDepth--;
        if (fallbackAt > 0) return;
        // Paragraphs of a cell stay on one line.
        if (name === "p" && cellDepth > 0) sink.put(" ");
        else if (endMarks[name]) sink.put(endMarks[name]);
      },
    },
    { xmlMode: true },
  );
  feed(parser, xml);
  return sink
    .text()
    .replace(/ *\t */g, "\t")
    .replace(/[ \t]+\n/g, "\n")
    .replace(/\n{3,}/g, "\n\n");
}

/** In pieces: decoding all at once would double the memory of a large document. */
function feed(parser: Parser, xml: Buffer): void {
  const decoder = new TextDecoder();
  for (let at = 0; at < xml.length; at += 65_536)
    parser.write(decoder.decode(xml.subarray(at, at + 65_536), { stream: true }));
  parser.end();
}

function titleOf(xml: Buffer | undefined): string | undefined {
  const [, title] =
    /<dc:title>([^<]{1,500})<\/dc:title>/.exec(xml?.toString("utf8", 0, 65_536) ?? "") ?? [];
  return title?.trim() || undefined;
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/** Reads named files of a zip archive. Declared sizes are not trusted: output is bounded as it inflates. */
interface Zip {
  readonly names: readonly string[];
  /** Undefined if there is no such file. */
  read(name: string): Buffer | undefined;
}

const entriesMax = 5_000;
const fileBytesMax = 16 * 1024 * 1024;
/** Files of office programs inflate 5 to 20 times. */
const ratioMax = 100;
const ratioFromBytes = 1024 * 1024;

interface Entry {
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly size: number;
  readonly offset: number;
}

function openZip(bytes: Uint8Array): Zip {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries = readDirectory(buffer);
  return {
    names: [...entries.keys()],
    read(name) {
      const entry = entries.get(name);
      return entry && inflate(buffer, name, entry);
    },
  };
}

function readDirectory(buffer: Buffer): Map<string, Entry> {
  const end = buffer.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  if (end < 0 || end + 22 > buffer.length) throw broken("its directory is missing");
  const count = buffer.readUInt16LE(end + 10);
  if (count > entriesMax)
    throw new HallError("TOO_LARGE", "the archive exceeds the limit of 5,000 files");
  const entries = new Map<string, Entry>();
  let at = buffer.readUInt32LE(end + 16);
  for (let index = 0; index < count; index++) {
    if (at + 46 > buffer.length || buffer.readUInt32LE(at) !== 0x02014b50)
      throw broken("its directory is incomplete");
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) =>
      buffer.readUInt16LE(at + field),
    ) as [number, number, number];
    entries.set(buffer.toString("utf8", at + 46, at + 46 + nameBytes), {
      method: buffer.readUInt16LE(at + 10),
      isEncrypted: (buffer.readUInt16LE(at + 8) & 1) === 1,
      size: buffer.readUInt32LE(at + 20),
      offset: buffer.readUInt32LE(at + 42),
    });
    at += 46 + nameBytes + extraBytes + commentBytes;
  }
  return entries;
}

function inflate(
  buffer: Buffer,
  name: string,
  { method, isEncrypted, size, offset }: Entry,
): Buffer {
  if (isEncrypted)
    throw new HallError("EXECUTION", "the document is password-protected", {
      hint: "Remove the password first.",
    });
  if (offset + 30 > buffer.length || buffer.readUInt32LE(offset) !== 0x04034b50)
    throw broken(`${name} is missing`);
  const start = offset + 30 + buffer.readUInt16LE(offset + 26) + buffer.readUInt16LE(offset + 28);
  const packed = buffer.subarray(start, start + size);
  if (method === 0) return packed.subarray(0, fileBytesMax);
  if (method !== 8) throw broken(`${name} has an unknown compression method`);
  const maxOutputLength = Math.min(
    fileBytesMax,
    Math.max(ratioFromBytes, packed.length * ratioMax),
  );
  try {
    return inflateRawSync(packed, { maxOutputLength });
  } catch (cause) {
    if (cause instanceof RangeError)
      throw new HallError(
        "TOO_LARGE",
        `${name} exceeds the limit of ${Math.floor(maxOutputLength / 1024 / 1024)} MiB when decompressed`,
      );
    throw broken(`${name} cannot be inflated`, cause);
  }
}

function broken(problem: string, cause?: unknown): HallError {
  return new HallError("EXECUTION", `the document is damaged: ${problem}`, { cause });
}
