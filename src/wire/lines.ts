/**
 * Bytes to lines, whatever way the bytes are cut. A line over the limit is skipped to its newline and
 * reported once; the next line is read as if nothing had happened. Blank lines are nothing.
 */
export interface LineSink {
  line(bytes: Buffer): void;
  oversize(): void;
}

export function createLineReader(lineBytesMax: number, sink: LineSink): (chunk: Buffer) => void {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let isSkipping = false;

  function take(part: Buffer): void {
    if (isSkipping) return;
    heldBytes += part.length;
    if (heldBytes <= lineBytesMax) {
      held.push(part);
      return;
    }
    isSkipping = true;
    held = [];
    sink.oversize();
  }

  function endLine(part: Buffer): void {
    if (heldBytes > 0 || part.length > lineBytesMax) take(part);
    const line = heldBytes > 0 ? Buffer.concat(held) : part;
    const isWhole = !isSkipping;
    held = [];
    heldBytes = 0;
    isSkipping = false;
    if (isWhole && !isBlank(line)) sink.line(line);
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

const newline = 0x0a;

function isBlank(line: Buffer): boolean {
  for (let i = 0; i < line.length; i++) {
    const byte = line[i];
    if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09) return false;
  }
  return true;
}
