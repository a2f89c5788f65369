import { randomBytes } from "node:crypto";
import { HallError } from "../../base/errors.ts";
import { collectServers } from "../../config/configured-servers.ts";
import { visibleTo } from "../../registry/visible.ts";
import { callbackPath } from "../../server/http/issuer-sign-in.ts";
import type { PageCaller } from "../../server/http/page-sessions.ts";
import { loginTarget } from "../../upstream/issuer.ts";
import { type BegunLogin, beginLogin, login } from "../../upstream/login.ts";
import { createTokenStore } from "../../upstream/token-store.ts";
import { requireApproved } from "../discover.ts";
import { openProjectSecrets } from "../secrets.ts";
import { getServer } from "../settings.ts";
import type { Area, PageParts } from "./area.ts";

/** Logins to servers, and what each person has of their own: a login, secrets. Nobody sees a value again. */
export interface OwnMethods {
  /** The servers that want a login or secrets of the person who asks. */
  own: { params: Record<string, never>; result: { readonly servers: readonly OwnServer[] } };
  /** The page on which a person logs in to a remote server. */
  login: { params: { readonly server: string }; result: { readonly url: string } };
  /** The same for a server to which each person logs in. */
  loginOwn: { params: { readonly server: string }; result: { readonly url: string } };
  /** Takes the query with which the issuer sent the browser back. */
  finishLogin: { params: { readonly answer: string }; result: { readonly server: string } };
  logoutOwn: { params: { readonly server: string }; result: Record<string, never> };
  setOwnSecret: {
    params: { readonly name: string; readonly value: string };
    result: Record<string, never>;
  };
}

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
  readonly person: string | undefined;
  readonly session: string;
  readonly begun: Pick<BegunLogin, "finish">;
}

const loginMsMax = 300_000;
const pendingMax = 1_000;
const client = "Guildhall page";

/** Logins that wait for a browser, by their `state`. */
export class PendingLogins {
  readonly #waiting = new Map<string, Pending & { readonly until: number }>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Throws OVERLOADED. */
  add(state: string, login: Pending): void {
    for (const [key, { until }] of this.#waiting)
      if (until <= this.#now()) this.#waiting.delete(key);
    if (this.#waiting.size >= pendingMax)
      throw new HallError("OVERLOADED", "too many logins wait for a browser");
    this.#waiting.set(state, { ...login, until: this.#now() + loginMsMax });
  }

  /**
   * The login that an answer belongs to, once. In another session than the one that began it, the answer changes
   * nothing: either the link was passed on, or somebody's own login is put upon another person. Throws DENIED.
   */
  take(state: string, session: string): Pending {
    const found = this.#waiting.get(state);
    if (found?.session !== session || found.until <= this.#now())
      throw new HallError("DENIED", "this browser session waits for no such login", {
        hint: "Begin the login again on this page. It must end within 5 minutes, in the same browser.",
      });
    this.#waiting.delete(state);
    return found;
  }
}

export function ownArea(parts: PageParts): Area<OwnMethods> {
  const { hall, folder } = parts;
  const pending = new PendingLogins();

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
    pending.add(state, { server, person, session, begun });
    return { url: begun.url.href };
  }

  return {
    own: {
      scope: "call",
      run: async (_none, { person }) => ({
        servers: person ? await describeOwn(parts, person) : [],
      }),
    },
    login: {
      scope: "admin",
      fields: { server: "string" },
      run: ({ server }, { person, session }) => begin(server, person?.user, session),
    },
    loginOwn: {
      scope: "call",
      fields: { server: "string" },
      run: async ({ server }, caller) => {
        await requireOwnLogin(parts, server, caller);
        return begin(server, caller.person?.user, caller.session);
      },
    },
    finishLogin: {
      scope: "call",
      fields: { answer: "string" },
      async run({ answer }, { session }) {
        const given = new URLSearchParams(answer);
        const { server, person, begun } = pending.take(given.get("state") ?? "", session);
        await begun.finish(given);
        await hall.fleet.get(server).restart(person);
        return { server };
      },
    },
    logoutOwn: {
      scope: "call",
      fields: { server: "string" },
      async run({ server }, caller) {
        const user = await requireOwnLogin(parts, server, caller);
        const { store } = await findLogin(parts, server, user);
        await store.clear();
        await hall.fleet.get(server).restart(user);
        return {};
      },
    },
    setOwnSecret: {
      scope: "call",
      fields: { name: "string", value: "string" },
      async run({ name, value }, { person }) {
        const wanting = person ? await describeOwn(parts, person) : [];
        const servers = wanting.filter(({ secrets }) => secrets.some((each) => each.name === name));
        if (!person || servers.length === 0)
          throw new HallError(
            "DENIED",
            `no server wants a secret "${name.slice(0, 100)}" of yours`,
          );
        await (await openProjectSecrets(folder)).set(name, value, { person: person.user });
        for (const server of servers) await hall.fleet.get(server.name).restart(person.user);
        return {};
      },
    },
  };
}

/** Leaves out the servers that a person may not see. */
async function describeOwn(
  { hall, folder, settings }: PageParts,
  person: NonNullable<PageCaller["person"]>,
): Promise<readonly OwnServer[]> {
  const configured = Object.entries(collectServers((await settings()).loaded));
  const seen = visibleTo(hall.registry, { person, client }, hall.policies).toolkits();
  const isSeen = (server: string): boolean => seen.some(({ id }) => id === server);
  const kept = (await openProjectSecrets(folder))
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
    const { issuer = "", accounts } = await createTokenStore(target.url, {
      person: person.user,
    }).read();
    const isPresent = accounts[issuer]?.tokens !== undefined;
    return [{ name, login: isPresent ? "present" : "missing", secrets }];
  });
  return (await Promise.all(all)).flat();
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
    throw new HallError("DENIED", `"${server.slice(0, 100)}" wants no login of yours`);
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
  return { config, person, store: createTokenStore(config.url, { person }) };
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
