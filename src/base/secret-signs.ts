/** Recognises secrets by name or by a distinctive format. */

const secretName =
  /^(authorization|proxy-authorization|cookie|set-cookie|passw(or)?d|passphrase|pin|secret|token|credentials?|private[-_]?key)$|(api|access|secret|signing|encryption)[-_]?key$|[-_](token|secret|password)$|(Token|Secret|Password)$/i;

/** True for names of credentials, whatever the value is. */
export function isSecretName(name: string): boolean {
  // Too long for a name: do not cache it.
  if (name.length > nameLengthMax) return secretName.test(name);
  const known = judged.get(name);
  if (known !== undefined) return known;
  const isSecret = secretName.test(name);
  if (judged.size >= judgedMax) judged.clear();
  judged.set(name, isSecret);
  return isSecret;
}

/** A quick check of a JSON text for such names; most texts have none and need no closer look. */
export function mayNameSecrets(json: string): boolean {
  return secretNameEnd.test(json);
}

/** The end of every such name. */
const secretNameEnd =
  /(authorization|cookie|passw(or)?d|passphrase|pin|secret|token|credentials?|(private|api|access|secret|signing|encryption)[-_]?key)":/i;

/** A cache: stored values are checked by name, and most names repeat. */
const judged = new Map<string, boolean>();
const judgedMax = 2_000;
const nameLengthMax = 100;

/** Match anywhere in a value, for example in a header inside JSON. */
export const secretShapes: readonly RegExp[] = [
  /(?<![A-Za-z0-9])(sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[a-z]|xapp|hf|npm|pypi|dop_v1|shpat|lin_api|lin_oauth|ntn|figd|tvly|fc|r8|gsk|pplx|sntrys|sbp|whsec|secret|rnd|ctx7sk|dckr_pat|atlasv1)[-_][A-Za-z0-9_-]{10,}/,
  /(?<![A-Za-z0-9])(AKIA|ASIA|AIza|ATATT|BSA|ya29\.|SG\.|EAA|eyJ)[A-Za-z0-9_.=-]{12,}/,
  /\b(bearer|basic)\s+(?!\$\{)[A-Za-z0-9._~+/=-]{8,}/i,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
];
