import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { dirname, isAbsolute, join, parse, relative, resolve } from "node:path";
import { HallError, messageOf } from "../base/errors.ts";
import { hashOf, isObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { createInOrder } from "../base/one-at-a-time.ts";
import { findNear } from "../base/text.ts";
import type { Toolkit } from "../tool.ts";
import { defaultCacheTtlSeconds } from "./metadata.ts";
import { findToolkitNameFault } from "./name-rules.ts";
import type { Registry } from "./registry.ts";

/**
 * Toolkits from modules in the config. A module that fails to load is listed with its error; its
 * previous toolkits stay.
 */
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
  /** Its contents are not approved. */
  readonly isHeld?: true;
}

export interface ModulesOptions {
  /** Globs relative to `folder`. */
  readonly patterns: readonly string[];
  readonly folder: string;
  readonly registry: Pick<Registry, "add" | "remove" | "replace" | "findToolkit">;
  readonly log: Log;
  readonly load: LoadModule;
  /** Rights of their process beyond the usual ones: a part of what is approved. */
  readonly rights?: unknown;
  /**
   * False for a file that a person has not approved with these contents; it is listed as a failure.
   * Default: all may.
   */
  mayLoad?(module: string, digest: string): boolean;
  /** Time limit for loading one. Default 5,000. */
  readonly loadMsMax?: number | undefined;
}

/** Loads one version of a file. Throws if it fails, or takes longer. */
export type LoadModule = (
  file: string,
  digest: string,
  loadMsMax: number,
) => Promise<readonly LoadedToolkit[]>;

export type LoadedToolkit = Toolkit & { readonly cacheTtlSeconds: number };

interface Module {
  readonly file: string;
  /** Of its contents and its path; empty if it may not be loaded. */
  readonly digest: string;
  /** The same without the path. */
  readonly code: string;
  readonly toolkits: readonly Toolkit[];
  readonly error: string | undefined;
  readonly ttlSeconds: number;
}

const filesMax = 1_000;

export function createModules({
  patterns,
  folder,
  registry,
  log,
  load,
  rights,
  mayLoad = () => true,
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
    const loaded = await Promise.all(files.map((file) => loadIfChanged(file, modules.get(file))));
    for (const module of loaded) if (module) await adopt(module);
  }

  /** Undefined if the file is unchanged or gone. */
  async function loadIfChanged(
    file: string,
    known: Module | undefined,
  ): Promise<Module | undefined> {
    const digests = await digestModule(file, folder, rights).catch((): undefined => undefined);
    if (digests === undefined || digests.digest === known?.digest) return undefined;
    if (mayLoad(nameOf(file), digests.digest)) return loadModule(file, digests);
    // Without a digest, so that it is looked at again after an approval.
    const error =
      "new or changed since you approved it; `guildhall diff` shows it, `guildhall verify` approves it";
    return { file, digest: "", code: "", toolkits: [], error, ttlSeconds: defaultCacheTtlSeconds };
  }

  async function loadModule(file: string, digests: ModuleDigests): Promise<Module> {
    try {
      const toolkits = await load(file, digests.digest, loadMsMax);
      const ttlSeconds = Math.min(...toolkits.map(({ cacheTtlSeconds }) => cacheTtlSeconds));
      return { file, ...digests, toolkits, error: undefined, ttlSeconds };
    } catch (error) {
      const ttlSeconds = defaultCacheTtlSeconds;
      return { file, ...digests, toolkits: [], error: brief(error), ttlSeconds };
    }
  }

  async function adopt(module: Module): Promise<void> {
    const old = modules.get(module.file);
    if (isCopy(module, modules.values())) {
      // Without a digest, so that it is looked at again: it serves once the other file is gone.
      modules.set(module.file, { ...module, digest: "", toolkits: [] });
      return;
    }
    if (module.error !== undefined) {
      log.warn({ module: nameOf(module.file) }, `module not loaded: ${module.error}`);
      modules.set(module.file, { ...module, toolkits: old?.toolkits ?? [] });
      return;
    }
    const kept: Toolkit[] = [];
    let error: string | undefined;
    for (const toolkit of module.toolkits) {
      try {
        await put(toolkit, old, registry);
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
    const ttls = [...modules.values()].map(({ ttlSeconds }) => ttlSeconds);
    const seconds = Math.max(1, Math.min(defaultCacheTtlSeconds, ...ttls));
    timer = setTimeout(() => void inOrder(scan).then(schedule, schedule), seconds * 1000).unref();
  }

  return {
    scan: () => inOrder(scan).finally(schedule),
    refresh: (name) =>
      inOrder(async () => {
        const found = [...modules.values()].find(
          ({ file, toolkits }) => nameOf(file) === name || toolkits.some(({ id }) => id === name),
        );
        if (!found) throw unknownModule(name, [...modules.keys()].map(nameOf));
        const module = await loadIfChanged(found.file, undefined);
        if (module) await adopt(module);
        else await forget(found.file);
      }),
    failures: () =>
      [...modules.values()].flatMap(({ file, digest, error }) => {
        const held = digest === "" ? { isHeld: true as const } : {};
        return error === undefined ? [] : [{ module: nameOf(file), error, ...held }];
      }),
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

function unknownModule(name: string, known: readonly string[]): HallError {
  const details = { near: findNear(name, known) };
  return new HallError("TOOLKIT_NOT_FOUND", `unknown module "${name.slice(0, 100)}"`, { details });
}

/** True for the same code in another file that has been loaded: registering it again changes nothing. */
function isCopy({ file, code, error }: Module, loaded: Iterable<Module>): boolean {
  return (
    error === undefined &&
    [...loaded].some(
      (other) => other.file !== file && other.code === code && other.toolkits.length > 0,
    )
  );
}

async function put(
  toolkit: Toolkit,
  old: Module | undefined,
  registry: ModulesOptions["registry"],
): Promise<void> {
  const fault = findToolkitNameFault(toolkit.id);
  if (fault !== undefined) throw new HallError("CONFLICT", `the name "${toolkit.id}" ${fault}`);
  await requireSchemas(toolkit);
  const before = old?.toolkits.find(({ id }) => id === toolkit.id);
  if (before && registry.findToolkit(toolkit.id) === before)
    await (await registry.replace(toolkit)).close();
  else await registry.add(toolkit);
}

/** Throws CONFLICT for a tool without a schema: it cannot be registered. */
async function requireSchemas(toolkit: Toolkit): Promise<void> {
  for (const { name, inputSchema } of await toolkit.list())
    if (!isObject(inputSchema))
      throw new HallError("CONFLICT", `the tool "${toolkit.id}.${name}" has no input schema`);
}

/** The files that the patterns match, by their path in the project, each with a digest of its contents. */
export async function digestModules(
  patterns: readonly string[],
  folder: string,
  rights?: unknown,
): Promise<Readonly<Record<string, string>>> {
  const files = await findFiles(patterns, folder);
  const digests = files.map(async (file) => [
    relative(folder, file),
    (await digestModule(file, folder, rights)).digest,
  ]);
  return Object.fromEntries(await Promise.all(digests));
}

const importsMax = 500;
/** A path after `from`, `import` or `require`, and any path of a script, such as a worker's. */
const relativeImport =
  /\b(?:from|import|require)\s*(?:\(\s*)?["'`](\.{1,2}\/[^"'`\n]+)["'`]|["'`](\.{1,2}\/[^"'`\n]+\.[cm]?[jt]sx?)["'`]/g;

type ModuleDigests = Pick<Module, "digest" | "code">;

/** Covers the files it imports by a relative path, and theirs. Packages are not covered. */
async function digestModule(
  module: string,
  folder: string,
  rights: unknown,
): Promise<ModuleDigests> {
  const files = new Map<string, string>();
  const open = [module];
  for (const file of open) {
    if (files.has(file)) continue;
    if (files.size >= importsMax)
      throw new HallError("EXECUTION", `it imports more than ${importsMax} files`);
    // A file that is missing now may be there later, so that counts as a content too.
    const text = await readFile(file, "utf8").catch((error: unknown) => {
      if (file === module) throw error;
      return undefined;
    });
    const digest = text === undefined ? "missing" : createHash("sha256").update(text).digest("hex");
    files.set(file, digest);
    for (const [, ...paths] of (text ?? "").matchAll(relativeImport)) {
      const path = resolve(dirname(file), paths.find(Boolean) ?? "");
      const isWhole = /\.\w+$/.test(path);
      open.push(
        ...(isWhole ? [path] : [path, `${path}.js`, `${path}.cjs`, join(path, "index.js")]),
      );
    }
  }
  const digestOf = (nameOf: (file: string) => string): string => {
    const lines = [...files].map(([file, digest]) => `${nameOf(file)} ${digest}`).sort();
    if (rights !== undefined) lines.push(hashOf(rights));
    return createHash("sha256").update(lines.join("\n")).digest("hex");
  };
  return {
    digest: digestOf((file) => relative(folder, file)),
    code: digestOf((file) => (file === module ? "" : relative(folder, file))),
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
