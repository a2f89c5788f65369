import { constants, inflateSync } from "node:zlib";
import { getDocumentProxy } from "unpdf";
import { HallError, messageOf } from "../../base/errors.ts";
import type { ParsedDocument } from "./parse.ts";

/**
 * The text of a PDF, page by page. pdf.js inflates without a limit, and outside the heap that a worker's
 * limits cover. So all streams are inflated once beforehand to find bombs, and afterwards larger buffers
 * are refused.
 */
export async function parsePdf(bytes: Uint8Array): Promise<Omit<ParsedDocument, "format">> {
  rejectBombs(bytes);
  const exceeded = limitBuffers(bytes.length);
  const pdf = await open(bytes);
  const pages: string[] = [];
  let length = 0;
  try {
    for (let number = 1; number <= Math.min(pdf.numPages, pagesMax) && length < textMax; number++) {
      const page = await pdf.getPage(number);
      const { items } = await page.getTextContent();
      const text = joinItems(items as readonly TextItem[]);
      page.cleanup();
      pages.push(text);
      length += text.length;
    }
  } catch (cause) {
    throw exceeded() ?? damaged(cause);
  }
  const text = pages.join("\n\n").trim();
  // pdf.js treats some errors as the end of a page.
  const limitError = exceeded();
  if (limitError) throw limitError;
  if (text === "") {
    const hint = "Run it through text recognition (OCR) first.";
    throw new HallError(
      "EXECUTION",
      `none of the ${pdf.numPages} pages of the PDF contains text; they are probably scanned`,
      { hint },
    );
  }
  const isCut = pages.length < pdf.numPages;
  const cut = isCut ? `pages ${pages.length + 1} to ${pdf.numPages} were not read` : undefined;
  return { text, pages: pdf.numPages, cut, title: await titleOf(pdf) };
}

const pagesMax = 500;
const textMax = 2_000_000;

interface TextItem {
  readonly str?: string;
  readonly hasEOL?: boolean;
}

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

async function open(bytes: Uint8Array): Promise<Pdf> {
  try {
    // Compiles nothing of the document and decodes no pictures.
    return await getDocumentProxy(bytes, {
      isEvalSupported: false,
      disableFontFace: true,
      useSystemFonts: false,
      verbosity: 0,
      maxImageSize: 1,
    });
  } catch (cause) {
    if (cause instanceof HallError) throw cause;
    if (cause instanceof Error && cause.name === "PasswordException") {
      throw new HallError("EXECUTION", "the PDF is password-protected", {
        hint: "Remove the password first.",
      });
    }
    throw damaged(cause);
  }
}

function damaged(cause: unknown): HallError {
  return new HallError("EXECUTION", `the PDF is damaged: ${messageOf(cause)}`, { cause });
}

function joinItems(items: readonly TextItem[]): string {
  return items
    .map(({ str = "", hasEOL = false }) => (hasEOL ? `${str}\n` : str))
    .join("")
    .replace(/[ \t]+\n/g, "\n")
    .trim();
}

async function titleOf(pdf: Pdf): Promise<string | undefined> {
  const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
  const { Title: title } = info as { readonly Title?: unknown };
  return typeof title === "string" && title.trim() !== "" ? title.trim().slice(0, 500) : undefined;
}

const streamBytesMax = 8 * 1024 * 1024;
const inflatedBytesMax = 64 * 1024 * 1024;
const streamsMax = 50_000;
/** Text in a PDF inflates about 10 times; pictures, which may inflate more, are skipped here. */
const ratioMax = 200;
const ratioFromBytes = 1024 * 1024;

/** Inflates every stream that is not a picture, up to four layers deep, and discards the result. */
function rejectBombs(bytes: Uint8Array): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let streams = 0;
  let total = 0;
  for (let at = buffer.indexOf("stream"); at >= 0; at = buffer.indexOf("stream", at + 6)) {
    if (buffer.toString("latin1", at - 3, at) === "end") continue;
    if (++streams > streamsMax)
      throw new HallError("TOO_LARGE", "the PDF exceeds the limit of 50,000 streams");
    const head = buffer.toString("latin1", Math.max(0, at - 1_024), at);
    const dictionary = head.slice(Math.max(0, head.lastIndexOf(" obj")));
    if (!/\/Fl(?:ateDecode)?\b/.test(dictionary) || /\/Subtype\s*\/Image\b/.test(dictionary))
      continue;
    const start = at + 6 + (buffer[at + 6] === 13 ? 2 : 1);
    const end = buffer.indexOf("endstream", start);
    let packed = buffer.subarray(start, end < 0 ? buffer.length : end);
    const layers = Math.min(4, dictionary.match(/\/Fl(?:ateDecode)?\b/g)?.length ?? 0);
    for (let layer = 0; layer < layers; layer++) {
      packed = inflateBounded(packed);
      total += packed.length;
    }
    if (total > inflatedBytesMax) throw bomb(inflatedBytesMax);
  }
}

function inflateBounded(packed: Buffer): Buffer {
  const maxOutputLength = Math.min(
    streamBytesMax,
    Math.max(ratioFromBytes, packed.length * ratioMax),
  );
  try {
    return inflateSync(packed, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH });
  } catch (error) {
    if (error instanceof RangeError) throw bomb(maxOutputLength);
    // Damaged or encrypted: pdf.js reports it.
    return Buffer.alloc(0);
  }
}

function bomb(bytes: number): HallError {
  return new HallError(
    "TOO_LARGE",
    `the PDF exceeds the limit of ${Math.floor(bytes / 1024 / 1024)} MiB when decompressed`,
  );
}

/**
 * Makes larger buffers fail for the rest of this worker's life. Returns a function that gives the
 * error, if there was one.
 */
function limitBuffers(documentBytes: number): () => HallError | undefined {
  const bytesMax = Math.max(streamBytesMax, documentBytes);
  let limitError: HallError | undefined;
  globalThis.Uint8Array = new Proxy(Uint8Array, {
    construct(target, args: [unknown], newTarget) {
      if (typeof args[0] === "number" && args[0] > bytesMax) {
        limitError ??= bomb(bytesMax);
        throw limitError;
      }
      return Reflect.construct(target, args, newTarget) as object;
    },
  });
  // pdf.js would prefer this native inflater, whose buffers the proxy does not see.
  Reflect.deleteProperty(globalThis, "DecompressionStream");
  return () => limitError;
}
