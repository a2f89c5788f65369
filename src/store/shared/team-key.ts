import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

/**
 * Halls with the same secret that serve the same folder are one team. They share rows in a database that
 * others can read and write too, so each row is encrypted, and one that was not written by the team or belongs to
 * another place does not count.
 */
export class TeamKey {
  readonly #secret: Buffer;
  readonly #rows: Buffer;
  /** Names the team without revealing its key. */
  readonly team: string;

  constructor(secret: string | Buffer, folder: string) {
    this.#secret = createHmac("sha256", secret).update(folder).digest();
    this.#rows = this.derive("rows");
    this.team = this.derive("name").toString("hex").slice(0, 24);
  }

  /** A key for one purpose. */
  derive(purpose: string): Buffer {
    return Buffer.from(hkdfSync("sha256", this.#secret, "", `guildhall ${purpose}`, 32));
  }

  /** `about` is where the text belongs. */
  close(text: string, about: string): string {
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", this.#rows, nonce).setAAD(Buffer.from(about));
    const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url");
  }

  /** Undefined if the team did not write it for this place. */
  open(closed: string, about: string): string | undefined {
    const bytes = Buffer.from(closed, "base64url");
    if (bytes.length < 28) return undefined;
    const decipher = createDecipheriv("aes-256-gcm", this.#rows, bytes.subarray(0, 12))
      .setAAD(Buffer.from(about))
      .setAuthTag(bytes.subarray(12, 28));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString();
    } catch {
      return undefined;
    }
  }
}
