/** The bits of a JPEG's scan, up to the next marker; after that there are only zeros. */
export class Bits {
  readonly #bytes: Uint8Array;
  /** The next byte that is not read. */
  at: number;
  /** A marker, or the end of the file, was met. */
  isOver = false;
  #byte = 0;
  #left = 0;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  read(): number {
    if (this.#left === 0) this.#load();
    this.#left--;
    return (this.#byte >> this.#left) & 1;
  }

  readMany(count: number): number {
    let value = 0;
    for (let bit = 0; bit < count; bit++) value = (value << 1) | this.read();
    return value;
  }

  /** A number of that many bits, of which the first says whether it is above or below zero. */
  readSigned(count: number): number {
    if (count === 0) return 0;
    const value = this.readMany(count);
    return value < 1 << (count - 1) ? value - (1 << count) + 1 : value;
  }

  /** Goes on behind the restart marker that should come here. */
  restart(): void {
    this.#left = 0;
    this.at = findMarker(this.#bytes, this.at);
    const marker = this.#bytes[this.at + 1] ?? 0;
    this.isOver = marker < 0xd0 || marker > 0xd7;
    if (!this.isOver) this.at += 2;
  }

  #load(): void {
    this.#left = 8;
    this.#byte = this.isOver ? 0 : (this.#bytes[this.at] ?? 0);
    if (this.isOver) return;
    const isMarker = this.#byte === 0xff && this.#bytes[this.at + 1] !== 0;
    if (isMarker || this.at >= this.#bytes.length) {
      this.isOver = true;
      this.#byte = 0;
    } else this.at += this.#byte === 0xff ? 2 : 1;
  }
}

/** Where the next marker is; the end where there is none. Inside of data a byte of ones has a zero behind it. */
export function findMarker(bytes: Uint8Array, from: number): number {
  for (let at = from; at + 1 < bytes.length; at++) {
    const next = bytes[at + 1];
    if (bytes[at] === 0xff && next !== 0 && next !== 0xff) return at;
  }
  return bytes.length;
}
