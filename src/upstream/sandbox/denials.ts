import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { adviceForModel } from "../../base/advice.ts";
import { isInside, realOf } from "../../config/project-limits.ts";
import { isSystemFile } from "./bubblewrap.ts";
import { isAllowed } from "./network.ts";
import { describePath, type Profile } from "./profile.ts";

/** Something that the sandbox of a server kept from it. */
export interface SandboxDenial {
  readonly kind: "read" | "write" | "host";
  /** The whole path, or the host. */
  readonly what: string;
}

/** For the reader of a failed call's result. */
export function describeDenials(server: string, denials: readonly SandboxDenial[]): string {
  const what = [...new Set(denials.map(describeDenial))].slice(0, 5).join(", ");
  return `The sandbox of server "${server}" denied ${what}. ${adviseToLearn(server)}`;
}

/** The same for a server whose failure names no host. */
export function describeNoNetwork(server: string): string {
  return `The sandbox of server "${server}" has no network. ${adviseToLearn(server)}`;
}

function adviseToLearn(server: string): string {
  return adviceForModel([{ do: "run-command", command: `sandbox learn ${server}` }]);
}

const verbs: Readonly<Record<SandboxDenial["kind"], string>> = {
  read: "reading",
  write: "writing",
  host: "connecting to",
};

export function describeDenial({ kind, what }: SandboxDenial): string {
  return `${verbs[kind]} ${kind === "host" ? what : describePath(what)}`;
}

/** How Node, Python and the C library name the failures of the system, next to the path or host. */
const pathErrors =
  "enoent,eacces,eperm,erofs,no such file or directory,permission denied,operation not permitted,read-only file system,does not exist,not found".split(
    ",",
  );
const nameErrors =
  "getaddrinfo ENOTFOUND,getaddrinfo EAI_AGAIN,Could not resolve host:?,Failed to resolve,lookup".split(
    ",",
  );

const path = /(?:^|[\s'"`(:=])((?:~|\.{1,2})?\/[^\s'"`)\],:;]+)/g;
/** After the path of a source file in a backtrace of Node or Python. */
const inTrace = /^(:\d+:\d+|", line \d)/;
const host = "([a-z0-9-]+(?:\\.[a-z0-9-]+)+)";
const nameFailure = new RegExp(`(?:${nameErrors.join("|")})\\s+['"]?${host}`, "gi");
const hostFailure = /\bhost='?([a-z0-9-]+(?:\.[a-z0-9-]+)+)'?/gi;
const resolveFailure = /resolution|resolve|EAI_AGAIN|ENOTFOUND/i;
const addressFailure =
  /(?:ENETUNREACH|ECONNREFUSED|EHOSTUNREACH)\s+\[?((?:\d{1,3}\.){3}\d{1,3}):?(\d+)?/g;

/** Failures of the network as clients of HTTP word them, without the host. */
const networkFailure =
  /fetch failed|network error|network is unreachable|connection (?:error|refused)|name resolution|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH/i;

const charactersMax = 20_000;

export function isNetworkFailure(text: string): boolean {
  return networkFailure.test(text.slice(0, charactersMax));
}

/**
 * Finds denied accesses in a text of the server. A missing file counts only if it exists outside the sandbox
 * and the profile hides it, so a server cannot invent a denial. A server that hides its failures is not
 * recognised here; `sandbox learn` finds more.
 */
export function findDenials(text: string, profile: Profile, cwd: string): readonly SandboxDenial[] {
  const part = text.slice(0, charactersMax);
  const denials: SandboxDenial[] = [];
  const lower = part.toLowerCase();
  if (pathErrors.some((name) => lower.includes(name)))
    for (const { 0: match, 1: found = "", index } of part.matchAll(path)) {
      if (inTrace.test(part.slice(index + match.length).slice(0, 20))) continue;
      const whole = resolve(cwd, found.replace(/^~/, profile.home));
      const denial = judgePath(whole, profile, /EROFS|EACCES|Read-only|denied/i.test(part));
      if (denial) denials.push(denial);
    }
  const named = [
    ...part.matchAll(nameFailure),
    ...(resolveFailure.test(part) ? part.matchAll(hostFailure) : []),
  ];
  for (const [, host = ""] of named)
    if (!isAllowed(profile.hosts, host.toLowerCase()))
      denials.push({ kind: "host", what: host.toLowerCase() });
  for (const [, address = "", port] of part.matchAll(addressFailure))
    if (port !== undefined && /^127\./.test(address)) {
      const what = `localhost:${port}`;
      if (!isAllowed(profile.hosts, "localhost", Number(port)))
        denials.push({ kind: "host", what });
    } else if (!address.startsWith("127.")) denials.push({ kind: "host", what: address });
  return denials;
}

/** A path that exists on this machine, and that the profile does not give. */
export function judgePath(
  whole: string,
  profile: Profile,
  isWrite: boolean,
): SandboxDenial | undefined {
  const { project, read, write, hidden, home } = profile;
  const isWithin = (folders: readonly string[]): boolean =>
    folders.some((folder) => isInside(whole, folder));
  if (isWithin(write) || isSystemFile(whole) || /^\/(proc|dev|sys)(\/|$)/.test(whole))
    return undefined;
  const isHidden = isWithin(hidden);
  const isReadable = isWithin([...read, ...(project === undefined ? [] : [project])]) && !isHidden;
  if (isReadable) return isWrite ? { kind: "write", what: whole } : undefined;
  // In /tmp and in its home it has files of its own.
  const isOwnPlace = isInside(whole, "/tmp") || isInside(whole, home);
  if (existsSync(whole))
    return { kind: "read", what: realOf(whole) === whole ? whole : realOf(whole) };
  return isWrite && !isOwnPlace ? { kind: "write", what: whole } : undefined;
}
