import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Scope } from "../base/scope.ts";
import { readInside } from "./artefacts.ts";

/** Facts of a repository, each with the file it comes from. */
export interface Survey {
  readonly fileCount: number;
  /** The repository has more files than the survey read. */
  readonly isCut: boolean;
  /** Most files first. */
  readonly languages: readonly Counted[];
  readonly manifests: readonly Manifest[];
  readonly runtime: Fact | undefined;
  readonly commands: Partial<Readonly<Record<CommandKind, Fact>>>;
  /** Folders with source files, two levels deep. */
  readonly folders: readonly Counted[];
  /** The top folder with most source files; "" for the top itself. */
  readonly sourceFolder: string;
  readonly tests: { readonly files: number; readonly example: string } | undefined;
  /** Source files, without tests. */
  readonly sources: readonly string[];
  /** The name of the README file. */
  readonly readme: string | undefined;
}

interface Fact {
  readonly text: string;
  readonly from: string;
}

interface Counted {
  readonly name: string;
  readonly files: number;
}

const filesMax = 5_000;
const foldersAtOnce = 16;
const manifestsMax = 20;

/** Folders of dependencies, builds and tools, and the specs themselves. */
const skipped = new Set(
  "node_modules vendor dist build target out coverage __pycache__ venv env site-packages bower_components specs Pods obj bin tmp logs".split(
    " ",
  ),
);

export async function surveyRepository(folder: string, scope: Scope): Promise<Survey> {
  const { paths, isCut } = await walk(folder, scope);
  const manifests = await readManifests(folder, paths);
  await turn();

  const sources = paths.filter((path) => languageOf(path) !== undefined);
  const tests = sources.filter(isTest);
  const own = tests.length < sources.length ? sources.filter((path) => !isTest(path)) : sources;
  await turn();

  const inFolders = sources.filter((path) => path.includes("/"));
  const folders = countBy(inFolders, (path) => path.split("/").slice(0, -1).slice(0, 2).join("/"));
  const runtime = manifests.find((manifest) => manifest.runtime !== undefined);
  const [example] = tests;
  return {
    fileCount: paths.length,
    isCut,
    languages: countBy(own, (path) => languageOf(path) ?? ""),
    manifests,
    runtime: runtime && { text: runtime.runtime ?? "", from: runtime.path },
    commands: findCommands(manifests),
    folders: [...folders].sort((a, b) => (a.name < b.name ? -1 : 1)),
    sourceFolder:
      countBy(own, (path) => path.slice(0, Math.max(0, path.indexOf("/"))))[0]?.name ?? "",
    tests: example === undefined ? undefined : { files: tests.length, example },
    sources: own,
    readme: paths.find((path) => /^readme(\.\w+)?$/i.test(path)),
  };
}

const relatedMax = 3;

/** Source files with a word of the text in their name: "order" is in src/routes/orders.ts. */
export function findRelated({ sources }: Survey, text: string): readonly string[] {
  const singular = (word: string): string => word.toLowerCase().replace(/s$/, "");
  const words = new Set((text.match(/[\p{L}\p{N}]{3,}/gu) ?? []).map(singular));
  const isNamed = (path: string): boolean => {
    const name = path
      .replace(/(?:\/(?:index|main|mod|__init__))?\.[^/]*$/, "")
      .split("/")
      .at(-1);
    const parts = name?.match(/\p{Lu}?[\p{Ll}\p{N}]+|\p{Lu}+|\p{Lo}+/gu) ?? [];
    return parts.some((part) => words.has(singular(part)));
  };
  return sources.filter(isNamed).slice(0, relatedMax);
}

/** Breadth first and by name, so that the same repository gives the same survey. Links are not followed. */
async function walk(folder: string, scope: Scope): Promise<{ paths: string[]; isCut: boolean }> {
  const paths: string[] = [];
  let level: string[] = [""];
  let isCut = false;
  while (level.length > 0 && !isCut) {
    const next: string[] = [];
    for (let at = 0; at < level.length && !isCut; at += foldersAtOnce) {
      if (scope.cancelReason) throw scope.cancelReason;
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
          const isSkipped = entry.name.startsWith(".") || skipped.has(entry.name);
          if (entry.isDirectory() && !isSkipped) next.push(path);
          if (entry.isFile()) paths.push(path);
        }
        // Keeps the event loop responsive in large folders.
        await turn();
      }
      isCut = paths.length > filesMax;
    }
    level = next;
  }
  return { paths: paths.slice(0, filesMax), isCut };
}

async function readManifests(
  folder: string,
  paths: readonly string[],
): Promise<readonly Manifest[]> {
  const found = paths
    .map((path) => path.split("/"))
    .filter((parts) => parts.length <= 3 && Object.hasOwn(readers, parts.at(-1) ?? ""))
    .map((parts) => parts.join("/"))
    .slice(0, manifestsMax);
  const read = await Promise.all(
    found.map(async (path) => {
      const text = await readInside({ root: folder }, join(folder, path)).catch(() => undefined);
      return text === undefined ? undefined : readManifest(path, text, new Set(paths));
    }),
  );
  return read.filter((manifest) => manifest !== undefined);
}

function languageOf(path: string): string | undefined {
  if (/\.(config|d)\.\w+$/.test(path)) return undefined;
  return languages.get(/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "");
}

function isTest(path: string): boolean {
  return (
    /(^|\/)(tests?|__tests__|spec|e2e)\//.test(path) ||
    /[._-](test|spec)\.\w+$|(^|\/)test_\w+\.py$|_test\.go$|Tests?\.(java|kt|cs|php)$/.test(path)
  );
}

function countBy(paths: readonly string[], keyOf: (path: string) => string): readonly Counted[] {
  const counts = new Map<string, number>();
  for (const key of paths.map(keyOf)) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts]
    .map(([name, files]) => ({ name, files }))
    .sort((a, b) => b.files - a.files || (a.name < b.name ? -1 : 1));
}

/** Commands of the manifests at the top of the repository; the first one counts. */
function findCommands(manifests: readonly Manifest[]): Survey["commands"] {
  const commands: Partial<Record<CommandKind, Fact>> = {};
  for (const { path, commands: named } of manifests) {
    if (path.includes("/")) continue;
    for (const [kind, text] of Object.entries(named) as [CommandKind, string][])
      commands[kind] ??= { text, from: path };
  }
  return commands;
}

/** Facts of a project file such as package.json. */
interface Manifest {
  /** Relative to the project's folder. */
  readonly path: string;
  /** "Node.js >=20", "Python >=3.11". */
  readonly runtime?: string | undefined;
  /** "fastify 5.2.0". Without tools for development. */
  readonly dependencies: readonly string[];
  readonly commands: Partial<Readonly<Record<CommandKind, string>>>;
}

export const commandKinds = ["install", "build", "test", "run", "lint"] as const;
type CommandKind = (typeof commandKinds)[number];

type Facts = Partial<Omit<Manifest, "path">>;
/** `has` answers whether a file is beside the manifest. */
type Reader = (text: string, has: (file: string) => boolean) => Promise<Facts> | Facts;

/** By file name. */
const readers: Readonly<Record<string, Reader>> = {
  "package.json": readPackage,
  "pyproject.toml": readPyproject,
  "requirements.txt": (text) => ({
    dependencies: text
      .split(/\r?\n/)
      .map((line) => line.replace(/#.*/, "").trim())
      .filter((line) => /^\w/.test(line)),
    commands: { install: "pip install -r requirements.txt" },
  }),
  "go.mod": (text) => ({
    runtime: runtimeOf("Go", /^go\s+([\d.]+)/m.exec(text)?.[1]),
    dependencies: [...text.matchAll(/^\s*(?:require\s+)?([\w.-]+\.[\w.-]+\/\S+\s+v\S+)/gm)].map(
      ([, dependency = ""]) => dependency,
    ),
    commands: { build: "go build ./...", test: "go test ./..." },
  }),
  "Cargo.toml": async (text, has) => {
    const document = await parseToml(text);
    return {
      runtime: runtimeOf("Rust", objectOf(document.package)["rust-version"]),
      dependencies: dependenciesOf(document.dependencies),
      commands: {
        build: "cargo build",
        test: "cargo test",
        ...(has("src/main.rs") && { run: "cargo run" }),
      },
    };
  },
  "pom.xml": (_text, has) => buildWith(has("mvnw") ? "./mvnw" : "mvn", "package"),
  "build.gradle": (_text, has) => buildWith(has("gradlew") ? "./gradlew" : "gradle", "build"),
  "build.gradle.kts": (_text, has) => buildWith(has("gradlew") ? "./gradlew" : "gradle", "build"),
  Gemfile: () => ({ commands: { install: "bundle install" } }),
  "composer.json": (text) => ({
    dependencies: dependenciesOf(objectOf(JSON.parse(text)).require),
    commands: { install: "composer install" },
  }),
  Makefile: (text) => {
    const targets = new Set([...text.matchAll(/^([\w-]+):(?!=)/gm)].map(([, target]) => target));
    const kinds = commandKinds.filter((kind) => targets.has(kind));
    return { commands: Object.fromEntries(kinds.map((kind) => [kind, `make ${kind}`])) };
  },
};

/** Undefined for a broken manifest, which is not ours to repair. */
async function readManifest(
  path: string,
  text: string,
  paths: ReadonlySet<string>,
): Promise<Manifest | undefined> {
  const name = path.split("/").at(-1) ?? "";
  const has = (file: string): boolean => paths.has(path.slice(0, -name.length) + file);
  try {
    const facts = await readers[name]?.(text, has);
    return facts && { path, dependencies: [], commands: {}, ...facts };
  } catch {
    return undefined;
  }
}

function buildWith(program: string, goal: string): Facts {
  return { commands: { build: `${program} ${goal}`, test: `${program} test` } };
}

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

async function parseToml(text: string): Promise<JsonObject> {
  return objectOf((await import("smol-toml")).parse(text));
}

function runtimeOf(language: string, version: unknown): string | undefined {
  return typeof version === "string" ? `${language} ${version}` : undefined;
}

/** From versions by name; a version may be an object with more fields. */
function dependenciesOf(value: unknown): readonly string[] {
  return Object.entries(objectOf(value)).map(([name, given]) => {
    const version = isObject(given) ? given.version : given;
    return typeof version === "string" ? `${name} ${version}` : name;
  });
}

const lockFiles = { "pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun" };

function readPackage(text: string, has: (file: string) => boolean): Facts {
  const file = objectOf(JSON.parse(text));
  const scripts = objectOf(file.scripts);
  const locked = Object.entries(lockFiles).find(([lock]) => has(lock))?.[1] ?? "npm";
  const manager =
    typeof file.packageManager === "string" ? file.packageManager.split("@")[0] : locked;
  const named: readonly (readonly [CommandKind, string])[] = [
    ["build", "build"],
    ["test", "test"],
    ["lint", "lint"],
    ["run", "dev"],
    ["run", "start"],
  ];
  const commands = named
    .filter(([, script]) => typeof scripts[script] === "string")
    // The script that `npm init` writes.
    .filter(([, script]) => !/no test specified/.test(String(scripts[script])))
    .map(([kind, script]) => [kind, `${manager} run ${script}`]);
  return {
    runtime: runtimeOf("Node.js", objectOf(file.engines).node),
    dependencies: dependenciesOf(file.dependencies),
    commands: { install: `${manager} install`, ...Object.fromEntries(commands) },
  };
}

async function readPyproject(text: string, has: (file: string) => boolean): Promise<Facts> {
  const document = await parseToml(text);
  const project = objectOf(document.project);
  const poetry = objectOf(objectOf(document.tool).poetry);
  const { python, ...others } = objectOf(poetry.dependencies);
  const listed = Array.isArray(project.dependencies) ? project.dependencies.map(String) : [];
  const usual = has("uv.lock") ? "uv sync" : "pip install -e .";
  const install = isObject(poetry.dependencies) ? "poetry install" : usual;
  return {
    runtime: runtimeOf("Python", project["requires-python"] ?? python),
    dependencies: [...listed, ...dependenciesOf(others)],
    commands: text.includes("pytest")
      ? { install, test: has("uv.lock") ? "uv run pytest" : "pytest" }
      : { install },
  };
}

/** Languages by the endings of their files. */
const languages: ReadonlyMap<string, string> = new Map(
  Object.entries({
    TypeScript: "ts tsx mts",
    JavaScript: "js jsx mjs cjs",
    Python: "py",
    Go: "go",
    Rust: "rs",
    Java: "java",
    Kotlin: "kt",
    Ruby: "rb",
    PHP: "php",
    "C#": "cs",
    Swift: "swift",
    C: "c h",
    "C++": "cpp cc hpp",
    Scala: "scala",
    Elixir: "ex exs",
    Dart: "dart",
    Lua: "lua",
    Shell: "sh",
    HTML: "html htm",
    CSS: "css scss",
    Vue: "vue",
    Svelte: "svelte",
    SQL: "sql",
    Terraform: "tf",
    R: "r",
    Haskell: "hs",
    Clojure: "clj",
    Erlang: "erl",
    Perl: "pl",
  }).flatMap(([name, endings]) => endings.split(" ").map((ending) => [ending, name] as const)),
);
