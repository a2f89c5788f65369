import { randomBytes } from "node:crypto";
import { HallError } from "../../base/errors.ts";
import { openSecretStore } from "../../base/secret-store.ts";
import { collectServers } from "../../config/configured-servers.ts";
import { visibleTo } from "../../registry/visible.ts";
import { callbackPath } from "../../server/http/issuer-sign-in.ts";
import type { PageCaller } from "../../server/http/page-sessions.ts";
import { loginTarget } from "../../upstream/issuer.ts";
import { beginLogin, finishLogin, type KeptLogin, login } from "../../upstream/login.ts";
import { requireApproved } from "../discover.ts";
import { openProjectSecrets, type ProjectSecrets } from "../secrets.ts";
import { getServer } from "../settings.ts";
import { client, method, type PageParts } from "./area.ts";

export interface OwnServer {
  readonly name: string;
  /** `none`: the person needs no login of their own. */
  readonly login: "none" | "missing" | "present";
  readonly secrets: readonly { readonly name: string; readonly isSet: boolean }[];
}

/** A login that waits for the browser in which it was begun. */
interface Pending {
  readonly server: string;
  /** Whose login it is; undefined for the one that all share. */
  readonly person?: string | undefined;
  readonly session: string;
  readonly kept: KeptLogin;
}

const loginMsMax = 300_000;
const pendingMax = 1_000;

/** Where logins under way are kept: in this hall, or in the database for all. */
export interface LoginPlace {
  put(key: string, text: string, ttlMs: number): Promise<void>;
  /** Removes the text and resolves with it, once; undefined if there is none for which `isFor` is true. */
  take(key: string, isFor: (text: string) => boolean): Promise<string | undefined>;
}

/** Logins that wait for a browser, by their `state`. */
export class PendingLogins {
  readonly #place: LoginPlace;
  readonly #now: () => number;
  /** When each login that this hall began is over. */
  #ends: readonly number[] = [];

  constructor(place: LoginPlace | undefined, now: () => number = Date.now) {
    this.#place = place ?? keepHere(now);
    this.#now = now;
  }

  /** Throws OVERLOADED and UNAVAILABLE. */
  async add(state: string, login: Pending): Promise<void> {
    const now = this.#now();
    this.#ends = this.#ends.filter((end) => end > now);
    if (this.#ends.length >= pendingMax)
      throw new HallError("OVERLOADED", "too many logins wait for a browser");
    this.#ends = [...this.#ends, now + loginMsMax];
    await this.#place.put(`login ${state}`, JSON.stringify(login), loginMsMax);
  }

  /**
   * Takes the login that the issuer's answer belongs to; works once. The answer must come in the session that
   * began the login. Otherwise the link was passed on, or an attacker wants a victim to use the attacker's
   * login. Throws DENIED.
   */
  async take(state: string, session: string): Promise<Pending> {
    const isFor = (text: string): boolean => (JSON.parse(text) as Pending).session === session;
    const found = await this.#place.take(`login ${state}`, isFor);
    if (found === undefined)
      throw new HallError("DENIED", "no login with this state was begun in this browser session", {
        hint: "Begin the login again on this page. It must end within 5 minutes, in the same browser.",
      });
    return JSON.parse(found);
  }
}

function keepHere(now: () => number): LoginPlace {
  const texts = new Map<string, { readonly text: string; readonly until: number }>();
  return {
    async put(key, text, ttlMs) {
      for (const [known, { until }] of texts) if (until <= now()) texts.delete(known);
      texts.set(key, { text, until: now() + ttlMs });
    },
    async take(key, isFor) {
      const found = texts.get(key);
      if (!found || found.until <= now() || !isFor(found.text)) return undefined;
      texts.delete(key);
      return found.text;
    },
  };
}

/**
 * The page's methods for logins to servers and for each person's own logins and secrets. No method returns a
 * stored value.
 */
export function ownArea(parts: PageParts) {
  const { hall } = parts;
  const pending = new PendingLogins(hall.together?.page.begun);

  async function begin(
    server: string,
    user: string | undefined,
    session: string,
  ): Promise<{ readonly url: string }> {
    const { config, store, person } = await findLogin(parts, server, user);
    const { auth } = (await parts.settings()).config;
    if (auth.url === undefined)
      return { url: await loginHere(parts, server, { config, store, person }) };
    const redirectUrl = `${auth.url.replace(/\/$/, "")}${callbackPath}`;
    const state = randomBytes(32).toString("base64url");
    const begun = await beginLogin({ config, store, state, redirectTo: () => redirectUrl });
    await pending.add(state, { server, person, session, kept: begun.kept });
    return { url: begun.url.href };
  }

  return {
    /** The servers that need a login or secrets of the person who asks. */
    own: method("call", {}, async (_none, { person }) => ({
      servers: person ? await describeOwn(parts, person) : [],
    })),
    /** The page on which a person logs in to a remote server. */
    login: method("admin", { server: "string" }, ({ server }, { person, session }) =>
      begin(server, person?.user, session),
    ),
    /** The same for a server to which each person logs in. */
    loginOwn: method("call", { server: "string" }, async ({ server }, caller) => {
      await requireOwnLogin(parts, server, caller);
      return begin(server, caller.person?.user, caller.session);
    }),
    /** Takes the query with which the issuer sent the browser back. */
    finishLogin: method("call", { answer: "string" }, async ({ answer }, { session }) => {
      const given = new URLSearchParams(answer);
      const { server, person, kept } = await pending.take(given.get("state") ?? "", session);
      await finishLogin(kept, given, await findLogin(parts, server, person));
      await hall.fleet.get(server).restart(person);
      return { server };
    }),
    logoutOwn: method("call", { server: "string" }, async ({ server }, caller) => {
      const user = await requireOwnLogin(parts, server, caller);
      const { store } = await findLogin(parts, server, user);
      await store.clear();
      await hall.fleet.get(server).restart(user);
      return {};
    }),
    setOwnSecret: method(
      "call",
      { name: "string", value: "string" },
      async ({ name, value }, { person }) => {
        const wanting = person ? await describeOwn(parts, person) : [];
        const servers = wanting.filter(({ secrets }) => secrets.some((each) => each.name === name));
        if (!person || servers.length === 0)
          throw new HallError(
            "DENIED",
            `no server uses a secret "${name.slice(0, 100)}" of each person`,
          );
        await (await openSecrets(parts)).set(name, value, { person: person.user });
        for (const server of servers) await hall.fleet.get(server.name).restart(person.user);
        return {};
      },
    ),
  };
}

/** Leaves out the servers that a person may not see. */
async function describeOwn(
  parts: PageParts,
  person: NonNullable<PageCaller["person"]>,
): Promise<readonly OwnServer[]> {
  const { hall, settings } = parts;
  const configured = Object.entries(collectServers((await settings()).loaded));
  const seen = visibleTo(hall.registry, { person, client }, hall.policies).toolkits();
  const isSeen = (server: string): boolean => seen.some(({ id }) => id === server);
  const kept = (await openSecrets(parts))
    .list()
    .filter((secret) => secret.person === person.user && secret.scope !== "other project");
  const all = configured.map(async ([name, config]): Promise<readonly OwnServer[]> => {
    if (config.type === "unusable" || config.disabled || !isSeen(name)) return [];
    const target = loginTarget(config);
    const hasLogin = target?.oauth?.perPerson === true;
    const { perPerson = [] } = config;
    if (!hasLogin && perPerson.length === 0) return [];
    const secrets = perPerson.map((secret) => ({
      name: secret,
      isSet: kept.some((each) => each.name === secret),
    }));
    if (!hasLogin) return [{ name, login: "none", secrets }];
    const { issuer = "", accounts } = await hall.fleet.tokenStore(target.url, person.user).read();
    const isPresent = accounts[issuer]?.tokens !== undefined;
    return [{ name, login: isPresent ? "present" : "missing", secrets }];
  });
  return (await Promise.all(all)).flat();
}

function openSecrets({ hall, folder }: PageParts): Promise<ProjectSecrets> {
  return openProjectSecrets(folder, hall.together?.own.secrets(openSecretStore()));
}

/** The user of a person who logs in to this server for their own calls. Throws DENIED. */
async function requireOwnLogin(
  parts: PageParts,
  server: string,
  { person }: PageCaller,
): Promise<string> {
  const servers = person ? await describeOwn(parts, person) : [];
  const own = servers.find(({ name }) => name === server);
  if (!person || own === undefined || own.login === "none")
    throw new HallError("DENIED", `people do not log in to "${server.slice(0, 100)}" themselves`);
  return person.user;
}

/** Throws INVALID_PARAMS and DENIED. */
async function findLogin(parts: PageParts, server: string, user: string | undefined) {
  const current = await parts.settings();
  const entry = getServer(server, current.loaded);
  const config = loginTarget(entry);
  if (!config) throw new HallError("INVALID_PARAMS", `${server} has no login`);
  await requireApproved(server, entry, current);
  const person = config.oauth?.perPerson ? user : undefined;
  return { config, person, store: parts.hall.fleet.tokenStore(config.url, person) };
}

/** Without an address for browsers elsewhere: the issuer sends the browser to a port of this machine. */
function loginHere(
  { hall }: PageParts,
  server: string,
  { config, store, person }: Awaited<ReturnType<typeof findLogin>>,
): Promise<string> {
  return new Promise((resolve, reject) => {
    login({ config, store, show: ({ href }) => resolve(href) })
      .then(() => hall.fleet.get(server).restart(person))
      .catch(reject);
  });
}
