import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Signs text that a client returns to us later, bound to one purpose. */
export interface Seal {
  /** `about` is the purpose; it cannot be read from the result. */
  close(text: string, about: string): string;
  /** The text, or undefined if it was not signed here for this purpose. */
  open(sealed: unknown, about: string): string | undefined;
}

export function createSeal(key: Buffer = randomBytes(32)): Seal {
  const mac = (text: string, about: string): Buffer =>
    createHmac("sha256", key).update(about).update("\0").update(text).digest().subarray(0, 16);
  const close = (text: string, about: string): string =>
    `${Buffer.from(text).toString("base64url")}.${mac(text, about).toString("base64url")}`;
  return {
    close,
    open(sealed, about) {
      if (typeof sealed !== "string") return undefined;
      const text = Buffer.from(
        sealed.slice(0, Math.max(0, sealed.indexOf("."))),
        "base64url",
      ).toString();
      // Signed again and compared as a whole, so that each text has exactly one valid encoding.
      const given = Buffer.from(sealed);
      const expected = Buffer.from(close(text, about));
      return given.length === expected.length && timingSafeEqual(given, expected)
        ? text
        : undefined;
    },
  };
}
