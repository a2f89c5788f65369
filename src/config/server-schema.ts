import * as z from "zod/mini";
import { transportAliases } from "./configured-servers.ts";
import {
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

/** The entries of `mcpServers`, for `schema.ts`. */

/** Settings of ours that all kinds of server have, besides those that every MCP client uses. */
const ours = {
  start: field(
    "When to start the server: at its first call, or with the hall.",
    z._default(z.enum(["lazy", "eager"]), "lazy"),
  ),
  idleTimeoutSeconds: field(
    "Seconds without a call before the server is stopped; 0 means never.",
    z._default(whole(0, 86_400), 600),
  ),
  timeoutSeconds: field(
    "Time limit of a call to this server in seconds. Default: the hall's timeoutSeconds.",
    z.optional(whole(1, 600)),
  ),
  startTimeoutSeconds: field(
    "Time limit of a start in seconds, and of an installation before it. Default: `defaults.startTimeoutSeconds`, else 20 for a start; 180 for an installation, and for uvx and docker run, which install by themselves.",
    z.optional(whole(1, 600)),
  ),
  prefix: field(
    "The prefix of this server's tool names. Default: the server's name; \"\" means none.",
    z.optional(z.string().check(z.regex(/^[A-Za-z0-9_-]{0,40}$/))),
  ),
  tools: section("Which of the server's tools are offered.", {
    include: field("Globs of the tools that are offered.", z._default(z.array(text(200)), ["*"])),
    exclude: field("Globs of the tools that are not offered, even if included.", list(200)),
  }),
  share: field(
    "Whether clients share the running server. auto: yes, until it asks questions and calls of two clients overlap, which then get one each; always: one for all, and a question that could be for several clients is refused; never: one for each client. Default: auto.",
    z.optional(z.enum(["auto", "always", "never"])),
  ),
  perPerson: field(
    "Secrets of env, headers or auth that have another value for each person who calls with a token: `guildhall secret set NAME --person USER`. Each person gets a connection, or a process, of their own.",
    z.optional(z.array(variableName())),
  ),
  disabled: field("Keeps the entry, but does not use the server.", flag()),
  allowPrivate: field("Allows a url inside a private network.", flag()),
};

const sandbox = z.union([
  z.enum(["on", "off"]),
  z.strictObject({
    read: field("Further files and folders that it may read.", list()),
    write: field("Further files and folders that it may read and write.", list()),
    network: section("Where it may connect.", {
      allow: field(
        "Hosts such as api.github.com, *.example.com or db.example.com:5432; without a port, 80 and 443.",
        list(300),
      ),
    }),
    env: field(
      "The variables of the hall's environment that it gets, besides those of its env. Default: PATH, HOME and those for language, time and certificates.",
      z.optional(z.array(variableName())),
    ),
    memoryMb: field(
      "Memory limit in megabytes: of each process, and of all together where cgroups are writable.",
      z._default(whole(64, 1_000_000), 4_096),
    ),
    cpuSeconds: field(
      "CPU time that one of its processes may use in all. Default: no limit.",
      z.optional(whole(1, 10_000_000)),
    ),
  }),
]);

export function sandboxField(otherwise: string) {
  return field(
    `Confines the server: on, off, or on with further rights. It reads the system, its package and the project, and writes a folder of its own. A project's file cannot turn it off or name paths outside the project. Default: ${otherwise}`,
    z.optional(sandbox),
  );
}

export const stdioServer = object("A program on this machine.", {
  type: field(
    "The transport: a program on this machine, over its stdin and stdout.",
    z._default(z.literal("stdio"), "stdio"),
  ),
  command: field("The program to start, without arguments; no shell is used.", text()),
  args: field("Its arguments.", z._default(z.array(z.string()), [])),
  env: field("Its environment variables, besides a few of the hall's.", map(z.string())),
  envFile: field(
    "A dotenv file with further environment variables, relative to the folder of this file. A project's must be inside the project, and is approved with its contents.",
    z.optional(text()),
  ),
  cwd: field("The folder it starts in. Default: the hall's.", z.optional(text())),
  sandbox: sandboxField(
    "`defaults.sandbox`, else on for a new server that starts in it, where bubblewrap is available.",
  ),
  ...ours,
});

const remoteType = z.pipe(
  z.enum(["http", "streamable-http", "sse", "ws", "websocket"]),
  z.transform((type) => transportAliases[type] ?? (type as "http" | "sse" | "ws")),
);

const oauth = optional("For servers that require a login with settings of their own.", {
  grant: field(
    "Who logs in: a person, or the hall itself with clientId and clientSecret.",
    z._default(z.enum(["authorization_code", "client_credentials"]), "authorization_code"),
  ),
  clientId: field(
    "The client that you registered with the issuer. Default: one is registered at the first login.",
    z.optional(text()),
  ),
  clientSecret: field("Its secret; use a variable.", z.optional(text())),
  clientMetadataUrl: field(
    "The address of a client metadata document, for issuers that use one instead of registration.",
    z.optional(text()),
  ),
  issuer: field(
    "The only issuer that may see these values. Default: the one that the server names at the first login.",
    z.optional(text()),
  ),
  scope: field(
    "The scopes to request, separated by spaces. Default: those that the server asks for.",
    z.optional(text()),
  ),
  perPerson: field(
    "Each person who calls with a token logs in on their own, and their login is used for their calls only.",
    z.optional(z.boolean()),
  ),
  authorizationUrl: field(
    "The page where a person logs in, for an API whose issuer has no metadata. `guildhall add --openapi` sets it.",
    z.optional(text()),
  ),
  tokenUrl: field(
    "The address that issues tokens, for an API whose issuer has no metadata. `guildhall add --openapi` sets it.",
    z.optional(text()),
  ),
  callbackPort: field(
    "The port of 127.0.0.1 to which the browser returns after a login; 0 picks a free one.",
    z._default(whole(0, 65_535), 0),
  ),
});

export const remoteServer = object("A remote server.", {
  type: field(
    'The transport; "streamable-http" means "http", "websocket" means "ws".',
    z.prefault(remoteType, "http"),
  ),
  url: field("Its address: https (wss for ws), or http to this machine.", text()),
  headers: field("HTTP headers sent with every request.", map(z.string())),
  oauth,
  ...ours,
});

export const openapiServer = object("An API that an OpenAPI document describes.", {
  type: field("Always openapi.", z._default(z.literal("openapi"), "openapi")),
  openapi: field(
    "The OpenAPI 3.0 or 3.1 document, JSON or YAML: a file, relative to the project's folder, or a URL. A project's must be inside the project.",
    text(),
  ),
  baseUrl: field(
    "The address of the API. Default: the document's first server.",
    z.optional(text()),
  ),
  auth: field(
    "Credentials, by the name of the document's security scheme: a key, a token, or user:password for basic. Use variables.",
    map(z.string(), 200),
  ),
  headers: field("HTTP headers sent with every request.", map(z.string())),
  include: field(
    "Globs of the operations that become tools, by tool name, `GET /path` or tag. Default: all.",
    list(200),
  ),
  exclude: field("Globs of the operations that do not, even if included.", list(200)),
  oauth,
  ...ours,
});
