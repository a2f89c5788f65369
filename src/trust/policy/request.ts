import type { EntityJson, TypeAndId } from "@cedar-policy/cedar-wasm/nodejs";
import type { JsonObject } from "../../base/json.ts";
import { isObject } from "../../base/json.ts";
import type { Caller, Person, Taint, Target, Toolkit } from "../../tool.ts";
import type { Marks } from "../marks.ts";
import type { PolicyAction } from "./schema.ts";

/** The thing that an action is about. */
export type Subject =
  | { readonly tool: Target }
  | { readonly prompt: string; readonly toolkit: Toolkit }
  | { readonly uri: string; readonly toolkit: Toolkit }
  | { readonly server: string }
  | { readonly method: string };

export interface PolicyRequest {
  readonly caller: Pick<Caller, "person" | "client">;
  readonly action: PolicyAction;
  readonly subject: Subject;
  /** The tool as the caller named it: a denial must not complete a name that was guessed. */
  readonly name?: string | undefined;
  /** For `call`. */
  readonly arguments?: JsonObject;
  /** The conversation's. */
  readonly taint?: Taint;
  /** Of the call that `approve` is about. */
  readonly approvedFor?: Person | undefined;
}

/** The entity of a caller. Programs of the hall's own user are `User::"local"`. */
export function describeUser(person: Person | undefined): EntityJson {
  const { user = "local", groups = [], issuer, token } = person ?? {};
  const isOfIssuer = issuer !== undefined;
  return {
    uid: { type: "User", id: user },
    attrs: {
      ...(isOfIssuer ? { issuer } : {}),
      ...(token === undefined ? {} : { [isOfIssuer ? "client" : "token"]: token }),
    },
    parents: groups.map((id) => ({ type: "Group", id })),
  };
}

/** `server.tool`, whatever prefix a project's config gives the server; the hall's own tools have no server. */
export function toolIdOf({ toolkit, tool }: Target): string {
  return toolkit.source === "hall" ? tool.name : `${toolkit.id}.${tool.name}`;
}

/** For the audit. */
export function nameOfSubject(subject: Subject): string {
  if ("tool" in subject) return toolIdOf(subject.tool);
  if ("toolkit" in subject)
    return `${subject.toolkit.id}: ${("prompt" in subject ? subject.prompt : subject.uri).slice(0, 200)}`;
  return "server" in subject ? subject.server : subject.method;
}

export function describeSubject(subject: Subject, marksOf: (target: Target) => Marks): EntityJson {
  if ("tool" in subject) {
    const { effect, bringsIn, sendsOut, readsPrivate } = marksOf(subject.tool);
    const { toolkit, tool } = subject.tool;
    const tags = [
      toolkit.source ?? "built-in",
      ...(bringsIn ? ["brings-in"] : []),
      ...(sendsOut ? ["sends-out"] : []),
      ...(readsPrivate ? ["reads-private"] : []),
    ];
    const attrs = { name: tool.name, class: effect, tags };
    return entity({ type: "Tool", id: toolIdOf(subject.tool) }, attrs, serverOf(toolkit));
  }
  if ("prompt" in subject) {
    const { prompt: name, toolkit } = subject;
    return entity({ type: "Prompt", id: `${toolkit.id}.${name}` }, { name }, serverOf(toolkit));
  }
  if ("uri" in subject) {
    const { uri, toolkit } = subject;
    return entity({ type: "Resource", id: uri }, { uri }, serverOf(toolkit));
  }
  return "server" in subject
    ? entity({ type: "Server", id: subject.server }, {})
    : entity({ type: "Method", id: subject.method }, {});
}

/** The server that everything of the hall itself belongs to; no other can have this name. */
export const ownServer = "guildhall";

function serverOf({ id, source }: Toolkit): string {
  return source === "hall" ? ownServer : id;
}

function entity(uid: TypeAndId, attrs: EntityJson["attrs"], server?: string): EntityJson {
  return { uid, attrs, parents: server === undefined ? [] : [{ type: "Server", id: server }] };
}

/** Longer values are not read; a policy that wants one denies the call. */
const textMax = 65_536;

/** The arguments that policies name. Throws `TooLong`. */
export function readArguments(args: JsonObject, names: ReadonlySet<string>, as: "texts" | "longs") {
  const found: Record<string, string | number> = {};
  for (const name of names) {
    const value = valueAt(args, name);
    if (value === undefined) continue;
    const read = as === "texts" ? textOf(value, name) : longOf(value);
    if (read !== undefined) found[name] = read;
  }
  return found;
}

export class TooLong extends Error {}

function valueAt(args: JsonObject, name: string): unknown {
  if (!name.startsWith("/")) return Object.hasOwn(args, name) ? args[name] : undefined;
  let value: unknown = args;
  for (const step of name.slice(1).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    const holder = isObject(value) || Array.isArray(value) ? (value as JsonObject) : {};
    value = Object.hasOwn(holder, key) ? holder[key] : undefined;
  }
  return value;
}

/** Text as it is, anything else as JSON. */
function textOf(value: unknown, name: string): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length > textMax) throw new TooLong(name);
  return text;
}

/** Fractions are rounded away from zero, so that a limit holds for 100.5 as for 101. */
function longOf(value: unknown): number | undefined {
  if (typeof value !== "number") return undefined;
  const whole = value < 0 ? Math.floor(value) : Math.ceil(value);
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, whole));
}
