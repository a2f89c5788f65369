import { HallError } from "../base/errors.ts";
import type { HealthBook } from "../registry/health.ts";
import type { Modules } from "../registry/modules.ts";
import type { Registry } from "../registry/registry.ts";
import type { Store } from "../store/store.ts";
import type { Toolkit } from "../tool.ts";
import type { Trust } from "../trust/trust.ts";

interface HallResourcesOptions {
  readonly registry: Registry;
  readonly store: Store;
  readonly health: HealthBook;
  readonly trust: Trust | undefined;
  readonly modules: Pick<Modules, "failures">;
}

interface HallResource {
  readonly title: string;
  readonly description: string;
  read(options: HallResourcesOptions): Promise<unknown>;
}

/** The hall's own resources, as JSON. */
const hallResources: Readonly<Record<string, HallResource>> = {
  "guildhall://health": {
    title: "Health of the hall",
    description: "State of each toolkit and of the store.",
    read: async ({ registry, store, health, modules }) => ({
      store: store.state(),
      toolkits: [
        ...(await Promise.all(
          registry.toolkits().map(async (toolkit) => ({
            toolkit: toolkit.id,
            source: toolkit.source ?? "built-in",
            ...(await health.read(toolkit)),
            ...(toolkit.isRunning?.() === false ? { running: false } : {}),
          })),
        )),
        // Models read this, so it does not name files that nobody has approved.
        ...modules
          .failures()
          .filter(({ isHeld }) => !isHeld)
          .map(({ module, error }) => ({
            toolkit: module,
            source: "module",
            state: "unavailable",
            reason: error,
          })),
      ],
    }),
  },
  "guildhall://stats": {
    title: "Call statistics",
    description:
      "Calls, error rates, durations and bytes per toolkit and tool, over the whole retention period.",
    read: ({ store }) => store.statistics(),
  },
  "guildhall://trust": {
    title: "Trust in tools",
    description: "The marks of each tool, and whether calling it requires approval.",
    read: async ({ registry, trust }) => ({
      isGuarded: trust !== undefined,
      tools: trust ? describeTrust(registry, trust) : [],
    }),
  },
};

/** The same registry, with the hall's own resources first. */
export function withHallResources(options: HallResourcesOptions): Registry {
  const { registry } = options;
  const mimeType = "application/json";
  const resources = Object.entries(hallResources).map(([uri, { title, description }]) => {
    const name = uri.slice("guildhall://".length);
    return { uri, name, title, description, mimeType };
  });
  const owner: Toolkit = {
    id: "guildhall",
    source: "hall",
    list: async () => [],
    call: () => Promise.reject(new HallError("NOT_FOUND", "the hall's resources offer no tools")),
    health: async () => ({ state: "available" }),
    close: async () => {},
    resources: {
      list: async () => resources,
      templates: async () => [],
      read: async (uri) => {
        const text = JSON.stringify(await hallResources[uri]?.read(options));
        return { contents: [{ uri, mimeType, text }] };
      },
    },
  };
  return {
    ...registry,
    resources: (isFor) => [
      ...resources.filter(({ uri }) => isFor?.(owner, uri) ?? true),
      ...registry.resources(isFor).filter(({ uri }) => !Object.hasOwn(hallResources, uri)),
    ],
    getResourceOwner: (uri) =>
      Object.hasOwn(hallResources, uri) ? { toolkit: owner, uri } : registry.getResourceOwner(uri),
  };
}

function describeTrust(registry: Registry, trust: Trust): readonly unknown[] {
  return registry.tools().map((target) => {
    const { level, marks, held, ask } = trust.judge(target);
    const { source = "built-in" } = target.toolkit;
    return { name: target.fullName, source, level, marks, held, ask };
  });
}
