import { visible } from "../base/sanitize.ts";
import { plural } from "../base/text.ts";
import type { Discovery, DiscoveryProgress, WaitingServer } from "../hall/discover.ts";
import { createLive, type Live } from "./live.ts";
import { paint, wrapProse } from "./print.ts";

/** One line per server as `build` and `verify` start it. */
function formatDiscovery(discovery: Discovery): string {
  const seconds = `${(discovery.ms / 1000).toFixed(1)} s`;
  return "found" in discovery
    ? `${paint("green", "✔")} ${discovery.name}: ${plural(discovery.found.offer.tools.length, "tool")} (${seconds})`
    : `${paint("red", "✘")} ${discovery.name}: ${visible(discovery.reason)} (${seconds})`;
}

/** Shows progress on stderr, which stays silent with --json. */
export function reportDiscovery(json: boolean | undefined): DiscoveryProgress | undefined {
  if (json) return undefined;
  const live = createLive();
  return {
    ...reportWaiting(live),
    done(discovery) {
      live.clear();
      process.stderr.write(`${wrapProse(formatDiscovery(discovery), process.stderr)}\n`);
    },
  };
}

/** Only the line that shows what is waited for. */
export function reportWaiting(live: Live): DiscoveryProgress {
  return {
    done: () => {},
    waiting(servers) {
      if (servers.length === 0) live.clear();
      else live.status(formatWaiting(servers));
    },
  };
}

function formatWaiting(servers: readonly WaitingServer[]): string {
  const lines = servers.map(({ name, isInstalling, ms }) => {
    const seconds = Math.round(ms / 1000);
    return `  ${name}: ${isInstalling ? "installing" : "starting"} … ${seconds} s`;
  });
  return lines.join("\n");
}
