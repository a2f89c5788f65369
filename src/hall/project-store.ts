import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { HallError } from "../base/errors.ts";
import { findStoreLocation, openStore, type StoreSettings } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import { loadSettings, type Settings } from "./settings.ts";

/** The store of the project in this folder, open for reading beside a hall that may be writing. Undefined where nothing was ever recorded. */
export async function openProjectStore(settings?: Settings): Promise<Store | undefined> {
  const used = settings ?? (await loadSettings({}, "error"));
  const place = projectStoreSettings(used);
  return place && hasBegun(place) ? openStore(place, { ...used, isReader: true }) : undefined;
}

/** Where a project keeps its calls, whether anything was recorded yet or not. Undefined where the folder is none. */
export function projectStoreSettings({
  loaded,
  config,
}: Pick<Settings, "loaded" | "config">): StoreSettings | undefined {
  const folder = process.cwd();
  const place = findStoreLocation({
    url: config.store.url,
    folder,
    hasConfig: loaded.files.some((file) => dirname(file) === folder),
  });
  return place && { ...place, retention: config.store };
}

/** Whether there may be rows in it. */
export function hasBegun(place: StoreSettings): boolean {
  return "url" in place || existsSync(place.path);
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
