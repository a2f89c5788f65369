import type { Stats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, isAbsolute, join, parse, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { HallError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { createInOrder } from "../base/one-at-a-time.ts";
import { Scope } from "../base/scope.ts";
import { findNear } from "../base/text.ts";
import type { Toolkit } from "../tool.ts";
import { findToolkitNameFault } from "./name-rules.ts";
import type { Registry } from "./registry.ts";

/** Toolkits from modules in the config. A module that fails to load is listed with its error; its previous toolkits stay. */
export interface Modules {
  /** Loads new and changed files. */
  scan(): Promise<void>;
  /** Reloads one, by its toolkit's name or its file. Throws TOOLKIT_NOT_FOUND. */
  refresh(name: string): Promise<void>;
  failures(): readonly ModuleFailure[];
  close(): void;
}

export interface ModuleFailure {
  readonly module: string;
  readonly error: string;
}

export interface ModulesOptions {
  /** Globs relative to `folder`. */
  readonly patterns: readonly string[];
  readonly folder: string;
  readonly registry: Pick<Registry, "add" | "remove" | "replace" | "findToolkit">;
  readonly log: Log;
  /** Time limit for loading one. Default 5,000. */
  readonly loadMsMax?: number | undefined;
}

interface Module {
  readonly file: string;
  readonly stamp: string;
  readonly toolkits: readonly Toolkit[];
  readonly error: string | undefined;
  readonly ttlSeconds: number;
}

const filesMax = 1_000;
const defaultTtlSeconds = 300;

export function createModules({
  patterns,
  folder,
  registry,
  log,
  loadMsMax = 5_000,
}: ModulesOptions): Modules {
  const modules = new Map<string, Module>();
  /** Two scans must not both add the same file. */
  const inOrder = createInOrder();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function scan(): Promise<void> {
    const files = await findFiles(patterns, folder);
    for (const file of [...modules.keys()]) if (!files.includes(file)) await forget(file);
    const loaded = await Promise.all(
      files.map((file) => loadIfChanged(file, modules.get(file), loadMsMax)),
    );
    for (const module of loaded) if (module) await adopt(module);
  }

  async function adopt(module: Module): Promise<void> {
    const old = modules.get(module.file);
    if (module.error !== undefined) {
      log.warn({ module: nameOf(module.file) }, `module not loaded: ${module.error}`);
      modules.set(module.file, { ...module, toolkits: old?.toolkits ?? [] });
      return;
    }
    const kept: Toolkit[] = [];
    let error: string | undefined;
    for (const toolkit of module.toolkits) {
      try {
        await put(toolkit, old);
        kept.push(toolkit);
      } catch (failure) {
        error = brief(failure);
        log.warn({ module: nameOf(module.file) }, `toolkit not added: ${error}`);
      }
    }
    const ids = new Set(kept.map(({ id }) => id));
    for (const { id } of old?.toolkits ?? []) if (!ids.has(id)) await registry.remove(id);
    modules.set(module.file, { ...module, toolkits: kept, error });
  }

  async function put(toolkit: Toolkit, old: Module | undefined): Promise<void> {
    const fault = findToolkitNameFault(toolkit.id);
    if (fault !== undefined) throw new HallError("CONFLICT", `the name "${toolkit.id}" ${fault}`);
    const before = old?.toolkits.find(({ id }) => id === toolkit.id);
    if (before && registry.findToolkit(toolkit.id) === before)
      await (await registry.replace(toolkit)).close();
    else await registry.add(toolkit);
  }

  async function forget(file: string): Promise<void> {
    for (const { id } of modules.get(file)?.toolkits ?? []) await registry.remove(id);
    modules.delete(file);
  }

  function nameOf(file: string): string {
    return relative(folder, file);
  }

  function schedule(): void {
    clearTimeout(timer);
    if (isClosed || patterns.length === 0) return;
    const seconds = Math.min(
      defaultTtlSeconds,
      ...[...modules.values()].map(({ ttlSeconds }) => ttlSeconds),
    );
    timer = setTimeout(
      () => void inOrder(scan).then(schedule, schedule),
      Math.max(1, seconds) * 1000,
    );
    timer.unref();
  }

  return {
    scan: () => inOrder(scan).finally(schedule),
    refresh: (name) =>
      inOrder(async () => {
        const found = [...modules.values()].find(
          ({ file, toolkits }) => nameOf(file) === name || toolkits.some(({ id }) => id === name),
        );
        if (!found) {
          const near = findNear(name, [...modules.keys()].map(nameOf));
          throw new HallError("TOOLKIT_NOT_FOUND", `unknown module "${name.slice(0, 100)}"`, {
            details: { near },
          });
        }
        const module = await loadIfChanged(found.file, undefined, loadMsMax);
        if (module) await adopt(module);
        else await forget(found.file);
      }),
    failures: () =>
      [...modules.values()].flatMap(({ file, error }) =>
        error === undefined ? [] : [{ module: nameOf(file), error }],
      ),
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** Undefined if the file is unchanged or gone. */
async function loadIfChanged(
  file: string,
  known: Module | undefined,
  loadMsMax: number,
): Promise<Module | undefined> {
  const found = await stat(file).catch((): undefined => undefined);
  if (!found) return undefined;
  const stamp = stampOf(found);
  return stamp === known?.stamp ? undefined : load(file, stamp, loadMsMax);
}

function stampOf({ mtimeMs, size }: Stats): string {
  return `${mtimeMs}-${size}`;
}

async function load(file: string, stamp: string, loadMsMax: number): Promise<Module> {
  const scope = new Scope(undefined, loadMsMax, basename(file));
  try {
    // Node caches modules by URL, so the stamp makes it read an edited file again.
    const exported = (await scope.finish(import(`${pathToFileURL(file).href}?${stamp}`))) as Record<
      string,
      unknown
    >;
    const found = [...new Set(Object.values(exported))].filter(isToolkit);
    if (found.length === 0)
      throw new HallError("EXECUTION", "no toolkit exported (export one created with toolkit(…))");
    const ttlSeconds = Math.min(
      ...found.map(({ cacheTtlSeconds = defaultTtlSeconds }) => cacheTtlSeconds),
    );
    return { file, stamp, toolkits: found.map(asModule), error: undefined, ttlSeconds };
  } catch (error) {
    return { file, stamp, toolkits: [], error: brief(error), ttlSeconds: defaultTtlSeconds };
  }
}

type Exported = Toolkit & { readonly cacheTtlSeconds?: number };

export function isToolkit(value: unknown): value is Exported {
  if (typeof value !== "object" || value === null) return false;
  const { id, list, call } = value as Partial<Toolkit>;
  return typeof id === "string" && typeof list === "function" && typeof call === "function";
}

/** Marks it as a module's and fills in optional members. */
function asModule(toolkit: Exported): Toolkit {
  const { id, prefix, description, category, version, resources, prompts } = toolkit;
  return {
    id,
    source: "module",
    prefix,
    description,
    category,
    version,
    resources,
    prompts,
    list: () => toolkit.list(),
    call: (tool, args, context) => toolkit.call(tool, args, context),
    health: async () => (await toolkit.health?.()) ?? { state: "available" },
    problem: () => toolkit.problem?.(),
    close: async () => toolkit.close?.(),
    onChange: toolkit.onChange?.bind(toolkit),
  };
}

/** Files that match a glob, sorted. `*` and `?` match within a folder, `**` matches any number of folders. */
async function findFiles(patterns: readonly string[], folder: string): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const pattern of patterns) {
    const start = isAbsolute(pattern) ? parse(pattern).root : resolve(folder);
    await walk(
      start,
      pattern.split(/[\\/]/).filter((part) => part !== "" && part !== "."),
      found,
    );
  }
  return [...found].sort().slice(0, filesMax);
}

async function walk(
  folder: string,
  [part, ...rest]: readonly string[],
  found: Set<string>,
): Promise<void> {
  if (part === undefined || found.size >= filesMax) return;
  if (part === "..") return walk(resolve(folder, ".."), rest, found);
  if (part === "**") await walk(folder, rest, found);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const isHidden = entry.name.startsWith(".") || entry.name === "node_modules";
    if (part === "**") {
      if (entry.isDirectory() && !isHidden) await walk(path, [part, ...rest], found);
    } else if (!fits(entry.name, part)) continue;
    else if (rest.length > 0) await walk(path, rest, found);
    else if (!entry.isDirectory()) found.add(path);
  }
}

function fits(name: string, glob: string): boolean {
  if (!/[*?]/.test(glob)) return name === glob;
  const pattern = glob
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return !name.startsWith(".") && new RegExp(`^${pattern}$`).test(name);
}

function brief(error: unknown): string {
  return messageOf(error).slice(0, 500);
}
