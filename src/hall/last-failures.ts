import { isObject } from "../base/json.ts";
import { openStore } from "../store/open-store.ts";
import type { KeptCall, Store } from "../store/store.ts";
import type { Discovery } from "./discover.ts";
import { mayHaveRows, openProjectStore, projectStoreSettings } from "./project-store.ts";
import type { Settings } from "./settings.ts";

/** What is known of a server while no hall runs: its calls, and what went wrong last. */
export interface Earlier {
  readonly calls: number;
  readonly errors: number;
  readonly lastError: string | undefined;
}

/** For each of these servers, from the project's store; empty where nothing was recorded. */
export async function readEarlier(
  settings: Settings,
  names: readonly string[],
): Promise<ReadonlyMap<string, Earlier>> {
  const store = await openProjectStore(settings);
  if (!store) return new Map();
  try {
    const { toolkits } = await store.statistics();
    const figures = new Map(toolkits.map((toolkit) => [toolkit.toolkit, toolkit]));
    return new Map(
      await Promise.all(
        names.map(async (name): Promise<[string, Earlier]> => {
          const { calls = 0, errors = 0 } = figures.get(name) ?? {};
          return [name, { calls, errors, lastError: await lastErrorOf(store, name, errors > 0) }];
        }),
      ),
    );
  } catch (err) {
    // Its state can be told without it.
    settings.log.warn({ err }, "what was recorded earlier cannot be read");
    return new Map();
  } finally {
    await store.close();
  }
}

/** Keeps why servers did not answer when they were looked at, until they do. */
export async function keepFailures(settings: Settings, looks: readonly Discovery[]): Promise<void> {
  const place = projectStoreSettings(settings);
  const failed = looks.some((look) => !("found" in look));
  if (!place || !(failed || mayHaveRows(place))) return;
  const { log, secrets } = settings;
  const store = openStore(place, settings);
  try {
    for (const look of looks) {
      if ("found" in look) await store.discoveries.remove(keyOf(look.name));
      else
        await store.discoveries.put(keyOf(look.name), {
          at: Date.now(),
          reason: secrets.scrub(look.reason),
        });
    }
  } catch (err) {
    log.warn({ err }, "what was found out cannot be recorded");
  } finally {
    await store.close();
  }
}

const keyOf = (server: string): string => `failed look at ${server}`;

async function lastErrorOf(
  store: Store,
  name: string,
  hasErrors: boolean,
): Promise<string | undefined> {
  const outcomes = hasErrors ? ["failed", "error"] : [];
  const calls = (
    await Promise.all(
      outcomes.map((outcome) => store.calls.list({ tool: name, outcome, limit: 1 })),
    )
  ).flat();
  const look = await store.discoveries.find(keyOf(name));
  const told = [
    ...calls.map(describeCall),
    ...(isObject(look) ? [{ at: Number(look.at), text: String(look.reason) }] : []),
  ];
  const last = told.sort((a, b) => b.at - a.at)[0];
  return (
    last && `${last.text} (${new Date(last.at).toISOString().slice(0, 16).replace("T", " ")} UTC)`
  );
}

/** What a tool said is not kept, only how it ended. */
function describeCall({ at, tool, code }: KeptCall): {
  readonly at: number;
  readonly text: string;
} {
  return { at, text: code === null ? `an error of ${tool}` : `${code} from ${tool}` };
}
