import { randomBytes } from "node:crypto";

/** Makes ids that are unique across halls and cheap enough for every call: one random stem, then a counter. */
export function createIds(
  prefix: string,
  stem: string = randomBytes(6).toString("base64url"),
): () => string {
  let count = 0;
  return () => `${prefix}_${stem}${(++count).toString(36)}`;
}
