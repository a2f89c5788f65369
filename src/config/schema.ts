import * as z from "zod";

/**
 * The config: every field's type, default and one-line document. `guildhall.schema.json` and the tables of docs/config.md
 * are written from it (`npm run format`). Loaded only when there is something to check: without a file a hall starts without zod.
 */
export const serverNamePattern = /^[A-Za-z0-9_-]{1,40}$/;

const seconds = z.int().min(1).max(600);
const text = z.string().min(1);
const texts = z.record(z.string().min(1), z.string());
const globs = z.array(z.string().min(1).max(200));

/** What both kinds of server have beside the map every MCP client uses. */
const ours = {
  start: z.enum(["lazy", "eager"]).default("lazy").describe("When the server is started: at its first call, or with the hall."),
  idleTimeoutSeconds: z.int().min(0).max(86_400).default(600).describe("Seconds without a call after which the server is stopped; 0 for never."),
  timeoutSeconds: seconds.optional().describe("Seconds one call of this server's tools may take. Without it, the hall's timeoutSeconds."),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9_-]{0,40}$/)
    .optional()
    .describe("What stands before the names of this server's tools. Without it, the server's name; \"\" for nothing."),
  tools: z
    .strictObject({
      include: globs.default(["*"]).describe("Globs of the tools that are offered."),
      exclude: globs.default([]).describe("Globs of the tools that are not, even if included."),
    })
    .prefault({})
    .describe("Which of the server's tools are offered."),
  disabled: z.boolean().default(false).describe("Keeps the entry without using the server."),
  allowPrivate: z.boolean().default(false).describe("Lets url point into a private network."),
};

const stdioServer = z
  .strictObject({
    type: z.literal("stdio").default("stdio").describe("How the server is reached: a program here, over its stdin and stdout."),
    command: text.describe("The program to start, without arguments; no shell is involved."),
    args: z.array(z.string()).default([]).describe("Its arguments."),
    env: texts.default({}).describe("Environment variables it gets."),
    cwd: text.optional().describe("The folder it starts in. Without it, the hall's."),
    ...ours,
  })
  .describe("A program on this machine.");

const remoteServer = z
  .strictObject({
    type: z
      .enum(["http", "streamable-http", "sse", "ws", "websocket"])
      .transform((type) => (type === "streamable-http" ? "http" : type === "websocket" ? "ws" : type))
      .prefault("http")
      .describe('How the server is reached; "streamable-http" is "http", "websocket" is "ws".'),
    url: text.describe("Its address: https (wss for ws), or http to this machine."),
    headers: texts.default({}).describe("HTTP headers sent with every request."),
    ...ours,
  })
  .describe("A server elsewhere.");

export const configSchema = z.strictObject({
  $schema: z.string().optional().describe("Where an editor finds the JSON Schema of this file."),
  expose: text.default("tools").describe("The faces clients are shown, comma-separated."),
  names: z.enum(["dot", "underscore"]).default("dot").describe("Between prefix and tool: server.tool, or server__tool for models that refuse dots."),
  timeoutSeconds: seconds.default(30).describe("Seconds a call may take when its tool does not say otherwise."),
  listen: z
    .strictObject({
      host: text.max(255).default("127.0.0.1").describe("The address to listen on; any but loopback needs tokenFile."),
      port: z.int().min(0).max(65_535).default(8080).describe("The port to listen on; 0 for any free one."),
      tokenFile: text.optional().describe("A file with the token every caller must send."),
    })
    .prefault({})
    .describe("Where `guildhall serve` listens."),
  log: z
    .strictObject({
      level: z
        .enum(["trace", "debug", "info", "warn", "error", "silent"])
        .optional()
        .describe("What is written to stderr. Without it, info for `guildhall serve` and warn for `guildhall mcp`."),
    })
    .prefault({})
    .describe("The log."),
  mcpServers: z
    .record(z.string().regex(serverNamePattern), z.union([stdioServer, remoteServer]))
    .prefault({})
    .describe("The servers behind the hall, by name: the map every MCP client uses."),
  mcp: z
    .strictObject({
      transport: z.enum(["stdio", "http", "websocket"]).default("stdio").describe("How the client reaches its server."),
      command: text.optional().describe("The program to start, for stdio."),
      args: z.array(z.string()).default([]).describe("Its arguments."),
      endpoint: text.optional().describe("The server's address, for http and websocket."),
      timeout: seconds.default(60).describe("Seconds one request may take."),
    })
    .optional()
    .describe("The server Guildhall's own client speaks to."),
});

/** What a hall is told before it starts. Frozen to the bottom. */
export type Config = Frozen<z.output<typeof configSchema>>;
export type ServerConfig = Config["mcpServers"][string];
export type StdioServerConfig = Extract<ServerConfig, { readonly type: "stdio" }>;
export type RemoteServerConfig = Exclude<ServerConfig, { readonly type: "stdio" }>;
/** A part of a config, as flags give it. */
export type PartialConfig = Partial<z.input<typeof configSchema>>;

type Frozen<T> = T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T;

/** Keys other clients write into an entry of mcpServers: accepted so that pasting works, ignored, and told about. The value is the next move. */
export const foreignKeys: Readonly<Record<string, string>> = {
  alwaysAllow: "Guildhall decides by trust which calls need a person",
  autoApprove: "Guildhall decides by trust which calls need a person",
  trust: "Guildhall decides by trust which calls need a person",
  includeTools: "use tools.include",
  excludeTools: "use tools.exclude",
  disabledTools: "use tools.exclude",
  timeout: "use timeoutSeconds",
  envFile: "set its variables before the hall starts, and name them in env",
  oauth: "use headers",
  authProviderType: "use headers",
  description: "remove it if you like",
  gallery: "remove it if you like",
  icon: "remove it if you like",
  version: "remove it if you like",
  sandbox: "remove it if you like",
  sandboxEnabled: "remove it if you like",
  dev: "remove it if you like",
  watchPaths: "remove it if you like",
};
