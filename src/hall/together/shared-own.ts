import type { KeptSecret, SecretKey, SecretStore } from "../../base/secret-store.ts";
import type { Board } from "../../store/shared/board.ts";
import type { Fleet } from "../../upstream/fleet.ts";
import { loginOf, type SharedLogins } from "../../upstream/token-store.ts";
import { SharedValues } from "./shared-values.ts";

/** Logins to servers, and the secrets of single people: what a person does in one hall counts in all. */
export interface SharedOwn {
  readonly logins: SharedLogins;
  /** People's secrets in the database, the others where they are on this machine. */
  secrets(local: SecretStore): SecretStore;
  /** Servers of the hall take a new login or secret at once. */
  follow(fleet: Pick<Fleet, "ownChanged">): void;
}

export function shareOwn(board: Board): SharedOwn {
  const logins = new SharedValues(board, "logins");
  const secrets = new SharedValues(board, "secrets");
  return {
    logins: {
      async read(id) {
        // Servers may start before this hall has read anything.
        await board.joined;
        return logins.get(id);
      },
      write: (id, text) => logins.put(id, text),
      remove: (id) => logins.remove(id),
      exclusively: (id, work) => board.exclusively(id, work),
    },
    secrets: (local) => withShared(local, secrets),
    follow(fleet) {
      logins.changed = (id, text, before) => {
        // A token that was only renewed works on the open connection.
        if (hasTokens(text) !== hasTokens(before)) fleet.ownChanged(loginOf(id));
      };
      secrets.changed = (id) => {
        const { name, person } = JSON.parse(id) as SecretKey;
        fleet.ownChanged({ secret: name, person });
      };
    },
  };
}

function hasTokens(text: string | undefined): boolean {
  return text?.includes('"access_token"') ?? false;
}

function withShared(local: SecretStore, shared: SharedValues): SecretStore {
  const listShared = (): readonly KeptSecret[] =>
    shared.entries().map(({ key, text }) => ({
      ...(JSON.parse(key) as SecretKey),
      kept: "database",
      changedAt: JSON.parse(text).changedAt,
    }));
  return {
    index: local.index,
    list: () => [...local.list().filter(({ person }) => person === undefined), ...listShared()],
    async read(wanted) {
      const isShared = ({ kept }: KeptSecret): boolean => kept === "database";
      const here = await local.read(wanted.filter((secret) => !isShared(secret)));
      const there = wanted.filter(isShared).map(({ name, project, person }) => {
        const text = shared.get(idOf({ name, project, person }));
        const key = { name, project, person };
        return text === undefined
          ? { ...key, problem: "it was removed" }
          : { ...key, value: String(JSON.parse(text).value) };
      });
      return [...here, ...there];
    },
    async set(key, value) {
      if (key.person === undefined) return local.set(key, value);
      await shared.put(idOf(key), JSON.stringify({ value, changedAt: Date.now() }));
      return "database";
    },
    remove: (key) => (key.person === undefined ? local.remove(key) : shared.remove(idOf(key))),
  };
}

/** The same text for the same secret. */
function idOf({ name, project, person }: SecretKey): string {
  return JSON.stringify({ name, project, person });
}
