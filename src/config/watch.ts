import { existsSync, type FSWatcher, realpathSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { ConfigError } from "./error.ts";
import type { LoadedConfig } from "./load.ts";

export interface ConfigListener {
  /** A valid config that differs from the last one. Must not throw. */
  changed(next: LoadedConfig): void;
  /** An invalid edit, once per distinct message; the last valid config stays in use. Must not throw. */
  refused(error: Error): void;
}

export interface WatchOptions {
  /** The config in use. */
  readonly current: LoadedConfig;
  readonly debounceMs?: number;
}

/**
 * Reloads when a config file is written, replaced, created or removed. Watches folders rather than
 * files: editors write a new file and rename it, which a watch on the old file would miss.
 */
export function watchConfig(
  load: () => Promise<LoadedConfig>,
  listener: ConfigListener,
  { current, debounceMs = 100 }: WatchOptions,
): { close(): void } {
  let good = current;
  let refusal: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let watchers: readonly FSWatcher[] = [];
  let isClosed = false;
  let running = Promise.resolve();

  function schedule(): void {
    clearTimeout(timer);
    if (isClosed) return;
    timer = setTimeout(() => {
      running = running.then(reload);
    }, debounceMs);
    timer.unref();
  }

  async function reload(): Promise<void> {
    // Before reading, so that the new watchers catch an edit made meanwhile.
    rewatch();
    try {
      const next = await load();
      refusal = undefined;
      if (
        isClosed ||
        (isDeepStrictEqual(next.config, good.config) &&
          isDeepStrictEqual(next.unusable, good.unusable) &&
          isDeepStrictEqual(next.policies, good.policies))
      )
        return;
      good = next;
      // It may name other files.
      rewatch();
      listener.changed(next);
    } catch (error) {
      refuse(error instanceof Error ? error : new Error(String(error)));
    }
  }

  function refuse(error: Error): void {
    if (isClosed || error.message === refusal) return;
    refusal = error.message;
    listener.refused(error);
  }

  /**
   * Starts new watchers before closing the old ones, so that nothing is missed. Replaces all: a
   * recreated folder needs a new watcher.
   */
  function rewatch(): void {
    const before = watchers;
    watchers = isClosed ? [] : openAll();
    for (const watcher of before) watcher.close();
  }

  function openAll(): FSWatcher[] {
    const opened: FSWatcher[] = [];
    for (const [folder, names] of watchedNames(good.places)) {
      try {
        const watcher = watch(folder, { persistent: false }, (event, name) => {
          // The store changes a file in the folder with every commit.
          const mayBeGone = event === "rename" && !existsSync(folder);
          if (name === null || isWatched(name, names) || mayBeGone) schedule();
        });
        opened.push(watcher.on("error", schedule));
      } catch (cause) {
        refuse(
          new ConfigError(
            `${folder}: cannot watch for changes (${(cause as NodeJS.ErrnoException).code}); restart the hall after an edit`,
          ),
        );
      }
    }
    return opened;
  }

  rewatch();
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
      rewatch();
    },
  };
}

function isWatched(name: string, names: ReadonlySet<string>): boolean {
  if (names.has(name)) return true;
  return names.has("*.cedar") && (name.endsWith(".cedar") || name === "..data");
}

/** The relevant names per folder. A missing file is awaited in its nearest existing folder. */
function watchedNames(places: readonly string[]): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>();
  const add = (folder: string, name: string): void =>
    void folders.set(folder, (folders.get(folder) ?? new Set()).add(name));
  for (const place of places) {
    let path = place;
    while (!existsSync(dirname(path)) && dirname(path) !== path) path = dirname(path);
    add(dirname(path), basename(path));
    if (!existsSync(place)) continue;
    // A linked file changes at its target; Kubernetes swaps a link named ..data next to it.
    const real = realpathSync(place);
    add(dirname(real), basename(real));
    add(dirname(place), "..data");
  }
  return folders;
}
