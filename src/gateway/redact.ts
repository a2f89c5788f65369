import { isSecretName, mayNameSecrets } from "../base/secret-signs.ts";

/** What stands in for a value that is nobody's business. */
const hidden = "***";

const lengthMax = 262_144;

/** A value as JSON for keeping: without what is named like a secret, and not endless. Known secrets are taken out where it is written. */
export function redact(value: unknown): string {
  let text: string;
  try {
    text = JSON.stringify(value) ?? "null";
    if (mayNameSecrets(text))
      text = JSON.stringify(value, (key, inner: unknown) =>
        isSecretName(key) && isLeaf(inner) ? hidden : inner,
      );
  } catch {
    // Not JSON: it was refused, and there is nothing to show.
    return "null";
  }
  return text.length <= lengthMax
    ? text
    : JSON.stringify({ cut: `${text.length} characters were too many to keep` });
}

/** An object named `token` may be a schema; its own fields are looked at instead. */
function isLeaf(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number";
}
