import { HallError } from "../base/errors.ts";
import { createFleet, type Fleet } from "../upstream/fleet.ts";
import { emptyLock, type LockedServer, readLock, writeLock } from "../upstream/lock.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { defaultLimits } from "../wire/limits.ts";
import { paint, print, table } from "./print.ts";
import { loadSettings, type Settings } from "./settings.ts";

export interface BuildOptions {
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly logLevel?: string;
}

/** What became of one server while building. */
export type Look =
  | { readonly name: string; readonly found: LockedServer; readonly ms: number }
  | { readonly name: string; readonly reason: string; readonly stderr: readonly string[]; readonly ms: number };

/** Looks at every server at once and writes what they offer to the lock. */
export async function runBuild(options: BuildOptions): Promise<void> {
  const settings = await loadSettings(options, "error");
  const folder = process.cwd();
  const looks = await lookAtAll(settings, (look) => {
    if (!options.json) process.stderr.write(`${describeLook(look)}\n`);
  });
  if (looks.length === 0)
    throw new HallError("NOT_FOUND", "no servers are configured", { hint: "Add some under mcpServers in guildhall.json, then run `guildhall build` again." });
  const before = await readLock(folder, () => {});
  // A server that is down today keeps what was known of it.
  const kept = looks.flatMap((look) => ("found" in look || !before.servers[look.name] ? [] : [[look.name, before.servers[look.name]] as const]));
  const found = looks.flatMap((look) => ("found" in look ? [[look.name, look.found] as const] : []));
  const file = await writeLock(folder, { lockVersion: 1, servers: Object.fromEntries([...kept, ...found]) as Record<string, LockedServer> });
  print(
    { lock: file, servers: looks.map(summarise) },
    {
      json: options.json,
      text: () => `${summaryTable(looks)}\n\n${found.length} of ${looks.length} servers answered; ${countTools(looks)} tools are in ${file}`,
    },
  );
  if (found.length === 0) throw new HallError("UNAVAILABLE", "no server answered", { hint: "Run `guildhall doctor` to see why." });
}

/** Starts each server on its own and reads what it offers; tells of each as it is done. */
export async function lookAtAll({ config, log, secrets }: Settings, done: (look: Look) => void): Promise<readonly Look[]> {
  const fleet: Fleet = createFleet({ limits: defaultLimits, log, secrets, lock: emptyLock, add: async () => {}, remove: async () => {} });
  await fleet.apply({ servers: config.mcpServers, added: Object.keys(config.mcpServers), removed: [], changed: [] });
  try {
    return await Promise.all(
      fleet.all().map(async (upstream) => {
        const look = await lookAt(upstream);
        done(look);
        return look;
      }),
    );
  } finally {
    await fleet.close();
  }
}

async function lookAt(upstream: Upstream): Promise<Look> {
  const started = performance.now();
  try {
    const found = await upstream.discover();
    return { name: upstream.id, found, ms: performance.now() - started };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { name: upstream.id, reason, stderr: upstream.stderr().slice(-5), ms: performance.now() - started };
  }
}

function describeLook(look: Look): string {
  const seconds = `${(look.ms / 1000).toFixed(1)} s`;
  return "found" in look
    ? `${paint("green", "✔")} ${look.name}: ${look.found.offer.tools.length} tools (${seconds})`
    : `${paint("red", "✘")} ${look.name}: ${look.reason} (${seconds})`;
}

function summarise(look: Look): object {
  if (!("found" in look)) return { name: look.name, ok: false, reason: look.reason, stderr: look.stderr };
  const { era, protocol, offer } = look.found;
  return {
    name: look.name,
    ok: true,
    era,
    protocol,
    tools: offer.tools.map(({ name }) => name),
    resources: offer.resources.length,
    prompts: offer.prompts.length,
  };
}

function summaryTable(looks: readonly Look[]): string {
  const rows = looks.map((look) => {
    if (!("found" in look)) return [look.name, "down", "", "", "", look.reason];
    const { era, protocol, offer } = look.found;
    return [
      look.name,
      `${era} ${protocol}`,
      String(offer.tools.length),
      String(offer.resources.length),
      String(offer.prompts.length),
      offer.tools.map(({ name }) => name).join(", "),
    ];
  });
  return table(["server", "speaks", "tools", "resources", "prompts", "what it offers"], rows);
}

function countTools(looks: readonly Look[]): number {
  return looks.reduce((sum, look) => sum + ("found" in look ? look.found.offer.tools.length : 0), 0);
}
