import { HallError } from "../base/errors.ts";
import { isListed } from "../gateway/allow-list.ts";
import type { Toolkit } from "../tool.ts";

/**
 * The rights of a caller. `call`: use the tools, prompts and resources. `read`: the registry and the
 * figures. `register:NAME`: register the toolkit NAME. `admin`: all of that, lasting answers to
 * approvals, and lending its model.
 */
export interface Rights {
  readonly scopes: readonly string[];
  /** The only tools it may call, as `server.tool` or `server.*`. Default: all. */
  readonly tools?: readonly string[] | undefined;
  /** True on stdio and the control socket, which only processes of the user reach. */
  readonly isLocal?: true | undefined;
  readonly mayAnswer?: "nothing" | undefined;
}

/** Of a client on stdio or the control socket. */
export const localRights: Rights = { scopes: ["admin"], isLocal: true };

/** Of a client below another hall: a server of that hall must not approve its own calls. */
export const rightsBelowHall: Rights = { ...localRights, mayAnswer: "nothing" };

/** Of a caller with the user's own token. */
export const allRights: Rights = { scopes: ["admin"] };

/** Of a program of the same user that sent no token. */
export const rightsWithoutToken: Rights = { scopes: ["call"] };

/** The tools of each preset, as `server.tool` and `server.*`. */
export type Presets = Readonly<Record<string, readonly string[]>>;

/** The same rights within a preset. Throws NOT_FOUND for one that is not configured. */
export function within(preset: string | undefined, rights: Rights, presets: Presets): Rights {
  if (preset === undefined) return rights;
  const tools = Object.hasOwn(presets, preset)
    ? (presets[preset] ?? [])
    : unknownPreset(preset, presets);
  return { ...rights, tools: rights.tools ? common(rights.tools, tools) : tools };
}

function unknownPreset(preset: string, presets: Presets): never {
  const names = Object.keys(presets).join(", ") || "none is configured";
  throw new HallError("NOT_FOUND", `unknown preset "${preset.slice(0, 40)}" (expected: ${names})`, {
    next: [{ do: "edit-config", field: "presets" }],
  });
}

/** The tools that both lists name. */
function common(one: readonly string[], other: readonly string[]): readonly string[] {
  return [
    ...one.filter((name) => isListed(other, name)),
    ...other.filter((name) => !one.includes(name) && isListed(one, name)),
  ];
}

const scopePattern = /^(call|read|admin|register:[A-Za-z0-9_.-]{1,64})$/;

export function isScope(scope: unknown): scope is string {
  return typeof scope === "string" && scopePattern.test(scope);
}

export function isAllowed({ scopes }: Rights, scope: string): boolean {
  return scopes.includes(scope) || scopes.includes("admin");
}

/** The registry and the figures are also for the user's own programs, which need no token. */
export function mayRead(rights: Rights): boolean {
  return isAllowed(rights, "read") || rights === rightsWithoutToken;
}

/**
 * True if the caller may use what a toolkit offers besides tools. A token for single tools of a server
 * does not cover its prompts and resources; one for `server.*` does.
 */
export function mayUse(rights: Rights, { id, prefix = id, source }: Toolkit): boolean {
  if (source === "hall") return mayRead(rights) && rights.tools === undefined;
  return rights.tools === undefined || (prefix !== "" && rights.tools.includes(`${prefix}.*`));
}

/** Throws DENIED where `mayUse` is false. */
export function requireUse(rights: Rights, toolkit: Toolkit): void {
  if (mayUse(rights, toolkit)) return;
  throw new HallError(
    "DENIED",
    `the caller's token or preset does not allow what ${toolkit.id} offers here`,
  );
}

/** Throws DENIED for a caller without the scope. */
export function requireScope(rights: Rights, scope: string, method: string): void {
  if (isAllowed(rights, scope)) return;
  throw scopeNeeded(`${method} requires a token with the scope ${scope}`, scope);
}

/** Throws DENIED for a caller whose token does not name the built-in toolkit; `admin` is not enough. */
export function requireBuiltInName({ scopes, isLocal }: Rights, name: string): void {
  const scope = `register:${name}`;
  if (isLocal || scopes.includes(scope)) return;
  const rule = "over the network, taking its name requires a token with the scope";
  throw scopeNeeded(`"${name}" is a built-in toolkit; ${rule} ${scope}`, scope);
}

function scopeNeeded(message: string, scope: string): HallError {
  return new HallError("DENIED", message, {
    hint: "Send it as `Authorization: Bearer TOKEN` when you connect.",
    next: [{ do: "run-command", command: `token create NAME --scope ${scope}` }],
  });
}
