import type { Config } from "./schema.ts";

/** The schema's result for an empty file, so that a hall without a config starts without zod. A test compares the two. */
export const defaultConfig: Config = {
  names: "dot",
  timeoutSeconds: 30,
  listen: { host: "127.0.0.1", port: 8080 },
  toolkits: [],
  limits: {
    client: { perSecond: 2_000, burst: 4_000 },
    registered: { perSecond: 50, burst: 100, concurrent: 16, queue: 100 },
    clients: {},
    toolkits: {},
    tools: {},
  },
  trust: { policy: "destructive", servers: {}, tools: {}, unguarded: [] },
  health: { intervalSeconds: 60 },
  registration: { allowPrivate: false },
  store: { record: "digest", runs: "full", keepDays: 30, auditKeepDays: 365, sizeMbMax: 512 },
  telemetry: {},
  log: {},
  hints: [],
  aliases: {},
  mcpServers: {},
  images: {},
  search: { folders: [] },
  planner: { kind: "auto" },
  workflow: { commands: false, roots: [] },
  documents: { roots: [] },
};
