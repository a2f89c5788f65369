import { isObject, type JsonObject } from "../base/json.ts";

/** A project file such as package.json: its dependencies and commands. */
export interface Manifest {
  /** Relative to the project's folder. */
  readonly path: string;
  readonly name?: string | undefined;
  /** "Node.js >=20", "Python >=3.11". */
  readonly runtime?: string | undefined;
  readonly dependencies: readonly Dependency[];
  readonly commands: Partial<Readonly<Record<CommandKind, string>>>;
  /** It declares command-line programs. */
  readonly hasCommands: boolean;
  /** Other projects can import it. */
  readonly isLibrary: boolean;
}

export interface Dependency {
  readonly name: string;
  readonly version: string;
}

export type CommandKind = "install" | "build" | "test" | "run" | "lint";

type Facts = Partial<Omit<Manifest, "path">>;
type Reader = (text: string) => Promise<Facts> | Facts;

const readGradle: Reader = (text) => ({
  dependencies: namedDependencies(text),
  commands: { build: "gradle build", test: "gradle test" },
});

/** By file name. */
const readers: Readonly<Record<string, Reader>> = {
  "package.json": readPackage,
  "pyproject.toml": readPyproject,
  "requirements.txt": (text) => ({
    dependencies: readRequirements(text),
    commands: { install: "pip install -r requirements.txt" },
  }),
  "go.mod": (text) => ({
    name: /^module\s+(\S+)/m.exec(text)?.[1],
    runtime: runtimeOf("Go", /^go\s+([\d.]+)/m.exec(text)?.[1]),
    dependencies: dependenciesIn(text, /^\s*(?:require\s+)?([\w.-]+\.[\w.-]+\/\S+)\s+(v\S+)/gm),
    commands: { build: "go build ./...", test: "go test ./..." },
  }),
  "Cargo.toml": readCargo,
  "pom.xml": (text) => ({
    runtime: runtimeOf(
      "Java",
      /<(?:java\.version|maven\.compiler\.(?:release|source))>([\d.]+)</.exec(text)?.[1],
    ),
    dependencies: namedDependencies(text),
    commands: { build: "mvn package", test: "mvn test" },
  }),
  "build.gradle": readGradle,
  "build.gradle.kts": readGradle,
  Gemfile: (text) => ({
    dependencies: dependenciesIn(text, /^\s*gem ["']([\w-]+)["'](?:,\s*["']([^"']+)["'])?/gm),
    commands: { install: "bundle install" },
  }),
  "composer.json": (text) => {
    const { require, "require-dev": dev } = objectOf(JSON.parse(text));
    return {
      dependencies: [...entriesOf(require), ...entriesOf(dev)],
      commands: { install: "composer install" },
    };
  },
  Makefile: (text) => {
    const targets = new Set([...text.matchAll(/^([\w-]+):(?!=)/gm)].map((found) => found[1]));
    const kinds = (["install", "build", "test", "run", "lint"] as const).filter((kind) =>
      targets.has(kind),
    );
    return { commands: Object.fromEntries(kinds.map((kind) => [kind, `make ${kind}`])) };
  },
};

export function isManifest(name: string): boolean {
  return Object.hasOwn(readers, name);
}

/** Undefined for a broken manifest, which is not ours to repair. */
export async function readManifest(path: string, text: string): Promise<Manifest | undefined> {
  const reader = readers[path.split("/").at(-1) ?? ""];
  const nothing = { path, dependencies: [], commands: {}, hasCommands: false, isLibrary: false };
  try {
    return reader && { ...nothing, ...(await reader(text)) };
  } catch {
    return undefined;
  }
}

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

async function parseToml(text: string): Promise<JsonObject> {
  return objectOf((await import("smol-toml")).parse(text));
}

function runtimeOf(language: string, version: string | undefined): string | undefined {
  return version === undefined ? undefined : `${language} ${version}`;
}

/** The first group of the pattern is the name, the second the version. */
function dependenciesIn(text: string, pattern: RegExp): readonly Dependency[] {
  return [...text.matchAll(pattern)].map(([, name = "", version = ""]) => ({ name, version }));
}

function entriesOf(value: unknown): readonly Dependency[] {
  return Object.entries(objectOf(value)).map(([name, version]) => ({
    name,
    version: versionOf(version) ?? "",
  }));
}

function versionOf(value: unknown): string | undefined {
  return textOf(isObject(value) ? value.version : value);
}

function readPackage(text: string): Facts {
  const file = objectOf(JSON.parse(text));
  const scripts = objectOf(file.scripts);
  const manager = textOf(file.packageManager)?.split("@")[0] ?? "npm";
  const commands: { -readonly [Kind in CommandKind]?: string } = { install: `${manager} install` };
  const run = ["start", "dev", "serve"].find((name) => textOf(scripts[name]) !== undefined);
  if (textOf(scripts.build) !== undefined) commands.build = `${manager} run build`;
  if (textOf(scripts.test) !== undefined) commands.test = `${manager} test`;
  if (textOf(scripts.lint) !== undefined) commands.lint = `${manager} run lint`;
  if (run !== undefined)
    commands.run = run === "start" ? `${manager} start` : `${manager} run ${run}`;
  return {
    name: textOf(file.name),
    runtime: runtimeOf("Node.js", textOf(objectOf(file.engines).node)),
    dependencies: [...entriesOf(file.dependencies), ...entriesOf(file.devDependencies)],
    commands,
    hasCommands: file.bin !== undefined,
    isLibrary: file.main !== undefined || file.exports !== undefined,
  };
}

async function readPyproject(text: string): Promise<Facts> {
  const document = await parseToml(text);
  const project = objectOf(document.project);
  const tool = objectOf(document.tool);
  const poetry = objectOf(tool.poetry);
  const lines = [
    project.dependencies,
    ...Object.values(objectOf(project["optional-dependencies"])),
    ...Object.values(objectOf(document["dependency-groups"])),
  ]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .filter((line) => typeof line === "string");
  const dependencies = [
    ...readRequirements(lines.join("\n")),
    ...entriesOf(poetry.dependencies).filter(({ name }) => name !== "python"),
    ...Object.values(objectOf(poetry.group)).flatMap((group) =>
      entriesOf(objectOf(group).dependencies),
    ),
  ];
  const install = isObject(poetry.dependencies) ? "poetry install" : "pip install -e .";
  const hasPytest = isObject(tool.pytest) || dependencies.some(({ name }) => name === "pytest");
  return {
    name: textOf(project.name) ?? textOf(poetry.name),
    runtime: runtimeOf(
      "Python",
      textOf(project["requires-python"]) ?? versionOf(objectOf(poetry.dependencies).python),
    ),
    dependencies,
    commands: hasPytest ? { install, test: "pytest" } : { install },
    hasCommands: isObject(project.scripts) || isObject(poetry.scripts),
    isLibrary: true,
  };
}

function readRequirements(text: string): readonly Dependency[] {
  const pattern = /^[ \t]*([A-Za-z][\w.-]*)(?:\[[^\]\n]*\])?[ \t]*([^;#\n]*)/gm;
  return dependenciesIn(text, pattern).map(({ name, version }) => ({
    name: name.toLowerCase(),
    version: version.trim(),
  }));
}

async function readCargo(text: string): Promise<Facts> {
  const document = await parseToml(text);
  const crate = objectOf(document.package);
  return {
    name: textOf(crate.name),
    runtime: runtimeOf("Rust", versionOf(crate["rust-version"]) ?? versionOf(crate.edition)),
    dependencies: [...entriesOf(document.dependencies), ...entriesOf(document["dev-dependencies"])],
    commands: { build: "cargo build", test: "cargo test", run: "cargo run" },
    hasCommands: Array.isArray(document.bin),
    isLibrary: document.lib !== undefined,
  };
}

/** JVM builds declare dependencies in many ways; this only looks for a few well-known ones. */
function namedDependencies(text: string): readonly Dependency[] {
  return ["spring-boot", "quarkus", "junit"]
    .filter((name) => text.includes(name))
    .map((name) => ({ name, version: "" }));
}

/** The part a dependency plays in a project. */
export type TechnologyRole = "web" | "ui" | "cli" | "test" | "storage" | "messaging";

export interface Technology {
  readonly name: string;
  readonly role: TechnologyRole;
}

/** `package=Name` by role; packages as their registries spell them. */
const table: Readonly<Record<TechnologyRole, string>> = {
  web: "express=Express fastify=Fastify koa=Koa hono=Hono @nestjs/core=NestJS @hapi/hapi=hapi fastapi=FastAPI flask=Flask django=Django starlette=Starlette aiohttp=aiohttp github.com/gin-gonic/gin=Gin github.com/labstack/echo=Echo github.com/gofiber/fiber=Fiber github.com/go-chi/chi=chi axum=axum actix-web=Actix rocket=Rocket spring-boot=Spring-Boot quarkus=Quarkus rails=Rails sinatra=Sinatra laravel/framework=Laravel symfony/framework-bundle=Symfony Microsoft.AspNetCore=ASP.NET",
  ui: "next=Next.js nuxt=Nuxt react=React vue=Vue svelte=Svelte @angular/core=Angular solid-js=Solid electron=Electron streamlit=Streamlit",
  cli: "commander=Commander yargs=yargs citty=citty @oclif/core=oclif click=Click typer=Typer github.com/spf13/cobra=Cobra clap=clap",
  test: "vitest=Vitest jest=Jest mocha=Mocha ava=AVA @playwright/test=Playwright cypress=Cypress pytest=pytest github.com/stretchr/testify=Testify junit=JUnit rspec=RSpec phpunit/phpunit=PHPUnit xunit=xUnit nunit=NUnit",
  storage:
    "pg=PostgreSQL postgres=PostgreSQL mysql2=MySQL sqlite3=SQLite better-sqlite3=SQLite mongodb=MongoDB mongoose=MongoDB redis=Redis ioredis=Redis @prisma/client=Prisma prisma=Prisma drizzle-orm=Drizzle typeorm=TypeORM sequelize=Sequelize knex=Knex sqlalchemy=SQLAlchemy psycopg=PostgreSQL psycopg2=PostgreSQL psycopg2-binary=PostgreSQL asyncpg=PostgreSQL pymongo=MongoDB aiosqlite=SQLite gorm.io/gorm=GORM github.com/jackc/pgx=PostgreSQL sqlx=SQLx diesel=Diesel rusqlite=SQLite",
  messaging: "kafkajs=Kafka amqplib=RabbitMQ bullmq=BullMQ celery=Celery nats=NATS",
};

const technologies = new Map<string, Technology>(
  Object.entries(table).flatMap(([role, entries]) =>
    entries.split(" ").map((entry): [string, Technology] => {
      const at = entry.lastIndexOf("=");
      return [
        entry.slice(0, at),
        { name: entry.slice(at + 1).replaceAll("-", " "), role: role as TechnologyRole },
      ];
    }),
  ),
);

/** A Go module has its major version in the path. */
export function findTechnology(dependency: string): Technology | undefined {
  return (
    technologies.get(dependency) ??
    technologies.get(dependency.toLowerCase()) ??
    technologies.get(dependency.replace(/\/v\d+$/, ""))
  );
}

/** Languages and technologies that a text names, such as "TypeScript with Fastify". */
export function namedIn(text: string): {
  readonly languages: readonly string[];
  readonly technologies: readonly Technology[];
} {
  const has = (name: string): boolean =>
    new RegExp(`(?<![\\w.+#])${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w+#])`, "i").test(
      text,
    );
  const named = new Map(
    [...technologies.values()]
      .filter(({ name }) => has(name))
      .map((technology) => [technology.name, technology]),
  );
  return {
    languages: languages.map(([name]) => name).filter(has),
    technologies: [...named.values()],
  };
}

/** Endings by language. */
const languages =
  "TypeScript=ts,tsx,mts JavaScript=js,jsx,mjs,cjs Python=py Go=go Rust=rs Java=java Kotlin=kt Ruby=rb PHP=php C#=cs Swift=swift C=c,h C++=cpp,cc,hpp Scala=scala Elixir=ex,exs Dart=dart Lua=lua Shell=sh"
    .split(" ")
    .map((entry): readonly [string, readonly string[]] => {
      const [name = "", endings = ""] = entry.split("=");
      return [name, endings.split(",")];
    });

export const languagesByEnding: Readonly<Record<string, string>> = Object.fromEntries(
  languages.flatMap(([name, endings]) => endings.map((ending) => [ending, name])),
);
