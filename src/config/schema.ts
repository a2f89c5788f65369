import * as z from "zod/mini";
import type { Written, written } from "./written.ts";

/**
 * The config: every field's type, default and one-line document. `guildhall.schema.json` and the tables of docs/config.md
 * are written from it (`npm run format`). Loaded only when there is something to check: without a file a hall starts without zod.
 * zod/mini says the same as zod at a third of its start-up time.
 */
export const serverNamePattern = /^[A-Za-z0-9_-]{1,40}$/;

/** What both kinds of server have beside the map every MCP client uses. */
const ours = {
  start: field(
    "When the server is started: at its first call, or with the hall.",
    z._default(z.enum(["lazy", "eager"]), "lazy"),
  ),
  idleTimeoutSeconds: field(
    "Seconds without a call after which the server is stopped; 0 for never.",
    z._default(whole(0, 86_400), 600),
  ),
  timeoutSeconds: field(
    "Seconds one call of this server's tools may take. Without it, the hall's timeoutSeconds.",
    z.optional(whole(1, 600)),
  ),
  prefix: field(
    "What stands before the names of this server's tools. Without it, the server's name; \"\" for nothing.",
    z.optional(z.string().check(z.regex(/^[A-Za-z0-9_-]{0,40}$/))),
  ),
  tools: field(
    "Which of the server's tools are offered.",
    section({
      include: field("Globs of the tools that are offered.", z._default(z.array(text(200)), ["*"])),
      exclude: field(
        "Globs of the tools that are not, even if included.",
        z._default(z.array(text(200)), []),
      ),
    }),
  ),
  disabled: field("Keeps the entry without using the server.", z._default(z.boolean(), false)),
  allowPrivate: field("Lets url point into a private network.", z._default(z.boolean(), false)),
};

const stdioServer = field(
  "A program on this machine.",
  z.strictObject({
    type: field(
      "How the server is reached: a program here, over its stdin and stdout.",
      z._default(z.literal("stdio"), "stdio"),
    ),
    command: field("The program to start, without arguments; no shell is involved.", text()),
    args: field("Its arguments.", z._default(z.array(z.string()), [])),
    env: field("Environment variables it gets.", z._default(z.record(text(), z.string()), {})),
    cwd: field("The folder it starts in. Without it, the hall's.", z.optional(text())),
    ...ours,
  }),
);

const remoteType = z.pipe(
  z.enum(["http", "streamable-http", "sse", "ws", "websocket"]),
  z.transform((type) => (type === "streamable-http" ? "http" : type === "websocket" ? "ws" : type)),
);

const remoteServer = field(
  "A server elsewhere.",
  z.strictObject({
    type: field(
      'How the server is reached; "streamable-http" is "http", "websocket" is "ws".',
      z.prefault(remoteType, "http"),
    ),
    url: field("Its address: https (wss for ws), or http to this machine.", text()),
    headers: field(
      "HTTP headers sent with every request.",
      z._default(z.record(text(), z.string()), {}),
    ),
    oauth: field(
      "For servers that want a login, where `guildhall login` needs to be told something.",
      z.optional(
        z.strictObject({
          grant: field(
            "Who logs in: a person, or the hall itself with clientId and clientSecret.",
            z._default(z.enum(["authorization_code", "client_credentials"]), "authorization_code"),
          ),
          clientId: field(
            "The client registered with the issuer by hand. Without it, one is registered at the first login.",
            z.optional(text()),
          ),
          clientSecret: field("Its secret; best a variable.", z.optional(text())),
          clientMetadataUrl: field(
            "The address of a client metadata document, for issuers that read one instead of registering.",
            z.optional(text()),
          ),
          issuer: field(
            "The only issuer these may be shown to. Without it, the one the server names at the first login.",
            z.optional(text()),
          ),
          scope: field(
            "What to ask for, separated by spaces. Without it, what the server asks for.",
            z.optional(text()),
          ),
          callbackPort: field(
            "The port of 127.0.0.1 a browser comes back to after a login; 0 for any free one.",
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
  $schema: field("Where an editor finds the JSON Schema of this file.", z.optional(z.string())),
  expose: field(
    "The faces clients are shown, comma-separated: tools, search, agents, code. Without it, agents once `guildhall build` has made groups; before, tools up to 40 of them, search above.",
    z.optional(text()),
  ),
  names: field(
    "Between prefix and tool: server.tool, or server__tool for models that refuse dots.",
    z._default(z.enum(["dot", "underscore"]), "dot"),
  ),
  timeoutSeconds: field(
    "Seconds a call may take when its tool does not say otherwise.",
    z._default(whole(1, 600), 30),
  ),
  listen: field(
    "Where `guildhall serve` listens.",
    section({
      host: field(
        "The address to listen on; any but loopback needs tokenFile, and the user's own file or --host.",
        z._default(text(255), "127.0.0.1"),
      ),
      port: field("The port to listen on; 0 for any free one.", z._default(whole(0, 65_535), 8080)),
      tokenFile: field(
        "A file with the token every caller must send; a project's file names none in the project.",
        z.optional(text()),
      ),
    }),
  ),
  toolkits: field(
    "Modules that export toolkits, as globs from this file's folder on, such as ./tools/*.js.",
    z._default(z.array(text(500)), []),
  ),
  limits: field(
    "Who may call how often. 0 a second is no limit.",
    section({
      client: field("Each client that comes over HTTP or WebSocket.", allowance(2_000, 4_000)),
      registered: field(
        "Each toolkit that a service registered.",
        capacity({ perSecond: 50, burst: 100, concurrent: 16, queue: 100 }),
      ),
      clients: field(
        "Other limits for clients, by the name they give themselves.",
        z._default(z.record(text(200), allowance()), {}),
      ),
      toolkits: field(
        "Other limits for toolkits, by name.",
        z._default(z.record(text(100), capacity()), {}),
      ),
      tools: field(
        "Limits for single tools, by full name.",
        z._default(z.record(text(200), allowance()), {}),
      ),
    }),
  ),
  trust: field(
    "What needs a person's yes. A project's file can only ask for more; the user's own can also ask for less.",
    section({
      policy: field(
        "destructive: tools that may destroy or send, and everything of a server nobody has reviewed; all: every tool.",
        policy(),
      ),
      servers: field(
        "Another policy for single servers, by name.",
        z._default(z.record(text(100), z.enum(["destructive", "all"])), {}),
      ),
      tools: field(
        "What single tools are taken for, by server and tool such as github.create_issue, or server.* for all of one.",
        z._default(z.record(text(200), z.enum(["safe", "destructive"])), {}),
      ),
      unguarded: field(
        "Tools the flow guard leaves alone, by server and tool, or server.* for all of one.",
        z._default(z.array(text(200)), []),
      ),
    }),
  ),
  health: field(
    "How toolkits are watched.",
    section({
      intervalSeconds: field(
        "Seconds between two looks at each toolkit that runs or is registered.",
        z._default(whole(1, 86_400), 60),
      ),
    }),
  ),
  registration: field(
    "Toolkits that services register.",
    section({
      allowPrivate: field(
        "Lets their endpoints be inside a private network.",
        z._default(z.boolean(), false),
      ),
    }),
  ),
  store: field(
    "What is kept of calls and decisions, in .guildhall/state.db or in a database.",
    section({
      url: field(
        "A PostgreSQL database that several halls share, such as postgres://user:password@host/guildhall; sslmode and schema are read, and the password is best a variable. Only the user's own file or GUILDHALL__STORE__URL can name one.",
        z.optional(text().check(z.regex(/^postgres(ql)?:\/\/\S+$/))),
      ),
      record: field(
        "What is kept of a call's arguments and result: their digest, or everything but secrets.",
        z._default(z.enum(["digest", "full"]), "digest"),
      ),
      runs: field(
        "What is kept of an agent's run: everything but secrets, to be shown and replayed for a week, or only an outline without texts.",
        z._default(z.enum(["full", "outline"]), "full"),
      ),
      keepDays: field("Days calls are kept.", z._default(whole(1, 3_650), 30)),
      auditKeepDays: field(
        "Days the audit and the statistics are kept.",
        z._default(whole(1, 36_500), 365),
      ),
      sizeMbMax: field(
        "Megabytes the file, or all rows in the database, may have; past it the oldest calls go first.",
        z._default(whole(16, 1_000_000), 512),
      ),
    }),
  ),
  telemetry: field(
    "Where traces of calls are sent. An address elsewhere only the user's own file can name.",
    section({
      otlpUrl: field(
        "An OpenTelemetry collector, such as http://127.0.0.1:4318. Without it, nothing is sent.",
        z.optional(text().check(z.regex(/^https?:\/\/\S+$/))),
      ),
    }),
  ),
  log: field(
    "The log.",
    section({
      level: field(
        "What is written to stderr. Without it, info for `guildhall serve` and warn for `guildhall mcp`.",
        z.optional(z.enum(["trace", "debug", "info", "warn", "error", "silent"])),
      ),
    }),
  ),
  domain: field(
    "What the project is about, in a few words: clients and agents are told, and servers it names are grouped by it.",
    z.optional(text(500)),
  ),
  hints: field(
    "Groups you want: a name and the servers or tools in it, such as `web research: fetch, search_tool`; or words that matter to you.",
    z._default(z.array(text(500)), []),
  ),
  aliases: field(
    "Other words for a tool, or questions it answers, by full name: find_tools finds it by them.",
    z._default(z.record(text(200), z.array(text(500))), {}),
  ),
  mcpServers: field(
    "The servers behind the hall, by name: the map every MCP client uses.",
    z.prefault(
      z.record(z.string().check(z.regex(serverNamePattern)), z.union([stdioServer, remoteServer])),
      {},
    ),
  ),
  images: field(
    "The image provider. Without url, image_generator returns placeholders. Only the user's own file can set a remote url or apiKeyEnv.",
    section({
      url: field(
        "Base of an API that speaks OpenAI's images/generations, such as https://api.openai.com/v1.",
        z.optional(text()),
      ),
      model: field(
        "The model asked for. Without it, the endpoint's default.",
        z.optional(text(200)),
      ),
      apiKeyEnv: field(
        "The environment variable that holds the endpoint's key.",
        z.optional(variableName()),
      ),
    }),
  ),
  search: field(
    "Where search_tool searches. Without it, its tools say what to configure. An address elsewhere, and the key's variable, only the user's own file can name.",
    section({
      provider: field(
        "Who is asked: a SearXNG, Brave Search, Tavily, or the folders below.",
        z.optional(z.enum(["searxng", "brave", "tavily", "local"])),
      ),
      url: field("Where SearXNG is.", z.optional(text())),
      apiKeyEnv: field(
        "The environment variable with the key. Without it, BRAVE_API_KEY or TAVILY_API_KEY.",
        z.optional(variableName()),
      ),
      folders: field(
        "The folders `local` searches, from the project's folder on.",
        z._default(z.array(text()), []),
      ),
    }),
  ),
  planner: field(
    "Who plans for agents. An address elsewhere, and a program that prints a key, only the user's own file can name, not a project's.",
    section({
      kind: field(
        "auto: a model where there is a key for it, else the client's own (sampling), else none (local).",
        z._default(z.enum(["auto", "model", "sampling", "local"]), "auto"),
      ),
      model: field(
        "provider/name, the provider being anthropic, openai, google, bedrock, openrouter, ollama or openai-compatible.",
        z.optional(
          text(200).check(
            z.regex(/^(anthropic|openai|google|bedrock|openrouter|ollama|openai-compatible)\/\S+$/),
          ),
        ),
      ),
      baseUrl: field(
        "Where the provider is. Needed for openai-compatible.",
        z.optional(text().check(z.regex(/^https?:\/\/\S+$/))),
      ),
      apiKeyEnv: field(
        "The environment variable with the key. Without it, the provider's usual one; GUILDHALL_API_KEY for openai-compatible.",
        z.optional(variableName()),
      ),
      apiKeyCommand: field(
        "A program that prints the key, and its arguments; no shell is involved.",
        z.optional(z.array(text()).check(z.minLength(1))),
      ),
    }),
  ),
  workflow: field(
    "The spec-driven workflow, speckit.*.",
    section({
      commands: field(
        "Lets implement run the commands that tasks declare; a person is asked for each.",
        z._default(z.boolean(), false),
      ),
      roots: field(
        "Further folders that specs may lie in, from the project's folder on.",
        z._default(z.array(text()), []),
      ),
      agent: field(
        "The agent that does the tasks of implement, such as coding_agent. Without it, whoever calls does them.",
        z.optional(text(100)),
      ),
    }),
  ),
  documents: field(
    "What document_analyzer may read.",
    section({
      roots: field(
        "The folders file: URLs may point into, from the project's folder on.",
        z._default(z.array(text()), []),
      ),
    }),
  ),
  mcp: field(
    "The server Guildhall's own client speaks to.",
    z.optional(
      z.strictObject({
        transport: field(
          "How the client reaches its server.",
          z._default(z.enum(["stdio", "http", "websocket"]), "stdio"),
        ),
        command: field("The program to start, for stdio.", z.optional(text())),
        args: field("Its arguments.", z._default(z.array(z.string()), [])),
        endpoint: field("The server's address, for http and websocket.", z.optional(text())),
        headers: field(
          "HTTP headers sent with every request, for http and websocket.",
          z.optional(z.record(text(), z.string())),
        ),
        timeout: field(
          "Seconds one request may be silent; progress begins them anew, up to 600 in all.",
          z._default(whole(1, 600), 60),
        ),
      }),
    ),
  ),
});

/** What a hall is told before it starts. Frozen to the bottom. */
export type Config = Frozen<z.output<typeof configSchema>>;
export type ServerConfig = Config["mcpServers"][string] & { readonly [written]?: Written };
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

function field<Schema extends z.core.$ZodType>(description: string, schema: Schema): Schema {
  z.globalRegistry.add(schema, { description });
  return schema;
}

/** An object that may be left out because everything in it may be. */
function section<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.prefault(z.strictObject(shape), {} as z.input<z.ZodMiniObject<Shape, z.core.$strict>>);
}

function text(lengthMax = 10_000) {
  return z.string().check(z.minLength(1), z.maxLength(lengthMax));
}

/** Calls a second on average, and how many at once. */
function allowanceFields(perSecond: number, burst: number) {
  return {
    perSecond: field("Calls a second, on average.", z._default(whole(0, 1_000_000), perSecond)),
    burst: field("Calls at once.", z._default(whole(1, 1_000_000), burst)),
  };
}

function allowance(perSecond = 0, burst = 1) {
  return section(allowanceFields(perSecond, burst));
}

/** The same, with how many calls run at once and how many wait. */
function capacity({ perSecond = 0, burst = 1, concurrent = 0, queue = 100 } = {}) {
  return section({
    ...allowanceFields(perSecond, burst),
    concurrent: field(
      "Calls that run at once; 0 for any number.",
      z._default(whole(0, 100_000), concurrent),
    ),
    queue: field("Calls that may wait for their turn.", z._default(whole(0, 100_000), queue)),
  });
}

function variableName() {
  return z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/));
}

function whole(minimum: number, maximum: number) {
  return z.int().check(z.gte(minimum), z.lte(maximum));
}
