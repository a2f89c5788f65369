import { isObject } from "../base/json.ts";

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

type Reader = (
  text: string,
  path: string,
) => Promise<Omit<Manifest, "path">> | Omit<Manifest, "path">;

/** By file name. */
const readers: Readonly<Record<string, Reader>> = {
  "package.json": readPackage,
  "pyproject.toml": readPyproject,
  "requirements.txt": (text) => ({
    ...nothing,
    dependencies: readRequirements(text),
    commands: { install: "pip install -r requirements.txt" },
  }),
  "go.mod": readGoModule,
  "Cargo.toml": readCargo,
  "pom.xml": (text) => ({
    ...nothing,
    runtime: javaOf(text),
    dependencies: namedDependencies(text),
    commands: { build: "mvn package", test: "mvn test" },
  }),
  "build.gradle": (text) => ({
    ...nothing,
    dependencies: namedDependencies(text),
    commands: { build: "gradle build", test: "gradle test" },
  }),
  "build.gradle.kts": (text) => ({
    ...nothing,
    dependencies: namedDependencies(text),
    commands: { build: "gradle build", test: "gradle test" },
  }),
  Gemfile: (text) => ({
    ...nothing,
    dependencies: [...text.matchAll(/^\s*gem ["']([\w-]+)["'](?:,\s*["']([^"']+)["'])?/gm)].map(
      (gem) => ({ name: gem[1] ?? "", version: gem[2] ?? "" }),
    ),
    commands: { install: "bundle install" },
  }),
  "composer.json": (text) => {
    const { require, "require-dev": dev } = objectOf(text);
    return {
      ...nothing,
      dependencies: [...entriesOf(require), ...entriesOf(dev)],
      commands: { install: "composer install" },
    };
  },
  Makefile: (text) => ({ ...nothing, commands: makeTargets(text) }),
};

export function isManifest(name: string): boolean {
  return Object.hasOwn(readers, name);
}

export async function readManifest(path: string, text: string): Promise<Manifest | undefined> {
  const reader = readers[path.split("/").at(-1) ?? ""];
  try {
    return reader && { path, ...(await reader(text, path)) };
  } catch {
    // A broken manifest is not ours to repair.
    return undefined;
  }
}

const nothing: Omit<Manifest, "path"> = {
  dependencies: [],
  commands: {},
  hasCommands: false,
  isLibrary: false,
};

function objectOf(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  return isObject(value) ? { ...value } : {};
}

function entriesOf(value: unknown): readonly Dependency[] {
  return isObject(value)
    ? Object.entries(value).map(([name, version]) => ({ name, version: versionOf(version) }))
    : [];
}

function versionOf(value: unknown): string {
  if (typeof value === "string") return value;
  return isObject(value) && typeof value.version === "string" ? value.version : "";
}

function readPackage(text: string): Omit<Manifest, "path"> {
  const {
    name,
    engines,
    dependencies,
    devDependencies,
    scripts,
    bin,
    main,
    exports: exported,
    packageManager,
  } = objectOf(text);
  const manager =
    typeof packageManager === "string" ? (packageManager.split("@")[0] ?? "npm") : "npm";
  const has = (script: string): boolean => isObject(scripts) && typeof scripts[script] === "string";
  const node =
    isObject(engines) && typeof engines.node === "string" ? `Node.js ${engines.node}` : undefined;
  const run = ["start", "dev", "serve"].find(has);
  return {
    name: typeof name === "string" ? name : undefined,
    runtime: node,
    dependencies: [...entriesOf(dependencies), ...entriesOf(devDependencies)],
    commands: {
      install: `${manager} install`,
      ...(has("build") ? { build: `${manager} run build` } : {}),
      ...(has("test") ? { test: `${manager} test` } : {}),
      ...(has("lint") ? { lint: `${manager} run lint` } : {}),
      ...(run === undefined
        ? {}
        : { run: run === "start" ? `${manager} start` : `${manager} run ${run}` }),
    },
    hasCommands: bin !== undefined,
    isLibrary: main !== undefined || exported !== undefined,
  };
}

async function readPyproject(text: string): Promise<Omit<Manifest, "path">> {
  const value: unknown = (await import("smol-toml")).parse(text);
  const document = isObject(value) ? value : {};
  const project = isObject(document.project) ? document.project : {};
  const tool = isObject(document.tool) ? document.tool : {};
  const poetry = isObject(tool.poetry) ? tool.poetry : {};
  const groups = isObject(project["optional-dependencies"])
    ? Object.values(project["optional-dependencies"])
    : [];
  const dependencyGroups = isObject(document["dependency-groups"])
    ? Object.values(document["dependency-groups"])
    : [];
  const poetryGroups = isObject(poetry.group)
    ? Object.values(poetry.group).flatMap((group) =>
        entriesOf(isObject(group) ? group.dependencies : {}),
      )
    : [];
  const lines = [project.dependencies, ...groups, ...dependencyGroups]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .filter((line) => typeof line === "string");
  const python =
    typeof project["requires-python"] === "string"
      ? project["requires-python"]
      : isObject(poetry.dependencies)
        ? versionOf(poetry.dependencies.python)
        : "";
  const dependencies = [
    ...readRequirements(lines.join("\n")),
    ...entriesOf(poetry.dependencies).filter(({ name }) => name !== "python"),
    ...poetryGroups,
  ];
  const hasPytest = isObject(tool.pytest) || dependencies.some(({ name }) => name === "pytest");
  const named = project.name ?? poetry.name;
  return {
    name: typeof named === "string" ? named : undefined,
    runtime: python === "" ? undefined : `Python ${python}`,
    dependencies,
    commands: {
      install: isObject(poetry.dependencies) ? "poetry install" : "pip install -e .",
      ...(hasPytest ? { test: "pytest" } : {}),
    },
    hasCommands: isObject(project.scripts) || isObject(poetry.scripts),
    isLibrary: true,
  };
}

function readRequirements(text: string): readonly Dependency[] {
  return text
    .split("\n")
    .map((line) => /^\s*([A-Za-z][\w.-]*)(?:\[[^\]]*\])?\s*([^;#]*)/.exec(line))
    .filter((found) => found !== null)
    .map((found) => ({ name: found[1]?.toLowerCase() ?? "", version: found[2]?.trim() ?? "" }));
}

function readGoModule(text: string): Omit<Manifest, "path"> {
  const version = /^go\s+([\d.]+)/m.exec(text)?.[1];
  return {
    ...nothing,
    name: /^module\s+(\S+)/m.exec(text)?.[1],
    runtime: version === undefined ? undefined : `Go ${version}`,
    dependencies: [...text.matchAll(/^\s*(?:require\s+)?([\w.-]+\.[\w.-]+\/\S+)\s+(v\S+)/gm)].map(
      (found) => ({
        name: found[1] ?? "",
        version: found[2] ?? "",
      }),
    ),
    commands: { build: "go build ./...", test: "go test ./..." },
  };
}

async function readCargo(text: string): Promise<Omit<Manifest, "path">> {
  const value: unknown = (await import("smol-toml")).parse(text);
  const document = isObject(value) ? value : {};
  const pack = isObject(document.package) ? document.package : {};
  const edition = versionOf(pack["rust-version"]) || versionOf(pack.edition);
  return {
    name: typeof pack.name === "string" ? pack.name : undefined,
    runtime: edition === "" ? undefined : `Rust ${edition}`,
    dependencies: [...entriesOf(document.dependencies), ...entriesOf(document["dev-dependencies"])],
    commands: { build: "cargo build", test: "cargo test", run: "cargo run" },
    hasCommands: Array.isArray(document.bin),
    isLibrary: document.lib !== undefined,
  };
}

function javaOf(text: string): string | undefined {
  const version = /<(?:java\.version|maven\.compiler\.(?:release|source))>([\d.]+)</.exec(
    text,
  )?.[1];
  return version === undefined ? undefined : `Java ${version}`;
}

/** JVM builds declare dependencies in many ways; this only looks for a few well-known ones. */
function namedDependencies(text: string): readonly Dependency[] {
  return ["spring-boot", "quarkus", "junit"]
    .filter((name) => text.includes(name))
    .map((name) => ({ name, version: "" }));
}

function makeTargets(text: string): Manifest["commands"] {
  const targets = new Set([...text.matchAll(/^([\w-]+):(?!=)/gm)].map((found) => found[1]));
  const kinds: readonly CommandKind[] = ["install", "build", "test", "run", "lint"];
  return Object.fromEntries(
    kinds.filter((kind) => targets.has(kind)).map((kind) => [kind, `make ${kind}`]),
  );
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
    languages: Object.values(languagesByEnding).filter(
      (name, at, all) => all.indexOf(name) === at && has(name),
    ),
    technologies: [...named.values()],
  };
}

export const languagesByEnding: Readonly<Record<string, string>> = {
  ts: "TypeScript",
  tsx: "TypeScript",
  mts: "TypeScript",
  js: "JavaScript",
  jsx: "JavaScript",
  mjs: "JavaScript",
  cjs: "JavaScript",
  py: "Python",
  go: "Go",
  rs: "Rust",
  java: "Java",
  kt: "Kotlin",
  rb: "Ruby",
  php: "PHP",
  cs: "C#",
  swift: "Swift",
  c: "C",
  h: "C",
  cpp: "C++",
  cc: "C++",
  hpp: "C++",
  scala: "Scala",
  ex: "Elixir",
  exs: "Elixir",
  dart: "Dart",
  lua: "Lua",
  sh: "Shell",
};
