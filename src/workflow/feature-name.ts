/** Words that say nothing about a feature. */
const stopWords = new Set(
  "i a an the to for of in on at by with from is are was were be been being have has had do does did will would should could can may might must shall this that these those my your our their want need add get set and or so as it we they".split(
    " ",
  ),
);

const nameBytesMax = 244;
/** Languages that write without spaces have no words to choose from. */
const shortNameCharactersMax = 48;

/** Three meaningful words of the description in lower case, or four if there are exactly four. */
export function shortNameOf(description: string): string {
  const words = description
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, " ")
    .trim()
    .split(" ");
  const meaningful = words.filter(
    (word) =>
      !stopWords.has(word.toLowerCase()) &&
      (word.length >= 3 || /^[A-Z0-9]{2,}$/.test(word) || /\p{Lo}/u.test(word)),
  );
  const chosen = meaningful.length > 0 ? meaningful : words;
  const name = cleanName(chosen.slice(0, chosen.length === 4 ? 4 : 3).join(" "));
  return [...name].slice(0, shortNameCharactersMax).join("").replace(/-+$/, "") || "feature";
}

/** Text as part of a folder name: lower case, hyphens, Latin letters without accents. */
export function cleanName(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/(?<=\p{Script=Latin})\p{M}+/gu, "")
    .normalize("NFC")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "");
}

const timestamped = /^\d{8}-\d{6}-/;
const numbered = /^(\d{3,})-/;

export function isFeatureName(name: string): boolean {
  return timestamped.test(name) || numbered.test(name);
}

/** Undefined for folders that are named by a timestamp. */
export function numberOf(name: string): number | undefined {
  if (timestamped.test(name)) return undefined;
  const found = numbered.exec(name)?.[1];
  return found === undefined ? undefined : Number(found);
}

export interface FeatureNaming {
  /** Names of existing features. */
  readonly taken: readonly string[];
  readonly shortName: string;
  /** Default: the next free number. */
  readonly number?: number | undefined;
  readonly style: "sequential" | "timestamp";
  readonly now: Date;
}

/** The folder name of a new feature, with a warning if the requested number is taken. */
export function nameFeature({ taken, shortName, number, style, now }: FeatureNaming): {
  readonly name: string;
  readonly warning?: string;
} {
  if (style === "timestamp" && number === undefined)
    return { name: limitBytes(`${timestampOf(now)}-${shortName}`) };

  const used = new Set(taken.map(numberOf).filter((value) => value !== undefined));
  const next = Math.max(0, ...used) + 1;
  if (number === undefined || !used.has(number))
    return { name: limitBytes(`${pad(number ?? next)}-${shortName}`) };
  return {
    name: limitBytes(`${pad(next)}-${shortName}`),
    warning: `number ${pad(number)} is taken; the feature is ${pad(next)}`,
  };
}

function pad(number: number): string {
  return String(number).padStart(3, "0");
}

export function timestampOf(now: Date): string {
  return now.toISOString().replace(/[-:]/g, "").replace("T", "-").slice(0, 15);
}

function limitBytes(name: string): string {
  const characters = [...name];
  while (Buffer.byteLength(characters.join("")) > nameBytesMax) characters.pop();
  return characters.join("").replace(/-+$/, "");
}
