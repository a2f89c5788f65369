import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Makes and checks text that a client hands back to us: nobody else can make it, and it cannot be used elsewhere. */
export interface Seal {
  /** `about` is what the text is bound to; it is not readable from the outcome. */
  close(text: string, about: string): string;
  /** The text, or undefined when it was not sealed here for this purpose. */
  open(sealed: unknown, about: string): string | undefined;
}

export function createSeal(key: Buffer = randomBytes(32)): Seal {
  const mac = (text: string, about: string): Buffer => createHmac("sha256", key).update(about).update("\0").update(text).digest().subarray(0, 16);
  return {
    close: (text, about) => `${Buffer.from(text).toString("base64url")}.${mac(text, about).toString("base64url")}`,
    open(sealed, about) {
      if (typeof sealed !== "string") return undefined;
      const [body = "", signature = ""] = sealed.split(".");
      const text = Buffer.from(body, "base64url").toString();
      const given = Buffer.from(signature, "base64url");
      const expected = mac(text, about);
      return given.length === expected.length && timingSafeEqual(given, expected) ? text : undefined;
    },
  };
}
