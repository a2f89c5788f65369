/**
 * What a caller may do. `call`: use the tools, prompts and resources. `read`: the registry and the
 * figures. `register:NAME`: register the toolkit NAME. `admin`: all of that, lasting answers to
 * approvals, and lending its model.
 */
export interface Rights {
  readonly scopes: readonly string[];
}

/** Of the user: a client on stdio or the control socket, or one with the user's own token. */
export const allRights: Rights = { scopes: ["admin"] };

/** Of a program of the same user that sent no token. */
export const rightsWithoutToken: Rights = { scopes: ["call"] };

export function isAllowed({ scopes }: Rights, scope: string): boolean {
  return scopes.includes(scope) || scopes.includes("admin");
}
