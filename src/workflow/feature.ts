import { type FSWatcher, watch } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, isAbsolute, join, relative, resolve } from "node:path";
import { HallError } from "../base/errors.ts";
import { type JsonObject, parseObject } from "../base/json.ts";
import type { Resource, ResourceSource } from "../tool.ts";
import { type FeaturePlace, findPlace, readInside, writeInside } from "./artefacts.ts";
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

  let phase: FeaturePhase = "implement";
  if (spec === undefined) phase = "specify";
  else if (plan === undefined) phase = openQuestions > 0 ? "clarify" : "plan";
  else if (!tasks) phase = "tasks";
  else if (tasks.total > 0 && tasks.done === tasks.total) phase = "done";
  return { name: basename(place.path), directory: place.path, phase, files, tasks, openQuestions };
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
  return (
    entries
      .filter((entry) => entry.isDirectory() && isFeatureName(entry.name))
      .map(({ name }) => name)
      // Timestamps are longer than numbers, so they come last.
      .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10) || (a < b ? -1 : 1))
  );
}

const timestamped = /^\d{8}-\d{6}-/;

/** `001-photos` or `20261116-093000-photos`. */
export function isFeatureName(name: string): boolean {
  return /^\d{3,}-/.test(name);
}

/** Undefined for folders that are named by a timestamp. */
export function numberOf(name: string): number | undefined {
  return timestamped.test(name) || !isFeatureName(name) ? undefined : Number.parseInt(name, 10);
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

/** Undefined if the file is missing or not a JSON object: other tools write these files too. */
export async function readJson(
  place: Pick<FeaturePlace, "root">,
  file: string,
): Promise<Record<string, unknown> | undefined> {
  const text = await readInside(place, file);
  return text === undefined ? undefined : parseObject(text);
}

export function timestampOf(now: Date): string {
  return now.toISOString().replace(/[-:]/g, "").replace("T", "-").slice(0, 15);
}

const root = "speckit://features";

/** Features and their documents as resources: `speckit://features`, `…/001-x`, `…/001-x/spec.md`. */
export function createFeatureResources({
  folder,
  roots,
}: {
  readonly folder: string;
  readonly roots: readonly string[];
}): ResourceSource {
  const readAll = async (): Promise<readonly Feature[]> => {
    const place = await findPlace(folder, roots);
    const names = await listFeatureNames(place.project);
    return Promise.all(
      names.map((name) => readFeature({ ...place, path: join(place.project, "specs", name) })),
    );
  };
  const contentsOf = (uri: string, mimeType: string, text: string) => ({
    contents: [{ uri, mimeType, text }],
  });
  return {
    async list() {
      const features = await readAll();
      return features.length === 0 ? [] : [all, ...features.flatMap(describeFeature)];
    },
    templates: async () => ((await readAll()).length === 0 ? [] : [documents]),
    covers: (uri) => uri === root || uri.startsWith(`${root}/`),
    async read(uri) {
      const features = await readAll();
      if (uri === root) return contentsOf(uri, "application/json", JSON.stringify({ features }));

      const [name, ...rest] = decodeURI(uri.slice(root.length + 1)).split("/");
      const feature = features.find((known) => known.name === name);
      if (!feature || rest.includes("..")) throw missing(uri);
      if (rest.length === 0 || rest[0] === "")
        return contentsOf(uri, "application/json", JSON.stringify(feature));
      const place = await findPlace(folder, roots);
      const text = await readInside(place, join(feature.directory, ...rest));
      if (text === undefined) throw missing(uri);
      return contentsOf(uri, mimeOf(rest.at(-1) ?? ""), text);
    },
  };
}

const all: Resource = {
  uri: root,
  name: "features",
  title: "Features",
  description: "All features with their phase and next step.",
  mimeType: "application/json",
};

const documents: JsonObject = {
  uriTemplate: `${root}/{feature}/{+path}`,
  name: "feature document",
  description: "A document of a feature, such as spec.md or plan.md.",
  mimeType: "text/markdown",
};

function missing(uri: string): HallError {
  return new HallError("NOT_FOUND", `Resource not found: ${uri.slice(0, 200)}`, {
    details: { uri: uri.slice(0, 2_000) },
  });
}

function describeFeature({ name, files, phase }: Feature): readonly Resource[] {
  const documents = files.filter((file) => /\.(md|ya?ml|json|txt)$/.test(file));
  return [
    {
      uri: `${root}/${encodeURI(name)}`,
      name,
      description: phase === "done" ? "done" : `next step: ${phase}`,
      mimeType: "application/json",
    },
    ...documents.map((file) => ({
      uri: `${root}/${encodeURI(`${name}/${file.split("\\").join("/")}`)}`,
      name: `${name}/${file}`,
      mimeType: mimeOf(file),
    })),
  ];
}

function mimeOf(file: string): string {
  if (file.endsWith(".md")) return "text/markdown";
  return file.endsWith(".json") ? "application/json" : "text/plain";
}

const quietMs = 200;

/** Watches for features added or removed by other programs. If watching fails, the list updates after the next step. */
export function watchSpecs(folder: string, changed: () => void): { renew(): void; close(): void } {
  let watcher: FSWatcher | undefined;
  let timer: NodeJS.Timeout | undefined;
  const start = (): void => {
    if (watcher) return;
    try {
      watcher = watch(join(folder, "specs"), { persistent: false }, () => {
        timer ??= setTimeout(() => {
          timer = undefined;
          changed();
        }, quietMs).unref();
      });
      watcher.on("error", () => {
        watcher?.close();
        watcher = undefined;
      });
    } catch {
      // The folder does not exist yet.
    }
  };
  start();
  return {
    renew: start,
    close() {
      clearTimeout(timer);
      watcher?.close();
    },
  };
}
