import { existsSync, type FSWatcher, realpathSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { ConfigError } from "./error.ts";
import type { LoadedConfig } from "./load.ts";

export interface ConfigListener {
  /** Another config than the last good one. Must not throw. */
  changed(next: LoadedConfig): void;
  /** An edit that cannot be used, once for each distinct message; the last good config stays. Must not throw. */
  refused(error: Error): void;
}

export interface WatchOptions {
  /** What is in use now. */
  readonly current: LoadedConfig;
  readonly debounceMs?: number;
}

/**
 * Loads again when a config file is written, replaced, created or removed. Folders are watched rather than files: editors
 * write a new file and rename it, and a watch on the old one would hear nothing more.
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
    // Before reading: an edit that comes while the files are read is heard by the new watchers.
    rewatch();
    try {
      const next = await load();
      refusal = undefined;
      if (
        isClosed ||
        (isDeepStrictEqual(next.config, good.config) &&
          isDeepStrictEqual(next.unusable, good.unusable))
      )
        return;
      good = next;
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

  /** The new ones first, so that nothing is missed between. All of them: a folder that was removed and made again is another one. */
  function rewatch(): void {
    const before = watchers;
    watchers = isClosed ? [] : openAll();
    for (const watcher of before) watcher.close();
  }

  function openAll(): FSWatcher[] {
    const opened: FSWatcher[] = [];
    for (const [folder, names] of watchedNames(good.places)) {
      try {
        const watcher = watch(folder, { persistent: false }, (_, name) => {
          if (name === null || names.has(name) || !existsSync(folder)) schedule();
        });
        opened.push(watcher.on("error", schedule));
      } catch (cause) {
        refuse(
          new ConfigError(
            `${folder}: cannot be watched (${(cause as NodeJS.ErrnoException).code}); restart the hall after an edit`,
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

/** For each folder the names in it whose change matters. A file that is not there is awaited in the nearest folder that is. */
function watchedNames(places: readonly string[]): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>();
  const add = (folder: string, name: string): void =>
    void folders.set(folder, (folders.get(folder) ?? new Set()).add(name));
  for (const place of places) {
    let path = place;
    while (!existsSync(dirname(path)) && dirname(path) !== path) path = dirname(path);
    add(dirname(path), basename(path));
    if (!existsSync(place)) continue;
    // A linked file is written elsewhere; Kubernetes swaps a link named ..data beside it.
    const real = realpathSync(place);
    add(dirname(real), basename(real));
    add(dirname(place), "..data");
  }
  return folders;
}
