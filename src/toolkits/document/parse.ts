import { HallError } from "../../base/errors.ts";
import { decodeText, isBinary } from "./encoding.ts";
import { type DocumentFormat, documentFormats } from "./terms.ts";

/** Text out of bytes. Made in a worker: everything here may be fed by an enemy. */
export interface ParsedDocument {
  readonly format: DocumentFormat;
  readonly text: string;
  readonly title?: string;
  /** Of a PDF: how many it has. */
  readonly pages?: number;
  /** What was left out, for the reader of the answer. */
  readonly cut?: string;
}

export interface ParseRequest {
  readonly bytes: Uint8Array;
  /** As the source says it, or "". */
  readonly contentType: string;
  /** What the caller says it is; else it is sniffed. */
  readonly format?: DocumentFormat | undefined;
}

export async function parseDocument({
  bytes,
  contentType,
  format,
}: ParseRequest): Promise<ParsedDocument> {
  if (bytes.length === 0) throw new HallError("EXECUTION", "the document is empty");
  const kind = format ?? sniff(bytes, contentType);
  switch (kind) {
    case "pdf": {
      if (!isPdf(bytes)) throw otherFormat(kind, bytes, contentType);
      const { parsePdf } = await import("./pdf.ts");
      return { format: kind, ...(await parsePdf(bytes)) };
    }
    case "docx": {
      if (!isZip(bytes)) throw otherFormat(kind, bytes, contentType);
      const { parseDocx } = await import("./docx.ts");
      return { format: kind, ...parseDocx(bytes) };
    }
    case "html": {
      if (isBinary(bytes)) throw otherFormat(kind, bytes, contentType);
      const { parseHtml } = await import("./html.ts");
      return { format: kind, ...parseHtml(decodeText(bytes, contentType, "html")) };
    }
    case "txt":
      if (isBinary(bytes)) throw otherFormat(kind, bytes, contentType);
      return { format: kind, text: decodeText(bytes, contentType, "txt") };
  }
}

/** The bytes decide; what the source says only tells HTML from text. */
function sniff(bytes: Uint8Array, contentType: string): DocumentFormat {
  const found = findFormat(bytes, contentType);
  if (found) return found;
  const said = contentType === "" ? "" : `; its source calls it ${contentType.slice(0, 80)}`;
  throw new HallError("EXECUTION", `the document is none of ${documentFormats.join(", ")}${said}`, {
    hint: "Convert it to one of these first.",
  });
}

function findFormat(bytes: Uint8Array, contentType: string): DocumentFormat | undefined {
  if (isPdf(bytes)) return "pdf";
  if (isZip(bytes)) return bufferOf(bytes).includes("word/document") ? "docx" : undefined;
  if (isBinary(bytes)) return undefined;
  if (/^\s*(?:text\/html|application\/xhtml\+xml)/i.test(contentType)) return "html";
  const isMarkup =
    /^(?:\uFEFF|ï»¿)?\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,2000}?-->\s*)?<(?:!doctype\s+html|html|head|body)\b/is;
  return isMarkup.test(latin(bytes, 0, 4_096)) ? "html" : "txt";
}

/** Readers of PDF accept a few bytes of rubbish before it. */
function isPdf(bytes: Uint8Array): boolean {
  return latin(bytes, 0, 1_024).includes("%PDF-");
}

function isZip(bytes: Uint8Array): boolean {
  return latin(bytes, 0, 4) === "PK\x03\x04";
}

function otherFormat(wanted: DocumentFormat, bytes: Uint8Array, contentType: string): HallError {
  const found = findFormat(bytes, contentType);
  const message = `the document is no ${wanted}${found ? `: it looks like ${found}` : ""}`;
  return new HallError("EXECUTION", message, {
    hint: "Leave `format` out: it is found by looking at the document.",
  });
}

function latin(bytes: Uint8Array, start: number, end: number): string {
  return bufferOf(bytes).toString("latin1", start, end);
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
