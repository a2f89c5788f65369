import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, type Transform } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";
import { deflateRawSync, deflateSync } from "node:zlib";
import { build } from "esbuild";

/** Builds the worker into a temporary folder, since Node 20 does not run TypeScript. The caller removes it. */
export async function buildWorker(): Promise<{ readonly worker: URL; remove(): void }> {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), "guildhall-worker-"));
  await build({
    absWorkingDir: root,
    entryPoints: ["src/toolkits/document/worker.ts"],
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
  return {
    worker: pathToFileURL(join(folder, "worker.mjs")),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export function toDataUrl(bytes: Uint8Array | string, type = "application/octet-stream"): string {
  return `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;
}

/** Deflates repeated text in a stream, so that making a bomb does not hide the memory that reading it needs. */
export async function deflateRepeated(
  text: string,
  megabytes: number,
  deflate: Transform,
): Promise<Buffer> {
  const chunk = Buffer.alloc(1024 * 1024, text);
  const packed: Buffer[] = [];
  for await (const part of Readable.from(Array.from({ length: megabytes }, () => chunk)).pipe(
    deflate,
  ))
    packed.push(part as Buffer);
  return Buffer.concat(packed);
}

interface ZipFile {
  readonly name: string;
  readonly bytes: Buffer;
  /** Already deflated; replaces `bytes`. */
  readonly packed?: Buffer;
  /** A false size for the directory. */
  readonly claimedBytes?: number;
  readonly method?: number;
}

/** A zip archive of deflated files. */
export function makeZip(files: readonly ZipFile[]): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes, claimedBytes = bytes.length, method = 8, packed: given } of files) {
    const packed = given ?? (method === 8 ? deflateRawSync(bytes, { level: 9 }) : bytes);
    const nameBytes = Buffer.from(name);
    const sizes = Buffer.alloc(22);
    sizes.writeUInt16LE(20, 0);
    sizes.writeUInt16LE(method, 4);
    sizes.writeUInt32LE(packed.length, 14);
    sizes.writeUInt32LE(claimedBytes, 18);
    const nameLength = Buffer.alloc(4);
    nameLength.writeUInt16LE(nameBytes.length, 0);
    const local = Buffer.concat([
      Buffer.from("PK\x03\x04", "latin1"),
      sizes,
      nameLength,
      nameBytes,
      packed,
    ]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(
      Buffer.concat([
        Buffer.from("PK\x01\x02\x14\x00", "latin1"),
        sizes,
        nameLength,
        tail,
        nameBytes,
      ]),
    );
    bodies.push(local);
    offset += local.length;
  }
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(
    directory.reduce((sum, entry) => sum + entry.length, 0),
    12,
  );
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, ...directory, end]);
}

export function makeDocx(body: string | Buffer, others: readonly ZipFile[] = []): Buffer {
  const head =
    '<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>';
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(`${head}${body}</w:body></w:document>`);
  return makeZip([
    { name: "[Content_Types].xml", bytes: Buffer.from("<Types/>") },
    { name: "word/document.xml", bytes },
    ...others,
  ]);
}

/** A PDF with a page for each list of lines; streams are deflated. */
export function makePdf(pages: readonly (readonly string[])[], { title = "" } = {}): Buffer {
  const contents = pages.map((lines) => {
    const shown = lines.map((line) => `(${line.replace(/[()\\]/g, "\\$&")}) Tj T*`).join("\n");
    return `BT /F1 12 Tf 14 TL 50 750 Td\n${shown}\nET`;
  });
  return assemblePdf(
    contents.map((content) => ({
      dictionary: "/Filter /FlateDecode",
      bytes: deflateSync(content),
    })),
    { title },
  );
}

export interface PdfStream {
  readonly dictionary: string;
  readonly bytes: Buffer;
}

/** A page for each content stream. */
export function assemblePdf(
  contents: readonly PdfStream[],
  { title = "", pageCount = contents.length, extra = "" } = {},
): Buffer {
  const chunks: Buffer[] = [Buffer.from("%PDF-1.5\n")];
  const offsets: number[] = [];
  const write = (text: string | Buffer): void =>
    void chunks.push(Buffer.isBuffer(text) ? text : Buffer.from(text, "latin1"));
  const size = (): number => chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const object = (number: number, body: string, stream?: Buffer): void => {
    offsets[number] = size();
    write(`${number} 0 obj\n${body}\n`);
    if (stream) {
      write("stream\n");
      write(stream);
      write("\nendstream\n");
    }
    write("endobj\n");
  };
  const pageNumbers = Array.from({ length: pageCount }, (_, index) => 5 + contents.length + index);
  object(1, "<< /Type /Catalog /Pages 2 0 R >>");
  object(
    2,
    `<< /Type /Pages /Kids [${pageNumbers.map((number) => `${number} 0 R`).join(" ")}] /Count ${pageNumbers.length} >>`,
  );
  object(3, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>");
  object(4, `<< /Title (${title}) ${extra} >>`);
  for (const [index, { dictionary, bytes }] of contents.entries())
    object(5 + index, `<< ${dictionary} /Length ${bytes.length} >>`, bytes);
  for (const [index, number] of pageNumbers.entries()) {
    const content = 5 + (index % contents.length);
    object(
      number,
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${content} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
    );
  }
  const start = size();
  const count = offsets.length;
  write(`xref\n0 ${count}\n0000000000 65535 f \n`);
  for (let number = 1; number < count; number++)
    write(`${String(offsets[number]).padStart(10, "0")} 00000 n \n`);
  write(`trailer\n<< /Size ${count} /Root 1 0 R /Info 4 0 R >>\nstartxref\n${start}\n%%EOF\n`);
  return Buffer.concat(chunks);
}
