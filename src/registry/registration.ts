import { HallError } from "../base/errors.ts";
import { hashOf, isObject, type JsonObject } from "../base/json.ts";
import { kindOfHost } from "../net/host.ts";
import type { Tool } from "../tool.ts";
import { defaultCacheTtlSeconds, describeDeprecation } from "./metadata.ts";
import { findFunctionNameFault, findLookalike, findToolkitNameFault } from "./name-rules.ts";
import { nameCharactersMax } from "./names.ts";

/** A toolkit as declared in `tools/register`. Checks every rule that needs no other toolkit. */
export interface Registration {
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly version: string;
  readonly tools: readonly Tool[];
  /** Receives the calls; without it they go to the connection that registered. */
  readonly endpoint: URL | undefined;
  readonly healthCheckUrl: URL | undefined;
  /** One tool on its own, named without a prefix. */
  readonly isSingle: boolean;
  /** May replace a different definition with the same name. */
  readonly replace: boolean;
  /** Equal for equal definitions, independent of the runner. */
  readonly fingerprint: string;
}

/** `path` is a JSON pointer into the params. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

export interface RegistrationRules {
  /** Allows endpoints inside a private network; loopback is always allowed. */
  readonly allowPrivate: boolean;
}

const functionsMax = 200;
const descriptionLengthMax = 4_000;
const defaultTimeoutSeconds = 10;
const singleTimeoutSeconds = 30;
const timeoutSecondsMax = 30;

/**
 * The params of `tools/register` in any form that people have them: as they are, the whole JSON-RPC
 * message, the toolkit alone, or one tool alone (`name`, `description`, `inputSchema`, `metadata`).
 */
export function readRegistration(document: JsonObject): JsonObject {
  const isMessage = document.method === "tools/register" && isObject(document.params);
  const params = isMessage ? (document.params as JsonObject) : document;
  const { replace, ...entry } = params;
  if (isObject(params.tool)) return params;
  return "tool" in params ? params : { tool: entry, replace };
}

/** One tool becomes a toolkit of its own name with one function. */
function wrapSingle(tool: JsonObject): JsonObject {
  const { name, description, version, category, endpoint, health_check_url, ...rest } = tool;
  return {
    name,
    description,
    version,
    category,
    endpoint,
    health_check_url,
    functions: [{ timeout_seconds: singleTimeoutSeconds, ...rest, name, description }],
  };
}

/** Throws INVALID_PARAMS with every fault, so that an author can fix them all at once. */
export function parseRegistration(params: JsonObject, rules: RegistrationRules): Registration {
  const { tool: given } = params;
  if (!isObject(given))
    throw refuse([
      { path: "/tool", message: "must be an object with name, description and functions" },
    ]);
  const isSingle = !("functions" in given) && ("inputSchema" in given || "metadata" in given);
  const tool = isSingle ? wrapSingle(given) : given;
  const reader = new Reader();
  const name = reader.text(tool, "/tool", "name");
  const nameFault = name === "" ? undefined : findToolkitNameFault(name);
  if (nameFault !== undefined) reader.fault("/tool/name", nameFault);
  const description = reader.text(tool, "/tool", "description", descriptionLengthMax);
  const category =
    tool.category === undefined
      ? "OTHER"
      : reader.text(tool, "/tool", "category", 40).toUpperCase();
  const version = tool.version === undefined ? "1.0.0" : reader.text(tool, "/tool", "version", 40);
  const endpoint = reader.url(tool, "endpoint", rules);
  const healthCheckUrl = reader.url(tool, "health_check_url", rules);
  const replace = given.replace ?? params.replace ?? false;
  if (typeof replace !== "boolean") reader.fault("/tool/replace", "must be true or false");
  reader.refuseCommands(tool, "/tool");
  const tools = readFunctions(tool, reader, name);
  if (reader.faults.length > 0) throw refuse(reader.faults);
  const fingerprint = hashOf([name, description, category, version, tools]);
  return {
    name,
    description,
    category,
    version,
    tools,
    endpoint,
    healthCheckUrl,
    isSingle,
    replace: replace === true,
    fingerprint,
  };
}

export function refuse(faults: readonly Fault[]): HallError {
  const summary = faults
    .slice(0, 3)
    .map(({ path, message }) => `${path} ${message}`)
    .join("; ");
  const more = faults.length > 3 ? `; and ${faults.length - 3} more` : "";
  return new HallError("INVALID_PARAMS", `not registered: ${summary}${more}`, {
    details: { errors: faults.slice(0, 20) },
    hint: "Fix what `errors` lists and register again; nothing was registered.",
  });
}

function readFunctions(tool: JsonObject, reader: Reader, toolkitName: string): readonly Tool[] {
  const { functions } = tool;
  if (!Array.isArray(functions) || functions.length === 0 || functions.length > functionsMax) {
    reader.fault("/tool/functions", `must be a list of 1 to ${functionsMax} functions`);
    return [];
  }
  const names = new Set<string>();
  return functions.flatMap((declared: unknown, index) => {
    const path = `/tool/functions/${index}`;
    if (!isObject(declared)) {
      reader.fault(path, "must be an object with name, description and parameters");
      return [];
    }
    const read = readFunction(declared, path, reader, metadataOf(tool));
    const fault = findNameClash(read.name, names, toolkitName);
    if (fault !== undefined) reader.fault(`${path}/name`, fault);
    names.add(read.name);
    return [read];
  });
}

function findNameClash(
  name: string,
  names: ReadonlySet<string>,
  toolkitName: string,
): string | undefined {
  if (name === "") return undefined;
  const fault = findFunctionNameFault(name);
  if (fault !== undefined) return fault;
  if (names.has(name)) return "is used by two functions";
  const lookalike = findLookalike(name, names);
  if (lookalike !== undefined) return `is too similar to "${lookalike}"`;
  if (`${toolkitName}.${name}`.length > nameCharactersMax)
    return `is too long (limit: ${nameCharactersMax} characters together with the toolkit's name)`;
  return undefined;
}

function readFunction(
  declared: JsonObject,
  path: string,
  reader: Reader,
  shared: JsonObject,
): Tool {
  reader.refuseCommands(declared, path);
  const name = reader.text(declared, path, "name");
  const description = reader.text(declared, path, "description", descriptionLengthMax);
  const inputKey = firstKey(declared, ["parameters", "inputSchema"]);
  const inputSchema = reader.schema(declared, path, inputKey);
  if (inputSchema === undefined && declared[inputKey] === undefined)
    reader.fault(
      `${path}/${inputKey}`,
      "is required: a tool without a schema cannot be registered",
    );
  else if (inputSchema && inputSchema.type !== "object")
    reader.fault(`${path}/${inputKey}/type`, 'must be "object"');
  const outputSchema = reader.schema(
    declared,
    path,
    firstKey(declared, ["returns", "outputSchema"]),
  );
  const seconds =
    reader.number(declared, path, "timeout_seconds", { from: 1, to: timeoutSecondsMax }) ??
    defaultTimeoutSeconds;
  const metadata = readMetadata({ ...shared, ...metadataOf(declared) }, `${path}/metadata`, reader);
  const annotations = isObject(declared.annotations) ? declared.annotations : {};
  const { deprecatedIn, destructive, module, cacheTtl } = metadata;
  return {
    name,
    description: describeDeprecation(description, deprecatedIn),
    inputSchema: inputSchema ?? { type: "object" },
    outputSchema,
    annotations:
      destructive === undefined ? annotations : { ...annotations, destructiveHint: destructive },
    _meta: {
      "guildhall/module": module,
      "guildhall/deprecated_in": deprecatedIn,
      "guildhall/cache_ttl": cacheTtl,
    },
    facts: { timeoutMs: seconds * 1000, module, deprecatedIn, cacheTtl },
  };
}

/** MCP's own name of a field is accepted too. */
function firstKey(declared: JsonObject, [ours, theirs]: readonly [string, string]): string {
  return declared[ours] === undefined && declared[theirs] !== undefined ? theirs : ours;
}

interface Metadata {
  readonly module: string | undefined;
  readonly destructive: boolean | undefined;
  readonly deprecatedIn: string | undefined;
  readonly cacheTtl: number;
}

/** The fields are read from `metadata` or from beside it. */
function metadataOf(declared: JsonObject): JsonObject {
  const beside = Object.fromEntries(
    ["module", "destructive", "deprecated_in", "cache_ttl"].flatMap((key) =>
      key in declared ? [[key, declared[key]]] : [],
    ),
  );
  return { ...beside, ...(isObject(declared.metadata) ? declared.metadata : {}) };
}

function readMetadata(metadata: JsonObject, path: string, reader: Reader): Metadata {
  const { destructive, deprecated_in: deprecatedIn, module } = metadata;
  if (destructive !== undefined && typeof destructive !== "boolean")
    reader.fault(`${path}/destructive`, "must be true or false");
  return {
    module:
      module === undefined || module === null
        ? undefined
        : reader.text(metadata, path, "module", 500),
    destructive: destructive === true || destructive === false ? destructive : undefined,
    deprecatedIn:
      deprecatedIn === undefined || deprecatedIn === null
        ? undefined
        : reader.text(metadata, path, "deprecated_in", 40),
    cacheTtl:
      reader.number(metadata, path, "cache_ttl", { from: 0, to: 86_400 }) ?? defaultCacheTtlSeconds,
  };
}

/** Reads fields and collects faults; after a fault the returned value is not used. */
class Reader {
  readonly faults: Fault[] = [];

  fault(path: string, message: string): void {
    this.faults.push({ path, message });
  }

  text(from: JsonObject, path: string, key: string, lengthMax = 200): string {
    const value = from[key];
    if (typeof value === "string" && value.trim() !== "" && value.length <= lengthMax) return value;
    this.fault(`${path}/${key}`, `must be a string of 1 to ${lengthMax} characters`);
    return "";
  }

  number(
    from: JsonObject,
    path: string,
    key: string,
    { from: least, to: most }: { readonly from: number; readonly to: number },
  ): number | undefined {
    const value = from[key];
    if (value === undefined || value === null) return undefined;
    if (typeof value === "number" && value >= least && value <= most) return value;
    this.fault(`${path}/${key}`, `must be a number from ${least} to ${most}`);
    return undefined;
  }

  url(
    tool: JsonObject,
    key: "endpoint" | "health_check_url",
    { allowPrivate }: RegistrationRules,
  ): URL | undefined {
    const value = tool[key];
    if (value === undefined || value === null) return undefined;
    const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
    const fault = url
      ? findUrlFault(url, allowPrivate)
      : "must be a URL such as https://tools.example.com/rpc";
    if (fault !== undefined) this.fault(`/tool/${key}`, fault);
    return url;
  }

  schema(from: JsonObject, path: string, key: string): JsonObject | undefined {
    const schema = from[key];
    if (schema === undefined || schema === null) return undefined;
    if (isObject(schema)) {
      this.#refuseNetworkRefs(schema, `${path}/${key}`, 0);
      this.#checkDefaults(schema, `${path}/${key}`);
      return schema;
    }
    this.fault(`${path}/${key}`, "must be a JSON Schema");
    return undefined;
  }

  /** A default outside the parameter's own bounds would fail every call that relies on it. */
  #checkDefaults({ properties }: JsonObject, path: string): void {
    for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
      if (!isObject(property) || property.default === undefined) continue;
      const { default: value, minimum, maximum, enum: choices } = property;
      const isOut =
        (typeof minimum === "number" && typeof value === "number" && value < minimum) ||
        (typeof maximum === "number" && typeof value === "number" && value > maximum) ||
        (Array.isArray(choices) && !choices.includes(value));
      if (isOut) this.fault(`${path}/properties/${name}/default`, "is not an allowed value");
    }
  }

  /** Only the owner's config may start programs on this machine. */
  refuseCommands(from: JsonObject, path: string): void {
    for (const key of ["command", "args", "env", "cwd"])
      if (key in from)
        this.fault(`${path}/${key}`, "is not allowed: a registration cannot start a program");
  }

  #refuseNetworkRefs(value: unknown, path: string, depth: number): void {
    // The compiler refuses deeper schemas.
    if (depth > 64) return;
    if (Array.isArray(value))
      value.forEach(
        (item, index) => void this.#refuseNetworkRefs(item, `${path}/${index}`, depth + 1),
      );
    if (!isObject(value)) return;
    for (const [key, inner] of Object.entries(value)) {
      const at = `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      const isRef =
        (key === "$ref" || key === "$dynamicRef" || key === "$recursiveRef") &&
        typeof inner === "string";
      if (isRef && !inner.startsWith("#"))
        this.fault(at, "must point into the schema itself (#…): references are not fetched");
      else this.#refuseNetworkRefs(inner, at, depth + 1);
    }
  }
}

function findUrlFault(url: URL, allowPrivate: boolean): string | undefined {
  const kind = kindOfHost(url.hostname);
  if (url.protocol !== "https:" && url.protocol !== "http:") return "must be an http or https URL";
  if (url.username !== "" || url.password !== "") return "must not contain credentials";
  if (kind === "private" && !allowPrivate)
    return "is inside a private network (set registration.allowPrivate to allow it)";
  if (url.protocol === "http:" && kind === "public") return "must be https, or http to localhost";
  return undefined;
}
