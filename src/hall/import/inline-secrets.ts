import { isObject, type JsonObject } from "../../base/json.ts";
import { secretShapes } from "../../base/secret-signs.ts";
import { variable, variableName } from "./entry.ts";

/**
 * Replaces the secrets in an entry by variables, because our config is committed and shared. In doubt a value counts as
 * a secret: a needless variable costs an `export`, a leaked secret a rotation.
 */
export function hideSecrets(name: string, server: JsonObject, keep: Keep): JsonObject {
  const hidden = {
    env: isObject(server.env)
      ? mapTexts(server.env, (key, value) => hideInVariable(key, value, keep))
      : undefined,
    headers: isObject(server.headers)
      ? mapTexts(server.headers, (key, value) => hideInHeader(name, key, value, keep))
      : undefined,
    args: Array.isArray(server.args) ? hideInArguments(name, server.args, keep) : undefined,
    url: typeof server.url === "string" ? hideInUrl(name, server.url, keep) : undefined,
    // Always secrets: the document's name for a key says nothing about its form.
    auth: isObject(server.auth)
      ? mapTexts(server.auth, (key, value) =>
          isReference(value) || value === "" ? value : keep(`${name}_${key}`, value),
        )
      : undefined,
    oauth: isObject(server.oauth)
      ? mapTexts(server.oauth, (key, value) =>
          key === "clientSecret" && !isReference(value)
            ? keep(`${name}_CLIENT_SECRET`, value)
            : value,
        )
      : undefined,
  };
  return {
    ...server,
    ...Object.fromEntries(Object.entries(hidden).filter(([, value]) => value !== undefined)),
  };
}

/** Takes words for the variable's name and the secret; returns the reference to write instead. */
export type Keep = (words: string, secret: string) => string;

function hideInVariable(key: string, value: string, keep: Keep): string {
  return isSecret(key, value) ? keep(key, value) : value;
}

function hideInHeader(name: string, key: string, value: string, keep: Keep): string {
  const [, scheme = "", rest = ""] =
    /^((?:Bearer|Basic|Token|ApiKey)\s+)?(.*)$/is.exec(value) ?? [];
  if (!isSecret(key, rest) && !(scheme && !isReference(rest))) return value;
  return scheme + keep(`${name}_${/^authorization$/i.test(key) ? "token" : key}`, rest);
}

function hideInArguments(name: string, args: readonly unknown[], keep: Keep): unknown[] {
  return args.map((arg, index) => {
    if (typeof arg !== "string") return arg;
    const [, flag, given] = /^--?([\w-]+)=(.*)$/s.exec(arg) ?? [];
    if (flag !== undefined && given !== undefined)
      return isSecret(flag, given)
        ? `${arg.slice(0, -given.length)}${keep(`${name}_${flag}`, given)}`
        : arg;
    const [, before] = /^--?([\w-]+)$/.exec(String(args[index - 1] ?? "")) ?? [];
    if (
      before !== undefined &&
      !arg.startsWith("-") &&
      isSecret(before, arg) &&
      !/^[\w-]+[:=]/.test(arg)
    )
      return keep(`${name}_${before}`, arg);
    return hideInWord(name, arg, keep);
  });
}

/** `NAME=value` (docker), `Header: value` (bridges), a URL, or the secret itself. */
function hideInWord(name: string, word: string, keep: Keep): string {
  if (URL.canParse(word) && /^\w+:\/\//.test(word)) return hideInUrl(name, word, keep);
  const [, key, between, value] = /^([A-Za-z][\w-]*)(=|:\s*)(.+)$/s.exec(word) ?? [];
  if (key !== undefined && value !== undefined) {
    const kept =
      between === "=" ? hideInVariable(key, value, keep) : hideInHeader(name, key, value, keep);
    if (kept !== value) return `${key}${between}${kept}`;
  }
  return looksSecret(word) ? keep(`${name}_secret`, word) : word;
}

/** Edits the text, because parsing and printing the URL would change more than the secret. */
function hideInUrl(name: string, url: string, keep: Keep): string {
  if (isPassworded(url)) return keep(`${name}_url`, url);
  const [, start = "", path = "", query = ""] = /^(\w+:\/\/[^/?#]*)([^?#]*)(.*)$/s.exec(url) ?? [];
  const segments = path.replace(/[^/]+/g, (segment) =>
    looksSecret(segment) || isUuid(segment) ? keep(`${name}_key`, segment) : segment,
  );
  const parameters = query.replace(
    /([?&])([^=&#]+)=([^&#]+)/g,
    (whole, sign: string, key: string, value: string) =>
      isSecret(key, value) ? `${sign}${key}=${keep(`${name}_${key}`, value)}` : whole,
  );
  return start + segments + parameters;
}

/** By the name of the key, or by the shape of the value. */
function isSecret(key: string, value: string): boolean {
  if (isReference(value) || value.trim() === "") return false;
  if (looksSecret(value)) return true;
  const words = key.replace(/([a-z\d])([A-Z])/g, "$1_$2");
  return (
    secretName.test(words) &&
    !harmlessName.test(words) &&
    !isHarmless(value) &&
    !(fileName.test(words) && isPath(value))
  );
}

const secretName =
  /token|secret|passw|passphrase|credential|authorization|cookie|apikey|webhook|connection[-_]?str|(^|[-_])(auth|key|pass|pwd|pat|pin|dsn|jwt|bearer|session|signature|sig)([-_]|$)/i;
/** Names of fields that describe a secret without being one. */
const harmlessName =
  /[-_](type|mode|url|uri|host|port|user|username|email|enabled|limit|timeout|method|scopes?|region|name|header|id|ttl|count|max)$|^max[-_]/i;
const fileName = /file|path|dir|folder|credentials$/i;

function looksSecret(value: string): boolean {
  if (isReference(value)) return false;
  return secretShapes.some((shape) => shape.test(value)) || isPassworded(value) || isRandom(value);
}

/** One long word of mixed characters. Package and file names have dots, slashes or a single case. */
function isRandom(value: string): boolean {
  if (/^[0-9a-f]{32,}$/i.test(value)) return true;
  return (
    /^[A-Za-z0-9_+=-]{24,}$/.test(value) &&
    /\d/.test(value) &&
    /[a-z]/.test(value) &&
    /[A-Z]/.test(value)
  );
}

function isUuid(value: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);
}

/** `postgres://me:secret@host`. */
function isPassworded(value: string): boolean {
  return /\b[a-z][a-z0-9+.-]*:\/\/[^\s/@:]*:(?!\$\{)[^\s/@]+@/i.test(value);
}

/** Only variables, possibly after an authentication scheme. */
function isReference(value: string): boolean {
  return (
    value.includes("${") &&
    value
      .replace(/(?<!\$)\$\{[^{}]*\}/g, "")
      .replace(/bearer|basic|token/gi, "")
      .trim().length < 4
  );
}

function isHarmless(value: string): boolean {
  return /^(true|false|yes|no|on|off|none|null|\d{1,5})$/i.test(value);
}

function isPath(value: string): boolean {
  return /^(\.{0,2}\/|~\/|[A-Za-z]:[\\/]|\$\{)/.test(value) || /\.[a-z]{2,5}$/i.test(value);
}

function mapTexts(map: JsonObject, change: (key: string, value: string) => string): JsonObject {
  return Object.fromEntries(
    Object.entries(map).map(([key, value]) => [
      key,
      typeof value === "string" ? change(key, value) : value,
    ]),
  );
}

/** A secret and the variable that replaces it. */
export interface FoundSecret {
  readonly variable: string;
  readonly value: string;
  /** "file:line:column". */
  readonly place: string;
}

/** Assigns variables: one per value, and none that has another value in the environment. */
export function createKeeper(env: NodeJS.ProcessEnv): {
  keepAt(server: string, place: string): Keep;
  found(): readonly FoundSecret[];
} {
  const byValue = new Map<string, FoundSecret>();
  const byName = new Map<string, string>();

  function isFree(name: string, value: string): boolean {
    const taken = byName.get(name) ?? env[name];
    return taken === undefined || taken === value;
  }

  function nameFor(words: string, server: string, value: string): string {
    const wanted = variableName(words);
    const prefix = `${variableName(server)}_`;
    const longer = wanted.startsWith(prefix) ? wanted : prefix + wanted;
    for (let count = 0; ; count++) {
      const name = [wanted, longer][count] ?? `${longer}_${count}`;
      if (isFree(name, value)) return name;
    }
  }

  return {
    keepAt: (server, place) => (words, secret) => {
      // `$${` is our escape for `${`; the value of a variable is not escaped.
      const value = secret.replace(/\$\$\{/g, () => "${");
      const known = byValue.get(value);
      const found = known ?? { variable: nameFor(words, server, value), value, place };
      byValue.set(value, found);
      byName.set(found.variable, value);
      return variable(found.variable);
    },
    found: () => [...byValue.values()],
  };
}
