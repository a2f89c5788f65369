import * as z from "zod/mini";
import { builtinNames, serverNamePattern } from "./configured-servers.ts";
import {
  allowance,
  capacity,
  field,
  flag,
  list,
  map,
  object,
  optional,
  section,
  text,
  variableName,
  whole,
} from "./fields.ts";
import { openapiServer, remoteServer, sandboxField, stdioServer } from "./server-schema.ts";
import type { WrittenEntry, written } from "./variables.ts";

/**
 * The config: type, default and description of every field. `npm run format` generates from it
 * `guildhall.schema.json`, the tables of docs/config.md, and `outline.json`, which a hall checks its
 * config with. Only types of this file are used at run time, so that no hall loads zod.
 */

const issuer = object("A service that people of the team sign in to.", {
  url: field(
    "The issuer, exactly as its tokens name it: https, or http on this machine.",
    text(500).check(
      z.regex(/^https:\/\/[^\s?#@]+$|^http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/][^\s?#@]*$/),
    ),
  ),
  audiences: field(
    "What else tokens may name as their audience, such as api://CLIENT-ID of Entra. Default: only the hall's own URL.",
    list(500),
  ),
  scopes: field(
    "The hall's rights (call, read, register:NAME, admin) by the scope, role or permission of the issuer that grants them. Scopes with the names of rights need no entry.",
    map(text(80).check(z.regex(/^(call|read|admin|register:[A-Za-z0-9_.-]{1,64})$/)), 500),
  ),
  user: field("The claim that names the person.", z._default(text(200), "sub")),
  groups: field(
    "The claim that lists the person's groups; dots lead into objects, as in realm_access.roles.",
    z._default(text(200), "groups"),
  ),
  clientId: field(
    "The hall's client at the issuer, with which it asks about tokens that are not JWTs.",
    z.optional(text(500)),
  ),
  clientSecret: field("Its secret; use a variable.", z.optional(text())),
});

const policy = z.enum(["destructive", "all"]);

export const configSchema = z.strictObject({
  $schema: field("The JSON Schema of this file, for editors.", z.optional(z.string())),
  expose: field(
    "What clients see, comma-separated: tools, search, agents, code. Default: tools up to 40 of them; above that search, and agents once `guildhall build` has made groups.",
    z.optional(text()),
  ),
  builtin: field(
    'The built-in tools that are on, such as ["time_tool"], or "all". Default: all without servers, none with them.',
    z.optional(z.union([z.array(z.enum(builtinNames)), z.literal("all")])),
  ),
  code: field(
    "The languages of programs that clients see: evaluate-lisp, evaluate-js, or both.",
    z._default(z.array(z.enum(["lisp", "js"])), ["lisp"]),
  ),
  names: field(
    "How names are listed: underscore for server__tool, which every model API accepts, or dot for server.tool. Calls may use either.",
    z._default(z.enum(["underscore", "dot"]), "underscore"),
  ),
  timeoutSeconds: field(
    "Time limit of a call in seconds, unless its tool declares another.",
    z._default(whole(1, 600), 30),
  ),
  listen: section("The listener of `guildhall serve`.", {
    host: field(
      "The address to listen on. Anything but loopback needs tokenFile, auth.issuers or tls.clientCa, and must come from the user's own file or --host.",
      z._default(text(255), "127.0.0.1"),
    ),
    port: field("The port to listen on; 0 picks a free one.", z._default(whole(0, 65_535), 8080)),
    tokenFile: field(
      "A file with the token that every caller must send. It must come from the user's own file or --token-file.",
      z.optional(text()),
    ),
    advertise: field(
      "The URL at which other halls of the same store.url reach this one, such as http://10.0.0.5:8080. Default: the address it listens on. Only the user's own file or GUILDHALL__LISTEN__ADVERTISE can set it.",
      z.optional(text().check(z.regex(/^https?:\/\/\S+$/))),
    ),
    open: field(
      "Admit every program on this machine without a token, whichever user runs it. Only the user's own file may set it.",
      z.optional(z.boolean()),
    ),
    tls: optional("Serves HTTPS. Only the user's own file or a variable can set it.", {
      cert: field("A PEM file with the certificate, and those between it and its root.", text()),
      key: field("A PEM file with its private key.", text()),
      clientCa: field(
        "A PEM file with the authorities whose client certificates are accepted instead of a token.",
        z.optional(text()),
      ),
    }),
  }),
  auth: section(
    "People who sign in with access tokens (OAuth 2.1). Only the user's own file or a variable can set it.",
    {
      url: field(
        "The address at which clients reach the hall; tokens must name it as their audience. Default: the address of the listener.",
        z.optional(text(500).check(z.regex(/^https?:\/\/[^\s?#@]+$/))),
      ),
      issuers: field(
        "Whose access tokens are accepted, by a name of your choice.",
        map(issuer, 40),
      ),
    },
  ),
  toolkits: field(
    "Globs of modules that export toolkits, relative to this file's folder, such as ./tools/*.js.",
    list(500),
  ),
  limits: section("Rate limits. 0 per second means no limit.", {
    client: field("For each client over HTTP or WebSocket.", allowance(2_000, 4_000)),
    registered: field(
      "For each registered toolkit.",
      capacity({ perSecond: 50, burst: 100, concurrent: 16, queue: 100 }),
    ),
    clients: field(
      "Other limits for single clients, by the name they send.",
      map(allowance(), 200),
    ),
    toolkits: field("Other limits for single toolkits, by name.", map(capacity(), 100)),
    tools: field("Limits for single tools, by full name.", map(allowance(), 200)),
  }),
  trust: section(
    "Which calls need approval. A project's file can only ask for more; the user's own file can also ask for less.",
    {
      policy: field(
        "destructive: tools that may destroy or send, and all tools of servers that were not reviewed; all: every tool.",
        z._default(policy, "destructive"),
      ),
      servers: field("Another policy for single servers, by name.", map(policy, 100)),
      tools: field(
        "Marks of single tools, by server and tool such as github.create_issue, or server.* for all tools of a server.",
        map(z.enum(["safe", "destructive"]), 200),
      ),
      unguarded: field(
        "Tools that the flow guard ignores, by server and tool, or server.* for all tools of a server.",
        list(200),
      ),
      scope: field(
        "folder: a review counts in the folder where it was done, and is offered in others; user: a review of the same server counts in all folders. Only the user's own file can set it.",
        z._default(z.enum(["folder", "user"]), "folder"),
      ),
      unattended: field(
        "Allows approvals without a person, for unattended machines. Only the user's own file can set it.",
        flag(),
      ),
    },
  ),
  health: section("Health checks of toolkits.", {
    intervalSeconds: field(
      "Seconds between two checks of each toolkit that runs or is registered.",
      z._default(whole(1, 86_400), 60),
    ),
  }),
  registration: section("Toolkits that services register.", {
    allowPrivate: field(
      "Allows endpoints inside a private network. Only the user's own file or GUILDHALL__REGISTRATION__ALLOWPRIVATE can set it.",
      flag(),
    ),
  }),
  store: section("Records of calls and decisions, in .guildhall/state.db or in a database.", {
    url: field(
      "A PostgreSQL database that several halls share, such as postgres://user:password@host/guildhall, with optional sslmode and schema. Use a variable for the password. Only the user's own file or GUILDHALL__STORE__URL can set it.",
      z.optional(text().check(z.regex(/^postgres(ql)?:\/\/\S+$/))),
    ),
    key: field(
      "A secret of at least 32 characters. Halls that share the database and this key, and serve the same folder, act as one. Use a variable. Default: a key of this user on this machine. Only the user's own file or GUILDHALL__STORE__KEY can set it.",
      z.optional(text().check(z.minLength(32))),
    ),
    record: field(
      "How arguments and results of calls are recorded: as a hash, or in full without secrets.",
      z._default(z.enum(["digest", "full"]), "digest"),
    ),
    runs: field(
      "How runs of agents are recorded: in full without secrets, to be shown and replayed for a week, or as an outline without texts.",
      z._default(z.enum(["full", "outline"]), "full"),
    ),
    keepDays: field("Days that calls are kept.", z._default(whole(1, 3_650), 30)),
    auditKeepDays: field(
      "Days that the audit and the statistics are kept.",
      z._default(whole(1, 36_500), 365),
    ),
    sizeMbMax: field(
      "Size limit of the file, or of all rows in the database, in megabytes. Beyond it the oldest calls are removed.",
      z._default(whole(16, 1_000_000), 512),
    ),
  }),
  telemetry: section("Traces of calls. Only the user's own file can set a remote address.", {
    otlpUrl: field(
      "An OpenTelemetry collector, such as http://127.0.0.1:4318. Default: nothing is sent.",
      z.optional(text().check(z.regex(/^https?:\/\/\S+$/))),
    ),
  }),
  log: section("The log.", {
    level: field(
      "The lowest level written to stderr. Default: info for `guildhall serve`, warn for `guildhall mcp`.",
      z.optional(z.enum(["trace", "debug", "info", "warn", "error", "silent"])),
    ),
  }),
  domain: field(
    "The project's subject in a few words. Clients and agents see it, and it influences the groups.",
    z.optional(text(500)),
  ),
  hints: field(
    "Groups you want, each with its servers or tools, such as `web research: fetch, search_tool`; or single words that should influence the groups.",
    list(500),
  ),
  aliases: field(
    "Other words for a tool, or tasks it solves, by full name; find_tools uses them.",
    map(z.array(text(500)), 200),
  ),
  defaults: section("Settings for all servers that have none of their own.", {
    startTimeoutSeconds: field(
      "Time limit of a start in seconds, and of an installation before it.",
      z.optional(whole(1, 600)),
    ),
    sandbox: sandboxField("see the servers' own."),
  }),
  mcpServers: field(
    "The servers behind the hall, by name: the map that every MCP client uses.",
    z.prefault(
      z.record(
        z.string().check(z.regex(serverNamePattern)),
        z.union([stdioServer, remoteServer, openapiServer]),
      ),
      {},
    ),
  ),
  presets: field(
    "Named sets of tools. A client at `/mcp/NAME`, or of `mcp --preset NAME`, sees and calls only these.",
    z._default(
      z.record(
        z.string().check(z.regex(serverNamePattern)),
        z.strictObject({
          servers: field("Servers and toolkits whose tools belong to it.", list(40)),
          tools: field("Further tools, as `server.tool` or `server.*`.", list(200)),
        }),
      ),
      {},
    ),
  ),
  images: section(
    "The image provider. Without url, image_generator returns placeholders. Only the user's own file can set a remote url or apiKeyEnv; a url in a project's file gets no key.",
    {
      url: field(
        "The base of an API with OpenAI's images/generations, such as https://api.openai.com/v1.",
        z.optional(text()),
      ),
      model: field("The model. Default: the endpoint's.", z.optional(text(200))),
      apiKeyEnv: field(
        "The environment variable that holds the endpoint's key.",
        z.optional(variableName()),
      ),
    },
  ),
  search: section(
    "The provider of search_tool. Only the user's own file can set a remote url or apiKeyEnv.",
    {
      provider: field(
        "SearXNG, Brave Search or Tavily. Default: Wikipedia and news feeds, without an account.",
        z.optional(z.enum(["searxng", "brave", "tavily"])),
      ),
      url: field("The address of SearXNG.", z.optional(text())),
      apiKeyEnv: field(
        "The environment variable that holds the key. Default: BRAVE_API_KEY or TAVILY_API_KEY.",
        z.optional(variableName()),
      ),
    },
  ),
  planner: section(
    "The planner of agents. Only the user's own file can set a remote baseUrl or apiKeyCommand; a baseUrl in a project's file gets no key.",
    {
      kind: field(
        "auto: a model if there is a key for it, else the client's model (sampling), else rules (local).",
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
        "The address of the provider. Required for openai-compatible.",
        z.optional(text().check(z.regex(/^https?:\/\/\S+$/))),
      ),
      apiKeyEnv: field(
        "The environment variable that holds the key. Default: the provider's usual one; GUILDHALL_API_KEY for openai-compatible.",
        z.optional(variableName()),
      ),
      apiKeyCommand: field(
        "A program that prints the key, and its arguments; no shell is used.",
        z.optional(z.array(text()).check(z.minLength(1))),
      ),
    },
  ),
  workflow: section("The spec-driven workflow, speckit.*.", {
    commands: field(
      "Allows implement to run the commands that tasks declare; a person approves each.",
      flag(),
    ),
    roots: field("Further folders for specs, relative to the project's folder.", list()),
    agent: field(
      "The agent that does the tasks of implement, such as coding_agent. Default: the caller does them.",
      z.optional(text(100)),
    ),
  }),
  documents: section("Documents that document_analyzer may read.", {
    allowPrivate: field(
      "Allows addresses on this machine and inside a private network. Only the user's own file or a variable can set it.",
      flag(),
    ),
    roots: field(
      "The folders that file: URLs may point into, relative to the project's folder.",
      list(),
    ),
  }),
  mcp: optional("The server that Guildhall's own client connects to.", {
    transport: field("The transport.", z._default(z.enum(["stdio", "http", "websocket"]), "stdio")),
    command: field("The program to start, for stdio.", z.optional(text())),
    args: field("Its arguments.", z._default(z.array(z.string()), [])),
    endpoint: field("The server's address, for http and websocket.", z.optional(text())),
    headers: field(
      "HTTP headers sent with every request, for http and websocket.",
      z.optional(z.record(text(), z.string())),
    ),
    timeout: field(
      "Seconds without progress before a request times out; at most 600 in all.",
      z._default(whole(1, 600), 60),
    ),
  }),
});

/** The checked config. Deeply frozen. */
export type Config = Frozen<z.output<typeof configSchema>>;
export type ServerConfig = Config["mcpServers"][string] & { readonly [written]?: WrittenEntry };
/** A part of the config, as given by flags. */
export type PartialConfig = Partial<z.input<typeof configSchema>>;

type Frozen<T> = T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T;
