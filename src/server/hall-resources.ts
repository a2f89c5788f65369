import { HallError } from "../base/errors.ts";
import type { HealthBook } from "../registry/health.ts";
import type { Registry } from "../registry/registry.ts";
import type { Store } from "../store/store.ts";
import type { Resource, Toolkit } from "../tool.ts";
import type { Trust } from "../trust/trust.ts";

/** The hall's own resources, as JSON: `guildhall://stats`, `guildhall://health`, `guildhall://trust`. */
export interface HallResourcesOptions {
  readonly registry: Registry;
  readonly store: Store;
  readonly health: HealthBook;
  readonly trust: Trust | undefined;
}

interface Described {
  readonly title: string;
  readonly description: string;
  read(): Promise<unknown>;
}

/** The same registry, with the hall's own resources first. */
export function withHallResources(options: HallResourcesOptions): Registry {
  const { registry } = options;
  const described = describe(options);
  const resources: readonly Resource[] = [...described].map(([uri, { title, description }]) => ({
    uri,
    name: uri.slice("guildhall://".length),
    title,
    description,
    mimeType: "application/json",
  }));
  const owner: Toolkit = {
    id: "guildhall",
    list: async () => [],
    call: () => Promise.reject(new HallError("NOT_FOUND", "the hall's resources offer no tools")),
    health: async () => ({ state: "available" }),
    close: async () => {},
    resources: {
      list: async () => resources,
      templates: async () => [],
      read: async (uri) => ({
        contents: [
          {
            uri,
            mimeType: "application/json",
            text: JSON.stringify(await described.get(uri)?.read()),
          },
        ],
      }),
    },
  };
  return {
    ...registry,
    resources: () => [...resources, ...registry.resources()],
    getResourceOwner: (uri) => (described.has(uri) ? owner : registry.getResourceOwner(uri)),
  };
}

function describe({
  registry,
  store,
  health,
  trust,
}: HallResourcesOptions): ReadonlyMap<string, Described> {
  return new Map([
    [
      "guildhall://health",
      {
        title: "Health of the hall",
        description: "State of each toolkit and of the store.",
        read: async () => ({
          store: store.state(),
          toolkits: await Promise.all(
            registry.toolkits().map(async (toolkit) => ({
              toolkit: toolkit.id,
              source: toolkit.source ?? "built-in",
              ...(await health.read(toolkit)),
            })),
          ),
        }),
      },
    ],
    [
      "guildhall://stats",
      {
        title: "Call statistics",
        description:
          "Calls, error rates, durations and bytes per toolkit and tool, over the whole retention period.",
        read: () => store.statistics(),
      },
    ],
    [
      "guildhall://trust",
      {
        title: "Trust in tools",
        description: "The marks of each tool, and whether calling it requires approval.",
        read: async () => ({
          isGuarded: trust !== undefined,
          tools: trust ? describeTrust(registry, trust) : [],
        }),
      },
    ],
  ]);
}

function describeTrust(registry: Registry, trust: Trust): readonly unknown[] {
  return registry.tools().map((target) => {
    const { level, marks, held, ask } = trust.judge(target);
    const { source = "built-in" } = target.toolkit;
    return { name: target.fullName, source, level, marks, held, ask };
  });
}
