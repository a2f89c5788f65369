import { serveProject } from "../hall/serve.ts";
import { loadSettings } from "../hall/settings.ts";

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
