import { resolve } from "node:path";
import { HallError } from "../base/errors.ts";
import {
  builtinWith,
  collectServers,
  isBuiltinName,
  isBuiltinOn,
} from "../config/configured-servers.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { FieldToApprove } from "../config/project-limits.ts";
import type { Config } from "../config/schema.ts";
import { createRegistry, type Registry } from "../registry/registry.ts";
import type { Target, Toolkit } from "../tool.ts";
import { createBuiltinToolkits } from "../toolkits/builtin.ts";
import { createFleet } from "../upstream/fleet.ts";
import type { Lock } from "../upstream/lock.ts";
import { defaultLimits } from "../wire/channel.ts";
import type { Settings } from "./settings.ts";

/** The tools a hall of this config would have, as the lock knows them. Nothing is started. */
export async function listKnownTools(
  folder: string,
  { loaded, log }: Settings,
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
    ...openBuiltins(folder, loaded).map((toolkit) => registry.add(toolkit)),
    fleet.apply({ servers, added: names, removed: [], changed: [] }),
  ]);
  const tools = registry.tools();
  await fleet.close();
  await registry.close();
  return tools;
}

/**
 * The built-in toolkits as the config sets them, on or off. `isOpen`: whether the folders of a
 * field may be read. Default: no.
 */
export function openBuiltins(
  folder: string,
  loaded: LoadedConfig,
  isOpen: (field: FieldToApprove) => boolean = () => false,
): readonly Toolkit[] {
  const { images, search, documents } = loaded.config;
  const inFolder = (path: string): string => resolve(folder, path);
  const toolkits = createBuiltinToolkits({
    images,
    search,
    documents: {
      allowPrivate: documents.allowPrivate,
      roots: documents.roots.map(inFolder),
      mayRead: () => isOpen("documents.roots"),
    },
  });
  return toolkits.map((toolkit) =>
    isBuiltinOn(toolkit.id, loaded) ? toolkit : turnOff(toolkit, loaded.config),
  );
}

function turnOff(toolkit: Toolkit, config: Config): Toolkit {
  const { id } = toolkit;
  const value = isBuiltinName(id) ? builtinWith(id, config) : "all";
  return {
    ...toolkit,
    list: async () => [],
    off: () =>
      new HallError("UNAVAILABLE", `the built-in "${id}" is off in this project`, {
        next: [{ do: "edit-config", field: "builtin", value }],
      }),
  };
}

/** Turns built-in toolkits of a running hall on and off. One that a service has replaced is left alone. */
export async function switchBuiltins(
  registry: Pick<Registry, "findToolkit" | "replace">,
  wanted: readonly Toolkit[],
): Promise<void> {
  for (const toolkit of wanted) {
    const there = registry.findToolkit(toolkit.id);
    const isOurs = there !== undefined && (there.source ?? "built-in") === "built-in";
    const isUnchanged = !isOurs || !there.off === !toolkit.off;
    const unused = isUnchanged ? toolkit : await registry.replace(toolkit);
    await unused.close();
  }
}
