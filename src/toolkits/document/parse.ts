import { HallError } from "../../base/errors.ts";
import { type DocumentFormat, decodeText, documentFormats, isBinary } from "./text.ts";

/** The text of a document. Parsing runs in a worker, because the bytes may be hostile. */
export interface ParsedDocument {
  readonly format: DocumentFormat;
  readonly text: string;
  readonly title?: string | undefined;
  /** PDF only. */
  readonly pages?: number | undefined;
  /** Which part was left out, if any. */
  readonly cut?: string | undefined;
}

export interface ParseRequest {
  readonly bytes: Uint8Array;
  /** From the source, or "". */
  readonly contentType: string;
  /** Default: detected from the bytes. */
  readonly format?: DocumentFormat | undefined;
}

export async function parseDocument(request: ParseRequest): Promise<ParsedDocument> {
  const { bytes, contentType } = request;
  if (bytes.length === 0) throw new HallError("EXECUTION", "the document is empty");
  const format = request.format ?? detectFormat(bytes, contentType);
  if (!fits(bytes, format)) throw wrongFormat(format, bytes, contentType);
  switch (format) {
    case "pdf":
      return { format, ...(await (await import("./pdf.ts")).parsePdf(bytes)) };
    case "docx":
      return { format, ...(await import("./docx.ts")).parseDocx(bytes) };
    case "html": {
      const { parseHtml } = await import("./html.ts");
      return { format, ...parseHtml(decodeText(bytes, contentType, format)) };
    }
    case "txt":
      return { format, text: decodeText(bytes, contentType, format) };
  }
}

function fits(bytes: Uint8Array, format: DocumentFormat): boolean {
  if (format === "pdf") return isPdf(bytes);
  return format === "docx" ? isZip(bytes) : !isBinary(bytes);
}

/** The bytes decide; the content type only tells HTML from text. */
function detectFormat(bytes: Uint8Array, contentType: string): DocumentFormat {
  const found = findFormat(bytes, contentType);
  if (found) return found;
  const type = contentType === "" ? "" : ` "${contentType.slice(0, 80)}"`;
  throw new HallError(
    "EXECUTION",
    `unsupported document type${type} (expected: ${documentFormats.join(", ")})`,
    { hint: "Convert the document first." },
  );
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

/** PDF readers accept a few bytes of garbage before the header. */
function isPdf(bytes: Uint8Array): boolean {
  return latin(bytes, 0, 1_024).includes("%PDF-");
}

function isZip(bytes: Uint8Array): boolean {
  return latin(bytes, 0, 4) === "PK\x03\x04";
}

function wrongFormat(wanted: DocumentFormat, bytes: Uint8Array, contentType: string): HallError {
  const found = findFormat(bytes, contentType);
  const message = `the document is not ${wanted}${found ? `: it looks like ${found}` : ""}`;
  return new HallError("EXECUTION", message, {
    hint: "Omit `format`: it is detected.",
  });
}

function latin(bytes: Uint8Array, start: number, end: number): string {
  return bufferOf(bytes).toString("latin1", start, end);
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
