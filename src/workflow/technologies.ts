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
