import { HallError } from "../base/errors.ts";

/**
 * What a caller may do. `call`: use the tools, prompts and resources. `read`: the registry and the
 * figures. `register:NAME`: register the toolkit NAME. `admin`: all of that, lasting answers to
 * approvals, and lending its model.
 */
export interface Rights {
  readonly scopes: readonly string[];
  /** The only tools it may call, as `server.tool` or `server.*`. Default: all. */
  readonly tools?: readonly string[] | undefined;
}

/** Of the user: a client on stdio or the control socket, or one with the user's own token. */
export const allRights: Rights = { scopes: ["admin"] };

/** Of a program of the same user that sent no token. */
export const rightsWithoutToken: Rights = { scopes: ["call"] };

const scopePattern = /^(call|read|admin|register:[A-Za-z0-9_.-]{1,64})$/;

export function isScope(scope: unknown): scope is string {
  return typeof scope === "string" && scopePattern.test(scope);
}

export function isAllowed({ scopes }: Rights, scope: string): boolean {
  return scopes.includes(scope) || scopes.includes("admin");
}

/** Throws DENIED for a caller without the scope. */
export function requireScope(rights: Rights, scope: string, method: string): void {
  if (isAllowed(rights, scope)) return;
  throw new HallError("DENIED", `${method} requires a token with the scope ${scope}`, {
    hint: "Send it as `Authorization: Bearer TOKEN` when you connect.",
    next: [{ do: "run-command", command: `token create NAME --scope ${scope}` }],
  });
}
