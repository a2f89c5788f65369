import { statSync } from "node:fs";
import { delimiter, resolve } from "node:path";
import { isObject, type JsonObject } from "../base/json.ts";
import { builtinNames, serverNamePattern } from "./configured-servers.ts";
import { type Path, type Problem, quote } from "./error.ts";
import { fieldAt } from "./layer.ts";
import { isInside, realOf, type WrittenConfig } from "./project-limits.ts";
import { findUrlFault } from "./url.ts";

/**
 * Checks of programs and URLs that a schema cannot express. A config that names programs is code: a
 * reviewer must see all that runs. Messages never repeat values, which may be secrets.
 */
export function findServerProblems(
  {
    tree,
    folder,
    users,
    isOfProject,
  }: Pick<WrittenConfig, "tree" | "folder" | "users" | "isOfProject">,
  env: NodeJS.ProcessEnv,
): Problem[] {
  const { mcpServers, mcp } = tree;
  const ofServers = Object.entries(isObject(mcpServers) ? mcpServers : {}).flatMap(
    ([name, server]) => {
      if (!isObject(server)) return [];
      const above = ["mcpServers", name];
      const isOwn = (key: string): boolean => !isOfProject([...above, "env", key]);
      return [
        ...problemsAt(above, findServerFaults(server, folder)),
        ...problemsAt(above, findApiFaults(server, folder, isOfProject([...above, "openapi"]))),
        ...problemsAt(above, findSteeringFaults(server, { folder, env, isOwn })),
        ...(isOfProject([...above, "sandbox"])
          ? problemsAt(above, findSandboxFaults(server.sandbox, folder, users))
          : []),
      ];
    },
  );
  if (isOfProject(["defaults", "sandbox"]))
    ofServers.push(
      ...problemsAt(
        ["defaults"],
        findSandboxFaults(fieldAt(tree, ["defaults", "sandbox"]), folder, users),
      ),
    );
  const ofPrefixes = findPrefixProblems(isObject(mcpServers) ? mcpServers : {});
  const ofClient = isObject(mcp) ? problemsAt(["mcp"], findClientFaults(mcp, folder)) : [];
  return [...ofServers, ...ofPrefixes, ...ofClient];
}

/** A project may ask for a sandbox, and name in it what lies in the project and the hosts that a review shows. */
function findSandboxFaults(sandbox: unknown, folder: string, users: JsonObject): Faults {
  const own = "only the user's own config file may do that";
  if (sandbox === "off") return [[["sandbox"], `turns the sandbox off; ${own}; remove it`]];
  if (!isObject(sandbox)) return [];
  if (fieldAt(users, ["defaults", "sandbox"]) !== undefined)
    return [[["sandbox"], `changes the sandbox that the user's own config file sets; ${own}`]];
  return ["read", "write"].flatMap((key) => {
    const paths = Array.isArray(sandbox[key]) ? sandbox[key] : [];
    return paths.map((path, at) => [
      ["sandbox", key, at],
      typeof path === "string" &&
        !isInside(realOf(resolve(folder, path)), realOf(folder)) &&
        `is outside the project; expected a path inside; ${own}`,
    ]);
  });
}

/** Fields, each with what is wrong about it, if anything. */
type Faults = readonly (readonly [Path, string | false | undefined])[];

function problemsAt(above: Path, faults: Faults): Problem[] {
  return faults.flatMap(([path, text]) => (text ? [{ path: [...above, ...path], text }] : []));
}

export function findNameProblems({ mcpServers }: JsonObject): Problem[] {
  const names = Object.keys(isObject(mcpServers) ? mcpServers : {});
  return names.flatMap((name, at) => {
    const lower = name.toLowerCase();
    const twin = names.slice(0, at).findLast((other) => other.toLowerCase() === lower);
    return problemsAt(
      [],
      [
        twin !== undefined &&
          `differs from ${quote(twin)} only in case; expected distinct names; rename one`,
        (!serverNamePattern.test(name) || name === "__proto__") &&
          "is not a server name; expected 1 to 40 letters, digits, _ and -; rename it",
        builtInNames.has(lower) && "is the name of a built-in toolkit; expected another; rename it",
      ].map((text) => [["mcpServers", name], text]),
    );
  });
}

/** The built-in toolkits: no server may have their names, or take them as its prefix. */
export const builtInNames: ReadonlySet<string> = new Set([...builtinNames, "guildhall"]);

/** A prefix that is another's name: calls meant for that one would reach this server. */
function findPrefixProblems(servers: JsonObject): Problem[] {
  const entries = Object.entries(servers).map(([name, server]) => ({
    name,
    prefix: isObject(server) && typeof server.prefix === "string" ? server.prefix : "",
  }));
  const takes = new Map<string, string[]>();
  for (const { name, prefix } of entries)
    for (const text of new Set([name.toLowerCase(), prefix.toLowerCase()]))
      takes.set(text, [...(takes.get(text) ?? []), name]);
  return entries.flatMap(({ name, prefix }) => {
    const text = prefix.toLowerCase();
    const other = takes.get(text)?.find((taker) => taker !== name);
    if (prefix === "" || (other === undefined && !builtInNames.has(text))) return [];
    const of = other === undefined ? "a built-in toolkit" : `the server ${quote(other)}`;
    return [
      {
        path: ["mcpServers", name, "prefix"],
        text: `belongs to ${of}; expected one of its own; change it`,
      },
    ];
  });
}

function findServerFaults(server: JsonObject, folder: string): Faults {
  const { command, cwd, url, args, env, headers, type, allowPrivate } = server;
  const oauth = isObject(server.oauth) ? server.oauth : {};
  const { grant, clientId, clientSecret } = oauth;
  const isSocket = type === "ws" || type === "websocket";
  const isAlone =
    grant === "client_credentials" && (clientId === undefined || clientSecret === undefined);
  const hasNull = [cwd, ...(Array.isArray(args) ? args : [])].some(
    (text) => typeof text === "string" && text.includes("\0"),
  );
  return [
    [["command"], findCommandFault(command, resolve(folder, typeof cwd === "string" ? cwd : ""))],
    [["url"], findUrlFault(url, isSocket, allowPrivate === true)],
    ...textsOf(env).map(([key, value]) => [["env", key], findEnvFault(key, value)] as const),
    ...findHeaderFaults(headers),
    ...["issuer", "clientMetadataUrl", "authorizationUrl", "tokenUrl"].map(
      (key) => [["oauth", key], findUrlFault(oauth[key], false, true)] as const,
    ),
    [
      ["oauth", "grant"],
      isAlone && "needs a client; expected clientId and clientSecret beside it; add them",
    ],
    [["args"], hasNull && "contains a null character; expected text; remove it"],
  ];
}

/** An API: where its document is, and where requests and credentials go. */
function findApiFaults(server: JsonObject, folder: string, isOfProject: boolean): Faults {
  const { openapi, baseUrl, allowPrivate, oauth } = server;
  if (typeof openapi !== "string") return [];
  const isUrl = /^[a-z]+:\/\//i.test(openapi);
  const isOutside =
    isOfProject && !isUrl && !isInside(realOf(resolve(folder, openapi)), realOf(folder));
  const isAlone = isObject(oauth) && (baseUrl === undefined || oauth.tokenUrl === undefined);
  return [
    [["openapi"], isUrl && findUrlFault(openapi, false, allowPrivate === true)],
    [
      ["openapi"],
      isOutside &&
        "is outside the project; expected a file inside, or a URL; copy it into the project",
    ],
    [["baseUrl"], findUrlFault(baseUrl, false, allowPrivate === true)],
    [
      ["oauth"],
      isAlone &&
        "does not say where tokens come from and go to; expected tokenUrl in it, and baseUrl beside it; add them",
    ],
  ];
}

/** The section of our own client. It is the user's own server, so a private address is fine. */
function findClientFaults(
  { command, endpoint, transport = "stdio", headers }: JsonObject,
  folder: string,
): Faults {
  const isUnused = transport === "stdio" && headers !== undefined;
  return [
    [["command"], findCommandFault(command, folder)],
    [["endpoint"], findUrlFault(endpoint, transport === "websocket", true)],
    [
      ["headers"],
      isUnused && 'go to no program; expected them with an endpoint; set transport to "http"',
    ],
    ...findHeaderFaults(headers),
  ];
}

function findCommandFault(command: unknown, cwd: string): string | undefined {
  if (typeof command !== "string") return undefined;
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
 * paths from which something is always loaded (LD_LIBRARY_PATH: libc; PYTHONPATH: sitecustomize).
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

/**
 * Variables that choose programs, packages, hosts or certificate authorities. A user may set them for their own
 * servers; a project may only pass on the user's value.
 */
const steeringNames = new Set(
  `HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME TMPDIR SHELL
  NODE_PATH NODE_COMPILE_CACHE NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED BUN_OPTIONS BUN_INSTALL DENO_DIR
  VIRTUAL_ENV CONDA_PREFIX SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE CURL_HOME
  HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY BUN_INSTALL_CACHE_DIR DOCKER_HOST DOCKER_CONFIG KUBECONFIG AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE
  GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS SSH_AUTH_SOCK EDITOR VISUAL PAGER GIT_EDITOR GIT_PAGER BROWSER
  RUSTC_WRAPPER RUSTC CARGO_HOME RUSTUP_HOME GOPROXY GOFLAGS GEM_HOME GEM_PATH BUNDLE_GEMFILE`.split(
    /\s+/,
  ),
);
const steeringPrefix = /^(NPM_CONFIG_|PNPM_CONFIG_|YARN_|UV_|PIP_|COREPACK_)/;

interface Steering {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** True if the project's file did not set this variable of the server. */
  isOwn(key: string): boolean;
}

function findSteeringFaults(
  { env, cwd }: JsonObject,
  { folder, env: ours, isOwn }: Steering,
): Faults {
  const place = resolve(folder, typeof cwd === "string" ? cwd : "");
  return textsOf(env).map(([key, value]) => {
    const path = ["env", key];
    const upper = key.toUpperCase();
    if (upper === "PATH") return [path, findPathFault(value, place, folder, ours.PATH)];
    const isSteering = steeringNames.has(upper) || steeringPrefix.test(upper);
    if (!isSteering || isOwn(key) || value === ours[key]) return [path, undefined];
    return [
      path,
      `chooses the programs, packages or hosts that the server uses; only the user's own config file may set it; write \${${key}} to pass on the user's value`,
    ];
  });
}

/** A program of the project must be named by its path: a review shows it then. */
function findPathFault(value: string, cwd: string, folder: string, ours = ""): string | undefined {
  const known = new Set(ours.split(delimiter));
  const added = value.split(delimiter).filter((entry) => !known.has(entry));
  return added.some((entry) => isInside(realOf(resolve(cwd, entry)), realOf(folder)))
    ? "finds programs in the project by their bare names; expected folders outside; name the program's path in command"
    : undefined;
}

function findHeaderFaults(headers: unknown): Faults {
  const text =
    "is not an HTTP header; expected a name of letters, digits and -, and a value on one line; fix it";
  return textsOf(headers)
    .filter(([name, value]) => !/^[!#$%&'*+.^_`|~\w-]+$/.test(name) || hasControls(value))
    .map(([name]) => [["headers", name], text]);
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

const trustAdvice = "Guildhall's trust settings decide which calls require approval";

/**
 * Keys of other clients in an entry of mcpServers, with advice. Accepted, so that an entry can be
 * pasted, and ignored with a warning.
 */
export const foreignKeys: Readonly<Record<string, string>> = {
  alwaysAllow: trustAdvice,
  autoApprove: trustAdvice,
  trust: trustAdvice,
  includeTools: "use tools.include",
  excludeTools: "use tools.exclude",
  disabledTools: "use tools.exclude",
  timeout: "use timeoutSeconds",
  authProviderType: "use headers",
  ...Object.fromEntries(
    "description gallery icon version sandboxEnabled dev watchPaths"
      .split(" ")
      .map((key) => [key, "you can remove it"]),
  ),
};

/** Removes other clients' keys from the entries before validation. */
export function setForeignAside(tree: JsonObject): {
  readonly tree: JsonObject;
  readonly foreign: readonly Problem[];
} {
  if (!isObject(tree.mcpServers)) return { tree, foreign: [] };
  const foreign: Problem[] = [];
  const servers = Object.entries(tree.mcpServers).map(([name, server]) => {
    if (!isObject(server)) return [name, server];
    const own = Object.entries(server).filter(([key]) => {
      const advice = Object.hasOwn(foreignKeys, key) ? foreignKeys[key] : undefined;
      const text = `ignored: a setting of another client; ${advice}`;
      if (advice !== undefined) foreign.push({ path: ["mcpServers", name, key], text });
      return advice === undefined;
    });
    return [name, Object.fromEntries(own)];
  });
  return { tree: { ...tree, mcpServers: Object.fromEntries(servers) }, foreign };
}
