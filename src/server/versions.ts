/** `legacy`: a handshake first. `modern`: every request carries its own version and capabilities. */
export type Era = "legacy" | "modern";

export const legacyVersions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const;
export const modernVersions = ["2026-07-28"] as const;
export type Version = (typeof legacyVersions)[number] | (typeof modernVersions)[number];

export const newestLegacy = "2025-11-25" satisfies Version;

export function isLegacyVersion(version: unknown): version is (typeof legacyVersions)[number] {
  return (legacyVersions as readonly unknown[]).includes(version);
}

export function isModernVersion(version: unknown): version is (typeof modernVersions)[number] {
  return (modernVersions as readonly unknown[]).includes(version);
}

/** The keys of the modern envelope in `params._meta`. */
export const metaKeys = {
  version: "io.modelcontextprotocol/protocolVersion",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscription: "io.modelcontextprotocol/subscriptionId",
} as const;
