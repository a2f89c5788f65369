import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { HallError } from "../base/errors.ts";
import { findStatePath } from "../store/open-store.ts";
import { createSqliteStore } from "../store/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { loadSettings } from "./settings.ts";

/** The file of the project in this folder, open for reading beside a hall that may be writing. Undefined where nothing was ever recorded. */
export async function openProjectStore(): Promise<Store | undefined> {
  const folder = process.cwd();
  const { loaded, log, config, secrets } = await loadSettings({}, "error");
  const path = findStatePath(
    folder,
    loaded.files.some((file) => dirname(file) === folder),
  );
  if (path === undefined || !existsSync(path)) return undefined;
  return createSqliteStore({ path, retention: config.store, isReader: true, log, secrets });
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
