import * as z from "zod/mini";
import type { Written, written } from "./written.ts";

/**
 * The config: type, default and description of every field. `npm run format` generates
 * `guildhall.schema.json` and the tables of docs/config.md from it. Loaded only if there is a config
 * to check. zod/mini loads in a third of the time of zod.
 */
export const serverNamePattern = /^[A-Za-z0-9_-]{1,40}$/;

/** Fields of both kinds of server, in addition to those every MCP client has. */
const ours = {
  start: field(
    "When the server starts: at its first call (lazy) or with the hall (eager).",
    z._default(z.enum(["lazy", "eager"]), "lazy"),
  ),
  idleTimeoutSeconds: field(
    "Seconds without a call after which the server is stopped; 0 for never.",
    z._default(whole(0, 86_400), 600),
  ),
  timeoutSeconds: field(
    "Timeout of one call of this server's tools, in seconds. Default: the hall's timeoutSeconds.",
    z.optional(whole(1, 600)),
  ),
  prefix: field(
    "Prefix of this server's tool names. Default: the server's name; \"\" for no prefix.",
    z.optional(z.string().check(z.regex(/^[A-Za-z0-9_-]{0,40}$/))),
  ),
  tools: field(
    "Filters the tools that are offered.",
    section({
      include: field("Globs of the tools to offer.", z._default(z.array(text(200)), ["*"])),
      exclude: field(
        "Globs of tools to leave out; they take precedence over include.",
        z._default(z.array(text(200)), []),
      ),
    }),
  ),
  disabled: field("Keeps the entry but does not use the server.", z._default(z.boolean(), false)),
  allowPrivate: field("Allows a url in a private network.", z._default(z.boolean(), false)),
};

const stdioServer = field(
  "A program on this machine.",
  z.strictObject({
    type: field(
      "The transport: a program on this machine, over stdin and stdout.",
      z._default(z.literal("stdio"), "stdio"),
    ),
    command: field("The program to start, without arguments. No shell is used.", text()),
    args: field("Arguments of the program.", z._default(z.array(z.string()), [])),
    env: field("Environment variables for it.", z._default(z.record(text(), z.string()), {})),
    cwd: field("Its working directory. Default: the hall's.", z.optional(text())),
    ...ours,
  }),
);

/** The names other clients use for the same transport. */
const transportAliases: Readonly<Record<string, "http" | "ws">> = {
  "streamable-http": "http",
  websocket: "ws",
};

const remoteType = z.pipe(
  z.enum(["http", "streamable-http", "sse", "ws", "websocket"]),
  z.transform((type) => transportAliases[type] ?? (type as "http" | "sse" | "ws")),
);

const remoteServer = field(
  "A remote server.",
  z.strictObject({
    type: field(
      'The transport. "streamable-http" means "http", "websocket" means "ws".',
      z.prefault(remoteType, "http"),
    ),
    url: field("Its URL: https (wss for ws), or http on this machine.", text()),
    headers: field(
      "HTTP headers sent with every request.",
      z._default(z.record(text(), z.string()), {}),
    ),
    oauth: field(
      "OAuth settings, for servers where `guildhall login` cannot find them out.",
      z.optional(
        z.strictObject({
          grant: field(
            "A person logs in (authorization_code), or the hall with clientId and clientSecret (client_credentials).",
            z._default(z.enum(["authorization_code", "client_credentials"]), "authorization_code"),
          ),
          clientId: field(
            "A client you registered with the issuer. Default: one is registered at the first login.",
            z.optional(text()),
          ),
          clientSecret: field("Its secret; preferably a variable.", z.optional(text())),
          clientMetadataUrl: field(
            "URL of a client metadata document, for issuers that read one instead of registering clients.",
            z.optional(text()),
          ),
          issuer: field(
            "The only issuer that may receive these credentials. Default: the one the server names at the first login.",
            z.optional(text()),
          ),
          scope: field(
            "Scopes to request, separated by spaces. Default: those the server asks for.",
            z.optional(text()),
          ),
          callbackPort: field(
            "The port on 127.0.0.1 for the browser's redirect after a login; 0 for any free port.",
            z._default(whole(0, 65_535), 0),
          ),
        }),
      ),
    ),
    ...ours,
  }),
);

const policy = () => z._default(z.enum(["destructive", "all"]), "destructive");

export const configSchema = z.strictObject({
  $schema: field("The JSON Schema of this file, for editors.", z.optional(z.string())),
  expose: field(
    "The faces that clients see, comma-separated: tools, search, agents, code. Default: agents once `guildhall build` has made groups; before that, tools for up to 40 tools, otherwise search.",
    z.optional(text()),
  ),
  names: field(
    "Separator in tool names: server.tool (dot), or server__tool (underscore) for models that reject dots.",
    z._default(z.enum(["dot", "underscore"]), "dot"),
  ),
  timeoutSeconds: field(
    "Timeout of a call in seconds, if its tool sets none.",
    z._default(whole(1, 600), 30),
  ),
  listen: field(
    "The address `guildhall serve` listens on.",
    section({
      host: field(
        "The address to listen on. Any but loopback requires tokenFile and must be set in the user's own file or with --host.",
        z._default(text(255), "127.0.0.1"),
      ),
      port: field(
        "The port to listen on; 0 for any free port.",
        z._default(whole(0, 65_535), 8080),
      ),
      tokenFile: field(
        "A file with the token that every caller must send. A project's config cannot name a file inside the project.",
        z.optional(text()),
      ),
    }),
  ),
  toolkits: field(
    "Modules that export toolkits, as globs relative to this file, such as ./tools/*.js.",
    z._default(z.array(text(500)), []),
  ),
  limits: field(
    "Rate limits. A perSecond of 0 means no limit.",
    section({
      client: field("Per client over HTTP or WebSocket.", allowance(2_000, 4_000)),
      registered: field(
        "Per toolkit registered by a service.",
        capacity({ perSecond: 50, burst: 100, concurrent: 16, queue: 100 }),
      ),
      clients: field(
        "Limits for single clients, by the name the client reports.",
        z._default(z.record(text(200), allowance()), {}),
      ),
      toolkits: field(
        "Limits for single toolkits, by name.",
        z._default(z.record(text(100), capacity()), {}),
      ),
      tools: field(
        "Limits for single tools, by full name.",
        z._default(z.record(text(200), allowance()), {}),
      ),
    }),
  ),
  trust: field(
    "The calls that require approval. A project's config can only require more; the user's own can also require less.",
    section({
      policy: field(
        "destructive: destructive tools, and all tools of an unreviewed server; all: every tool.",
        policy(),
      ),
      servers: field(
        "The policy of single servers, by name.",
        z._default(z.record(text(100), z.enum(["destructive", "all"])), {}),
      ),
      tools: field(
        "Marks single tools as safe or destructive, by server and tool such as github.create_issue, or server.* for all tools of a server.",
        z._default(z.record(text(200), z.enum(["safe", "destructive"])), {}),
      ),
      unguarded: field(
        "Tools exempt from the flow guard, by server and tool, or server.* for all tools of a server.",
        z._default(z.array(text(200)), []),
      ),
    }),
  ),
  health: field(
    "Health checks of toolkits.",
    section({
      intervalSeconds: field(
        "Seconds between two checks of each running or registered toolkit.",
        z._default(whole(1, 86_400), 60),
      ),
    }),
  ),
  registration: field(
    "Toolkits that services register.",
    section({
      allowPrivate: field("Allows endpoints in a private network.", z._default(z.boolean(), false)),
    }),
  ),
  store: field(
    "Records of calls and decisions, in .guildhall/state.db or in a database.",
    section({
      url: field(
        "A PostgreSQL database shared by several halls, such as postgres://user:password@host/guildhall. Supports sslmode and schema; preferably take the password from a variable. Only the user's own file or GUILDHALL__STORE__URL can set it.",
        z.optional(text().check(z.regex(/^postgres(ql)?:\/\/\S+$/))),
      ),
      record: field(
        "What to store of a call's arguments and result: a digest, or everything except secrets.",
        z._default(z.enum(["digest", "full"]), "digest"),
      ),
      runs: field(
        "What to store of an agent's run: everything except secrets, to show and replay it for a week, or an outline without texts.",
        z._default(z.enum(["full", "outline"]), "full"),
      ),
      keepDays: field("Days to keep calls.", z._default(whole(1, 3_650), 30)),
      auditKeepDays: field(
        "Days to keep the audit log and the statistics.",
        z._default(whole(1, 36_500), 365),
      ),
      sizeMbMax: field(
        "Size limit in megabytes of the file, or of all rows in the database. Beyond it the oldest calls are deleted first.",
        z._default(whole(16, 1_000_000), 512),
      ),
    }),
  ),
  telemetry: field(
    "Export of traces. Only the user's own file can set a remote URL.",
    section({
      otlpUrl: field(
        "An OpenTelemetry collector, such as http://127.0.0.1:4318. Default: no export.",
        z.optional(text().check(z.regex(/^https?:\/\/\S+$/))),
      ),
    }),
  ),
  log: field(
    "The log.",
    section({
      level: field(
        "The level of the log on stderr. Default: info for `guildhall serve`, warn for `guildhall mcp`.",
        z.optional(z.enum(["trace", "debug", "info", "warn", "error", "silent"])),
      ),
    }),
  ),
  domain: field(
    "A few words on what the project is about, for clients and agents. Servers it names form a group.",
    z.optional(text(500)),
  ),
  hints: field(
    "Groups you want: a name and its servers or tools, such as `web research: fetch, search_tool`; or keywords.",
    z._default(z.array(text(500)), []),
  ),
  aliases: field(
    "More search terms for a tool, or questions it answers, by full name; used by find_tools.",
    z._default(z.record(text(200), z.array(text(500))), {}),
  ),
  mcpServers: field(
    "The servers behind the hall, by name, in the format every MCP client uses.",
    z.prefault(
      z.record(z.string().check(z.regex(serverNamePattern)), z.union([stdioServer, remoteServer])),
      {},
    ),
  ),
  images: field(
    "The image provider. Without url, image_generator returns placeholders. Only the user's own file can set a remote url or apiKeyEnv.",
    section({
      url: field(
        "Base URL of an API compatible with OpenAI's images/generations, such as https://api.openai.com/v1.",
        z.optional(text()),
      ),
      model: field("The model to request. Default: the endpoint's default.", z.optional(text(200))),
      apiKeyEnv: field(
        "The environment variable with the endpoint's API key.",
        z.optional(variableName()),
      ),
    }),
  ),
  search: field(
    "The search provider. Without it, search_tool explains how to configure one. Only the user's own file can set a remote url or apiKeyEnv.",
    section({
      provider: field(
        "The provider: SearXNG, Brave Search, Tavily, or local folders.",
        z.optional(z.enum(["searxng", "brave", "tavily", "local"])),
      ),
      url: field("The URL of SearXNG.", z.optional(text())),
      apiKeyEnv: field(
        "The environment variable with the API key. Default: BRAVE_API_KEY or TAVILY_API_KEY.",
        z.optional(variableName()),
      ),
      folders: field(
        "Folders that `local` searches, relative to the project.",
        z._default(z.array(text()), []),
      ),
    }),
  ),
  planner: field(
    "The planner of agents. Only the user's own file can set a remote URL or a program that prints a key.",
    section({
      kind: field(
        "auto: a model if there is a key for it, otherwise the client's model (sampling), otherwise simple rules (local).",
        z._default(z.enum(["auto", "model", "sampling", "local"]), "auto"),
      ),
      model: field(
        "provider/name; the provider is anthropic, openai, google, bedrock, openrouter, ollama or openai-compatible.",
        z.optional(
          text(200).check(
            z.regex(/^(anthropic|openai|google|bedrock|openrouter|ollama|openai-compatible)\/\S+$/),
          ),
        ),
      ),
      baseUrl: field(
        "The provider's base URL. Required for openai-compatible.",
        z.optional(text().check(z.regex(/^https?:\/\/\S+$/))),
      ),
      apiKeyEnv: field(
        "The environment variable with the API key. Default: the provider's usual one; GUILDHALL_API_KEY for openai-compatible.",
        z.optional(variableName()),
      ),
      apiKeyCommand: field(
        "A program that prints the API key, with its arguments. No shell is used.",
        z.optional(z.array(text()).check(z.minLength(1))),
      ),
    }),
  ),
  workflow: field(
    "The spec-driven workflow, speckit.*.",
    section({
      commands: field(
        "Allows implement to run the commands that tasks declare; each one requires approval.",
        z._default(z.boolean(), false),
      ),
      roots: field(
        "More folders for specs, relative to the project.",
        z._default(z.array(text()), []),
      ),
      agent: field(
        "The agent that carries out the tasks of implement, such as coding_agent. Default: the caller.",
        z.optional(text(100)),
      ),
    }),
  ),
  documents: field(
    "Files document_analyzer may read.",
    section({
      roots: field(
        "Folders that file: URLs may point into, relative to the project.",
        z._default(z.array(text()), []),
      ),
    }),
  ),
  mcp: field(
    "The server that Guildhall's own client connects to.",
    z.optional(
      z.strictObject({
        transport: field(
          "The transport.",
          z._default(z.enum(["stdio", "http", "websocket"]), "stdio"),
        ),
        command: field("The program to start, for stdio.", z.optional(text())),
        args: field("Its arguments.", z._default(z.array(z.string()), [])),
        endpoint: field("The server's URL, for http and websocket.", z.optional(text())),
        headers: field(
          "HTTP headers sent with every request, for http and websocket.",
          z.optional(z.record(text(), z.string())),
        ),
        timeout: field(
          "Seconds a request may stay silent; progress restarts them, up to 600 in total.",
          z._default(whole(1, 600), 60),
        ),
      }),
    ),
  ),
});

/** The checked config. Deeply frozen. */
export type Config = Frozen<z.output<typeof configSchema>>;
export type ServerConfig = Config["mcpServers"][string] & { readonly [written]?: Written };
/** A part of the config, as given by flags. */
export type PartialConfig = Partial<z.input<typeof configSchema>>;

type Frozen<T> = T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T;

/** Keys of other clients in an entry of mcpServers, with advice. Accepted so that pasting works; ignored with a warning. */
export const foreignKeys: Readonly<Record<string, string>> = {
  alwaysAllow: trustAdvice(),
  autoApprove: trustAdvice(),
  trust: trustAdvice(),
  includeTools: "use tools.include",
  excludeTools: "use tools.exclude",
  disabledTools: "use tools.exclude",
  timeout: "use timeoutSeconds",
  envFile: "set the variables before the hall starts and list them in env",
  authProviderType: "use headers",
  ...Object.fromEntries(
    "description gallery icon version sandbox sandboxEnabled dev watchPaths"
      .split(" ")
      .map((key) => [key, "you can remove it"]),
  ),
};

function trustAdvice(): string {
  return "Guildhall's trust settings decide which calls require approval";
}

function field<Schema extends z.core.$ZodType>(description: string, schema: Schema): Schema {
  z.globalRegistry.add(schema, { description });
  return schema;
}

/** An optional object whose fields all have defaults. */
function section<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.prefault(z.strictObject(shape), {} as z.input<z.ZodMiniObject<Shape, z.core.$strict>>);
}

function text(lengthMax = 10_000) {
  return z.string().check(z.minLength(1), z.maxLength(lengthMax));
}

/** A rate limit. */
function allowanceFields(perSecond: number, burst: number) {
  return {
    perSecond: field("Calls per second on average.", z._default(whole(0, 1_000_000), perSecond)),
    burst: field("Calls at once.", z._default(whole(1, 1_000_000), burst)),
  };
}

function allowance(perSecond = 0, burst = 1) {
  return section(allowanceFields(perSecond, burst));
}

/** A rate limit with a limit of running and queued calls. */
function capacity({ perSecond = 0, burst = 1, concurrent = 0, queue = 100 } = {}) {
  return section({
    ...allowanceFields(perSecond, burst),
    concurrent: field(
      "Calls that run at once; 0 for no limit.",
      z._default(whole(0, 100_000), concurrent),
    ),
    queue: field("Calls that may queue.", z._default(whole(0, 100_000), queue)),
  });
}

function variableName() {
  return z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/));
}

function whole(minimum: number, maximum: number) {
  return z.int().check(z.gte(minimum), z.lte(maximum));
}
