// Whether a value is right, as BFCL's checker says: strings without regard to case and to some signs, numbers and lists exactly.

export function isRight(value, accepted) {
  return Array.isArray(accepted) && accepted.some((wanted) => isSame(value, wanted));
}

export const mayBeLeftOut = (accepted) =>
  accepted === undefined ||
  (Array.isArray(accepted) && (accepted.length === 0 || accepted.includes("")));

function isSame(value, wanted) {
  if (typeof value === "string" && typeof wanted === "string")
    return plain(value) === plain(wanted);
  if (Array.isArray(value))
    return (
      Array.isArray(wanted) &&
      value.length === wanted.length &&
      value.every((item, at) =>
        isPlainObject(item) ? holds(item, wanted[at]) : isSame(item, wanted[at]),
      )
    );
  if (isPlainObject(value)) return holds(value, wanted);
  return value === wanted;
}

/** In an accepted object every key has its own list of accepted values. */
function holds(value, wanted) {
  if (!isPlainObject(wanted)) return false;
  const lists = Object.fromEntries(
    Object.entries(wanted).map(([key, list]) => [key, Array.isArray(list) ? list : [list]]),
  );
  return (
    Object.entries(value).every(([key, inner]) => isRight(inner, lists[key])) &&
    Object.entries(lists).every(([key, list]) => key in value || mayBeLeftOut(list))
  );
}

const isPlainObject = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const plain = (text) =>
  text
    .replace(/[ ,./\-_*^]/g, "")
    .toLowerCase()
    .replaceAll("'", '"');

/** What is accepted at a path inside the arguments; of several accepted objects their values together. */
export function acceptedAt(accepted, path) {
  let lists = [accepted];
  for (const step of path)
    lists = lists
      .flatMap((each) => (Array.isArray(each) ? each.filter(isPlainObject) : [each]))
      .map((each) => each?.[step]);
  const known = lists.filter((list) => list !== undefined);
  return known.length === 0
    ? undefined
    : known.flatMap((list) => (Array.isArray(list) ? list : [list]));
}
