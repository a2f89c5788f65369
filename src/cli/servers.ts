import { HallError } from "../base/errors.ts";
import { findNear } from "../base/near.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { ServerConfig } from "../config/schema.ts";
import { configuredServers } from "../config/unusable.ts";

/** The entry of one server. Throws NOT_FOUND with near names, UNAVAILABLE where the entry cannot be used. */
export function getServer(name: string, loaded: LoadedConfig): ServerConfig {
  const servers = configuredServers(loaded);
  const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (server?.type === "unusable")
    throw new HallError("UNAVAILABLE", `${name} cannot be used: ${server.problems.join("; ")}`, {
      hint: "Correct its entry in the config first.",
    });
  if (server) return server;
  const near = findNear(name, Object.keys(servers));
  throw new HallError(
    "NOT_FOUND",
    `there is no server "${name}"${near.length > 0 ? `; did you mean ${near.join(", ")}?` : ""}`,
    {
      hint: `There is: ${Object.keys(servers).join(", ") || "none; add some under mcpServers in guildhall.json"}.`,
    },
  );
}
