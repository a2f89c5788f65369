/** Bytes as text, whatever they were written in: what a mark at the start says, then the source, then the page itself; else UTF-8, else Windows. */
export function decodeText(bytes: Uint8Array, contentType: string, kind: "txt" | "html"): string {
  const named =
    markOf(bytes) ?? charsetOf(contentType) ?? (kind === "html" ? charsetInside(bytes) : undefined);
  const text =
    (named && decode(bytes, named)) ??
    decode(bytes, "utf-8") ??
    new TextDecoder("windows-1252").decode(bytes);
  return text.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
}

/** Text has no zeros, but for UTF-16, which has a mark. */
export function isBinary(bytes: Uint8Array): boolean {
  return markOf(bytes) === undefined && bytes.subarray(0, 8_192).includes(0);
}

/** Undefined when the bytes are not in it, or nobody knows it. */
function decode(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    // RangeError: no such encoding. TypeError: not in it.
    if (error instanceof RangeError || error instanceof TypeError) return undefined;
    throw error;
  }
}

function markOf(bytes: Uint8Array): string | undefined {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

function charsetOf(contentType: string): string | undefined {
  return /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType)?.[1];
}

function charsetInside(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(
    bytes.buffer,
    bytes.byteOffset,
    Math.min(bytes.byteLength, 2_048),
  ).toString("latin1");
  return /<meta\b[^>]{0,200}\bcharset\s*=\s*["']?([\w.:-]{1,40})/i.exec(start)?.[1];
}
