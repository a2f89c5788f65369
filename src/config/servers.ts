import { statSync } from "node:fs";
import { resolve } from "node:path";
import { isObject, type JsonObject } from "../base/json.ts";
import { kindOfHost } from "../net/host.ts";
import type { Path, Problem } from "./error.ts";
import { quote } from "./error.ts";
import { serverNamePattern } from "./schema.ts";

/**
 * Checks of programs and URLs that a schema cannot express. A config that names programs is code: a
 * reviewer must see all that runs. Messages never repeat values, which may be secrets.
 */
export function findServerProblems(tree: JsonObject, folder: string): Problem[] {
  const servers = isObject(tree.mcpServers) ? tree.mcpServers : {};
  const problems: Problem[] = [];
  for (const [name, server] of Object.entries(servers))
    if (isObject(server)) problems.push(...findEntryProblems(server, ["mcpServers", name], folder));
  if (isObject(tree.mcp)) problems.push(...findClientProblems(tree.mcp, folder));
  return problems;
}

export function findNameProblems({ mcpServers }: JsonObject): Problem[] {
  const seen = new Map<string, string>();
  const problems: Problem[] = [];
  for (const name of isObject(mcpServers) ? Object.keys(mcpServers) : []) {
    const path = ["mcpServers", name];
    const twin = seen.get(name.toLowerCase());
    if (twin !== undefined)
      problems.push({
        path,
        text: `differs from ${quote(twin)} only in case; expected distinct names; rename one`,
      });
    if (!serverNamePattern.test(name) || name === "__proto__") {
      problems.push({
        path,
        text: "is not a server name; expected 1 to 40 letters, digits, _ and -; rename it",
      });
    }
    seen.set(name.toLowerCase(), name);
  }
  return problems;
}

function findEntryProblems(server: JsonObject, path: Path, folder: string): Problem[] {
  const { command, cwd, url, args, env, headers, oauth } = server;
  const problems: Problem[] = [];
  const note = (text: string | undefined, ...keys: string[]): void =>
    void (text && problems.push({ path: [...path, ...keys], text }));

  if (typeof command === "string")
    note(findCommandFault(command, resolve(folder, typeof cwd === "string" ? cwd : "")), "command");
  if (typeof url === "string")
    note(
      findUrlFault(
        url,
        server.type === "ws" || server.type === "websocket",
        server.allowPrivate === true,
      ),
      "url",
    );
  for (const [key, value] of textsOf(env)) note(findEnvFault(key, value), "env", key);
  for (const [key, value] of textsOf(headers)) note(findHeaderFault(key, value), "headers", key);
  for (const [key, text] of isObject(oauth) ? findOAuthFaults(oauth) : []) note(text, "oauth", key);
  if (
    [cwd, ...(Array.isArray(args) ? args : [])].some(
      (text) => typeof text === "string" && text.includes("\0"),
    )
  ) {
    note("contains a null character; expected text; remove it", "args");
  }
  return problems;
}

/** The section of our own client. It is the user's own server, so a private address is fine. */
function findClientProblems(
  { command, endpoint, transport = "stdio", headers }: JsonObject,
  folder: string,
): Problem[] {
  const faults: [Path, string | undefined][] = [
    [["command"], typeof command === "string" ? findCommandFault(command, folder) : undefined],
    [
      ["endpoint"],
      typeof endpoint === "string"
        ? findUrlFault(endpoint, transport === "websocket", true)
        : undefined,
    ],
    [
      ["headers"],
      transport === "stdio" && headers !== undefined
        ? 'go to no program; expected them with an endpoint; set transport to "http"'
        : undefined,
    ],
    ...textsOf(headers).map(([key, value]): [Path, string | undefined] => [
      ["headers", key],
      findHeaderFault(key, value),
    ]),
  ];
  return faults.flatMap(([path, text]) => (text ? [{ path: ["mcp", ...path], text }] : []));
}

function findCommandFault(command: string, cwd: string): string | undefined {
  if (command.trim() === "") return 'is empty; expected a program; write for example "npx"';
  if (shellCharacters.test(command) || hasControls(command)) {
    return "is a whole command line; expected one program, as no shell is used; put the arguments into args, or start a script";
  }
  if (!/\s/.test(command) || isFile(resolve(cwd, command))) return undefined;
  const [program = ""] = command.trim().split(/\s/, 1);
  return `is a whole command line; expected one program; put the arguments into args: "command": ${quote(program)}, "args": [ … ]`;
}

const shellCharacters = /[|&;<>`$]/;

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}

/**
 * Variables that make a program run additional code: preloads, start-up files, options, and search
 * paths from which something is always loaded (LD_LIBRARY_PATH: libc; PYTHONPATH: sitecustomize). PATH
 * only selects programs by name, and servers need it.
 */
const injectingNames = new Set(
  `ENV BASH_ENV SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND ZDOTDIR NODE_OPTIONS NODE_REPL_EXTERNAL_MODULE
  PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONINSPECT PYTHONBREAKPOINT PYTHONWARNINGS PYTHONUSERBASE PYTHONEXECUTABLE PYTHONPLATLIBDIR
  PERL5OPT PERL5LIB PERL5DB PERLLIB RUBYOPT RUBYLIB LUA_INIT PHPRC PHP_INI_SCAN_DIR R_PROFILE R_PROFILE_USER
  JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS CLASSPATH DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS CORECLR_PROFILER CORECLR_PROFILER_PATH COR_PROFILER
  GCONV_PATH LOCPATH NLSPATH HOSTALIASES GLIBC_TUNABLES OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES
  GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_EXEC_PATH GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_PROXY_COMMAND`.split(
    /\s+/,
  ),
);

function findEnvFault(name: string, value: string): string | undefined {
  const upper = name.toUpperCase();
  if (/[=\0]/.test(name) || value.includes("\0"))
    return "is not an environment variable; expected a name without = and a value without null characters; fix it";
  if (
    !injectingNames.has(upper) &&
    !/^(LD_|DYLD_|BASH_FUNC_|GIT_CONFIG_(COUNT|KEY|VALUE))/.test(upper)
  )
    return undefined;
  return "makes the program run code that command and args do not show; expected a variable the server reads; pass an option in args, or start a script that sets it";
}

function findHeaderFault(name: string, value: string): string | undefined {
  if (/^[!#$%&'*+.^_`|~\w-]+$/.test(name) && !hasControls(value)) return undefined;
  return "is not an HTTP header; expected a name of letters, digits and -, and a value on one line; fix it";
}

function findUrlFault(url: string, isSocket: boolean, allowPrivate: boolean): string | undefined {
  const [safe, plain] = isSocket ? ["wss:", "ws:"] : ["https:", "http:"];
  if (!URL.canParse(url)) return `is not a URL; expected ${safe}//host/path; write the full URL`;
  const { protocol, username, password, hostname, hash } = new URL(url);
  if (protocol !== safe && protocol !== plain) {
    const isOther = /^(https?|wss?):$/.test(protocol);
    return `has the scheme ${quote(protocol)}; expected ${safe}//; ${isOther ? `change it, or set "type" to "${isSocket ? "http" : "ws"}"` : "no other scheme is supported"}`;
  }
  if (username || password)
    return "contains a user name or password; expected none; send them in headers";
  if (hash || url.includes("#"))
    return "has a fragment (#); expected none, as it is never sent; remove it";
  const kind = kindOfHost(hostname);
  if (kind === "private" && !allowPrivate)
    return `points into a private network (${quote(hostname)}); expected a public host or this machine; set "allowPrivate": true if you mean it`;
  if (kind === "public" && protocol === plain)
    return `is not encrypted (${quote(hostname)} is not this machine); expected ${safe}//; change the scheme`;
  return undefined;
}

function findOAuthFaults({
  issuer,
  clientMetadataUrl,
  grant,
  clientId,
  clientSecret,
}: JsonObject): [string, string | undefined][] {
  const isAlone =
    grant === "client_credentials" && (clientId === undefined || clientSecret === undefined);
  return [
    ["issuer", typeof issuer === "string" ? findUrlFault(issuer, false, true) : undefined],
    [
      "clientMetadataUrl",
      typeof clientMetadataUrl === "string"
        ? findUrlFault(clientMetadataUrl, false, true)
        : undefined,
    ],
    [
      "grant",
      isAlone
        ? "needs a client; expected clientId and clientSecret beside it; add them"
        : undefined,
    ],
  ];
}

/** Control characters except tab. */
function hasControls(text: string): boolean {
  return /(?!\t)\p{Cc}/u.test(text);
}

function textsOf(value: unknown): [string, string][] {
  return isObject(value)
    ? Object.entries(value).filter(
        (entry): entry is [string, string] => typeof entry[1] === "string",
      )
    : [];
}
