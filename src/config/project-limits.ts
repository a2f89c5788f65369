import { readlinkSync, realpathSync } from "node:fs";
import { basename, resolve, sep } from "node:path";
import type { JsonObject } from "../base/json.ts";
import { kindOfHost } from "../net/host.ts";
import type { Path, Problem } from "./error.ts";
import { fieldAt } from "./layer.ts";
import type { Config } from "./schema.ts";

/** The merged config, and who wrote its fields. */
export interface WrittenConfig {
  readonly tree: JsonObject;
  readonly folder: string;
  /** The contents of the user's own file. */
  readonly users: JsonObject;
  /** True if the project's file set the field, and nothing after it did. */
  isOfProject(path: Path): boolean;
  /** True if the project's file names the field, or something in it. */
  isInProject(path: Path): boolean;
  /** True if a variable or a flag set the field. */
  isOfOverride(path: Path): boolean;
}

/** A field that a project's config may not set, or not to certain values. */
interface Limit {
  /** A last key `*` stands for every key or index. */
  readonly path: readonly string[];
  readonly text: string;
  /** Refused even if a variable sets a part of it too. */
  readonly isForOthers?: true;
  /** Refused in variables and flags too. */
  readonly isForUsersFile?: true;
  /** Default: every value is refused. */
  isRefused?(value: unknown, config: WrittenConfig, path: Path): boolean;
}

/**
 * A cloned repository brings no trust: its config must not run programs, read keys, send callers' data
 * to a host of its choice, open this machine or its folders, nor require fewer approvals.
 */
export function findProjectProblems(config: WrittenConfig): Problem[] {
  return limits.flatMap(({ path, text, isForUsersFile, isForOthers, isRefused }) =>
    fieldsLike(config.tree, path)
      .filter(
        (field) =>
          config.isOfProject(field) ||
          (isForOthers && config.isInProject(field)) ||
          (isForUsersFile && config.isOfOverride(field)),
      )
      .filter((field) => isRefused?.(fieldAt(config.tree, field), config, field) ?? true)
      .map((field) => ({ path: field, text })),
  );
}

const outside =
  "is outside the project; expected a folder inside; other folders belong in the user's own config file";
const only = "only the user's own config file";
const fewer = `requires fewer approvals; ${only} may do that`;
const isOn = (value: unknown): boolean => value === true;

const limits: readonly Limit[] = [
  { path: ["documents", "roots", "*"], text: outside, isRefused: isOutside },
  { path: ["workflow", "roots", "*"], text: outside, isRefused: isOutside },
  {
    path: ["presets", "*"],
    text: "is a preset of the user's own config file; expected another name; rename it",
    isRefused: (_value, { users }, path) => fieldAt(users, path) !== undefined,
  },
  limit("documents.allowPrivate", "opens this machine and private networks to models", isOn),
  limit("registration.allowPrivate", "opens private networks to services that register", isOn),
  ...limitsOfEndpoint("planner", "baseUrl"),
  ...limitsOfEndpoint("images", "url"),
  ...limitsOfEndpoint("search", "url"),
  ...limitsOfEndpoint("telemetry", "otlpUrl"),
  // Not even a URL on this machine: the database may be shared by all halls of the user.
  limit("store.url", "chooses where all call records are stored"),
  limit("store.key", "chooses whose decisions count here"),
  limit("listen.advertise", "chooses where other halls send calls"),
  {
    path: ["listen", "host"],
    text: `opens the hall to other machines; ${only}, GUILDHALL__LISTEN__HOST or --host may set it`,
    isRefused: (host) => typeof host === "string" && kindOfHost(host) !== "loopback",
  },
  {
    path: ["listen", "tokenFile"],
    text: `chooses a token that others may know; ${only}, GUILDHALL__LISTEN__TOKENFILE or --token-file may set it`,
  },
  limit("listen.open", "opens the hall to other users of this machine", isOn),
  {
    path: ["listen", "tls"],
    text: `chooses who may use the hall; ${only} or a GUILDHALL__LISTEN__TLS__ variable may set it`,
    isForOthers: true,
  },
  {
    path: ["auth", "*"],
    text: `chooses who may use the hall; ${only} or a GUILDHALL__AUTH__ variable may set it`,
    isForOthers: true,
  },
  { path: ["trust", "tools", "*"], text: fewer, isRefused: (mark) => mark === "safe" },
  { path: ["trust", "policy"], text: fewer, isRefused: isLowered },
  { path: ["trust", "servers", "*"], text: fewer, isRefused: isLowered },
  {
    path: ["trust", "unguarded"],
    text: fewer,
    isRefused: (list) => Array.isArray(list) && list.length > 0,
  },
  {
    path: ["trust", "scope"],
    text: `lets reviews of other folders count here; ${only} may do that`,
    isForUsersFile: true,
    isRefused: (scope) => scope === "user",
  },
  {
    path: ["trust", "unattended"],
    text: `allows approvals without a person; ${only} may do that`,
    isForUsersFile: true,
    isRefused: isOn,
  },
];

/** A field that only the user's own file or its own variable may set. */
function limit(field: string, does: string, isRefused?: Limit["isRefused"]): Limit {
  const variable = `GUILDHALL__${field.toUpperCase().replace(".", "__")}`;
  const text = `${does}; ${only} or ${variable} may set it`;
  return { path: field.split("."), text, ...(isRefused ? { isRefused } : {}) };
}

/** A project may name a model, a provider and a URL on this machine. */
function limitsOfEndpoint(section: string, address: string): Limit[] {
  const allowed = `${only} or a GUILDHALL__${section.toUpperCase()}__ variable may set it`;
  return [
    { path: [section, "apiKeyCommand"], text: `runs a program; ${allowed}` },
    { path: [section, "apiKeyEnv"], text: `can read any environment variable; ${allowed}` },
    {
      path: [section, address],
      text: `is not on this machine; ${allowed}`,
      isRefused: isElsewhere,
    },
  ];
}

/**
 * Fields that models read, that shape what they read, or that open folders to them: a project's
 * count after approval.
 */
export const fieldsToApprove = ["domain", "hints", "aliases", "documents.roots"] as const;

export type FieldToApprove = (typeof fieldsToApprove)[number];

/** Marks a planner whose address is the project's: it gets no key. A symbol, as it is not a config field. */
export const keyless = Symbol("keyless");

/** Keys are meant for the addresses the user knows, so an address from the project's file gets none. */
export function withoutKeys(config: Config, isOfProject: WrittenConfig["isOfProject"]): Config {
  const { planner, images } = config;
  const marked: Config["planner"] & { readonly [keyless]: true } = { ...planner, [keyless]: true };
  return {
    ...config,
    planner: isOfProject(["planner", "baseUrl"]) ? marked : planner,
    images: isOfProject(["images", "url"]) ? { ...images, apiKeyEnv: undefined } : images,
  };
}

/** The paths of the existing fields that match. */
function fieldsLike(tree: JsonObject, path: readonly string[]): Path[] {
  if (path.at(-1) !== "*") return fieldAt(tree, path) === undefined ? [] : [path];
  const parent = path.slice(0, -1);
  const map = fieldAt(tree, parent);
  if (Array.isArray(map)) return map.map((_, index) => [...parent, index]);
  return typeof map === "object" && map ? Object.keys(map).map((key) => [...parent, key]) : [];
}

function isOutside(path: unknown, { folder }: WrittenConfig): boolean {
  return typeof path === "string" && !isInside(realOf(resolve(folder, path)), realOf(folder));
}

/** An invalid URL is reported by the schema or by its user. */
function isElsewhere(url: unknown): boolean {
  return (
    typeof url === "string" &&
    !(URL.canParse(url) && kindOfHost(new URL(url).hostname) === "loopback")
  );
}

/** If the user's policy is stricter, the project cannot exempt a single server either. */
function isLowered(
  policy: unknown,
  { tree, users, isOfProject }: WrittenConfig,
  path: Path,
): boolean {
  const general = ["trust", "policy"];
  const isStrict =
    (fieldAt(users, path) ?? fieldAt(users, general)) === "all" ||
    (fieldAt(tree, general) === "all" && !isOfProject(general));
  return policy !== "all" && isStrict;
}

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** Resolves links, also those whose target does not exist yet; the rest of such a path stays as written. */
export function realOf(path: string, linksLeft = 40): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = resolve(path, "..");
    if (parent === path) return path;

    const place = realOf(parent, linksLeft);
    const target = linksLeft > 0 ? targetOf(path) : undefined;
    return target === undefined
      ? resolve(place, basename(path))
      : realOf(resolve(place, target), linksLeft - 1);
  }
}

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
