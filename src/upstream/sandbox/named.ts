import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, resolve } from "node:path";
import { isInside, realOf } from "../../config/project-limits.ts";
import { findScripts, type ProcessSpec } from "../program.ts";

/** Paths and hosts that the entry of a server names: it is meant to use them. */
export interface Named {
  readonly write: readonly string[];
  readonly hosts: readonly string[];
  /** Paths that it does not get, each with the reason. */
  readonly withheld: readonly string[];
}

interface Place {
  readonly home: string;
  isOurs(path: string): boolean;
}

/** Arguments also name files by their bare names; variables hold too many other words for that. */
export function findNamed(spec: ProcessSpec, place: Place): Named {
  const { args, env, cwd = process.cwd() } = spec;
  const words = args.map((word) => word.replace(/^--?[\w-]+=/, ""));
  const values = Object.entries(env)
    .filter(([name]) => name !== "PATH")
    .flatMap(([, value]) => splitList(value));
  const scripts = new Set(findScripts(spec));
  const bare = words.filter((word) => /^\w[^:]*$/.test(word) && existsSync(resolve(cwd, word)));
  const paths = [...words, ...values].flatMap((word) => pathIn(word, place.home));
  const found = [...bare, ...paths]
    .map((path) => resolve(cwd, path))
    .filter((path) => !scripts.has(realOf(path)))
    .map((path) => judge(path, place));
  return {
    write: found.flatMap(({ write }) => write ?? []),
    withheld: found.flatMap(({ withheld }) => withheld ?? []),
    hosts: [...words, ...values].flatMap(hostIn),
  };
}

/** `/a:/b` or `/a,/b`. */
function splitList(value: string): readonly string[] {
  const parts = value.split(/[,:;]/);
  return parts.every((part) => /^[/~]/.test(part)) ? parts : [value];
}

function pathIn(word: string, home: string): readonly string[] {
  if (/^~(\/|$)/.test(word)) return [home + word.slice(1)];
  if (/^(\.{1,2}(\/|$)|\/)/.test(word)) return [word];
  const [, path] = /^(?:file|sqlite):\/\/(\/.+)$/.exec(word) ?? [];
  return path === undefined ? [] : [path];
}

/** Where a port is not written. */
const ports: Readonly<Record<string, string>> = {
  "postgres:": "5432",
  "postgresql:": "5432",
  "mysql:": "3306",
  "redis:": "6379",
  "mongodb:": "27017",
  "amqp:": "5672",
};

function hostIn(word: string): readonly string[] {
  if (!/^[a-z][a-z+.-]*:\/\/[^/]/i.test(word) || !URL.canParse(word)) return [];
  const { protocol, hostname, port } = new URL(word);
  const at = port || ports[protocol] || "";
  return hostname === "" ? [] : [at === "" ? hostname : `${hostname}:${at}`];
}

interface Judged {
  readonly write?: string;
  readonly withheld?: string;
}

function judge(path: string, { home, isOurs }: Place): Judged {
  const real = realOf(path);
  if (isOurs(path)) return { withheld: `does not get ${path}, which is Guildhall's` };
  if (isInside(realOf(home), real))
    return { withheld: `does not get ${path}: name folders in it instead` };
  if (existsSync(path)) return { write: path };
  // A file that it will create, in a folder that it must be able to write; in /tmp and its home it can anyway.
  const folder = dirname(path);
  const isPrivate = [tmpdir(), "/tmp", home].some((own) => realOf(own) === realOf(folder));
  const isUsable = existsSync(folder) && !isPrivate && !isInside(realOf(home), realOf(folder));
  return isUsable && !isOurs(folder) ? { write: folder } : {};
}
