import { readdir } from "node:fs/promises";
import { basename, isAbsolute, join, relative, resolve } from "node:path";
import { isObject } from "../base/json.ts";
import { type FeaturePlace, readInside, writeInside } from "./artefacts.ts";
import { findOpenQuestions } from "./spec.ts";
import { countTasks, parseTasks, type TaskCount } from "./tasks.ts";

/** A feature and its phase, derived from the files in its folder. */
export interface Feature {
  readonly name: string;
  readonly directory: string;
  readonly phase: FeaturePhase;
  /** Relative to the folder, sorted. */
  readonly files: readonly string[];
  readonly tasks?: TaskCount | undefined;
  /** The number of marks in the spec. */
  readonly openQuestions: number;
}

export type FeaturePhase = "specify" | "clarify" | "plan" | "tasks" | "implement" | "done";

export async function readFeature(place: FeaturePlace): Promise<Feature> {
  const [files, spec, plan, tasksText] = await Promise.all([
    listFiles(place.path),
    readInside(place, join(place.path, "spec.md")),
    readInside(place, join(place.path, "plan.md")),
    readInside(place, join(place.path, "tasks.md")),
  ]);
  const openQuestions = spec === undefined ? 0 : findOpenQuestions(spec).length;
  const tasks = tasksText === undefined ? undefined : countTasks(parseTasks(tasksText).tasks);
  const phase = phaseOf({
    hasSpec: spec !== undefined,
    openQuestions,
    hasPlan: plan !== undefined,
    tasks,
  });
  return { name: basename(place.path), directory: place.path, phase, files, tasks, openQuestions };
}

interface PhaseFacts {
  readonly hasSpec: boolean;
  readonly openQuestions: number;
  readonly hasPlan: boolean;
  readonly tasks: TaskCount | undefined;
}

function phaseOf({ hasSpec, openQuestions, hasPlan, tasks }: PhaseFacts): FeaturePhase {
  if (!hasSpec) return "specify";
  if (!hasPlan) return openQuestions > 0 ? "clarify" : "plan";
  if (!tasks) return "tasks";
  return tasks.total > 0 && tasks.done === tasks.total ? "done" : "implement";
}

const filesMax = 200;

async function listFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
    .slice(0, filesMax);
}

/** Feature folders in `specs`, by number. */
export async function listFeatureNames(project: string): Promise<readonly string[]> {
  const entries = await readdir(join(project, "specs"), { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && isFeatureName(entry.name))
    .map(({ name }) => name)
    .sort(
      (a, b) =>
        (numberOf(a) ?? Number.POSITIVE_INFINITY) - (numberOf(b) ?? Number.POSITIVE_INFINITY) ||
        (a < b ? -1 : 1),
    );
}

/** The active feature: SPECIFY_FEATURE_DIRECTORY, else `.specify/feature.json`. */
export async function findActive(
  place: Pick<FeaturePlace, "root" | "project">,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  const wanted = env.SPECIFY_FEATURE_DIRECTORY;
  if (wanted) return isAbsolute(wanted) ? wanted : resolve(place.project, wanted);
  const value = await readJson(place, join(place.project, ".specify", "feature.json"));
  const named = value?.feature_directory;
  return typeof named === "string" && named !== "" ? resolve(place.project, named) : undefined;
}

export async function setActive(place: FeaturePlace): Promise<void> {
  const file = join(place.project, ".specify", "feature.json");
  const known = (await readJson(place, file)) ?? {};
  const directory = relative(place.project, place.path).split("\\").join("/");
  if (known.feature_directory === directory) return;
  await writeInside(
    place,
    file,
    `${JSON.stringify({ ...known, feature_directory: directory }, null, 2)}\n`,
  );
}

export async function readNumbering(
  place: Pick<FeaturePlace, "root" | "project">,
): Promise<"sequential" | "timestamp"> {
  const value = await readJson(place, join(place.project, ".specify", "init-options.json"));
  return value?.feature_numbering === "timestamp" ? "timestamp" : "sequential";
}

/** Undefined if the file is missing or not a JSON object: other tools write these files too. */
async function readJson(
  place: Pick<FeaturePlace, "root">,
  file: string,
): Promise<Record<string, unknown> | undefined> {
  const text = await readInside(place, file);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

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
