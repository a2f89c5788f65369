import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { Scope } from "../base/scope.ts";
import { type Line, openLine } from "../client/line.ts";
import type { Config, ServerConfig } from "../config/schema.ts";
import type { AdminClient } from "../hall/admin-client.ts";
import type { ListKind } from "../tool.ts";
import { createGuard } from "../upstream/guard.ts";
import { openServer } from "../upstream/opening.ts";
import type { Channel } from "../wire/channel.ts";
import { defaultLimits } from "../wire/limits.ts";
import type { TargetView } from "./state.ts";

/** What the client speaks to: the project's hall, or any MCP server. */
export interface Target {
  readonly view: TargetView;
  /** Opens a line. Throws HallError; may be called again once the line is lost. */
  connect(hearing: Hearing): Promise<Line>;
  /** The hall's control socket, where the target is a hall and can be asked. */
  admin?(): Promise<AdminClient | undefined>;
  /** How it is reached right now, where that can change. */
  transport?(): TargetView["transport"];
  close(): Promise<void>;
}

/** What is heard of an open line beside the answers. */
export interface Hearing {
  readonly scope: Scope;
  /** What the server may ask of us. */
  readonly capabilities: JsonObject;
  lost(reason: string): void;
  listChanged(kind: ListKind): void;
  /** One line of the server's stderr. */
  said(line: string): void;
}

export interface HallTargetOptions {
  readonly name: string;
  readonly folder: string;
  readonly log: Log;
  /** A line to the project's hall, whoever runs it. */
  reach(): Promise<Channel>;
  /** Whether this process is the hall. */
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
}: HallTargetOptions): Target {
  return {
    view: { kind: "hall", name, folder, transport: "socket" },
    async connect({ scope, capabilities, lost, listChanged }) {
      const channel = await reach();
      let isOpen = false;
      const line = await openLine(channel, {
        limits: defaultLimits,
        log,
        scope,
        capabilities,
        // It is ours: there is no doubt which era it speaks, but it may be starting.
        probeMs: startMsMax,
        listChanged,
        resourceUpdated: () => {},
        closed: () => {
          if (isOpen) lost("the hall closed the line");
        },
      }).catch(async (error: unknown) => {
        await channel.close({ now: true });
        throw error;
      });
      isOpen = true;
      return line;
    },
    admin,
    transport: () => (isHere() ? "in process" : "socket"),
    close,
  };
}

/** How the client reaches a server that is no hall of ours, as config and flags say it. */
export type ClientConfig = NonNullable<Config["mcp"]>;

const startMsMax = 20_000;

/** Throws INVALID_PARAMS when command or endpoint is missing. */
export function createServerTarget(
  config: ClientConfig,
  { folder, log }: { readonly folder: string; readonly log: Log },
): Target {
  const server = serverOf(config, folder);
  const guard = createGuard();
  let era: "legacy" | "modern" | undefined;
  return {
    view: { kind: "server", name: nameOf(config), folder, transport: config.transport },
    async connect({ scope, capabilities, lost, listChanged, said }) {
      const line = await openServer({
        config: server,
        scope,
        era,
        limits: defaultLimits,
        log,
        guard,
        authorizer: undefined,
        startMs: startMsMax,
        manners: { capabilities, hasLanguageWays: true },
        inputSchema: () => undefined,
        carried: () => {},
        lost,
        listChanged,
        resourceUpdated: () => {},
        said,
      });
      era = line.greeting.era;
      return line;
    },
    async close() {
      guard.close();
    },
  };
}

function nameOf({ transport, command = "", args, endpoint = "" }: ClientConfig): string {
  return transport === "stdio" ? [command, ...args].join(" ") : endpoint;
}

const usual = {
  start: "lazy",
  idleTimeoutSeconds: 0,
  tools: { include: ["*"], exclude: [] },
  disabled: false,
  allowPrivate: true,
} as const;

function serverOf(
  { transport, command, args, endpoint, headers = {} }: ClientConfig,
  folder: string,
): ServerConfig {
  if (transport === "stdio") {
    if (command === undefined)
      throw new HallError("INVALID_PARAMS", "mcp.command is missing", {
        hint: "Name the program to start, with --command or in [mcp].",
      });
    // It is the person's own program, started from their terminal: it finds its keys where they keep them.
    return { ...usual, type: "stdio", command, args, env: ownEnvironment(), cwd: folder };
  }
  if (endpoint === undefined)
    throw new HallError("INVALID_PARAMS", "mcp.endpoint is missing", {
      hint: "Name the address, with --endpoint or in [mcp].",
    });
  return { ...usual, type: transport === "http" ? "http" : "ws", url: endpoint, headers };
}

function ownEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  );
}
