import { resolve } from "node:path";
import type { Config } from "../config/schema.ts";
import { configuredServers } from "../config/unusable.ts";
import { createRegistry } from "../registry/registry.ts";
import type { Target, Toolkit } from "../tool.ts";
import { createBuiltinToolkits } from "../toolkits/builtin.ts";
import { createFleet } from "../upstream/fleet.ts";
import type { Lock } from "../upstream/lock.ts";
import { defaultLimits } from "../wire/channel.ts";
import type { Settings } from "./settings.ts";

/** The tools a hall of this config would have, as the lock knows them. Nothing is started. */
export async function listKnownTools(
  folder: string,
  { config, loaded, log }: Settings,
  lock: Lock,
): Promise<readonly Target[]> {
  const registry = createRegistry({ log });
  const fleet = createFleet({
    limits: defaultLimits,
    log,
    lock,
    mayStart: () => "is not started to list known tools",
    add: registry.add,
    remove: registry.remove,
  });
  const servers = configuredServers(loaded);
  const names = Object.keys(servers).filter((name) => Object.hasOwn(lock.servers, name));
  await Promise.all([
    ...openBuiltins(folder, config).map((toolkit) => registry.add(toolkit)),
    fleet.apply({ servers, added: names, removed: [], changed: [] }),
  ]);
  const tools = registry.tools();
  await fleet.close();
  await registry.close();
  return tools;
}

/** The built-in toolkits as the config sets them. */
export function openBuiltins(folder: string, config: Config): readonly Toolkit[] {
  const { images, search, documents } = config;
  const inFolder = (path: string): string => resolve(folder, path);
  return createBuiltinToolkits({
    images,
    search: { ...search, folders: search.folders.map(inFolder) },
    documents: { roots: documents.roots.map(inFolder) },
  });
}
