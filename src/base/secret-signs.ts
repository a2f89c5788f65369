/** How secrets look: the names people put them under, and shapes that no other text has. */

const secretName =
  /^(authorization|proxy-authorization|cookie|set-cookie|passw(or)?d|passphrase|pin|secret|token|credentials?|private[-_]?key)$|(api|access|secret|signing|encryption)[-_]?key$|[-_](token|secret|password)$|(Token|Secret|Password)$/i;

/** Under such a name is what opens doors, whatever the value looks like. */
export function isSecretName(name: string): boolean {
  // No name: somebody else's text, which nothing should remember.
  if (name.length > nameLengthMax) return secretName.test(name);
  const known = judged.get(name);
  if (known !== undefined) return known;
  const isSecret = secretName.test(name);
  if (judged.size >= judgedMax) judged.clear();
  judged.set(name, isSecret);
  return isSecret;
}

/** Whether any name in a text of JSON can be such a name. Most texts have none, and need not be gone through name by name. */
export function mayNameSecrets(json: string): boolean {
  return secretNameEnd.test(json);
}

/** Every name of a secret ends so. */
const secretNameEnd =
  /(authorization|cookie|passw(or)?d|passphrase|pin|secret|token|credentials?|(private|api|access|secret|signing|encryption)[-_]?key)":/i;

/** Everything that is kept is looked through by its names, and they are mostly the same. */
const judged = new Map<string, boolean>();
const judgedMax = 2_000;
const nameLengthMax = 100;

/** Anywhere in a value, as a header inside of JSON would be. */
export const secretShapes: readonly RegExp[] = [
  /(?<![A-Za-z0-9])(sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[a-z]|xapp|hf|npm|pypi|dop_v1|shpat|lin_api|lin_oauth|ntn|figd|tvly|fc|r8|gsk|pplx|sntrys|sbp|whsec|secret|rnd|ctx7sk|dckr_pat|atlasv1)[-_][A-Za-z0-9_-]{10,}/,
  /(?<![A-Za-z0-9])(AKIA|ASIA|AIza|ATATT|BSA|ya29\.|SG\.|EAA|eyJ)[A-Za-z0-9_.=-]{12,}/,
  /\b(bearer|basic)\s+(?!\$\{)[A-Za-z0-9._~+/=-]{8,}/i,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
];
