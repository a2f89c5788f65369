import { resolve } from "node:path";
import { collectServers } from "../config/configured-servers.ts";
import type { FieldToApprove } from "../config/project-limits.ts";
import type { Config } from "../config/schema.ts";
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
  const servers = collectServers(loaded);
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

/** The built-in toolkits as the config sets them. `isOpen`: whether the folders of a field may be read. Default: no. */
export function openBuiltins(
  folder: string,
  config: Config,
  isOpen: (field: FieldToApprove) => boolean = () => false,
): readonly Toolkit[] {
  const { images, search, documents } = config;
  const inFolder = (path: string): string => resolve(folder, path);
  return createBuiltinToolkits({
    images,
    search: {
      ...search,
      folders: search.folders.map(inFolder),
      mayRead: () => isOpen("search.folders"),
    },
    documents: {
      roots: documents.roots.map(inFolder),
      mayRead: () => isOpen("documents.roots"),
    },
  });
}
