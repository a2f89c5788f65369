import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Makes and checks text that a client hands back to us: nobody else can make it, and it cannot be used elsewhere. */
export interface Seal {
  /** `about` is what the text is bound to; it is not readable from the outcome. */
  close(text: string, about: string): string;
  /** The text, or undefined when it was not sealed here for this purpose. */
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
      // Made again and compared whole: each sealed text has one spelling.
      const given = Buffer.from(sealed);
      const expected = Buffer.from(close(text, about));
      return given.length === expected.length && timingSafeEqual(given, expected)
        ? text
        : undefined;
    },
  };
}
