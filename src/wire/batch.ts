/** Collects the answers of a batch and sends them as one array; undefined when there are none. */
export class Batch {
  #missing: number;
  readonly #frames: string[] = [];
  #bytes = 0;
  readonly #send: (frame: string | undefined) => void;

  constructor(expected: number, send: (frame: string | undefined) => void) {
    this.#missing = expected;
    this.#send = send;
  }

  /** True if the list stays within a message, with room for a short refusal of each that is still missing. */
  hasRoom(frame: string, bytesMax: number): boolean {
    return this.#bytes + Buffer.byteLength(frame) + this.#missing * refusalBytes <= bytesMax;
  }

  add(frame: string | undefined): void {
    if (frame !== undefined) {
      this.#frames.push(frame);
      this.#bytes += Buffer.byteLength(frame) + 1;
    }
    if (--this.#missing === 0)
      this.#send(this.#frames.length > 0 ? `[${this.#frames.join(",")}]` : undefined);
  }
}

/** Room for one short refusal. */
const refusalBytes = 512;
