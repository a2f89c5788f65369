/** How a feature's folder is called: a number or a moment, and a few words of what it is about. */
const stopWords = new Set(
  "i a an the to for of in on at by with from is are was were be been being have has had do does did will would should could can may might must shall this that these those my your our their want need add get set and or so as it we they".split(
    " ",
  ),
);

const nameBytesMax = 244;

/** Lower case, single hyphens; without stop words and short words, but with acronyms; three words, or four where there are just four. */
export function shortNameOf(description: string): string {
  const meaningful = description
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .split(" ")
    .filter(
      (word) =>
        !stopWords.has(word.toLowerCase()) && (word.length >= 3 || /^[A-Z0-9]{2,}$/.test(word)),
    );
  const chosen = meaningful.slice(0, meaningful.length === 4 ? 4 : 3);
  return cleanName(chosen.join(" ")) || "feature";
}

/** What a person asked for as a name, fit for a folder. */
export function cleanName(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "");
}

const timestamped = /^\d{8}-\d{6}-/;
const numbered = /^(\d{3,})-/;

/** Whether a folder is a feature's. */
export function isFeatureName(name: string): boolean {
  return timestamped.test(name) || numbered.test(name);
}

/** Undefined for folders named by a moment. */
export function numberOf(name: string): number | undefined {
  if (timestamped.test(name)) return undefined;
  const found = numbered.exec(name)?.[1];
  return found === undefined ? undefined : Number(found);
}

export interface Naming {
  /** The folders there are. */
  readonly taken: readonly string[];
  readonly shortName: string;
  /** Where somebody wants a certain one. */
  readonly number?: number | undefined;
  readonly style: "sequential" | "timestamp";
  readonly now: Date;
}

/** The folder's name, and what to say when it is not the one that was asked for. */
export function nameFeature({ taken, shortName, number, style, now }: Naming): {
  readonly name: string;
  readonly warning?: string;
} {
  if (style === "timestamp" && number === undefined)
    return { name: cut(`${stampOf(now)}-${shortName}`) };
  const used = new Set(taken.map(numberOf).filter((value) => value !== undefined));
  const next = Math.max(0, ...used) + 1;
  if (number === undefined || !used.has(number))
    return { name: cut(`${pad(number ?? next)}-${shortName}`) };
  return {
    name: cut(`${pad(next)}-${shortName}`),
    warning: `${pad(number)} is taken, so the feature is ${pad(next)}`,
  };
}

function pad(number: number): string {
  return String(number).padStart(3, "0");
}

export function stampOf(now: Date): string {
  return now.toISOString().replace(/[-:]/g, "").replace("T", "-").slice(0, 15);
}

/** Whole characters, and no hyphen at the end. */
function cut(name: string): string {
  let text = name;
  while (Buffer.byteLength(text) > nameBytesMax) text = text.slice(0, -1);
  return text.replace(/-+$/, "");
}
