import { mkdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { type FeaturePlace, findPlace } from "./artefacts.ts";
import { readDescription } from "./description.ts";
import { isFeatureName, listFeatureNames, numberOf, readJson, timestampOf } from "./feature.ts";

export interface StepPlace {
  readonly place: FeaturePlace;
  readonly warning?: string | undefined;
  /** The folder did not exist before. */
  readonly isNew?: boolean;
}

const attemptsMax = 20;

/**
 * The folder of a feature: the one that was named, or the next number in `specs`. It is created at
 * once, so that two calls at the same time get two folders.
 */
export async function placeFeature(
  args: JsonObject,
  roots: readonly string[],
  now: Date,
): Promise<StepPlace> {
  const description = String(args.feature_description ?? "").trim();
  if (description === "") throw new HallError("VALIDATION", "feature_description is empty");

  const given = await findPlace(String(args.spec_directory), roots);
  const found = await stat(given.path).catch(() => undefined);
  if (found && !found.isDirectory())
    throw new HallError("VALIDATION", `spec_directory "${given.path}" is a file, not a folder`);

  const name = basename(given.path);
  const isParent = name === "specs" || given.path === given.project;
  if (!isParent && (found || !isFeatureName(name))) {
    await mkdir(given.path, { recursive: true });
    return { place: given, isNew: found === undefined };
  }

  let parent = isParent ? given.path : dirname(given.path);
  if (given.path === given.project) parent = join(given.path, "specs");
  await findPlace(parent, roots);
  await mkdir(parent, { recursive: true });
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const chosen = isParent
      ? await nameFeature(given, now, {
          shortName:
            cleanName(String(args.short_name ?? "")) ||
            shortNameOf(readDescription(description).title),
          number: typeof args.number === "number" ? args.number : undefined,
        })
      : await nameAsked(given, now);
    const path = join(parent, chosen.name);
    if (await createFolder(path))
      return { place: { ...given, path }, warning: chosen.warning, isNew: true };
    if (chosen.name === name) return { place: { ...given, path } };
  }
  throw new HallError("EXECUTION", `could not create a new folder in "${parent}"`);
}

/** False if another process created it first. */
function createFolder(path: string): Promise<boolean> {
  return mkdir(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return false;
      throw error;
    },
  );
}

interface FeatureName {
  readonly name: string;
  readonly warning?: string;
}

/** The name that was asked for, with another number if that one is taken. */
async function nameAsked(place: FeaturePlace, now: Date): Promise<FeatureName> {
  const name = basename(place.path);
  const number = numberOf(name);
  if (number === undefined) return { name };
  return nameFeature(place, now, { shortName: name.replace(/^\d+-/, ""), number });
}

/** Without a number: the next free one, or a timestamp where the project asks for it. */
export async function nameFeature(
  place: Pick<FeaturePlace, "root" | "project">,
  now: Date,
  { shortName, number }: { readonly shortName: string; readonly number?: number | undefined },
): Promise<FeatureName> {
  const options = await readJson(place, join(place.project, ".specify", "init-options.json"));
  if (options?.feature_numbering === "timestamp" && number === undefined)
    return { name: limitBytes(`${timestampOf(now)}-${shortName}`) };

  const used = (await listFeatureNames(place.project)).map((name) => numberOf(name) ?? 0);
  const next = Math.max(0, ...used) + 1;
  const pad = (value: number): string => String(value).padStart(3, "0");
  if (number === undefined || !used.includes(number))
    return { name: limitBytes(`${pad(number ?? next)}-${shortName}`) };
  return {
    name: limitBytes(`${pad(next)}-${shortName}`),
    warning: `number ${pad(number)} is taken; the feature is ${pad(next)}`,
  };
}

const nameBytesMax = 244;

function limitBytes(name: string): string {
  const characters = [...name];
  while (Buffer.byteLength(characters.join("")) > nameBytesMax) characters.pop();
  return characters.join("").replace(/-+$/, "");
}

/** Words that say nothing about a feature. */
const stopWords = new Set(
  "i a an the to for of in on at by with from is are was were be been being have has had do does did will would should could can may might must shall this that these those my your our their want need add get set and or so as it we they".split(
    " ",
  ),
);

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
