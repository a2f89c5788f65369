import { HallError } from "../base/errors.ts";
import { createLog } from "../base/log.ts";
import { withResolvers } from "../base/timing.ts";
import { version } from "../base/version.ts";
import { createHall } from "../hall/hall.ts";
import { serveProject } from "../hall/serve.ts";
import { loadSettings } from "../hall/settings.ts";
import { isLoopback } from "../server/http/guard.ts";
import { listenHttp } from "../server/http/listener.ts";
import { loadOwnToken } from "../server/http/tokens.ts";
import type { Toolkit } from "../tool.ts";
import { defaultLimits } from "../wire/channel.ts";
import { createStdioChannel } from "../wire/stdio.ts";

export interface ServeOptions {
  /** HTTP port, 0 for any free one. Default: stdin and stdout. */
  readonly port?: number;
  /** Default 127.0.0.1; an address that other machines reach requires a token. */
  readonly host?: string;
  readonly token?: string;
}

export interface Serving {
  /** The URL of the MCP endpoint; undefined on stdio. */
  readonly url: string | undefined;
  /** Resolves when the client on stdio disconnects. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Serves a toolkit as an MCP server: all protocol versions, tools without a prefix. */
export async function serve(
  toolkit: Toolkit,
  { port, host = "127.0.0.1", token }: ServeOptions = {},
): Promise<Serving> {
  if (port !== undefined && !isLoopback(host) && token === undefined)
    throw new HallError("DENIED", `listening on ${host} requires a token`, {
      hint: "Other machines can connect: serve(toolkit, { host, port, token })",
    });
  const log = createLog({ level: "warn" });
  const hall = await createHall({
    toolkits: [withoutPrefix(toolkit)],
    listsPrograms: false,
    log,
  });
  if (port === undefined) {
    const { closed } = hall.server.accept(
      createStdioChannel(process.stdin, process.stdout, defaultLimits),
    );
    return { url: undefined, closed: closed.then(() => hall.close()), close: () => hall.close() };
  }
  const listener = await listenHttp({
    server: hall.server,
    log,
    version,
    host,
    port,
    token: token ?? (await loadOwnToken()),
  });
  const closing = withResolvers<void>();
  return {
    url: `${listener.url}/mcp`,
    closed: closing.promise,
    async close() {
      await hall.close();
      await listener.close();
      closing.resolve();
    },
  };
}

/** A single toolkit needs no prefix. */
function withoutPrefix(toolkit: Toolkit): Toolkit {
  return {
    id: toolkit.id,
    prefix: "",
    list: () => toolkit.list(),
    call: (tool, args, context) => toolkit.call(tool, args, context),
    health: () => toolkit.health(),
    close: () => toolkit.close(),
  };
}

export interface MCPServerOptions {
  /** HTTP port, 0 for any free one. Default: the config's. */
  readonly port?: number;
  /** The project. Default: the current folder. */
  readonly folder?: string;
  /** The faces to list, as in the config. Default: agents. */
  readonly expose?: string;
  /** Lists never change. */
  readonly isStatic?: boolean;
}

export interface MCPServer {
  /** MCP over HTTP at this address and at `/mcp`, over WebSocket at `/ws`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the agents of a project's hall over HTTP, as `guildhall serve --expose agents` does. */
export async function startMCPServer({
  port,
  folder = process.cwd(),
  expose = "agents",
  isStatic = false,
}: MCPServerOptions = {}): Promise<MCPServer> {
  const settings = await loadSettings({ folder }, "warn", { listen: { port }, expose });
  const { url, close } = await serveProject(settings, { isStatic });
  return { url, close: () => close(1_000) };
}
