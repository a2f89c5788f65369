import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { HallError } from "../base/errors.ts";
import { findStatePath } from "../store/open-store.ts";
import { createSqliteStore } from "../store/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { loadSettings, type Settings } from "./settings.ts";

/** The file of the project in this folder, open for reading beside a hall that may be writing. Undefined where nothing was ever recorded. */
export async function openProjectStore(settings?: Settings): Promise<Store | undefined> {
  const used = settings ?? (await loadSettings({}, "error"));
  const { log, config, secrets } = used;
  const path = projectStatePath(used);
  if (path === undefined || !existsSync(path)) return undefined;
  return createSqliteStore({ path, retention: config.store, isReader: true, log, secrets });
}

/** Where a project keeps its calls, whether anything was recorded yet or not. Undefined where the folder is none. */
export function projectStatePath({ loaded }: Pick<Settings, "loaded">): string | undefined {
  const folder = process.cwd();
  return findStatePath(
    folder,
    loaded.files.some((file) => dirname(file) === folder),
  );
}

/** Uses it and closes it. */
export async function withProjectStore<T>(use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openProjectStore();
  if (!store) {
    throw new HallError("NOT_FOUND", "nothing was recorded in this folder", {
      hint: "Calls are kept in .guildhall/state.db of a folder that has a guildhall.json or a .guildhall folder; run this there.",
    });
  }
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
