import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { Scope } from "../base/scope.ts";
import { openMcpConnection, type ServerConnection } from "../client/connection.ts";
import type { Config, ServerConfig } from "../config/schema.ts";
import type { AdminClient } from "../hall/admin-client.ts";
import type { ListKind } from "../tool.ts";
import { createGuard } from "../upstream/guard.ts";
import type { Channel } from "../wire/channel.ts";
import { defaultLimits } from "../wire/channel.ts";
import type { TargetView } from "./state.ts";

/** The project's hall, or any MCP server. */
export interface ClientTarget {
  readonly view: TargetView;
  /** Opens a connection. Throws HallError; may be called again once it is lost. */
  connect(options: TargetHandlers): Promise<ServerConnection>;
  /** The control socket, if the target is a hall. */
  admin?(): Promise<AdminClient | undefined>;
  /** The current transport, where it can change. */
  transport?(): TargetView["transport"];
  close(): Promise<void>;
}

/** Callbacks of an open connection. */
export interface TargetHandlers {
  readonly scope: Scope;
  /** Client capabilities: the questions we can answer. */
  readonly capabilities: JsonObject;
  lost(reason: string): void;
  listChanged(kind: ListKind): void;
  /** One line of the server's stderr, or of its stdout if it is not a message. */
  printed(line: string): void;
  /** Another hall took the place of the one that ended; the connection stays. */
  replaced(): void;
}

export interface HallTargetOptions {
  readonly name: string;
  readonly folder: string;
  readonly log: Log;
  /** Connects to the hall, in this process or another, and to the next one when that ends. */
  reach(replaced: () => void): Promise<Channel>;
  /** True if this process runs the hall. */
  isHere(): boolean;
  admin(): Promise<AdminClient | undefined>;
  close(): Promise<void>;
}

export function createHallTarget({
  name,
  folder,
  log,
  reach,
  isHere,
  admin,
  close,
}: HallTargetOptions): ClientTarget {
  return {
    view: { kind: "hall", name, folder, transport: "socket" },
    async connect({ scope, capabilities, lost, listChanged, replaced }) {
      const channel = await reach(replaced);
      let isOpen = false;
      const connection = await openMcpConnection(channel, {
        limits: defaultLimits,
        log,
        scope,
        capabilities,
        // Our own hall speaks the current protocol, but may still be starting.
        probeMs: startMsMax,
        listChanged,
        resourceUpdated: () => {},
        closed: () => {
          if (isOpen) lost("the hall closed the connection");
        },
      }).catch(async (error: unknown) => {
        await channel.close({ now: true });
        throw error;
      });
      isOpen = true;
      return connection;
    },
    admin,
    transport: () => (isHere() ? "in process" : "socket"),
    close,
  };
}

/** How to reach another server, from the config or the flags. */
export type ClientConfig = NonNullable<Config["mcp"]>;

const startMsMax = 20_000;

/** Throws INVALID_PARAMS for a server that the config describes only in part. */
export function createServerTarget(
  config: ClientConfig,
  { folder, log }: { readonly folder: string; readonly log: Log },
): ClientTarget {
  const server = serverOf(config, folder);
  const guard = createGuard();
  return {
    view: { kind: "server", name: nameOf(config), folder, transport: config.transport },
    async connect({ scope, capabilities, lost, listChanged, printed }) {
      // Transports are loaded after the first frame.
      const { openServer } = await import("../upstream/opening.ts");
      return openServer({
        config: server,
        scope,
        prefers: undefined,
        asked: () => {},
        limits: defaultLimits,
        log,
        guard,
        authorizer: undefined,
        startMs: startMsMax,
        connection: { capabilities, lspCompat: true },
        inputSchema: () => undefined,
        carried: () => {},
        lost,
        listChanged,
        resourceUpdated: () => {},
        printed,
      });
    },
    async close() {
      guard.close();
    },
  };
}

function nameOf({ transport, command = "", args, endpoint = "" }: ClientConfig): string {
  return transport === "stdio" ? [command, ...args].join(" ") : endpoint;
}

const serverDefaults = {
  start: "lazy",
  idleTimeoutSeconds: 0,
  tools: { include: ["*"], exclude: [] },
  disabled: false,
  allowPrivate: true,
} as const;

/** True if the config names no server at all, only how to treat the hall. */
export function namesNoServer({ transport, command, args, endpoint }: ClientConfig): boolean {
  const isNamed = command !== undefined || endpoint !== undefined || args.length > 0;
  return transport === "stdio" && !isNamed;
}

export function serverOf(
  { transport, command, args, endpoint, headers = {} }: ClientConfig,
  folder: string,
): ServerConfig {
  if (transport === "stdio") {
    if (endpoint !== undefined)
      throw half("mcp.endpoint needs a transport", 'Set transport = "http" or "websocket".');
    if (command === undefined)
      throw half("mcp.command is missing", "Give the program with --command or in [mcp].");
    // Started from the user's terminal, the program gets the user's environment.
    return { ...serverDefaults, type: "stdio", command, args, env: ownEnvironment(), cwd: folder };
  }
  if (command !== undefined)
    throw half(`mcp.command does not fit transport "${transport}"`, 'Set transport = "stdio".');
  if (endpoint === undefined)
    throw half("mcp.endpoint is missing", "Give the address with --endpoint or in [mcp].");
  return { ...serverDefaults, type: transport === "http" ? "http" : "ws", url: endpoint, headers };
}

function half(message: string, hint: string): HallError {
  return new HallError("INVALID_PARAMS", message, { hint });
}

function ownEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  );
}
