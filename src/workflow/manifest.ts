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
type Reader = (text: string) => Promise<Facts> | Facts;

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
  "Cargo.toml": async (text) => {
    const document = await parseToml(text);
    return {
      runtime: runtimeOf("Rust", objectOf(document.package)["rust-version"]),
      dependencies: dependenciesOf(document.dependencies),
      commands: { build: "cargo build", test: "cargo test", run: "cargo run" },
    };
  },
  "pom.xml": () => ({ commands: { build: "mvn package", test: "mvn test" } }),
  "build.gradle": () => ({ commands: { build: "gradle build", test: "gradle test" } }),
  "build.gradle.kts": () => ({ commands: { build: "gradle build", test: "gradle test" } }),
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
export async function readManifest(path: string, text: string): Promise<Manifest | undefined> {
  const reader = readers[path.split("/").at(-1) ?? ""];
  try {
    return reader && { path, dependencies: [], commands: {}, ...(await reader(text)) };
  } catch {
    return undefined;
  }
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

function readPackage(text: string): Facts {
  const file = objectOf(JSON.parse(text));
  const scripts = objectOf(file.scripts);
  const manager =
    typeof file.packageManager === "string" ? file.packageManager.split("@")[0] : "npm";
  const named: readonly (readonly [CommandKind, string])[] = [
    ["build", "build"],
    ["test", "test"],
    ["lint", "lint"],
    ["run", "dev"],
    ["run", "start"],
  ];
  const commands = named
    .filter(([, script]) => typeof scripts[script] === "string")
    .map(([kind, script]) => [kind, `${manager} run ${script}`]);
  return {
    runtime: runtimeOf("Node.js", objectOf(file.engines).node),
    dependencies: dependenciesOf(file.dependencies),
    commands: { install: `${manager} install`, ...Object.fromEntries(commands) },
  };
}

async function readPyproject(text: string): Promise<Facts> {
  const document = await parseToml(text);
  const project = objectOf(document.project);
  const poetry = objectOf(objectOf(document.tool).poetry);
  const { python, ...others } = objectOf(poetry.dependencies);
  const listed = Array.isArray(project.dependencies) ? project.dependencies.map(String) : [];
  const install = isObject(poetry.dependencies) ? "poetry install" : "pip install -e .";
  return {
    runtime: runtimeOf("Python", project["requires-python"] ?? python),
    dependencies: [...listed, ...dependenciesOf(others)],
    commands: text.includes("pytest") ? { install, test: "pytest" } : { install },
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
  }).flatMap(([name, endings]) => endings.split(" ").map((ending) => [ending, name] as const)),
);
