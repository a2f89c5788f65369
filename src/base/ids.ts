import { randomBytes } from "node:crypto";

/** Creates ids that are unique across halls and cheap: a random stem and a counter. */
export function createIds(
  prefix: string,
  stem: string = randomBytes(6).toString("base64url"),
): () => string {
  let count = 0;
  return () => `${prefix}_${stem}${(++count).toString(36)}`;
}
