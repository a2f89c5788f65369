import type { Discovery } from "../hall/discover.ts";
import { paint } from "./print.ts";

/** One line per server as `build` and `verify` start it. */
export function formatDiscovery(discovery: Discovery): string {
  const seconds = `${(discovery.ms / 1000).toFixed(1)} s`;
  return "found" in discovery
    ? `${paint("green", "✔")} ${discovery.name}: ${discovery.found.offer.tools.length} tools (${seconds})`
    : `${paint("red", "✘")} ${discovery.name}: ${discovery.reason} (${seconds})`;
}
