import { isObject, type JsonObject } from "../base/json.ts";

/** Facts of a project file such as package.json. */
export interface Manifest {
  /** Relative to the project's folder. */
  readonly path: string;
  /** "Node.js >=20", "Python >=3.11". */
  readonly runtime?: string | undefined;
  /** "fastify 5.2.0". Without tools for development. */
  readonly dependencies: readonly string[];
  readonly commands: Partial<Readonly<Record<CommandKind, string>>>;
}

export const commandKinds = ["install", "build", "test", "run", "lint"] as const;
export type CommandKind = (typeof commandKinds)[number];

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

export function isManifest(name: string): boolean {
  return Object.hasOwn(readers, name);
}

/** Undefined for a broken manifest, which is not ours to repair. */
export async function readManifest(
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
export const languages: ReadonlyMap<string, string> = new Map(
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
