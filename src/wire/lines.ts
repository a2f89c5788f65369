/**
 * Bytes to lines, whatever way the bytes are cut. A line over the limit is skipped to its newline and
 * reported once; the next line is read as if nothing had happened. Blank lines are nothing.
 */
export interface LineSink {
  line(bytes: Buffer): void;
  oversize(): void;
  /** The long line is over: its first and last few hundred characters, joined. */
  skipped?(edges: string): void;
  /** The long line goes on and on: nobody writes a message like that. Said once for a line. */
  endless?(): void;
}

export function createLineReader(lineBytesMax: number, sink: LineSink): (chunk: Buffer) => void {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let joined = 0;
  let isSkipping = false;
  let head: Buffer = empty;
  let tail: Buffer = empty;

  function take(part: Buffer): void {
    heldBytes += part.length;
    if (heldBytes <= lineBytesMax) {
      held.push(part);
      // A line that comes byte by byte must not cost hundreds of bytes for each: the newest parts become one.
      if (held.length - joined === partsMax)
        held.splice(joined, partsMax, Buffer.concat(held.slice(joined++)));
      return;
    }
    if (!isSkipping) {
      isSkipping = true;
      head = Buffer.from((held[0] ?? part).subarray(0, edgeBytes));
      tail = Buffer.concat(held.slice(-1).map((last) => last.subarray(-edgeBytes)));
      held = [];
      sink.oversize();
    }
    if (
      heldBytes > endlessFactor * lineBytesMax &&
      heldBytes - part.length <= endlessFactor * lineBytesMax
    )
      sink.endless?.();
    tail =
      part.length >= edgeBytes
        ? Buffer.from(part.subarray(-edgeBytes))
        : Buffer.concat([tail, part]).subarray(-edgeBytes);
  }

  function endLine(part: Buffer): void {
    if (heldBytes > 0 || part.length > lineBytesMax) take(part);
    const line = heldBytes > 0 ? Buffer.concat(held) : part;
    const isWhole = !isSkipping;
    held = [];
    heldBytes = 0;
    joined = 0;
    isSkipping = false;
    if (!isWhole) sink.skipped?.(`${head.toString("latin1")} ${tail.toString("latin1")}`);
    else if (!isBlank(line)) sink.line(line);
  }

  return (chunk) => {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(newline, start);
      if (end === -1) break;
      endLine(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start < chunk.length) take(chunk.subarray(start));
  };
}

/** A line this many times the limit has no end. */
const endlessFactor = 10;
const newline = 0x0a;
const edgeBytes = 512;
const partsMax = 1_024;
const empty = Buffer.alloc(0);

function isBlank(line: Buffer): boolean {
  for (let i = 0; i < line.length; i++) {
    const byte = line[i];
    if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09) return false;
  }
  return true;
}
