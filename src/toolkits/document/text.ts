import { HallError } from "../../base/errors.ts";

const piecesMax = 2_000_000;
const piecesAtOnce = 1_024;

/** Collects the text a parser finds. Pieces are joined as they come: many small strings cost ten
 * times the memory of their characters. */
export class TextSink {
  readonly #blocks: string[] = [];
  #pieces: string[] = [];
  #count = 0;

  put(text: string): void {
    if (++this.#count > piecesMax)
      throw new HallError("TOO_LARGE", "the document exceeds the limit of 2,000,000 text pieces");
    this.#pieces.push(text);
    if (this.#pieces.length === piecesAtOnce) this.#join();
  }

  text(): string {
    this.#join();
    return this.#blocks.join("");
  }

  #join(): void {
    this.#blocks.push(this.#pieces.join(""));
    this.#pieces = [];
  }
}

/** Decodes by byte order mark, then the source's charset, then the page's own; else UTF-8, else Windows. */
export function decodeText(bytes: Uint8Array, contentType: string, kind: "txt" | "html"): string {
  const declared = byteOrderMark(bytes) ?? charsetOf(contentType);
  const named = declared ?? (kind === "html" ? charsetInPage(bytes) : undefined);
  const text =
    (named && decode(bytes, named)) ??
    decode(bytes, "utf-8") ??
    new TextDecoder("windows-1252").decode(bytes);
  return text.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
}

/** Text has no zero bytes, except UTF-16, which has a byte order mark. */
export function isBinary(bytes: Uint8Array): boolean {
  return byteOrderMark(bytes) === undefined && bytes.subarray(0, 8_192).includes(0);
}

/** Undefined if the encoding is unknown or the bytes do not fit it. */
function decode(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    // RangeError: unknown encoding. TypeError: invalid bytes.
    if (error instanceof RangeError || error instanceof TypeError) return undefined;
    throw error;
  }
}

function byteOrderMark(bytes: Uint8Array): string | undefined {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

function charsetOf(contentType: string): string | undefined {
  return /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType)?.[1];
}

function charsetInPage(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 2_048)).toString("latin1");
  return /<meta\b[^>]{0,200}\bcharset\s*=\s*["']?([\w.:-]{1,40})/i.exec(start)?.[1];
}

/** Shared by the tools and the worker; a separate file, so that listing tools loads no word lists. */
export const documentFormats = ["pdf", "docx", "txt", "html"] as const;
export type DocumentFormat = (typeof documentFormats)[number];

export const analysisTypes = ["summary", "keywords", "sentiment", "entities"] as const;
export type AnalysisType = (typeof analysisTypes)[number];

export const entityTypes = [
  "person",
  "organisation",
  "place",
  "date",
  "money",
  "percentage",
  "email",
  "url",
  "phone",
] as const;
export type EntityType = (typeof entityTypes)[number];
