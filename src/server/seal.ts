import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Signs text that a client returns to us later, bound to one purpose. */
export class StateSeal {
  readonly #key: Buffer;

  /** Halls with the same key read each other's. */
  constructor(key: Buffer = randomBytes(32)) {
    this.#key = key;
  }

  /** `about` is the purpose; it cannot be read from the result. */
  close(text: string, about: string): string {
    const mac = createHmac("sha256", this.#key).update(about).update("\0").update(text).digest();
    return `${Buffer.from(text).toString("base64url")}.${mac.subarray(0, 16).toString("base64url")}`;
  }

  /** The text, or undefined if it was not signed here for this purpose. */
  open(sealed: unknown, about: string): string | undefined {
    if (typeof sealed !== "string") return undefined;
    const encoded = sealed.slice(0, Math.max(0, sealed.indexOf(".")));
    const text = Buffer.from(encoded, "base64url").toString();
    // Signed again and compared as a whole, so that each text has exactly one valid encoding.
    const given = Buffer.from(sealed);
    const expected = Buffer.from(this.close(text, about));
    const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
    return isOurs ? text : undefined;
  }
}
