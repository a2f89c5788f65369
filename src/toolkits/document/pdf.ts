import { constants, inflateSync } from "node:zlib";
import { getDocumentProxy } from "unpdf";
import { HallError, messageOf } from "../../base/errors.ts";

/**
 * The text of a PDF, page by page. pdf.js inflates without a limit and into memory that the limits of a worker do not see, so streams are
 * inflated once before it reads them, and no buffer it asks for afterwards may be larger than a page of text ever is.
 */
export async function parsePdf(
  bytes: Uint8Array,
): Promise<{ text: string; title?: string; pages: number; cut?: string }> {
  refuseBombs(bytes);
  const refused = limitBuffers(bytes.length);
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
    throw refused() ?? damaged(cause);
  }
  const text = pages.join("\n\n").trim();
  // Some errors pdf.js takes for the end of a page.
  const refusal = refused();
  if (refusal) throw refusal;
  if (text === "") {
    const hint = "Run it through text recognition (OCR) first.";
    throw new HallError(
      "EXECUTION",
      `the PDF has ${pdf.numPages} pages and no text: its pages are pictures`,
      { hint },
    );
  }
  const cut =
    pages.length < pdf.numPages
      ? { cut: `pages ${pages.length + 1} to ${pdf.numPages} were not read` }
      : {};
  const title = await titleOf(pdf);
  return { text, pages: pdf.numPages, ...cut, ...(title ? { title } : {}) };
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
    // Nothing of a document is compiled, and pictures are not decoded at all.
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
      throw new HallError("EXECUTION", "the PDF is locked with a password", {
        hint: "Unlock it first.",
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
/** What prose in a PDF reaches is about 10; pictures, which may be one colour, are not inflated here. */
const ratioMax = 200;
const ratioFromBytes = 1024 * 1024;

/** Inflates every stream that is not a picture, some of them twice, and throws the result away. */
function refuseBombs(bytes: Uint8Array): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let streams = 0;
  let total = 0;
  for (let at = buffer.indexOf("stream"); at >= 0; at = buffer.indexOf("stream", at + 6)) {
    if (buffer.toString("latin1", at - 3, at) === "end") continue;
    if (++streams > streamsMax)
      throw new HallError("TOO_LARGE", `the PDF has more than ${streamsMax} streams`);
    const head = buffer.toString("latin1", Math.max(0, at - 1_024), at);
    const dictionary = head.slice(Math.max(0, head.lastIndexOf(" obj")));
    if (!/\/Fl(?:ateDecode)?\b/.test(dictionary) || /\/Subtype\s*\/Image\b/.test(dictionary))
      continue;
    const start = at + 6 + (buffer[at + 6] === 13 ? 2 : 1);
    const end = buffer.indexOf("endstream", start);
    let packed = buffer.subarray(start, end < 0 ? buffer.length : end);
    for (
      let layer = 0;
      layer < (dictionary.match(/\/Fl(?:ateDecode)?\b/g)?.length ?? 0) && layer < 4;
      layer++
    ) {
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
    // Damaged, or encrypted: pdf.js will say.
    return Buffer.alloc(0);
  }
}

function bomb(bytes: number): HallError {
  return new HallError("TOO_LARGE", `the PDF inflates past ${Math.floor(bytes / 1024 / 1024)} MB`);
}

/** For the rest of this worker's short life, whoever asks for a larger buffer gets an error. Returns the way to ask whether anybody did. */
function limitBuffers(documentBytes: number): () => HallError | undefined {
  const bytesMax = Math.max(streamBytesMax, documentBytes);
  let refusal: HallError | undefined;
  globalThis.Uint8Array = new Proxy(Uint8Array, {
    construct(target, args: [unknown], newTarget) {
      if (typeof args[0] === "number" && args[0] > bytesMax) {
        refusal ??= bomb(bytesMax);
        throw refusal;
      }
      return Reflect.construct(target, args, newTarget) as object;
    },
  });
  // pdf.js prefers it, and it asks nobody; without it pdf.js inflates by itself, into buffers we see.
  Reflect.deleteProperty(globalThis, "DecompressionStream");
  return () => refusal;
}
