import type { Dirent } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import type { Scope } from "../base/scope.ts";
import {
  type CommandKind,
  findTechnology,
  isManifest,
  languagesByEnding,
  type Manifest,
  readManifest,
  type Technology,
  type TechnologyRole,
} from "./manifest.ts";

/** Facts of a repository, each with the file it comes from: languages, dependencies, folders, tests, commands. */
export interface Survey {
  readonly fileCount: number;
  /** The repository has more files than the survey read. */
  readonly isCut: boolean;
  /** Most files first. */
  readonly languages: readonly { readonly name: string; readonly files: number }[];
  readonly manifests: readonly Manifest[];
  readonly technologies: readonly (Technology & {
    readonly dependency: string;
    readonly version: string;
    readonly from: string;
  })[];
  readonly runtime: { readonly text: string; readonly from: string } | undefined;
  readonly commands: Partial<
    Readonly<Record<CommandKind, { readonly text: string; readonly from: string }>>
  >;
  /** Folders with source files, two levels deep. */
  readonly folders: readonly { readonly path: string; readonly files: number }[];
  /** The folder with most source files; "" for the top. */
  readonly sourceFolder: string;
  readonly tests: TestFacts | undefined;
  /** The name of the README file. */
  readonly readme: string | undefined;
  readonly deployment: readonly string[];
  readonly projectType: string | undefined;
}

export interface TestFacts {
  readonly files: number;
  /** "test", or "" if tests are beside the code they test. */
  readonly folder: string;
  readonly example: string;
}

const filesMax = 5_000;
const foldersAtOnce = 16;
const manifestsMax = 20;
const manifestBytesMax = 256 * 1024;
/** How long the scan may block the event loop. */
const sliceMs = 5;

/** Folders of dependencies, builds and tools, and the specs themselves. */
const skipped = new Set(
  "node_modules vendor dist build target out coverage __pycache__ venv env site-packages bower_components specs Pods obj bin tmp logs".split(
    " ",
  ),
);

export async function surveyRepository(folder: string, scope: Scope): Promise<Survey> {
  const { paths, isCut } = await walk(folder, scope);
  return summarize(paths, isCut, await readManifests(folder, paths));
}

/** Breadth first and by name, so that the same repository gives the same survey. Links are not followed. */
async function walk(folder: string, scope: Scope): Promise<{ paths: string[]; isCut: boolean }> {
  const files: string[] = [];
  let level: string[] = [""];
  let isCut = false;
  let sliceEnds = performance.now() + sliceMs;
  while (level.length > 0 && files.length < filesMax) {
    const next: string[] = [];
    for (let at = 0; at < level.length && files.length < filesMax; at += foldersAtOnce) {
      if (scope.cancelled) throw scope.cancelled;
      const batch = level.slice(at, at + foldersAtOnce);
      const listed = await Promise.all(
        batch.map((path) =>
          readdir(join(folder, path), { withFileTypes: true }).catch((): Dirent[] => []),
        ),
      );
      for (const [index, entries] of listed.entries()) {
        const parent = batch[index] ?? "";
        for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
          const path = parent === "" ? entry.name : `${parent}/${entry.name}`;
          if (entry.isDirectory() && mayEnter(entry.name)) next.push(path);
          else if (entry.isFile() && files.length < filesMax) files.push(path);
          else if (entry.isFile()) isCut = true;
        }
        if (performance.now() < sliceEnds) continue;
        await turn();
        sliceEnds = performance.now() + sliceMs;
      }
    }
    level = next;
  }
  return { paths: files, isCut: isCut || level.length > 0 };
}

function mayEnter(folder: string): boolean {
  return folder === ".github" || (!folder.startsWith(".") && !skipped.has(folder));
}

async function readManifests(
  folder: string,
  paths: readonly string[],
): Promise<readonly Manifest[]> {
  const found = paths
    .filter((path) => path.split("/").length <= 3 && isManifest(path.split("/").at(-1) ?? ""))
    .slice(0, manifestsMax);
  const read = await Promise.all(
    found.map(async (path) => {
      const text = await readStart(join(folder, path));
      return text === undefined ? undefined : readManifest(path, text);
    }),
  );
  return read.filter((manifest) => manifest !== undefined);
}

/** Undefined if the file is too large to be written by a person. */
async function readStart(file: string): Promise<string | undefined> {
  const handle = await open(file, "r").catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { size } = await handle.stat();
    return size > manifestBytesMax ? undefined : await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

/** Yields between its parts, to keep the event loop responsive. */
async function summarize(
  paths: readonly string[],
  isCut: boolean,
  manifests: readonly Manifest[],
): Promise<Survey> {
  const sources = paths.filter((path) => languageOf(path) !== undefined);
  const tests = sources.filter(isTest);
  const own = tests.length < sources.length ? sources.filter((path) => !isTest(path)) : sources;
  await turn();
  const languages = countBy(own, (path) => languageOf(path) ?? "");
  const folders = countBy(
    sources.filter((path) => path.includes("/")),
    (path) => path.split("/").slice(0, -1).slice(0, 2).join("/"),
  );
  await turn();
  const sourceFolder = findSourceFolder(own);
  const described = describeTests(tests, own);
  await turn();
  const technologies = findTechnologies(manifests);
  const runtime = manifests.find((manifest) => manifest.runtime !== undefined);
  const deployment = paths.filter((path) =>
    /(^|\/)(Dockerfile|docker-compose\.ya?ml|compose\.ya?ml|vercel\.json|netlify\.toml|fly\.toml|Procfile)$|^\.github\/workflows\//.test(
      path,
    ),
  );
  return {
    fileCount: paths.length,
    isCut,
    languages: languages.map(([name, files]) => ({ name, files })),
    manifests,
    technologies,
    runtime: runtime && { text: runtime.runtime ?? "", from: runtime.path },
    commands: findCommands(manifests),
    folders: folders
      .map(([path, files]) => ({ path, files }))
      .sort((a, b) => (a.path < b.path ? -1 : 1))
      .slice(0, 40),
    sourceFolder,
    tests: described,
    readme: paths.find((path) => /^readme(\.\w+)?$/i.test(path)),
    deployment: deployment.slice(0, 5),
    projectType: findProjectType(technologies, manifests),
  };
}

function languageOf(path: string): string | undefined {
  if (path.startsWith(".github") || /\.(config|d)\.\w+$/.test(path)) return undefined;
  const ending = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase();
  return ending === undefined ? undefined : languagesByEnding[ending];
}

function isTest(path: string): boolean {
  return (
    /(^|\/)(tests?|__tests__|spec|e2e)\//.test(path) ||
    /[._-](test|spec)\.\w+$|(^|\/)test_\w+\.py$|_test\.go$|Tests?\.(java|kt|cs|php)$/.test(path)
  );
}

function countBy(
  paths: readonly string[],
  keyOf: (path: string) => string,
): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const key of paths.map(keyOf)) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
}

function findTechnologies(manifests: readonly Manifest[]): Survey["technologies"] {
  const found = manifests.flatMap(({ path, dependencies }) =>
    dependencies.flatMap(({ name, version }) => {
      const technology = findTechnology(name);
      return technology ? [{ ...technology, dependency: name, version, from: path }] : [];
    }),
  );
  return [
    ...new Map(found.reverse().map((technology) => [technology.name, technology])).values(),
  ].reverse();
}

/** Commands of the manifests at the top of the repository. */
function findCommands(manifests: readonly Manifest[]): Survey["commands"] {
  const commands: Partial<Record<CommandKind, { text: string; from: string }>> = {};
  const top = manifests.filter(({ path }) => !path.includes("/"));
  for (const { path, commands: named } of top) {
    for (const [kind, text] of Object.entries(named) as [CommandKind, string][])
      commands[kind] ??= { text, from: path };
  }
  return commands;
}

/** `src`, `src/package`, `package`, or the top. */
function findSourceFolder(own: readonly string[]): string {
  const [main] = countBy(own, (path) => (path.includes("/") ? (path.split("/")[0] ?? "") : ""));
  const folder = main?.[0] ?? "";
  if (folder === "") return "";
  const inside = own.filter((path) => path.startsWith(`${folder}/`));
  const packages = new Set(
    inside
      .filter((path) => path.endsWith("/__init__.py"))
      .map((path) => path.split("/").slice(0, 2).join("/")),
  );
  const [only] = packages;
  return packages.size === 1 && only !== undefined && !only.endsWith(".py") ? only : folder;
}

function describeTests(tests: readonly string[], own: readonly string[]): TestFacts | undefined {
  const [example] = tests.filter((path) => /test|spec/i.test(path.split("/").at(-1) ?? ""));
  if (example === undefined) return undefined;
  const [main] = countBy(tests, (path) => path.split("/")[0] ?? "");
  const folder = main?.[0] ?? "";
  const isBeside =
    !/^(tests?|__tests__|spec|e2e)$/.test(folder) ||
    own.some((path) => path.startsWith(`${folder}/`) && !isTest(path));
  return { files: tests.length, folder: isBeside ? "" : folder, example };
}

function findProjectType(
  technologies: Survey["technologies"],
  manifests: readonly Manifest[],
): string | undefined {
  const has = (role: TechnologyRole): boolean =>
    technologies.some((technology) => technology.role === role);
  if (has("web") && has("ui")) return "web service with a web interface";
  if (has("web")) return "web service";
  if (has("ui")) return "web application";
  if (has("cli") || manifests.some(({ hasCommands }) => hasCommands)) return "command-line tool";
  return manifests.some(({ isLibrary }) => isLibrary) ? "library" : undefined;
}
