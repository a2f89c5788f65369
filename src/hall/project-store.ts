import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { HallError } from "../base/errors.ts";
import { findStoreLocation, openStore, type StoreSettings } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import { loadSettings, type Settings } from "./settings.ts";

/** Opens the store of the project in this folder for reading, also while a hall writes to it. Undefined if nothing was recorded. */
export async function openProjectStore(settings?: Settings): Promise<Store | undefined> {
  const used = settings ?? (await loadSettings({}, "error"));
  const store = projectStoreSettings(used);
  return store && mayHaveRows(store) ? openStore(store, { ...used, isReader: true }) : undefined;
}

/** Undefined if the folder is not a project. */
export function projectStoreSettings({
  loaded,
  config,
}: Pick<Settings, "loaded" | "config">): StoreSettings | undefined {
  const folder = process.cwd();
  const location = findStoreLocation({
    url: config.store.url,
    folder,
    hasConfig: loaded.files.some((file) => dirname(file) === folder),
  });
  return location && { ...location, retention: config.store };
}

/** Whether the store may have rows. */
export function mayHaveRows(settings: StoreSettings): boolean {
  return "url" in settings || existsSync(settings.path);
}

export async function withProjectStore<T>(use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openProjectStore();
  if (!store) {
    throw new HallError("NOT_FOUND", "no calls recorded in this folder", {
      hint: "Run this in a folder with a guildhall.json or a .guildhall folder: calls are recorded in .guildhall/state.db.",
    });
  }
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
