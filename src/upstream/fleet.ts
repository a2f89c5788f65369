import { HallError } from "../base/errors.ts";
import { hashOf } from "../base/json.ts";
import { createInOrder, createSlots } from "../base/one-at-a-time.ts";
import { openSecretStore, type SecretStore } from "../base/secret-store.ts";
import { findNear } from "../base/text.ts";
import type { ConfiguredServers, ServerDifferences } from "../config/configured-servers.ts";
import type { ServerConfig } from "../config/schema.ts";
import type { Toolkit } from "../tool.ts";
import type { InstalledPackage } from "../trust/review.ts";
import { createGuard } from "./guard.ts";
import { loginTarget } from "./issuer.ts";
import type { Lock } from "./lock.ts";
import { type Authorizer, createOAuth } from "./oauth.ts";
import type { SandboxPolicy } from "./sandbox/policy.ts";
import { createTokenStore, type SharedLogins, type TokenStore } from "./token-store.ts";
import { createUnusable } from "./unusable.ts";
import { createUpstream, type Upstream, type UpstreamOptions } from "./upstream.ts";

/** All upstreams of a hall, in line with the config. They are independent: no shared lock, no shared queue. */
export interface Fleet {
  all(): readonly Upstream[];
  /** Throws NOT_FOUND with near names. */
  get(name: string): Upstream;
  /** The logins to a server: the hall's own, or a person's. */
  tokenStore(url: string, person?: string): TokenStore;
  /** A login or secret has changed: reconnects the servers that use it. */
  ownChanged(what: OwnChange): void;
  /**
   * Opens a server that is neither listed nor approved here, such as the process of a project's modules. It
   * closes with the others.
   */
  openApart(name: string, config: ServerConfig, sandbox?: SandboxPolicy): Upstream;
  /** Applies a new config; unchanged upstreams are not touched. */
  apply(change: FleetChange): Promise<void>;
  close(): Promise<void>;
}

/** A login or secret that has changed: of one person, or of the hall if no person is named. */
export interface OwnChange {
  readonly person?: string | undefined;
  /** The server of a changed login. */
  readonly url?: string;
  /** The name of a changed secret. */
  readonly secret?: string;
}

export interface FleetChange extends ServerDifferences {
  readonly servers: ConfiguredServers;
}

/** What each server gets as it is. `secrets` also receives tokens, so that logs hide them. */
type SharedOptions = Pick<
  UpstreamOptions,
  "limits" | "log" | "openCarrier" | "secrets" | "holdsChanged" | "sandbox" | "changed"
>;

export interface FleetOptions extends SharedOptions {
  readonly lock: Lock;
  /** Folder of the tokens. Default: in the user's data folder. */
  readonly tokenFolder?: string | undefined;
  /** Logins that several halls share, instead of that folder. */
  readonly sharedLogins?: SharedLogins | undefined;
  /** Where people log in and store their secrets; undefined while there is no such page. */
  ownPage?(): string | undefined;
  /** Where people's own secrets are kept. Default: the user's. */
  readonly secretStore?: SecretStore | undefined;
  /** Called for each line a server writes to stderr, and when it fails. */
  printed?(name: string, line: string): void;
  /** Why a server may not be started; undefined if it may. Default: all may. */
  mayStart?(name: string, source: string, installed?: InstalledPackage): string | undefined;
  /** Servers that may start to be listed for the first time, not only for a call. Default: all. */
  mayDiscover?(server: Pick<Toolkit, "id" | "prefix">): boolean;
  /** Adds and removes toolkits of the registry. */
  add(toolkit: Toolkit): Promise<void>;
  remove(id: string): Promise<void>;
}

/** More would only wait for each other's downloads. */
const installationsMax = 3;

export function createFleet(options: FleetOptions): Fleet {
  const upstreams = new Map<string, Upstream>();
  /** The entries of the running servers. */
  const configs = new Map<string, ServerConfig>();
  const apart: Upstream[] = [];
  const guard = createGuard();
  /** Serialises changes: a server may take seconds to stop, and the config may change again meanwhile. */
  const inOrder = createInOrder();
  const slots = createSlots(installationsMax);
  const { configOf, stateOf, tokenStore, createAuthorizer } = createCredentials(options);
  let isClosed = false;

  async function start(name: string, config: ConfiguredServers[string] | undefined): Promise<void> {
    if (!config || (config.type !== "unusable" && config.disabled)) return;
    const upstream =
      config.type === "unusable"
        ? createUnusable(name, config, options.lock.servers[name])
        : create(name, config);
    upstreams.set(name, upstream);
    if (config.type !== "unusable") configs.set(name, config);
    await options.add(upstream);
  }

  function create(
    name: string,
    config: ServerConfig,
    other: Partial<UpstreamOptions> = {},
  ): Upstream {
    return createUpstream(name, config, {
      ...options,
      guard,
      slots,
      discovers: options.mayDiscover?.({ id: name, prefix: config.prefix }) ?? true,
      locked: options.lock.servers[name],
      authorizer: createAuthorizer(name, config),
      authorizerOf: (person) => createAuthorizer(name, config, person),
      configOf: (person) => configOf(config, person),
      ownLogin: { url: () => options.ownPage?.(), stateOf: (person) => stateOf(config, person) },
      printed: (line) => options.printed?.(name, line),
      mayStart: (source, installed) => options.mayStart?.(name, source, installed),
      ...other,
    });
  }

  async function stop(name: string): Promise<void> {
    const upstream = upstreams.get(name);
    upstreams.delete(name);
    configs.delete(name);
    await options.remove(name);
    await upstream?.close();
  }

  return {
    all: () => [...upstreams.values()],
    get(name) {
      const found = upstreams.get(name) ?? apart.find(({ id }) => id === name);
      if (found) return found;
      const near = findNear(name, upstreams.keys());
      throw new HallError(
        "NOT_FOUND",
        `unknown server "${name}"${near.length > 0 ? `; did you mean ${near.join(", ")}?` : ""}`,
        {
          hint:
            upstreams.size > 0
              ? `Servers: ${[...upstreams.keys()].join(", ")}.`
              : "Add servers under mcpServers in guildhall.json.",
        },
      );
    },
    tokenStore,
    ownChanged({ url, secret, person }) {
      for (const [name, config] of configs) {
        const isLogin = url !== undefined && loginTarget(config)?.url === url;
        if (!isLogin && !config.perPerson?.includes(secret ?? "")) continue;
        upstreams
          .get(name)
          ?.restart(person)
          .catch((err: unknown) => options.log.warn({ err }, `could not restart ${name}`));
      }
    },
    openApart(name, config, sandbox) {
      const upstream = create(name, config, { sandbox, mayStart: () => undefined });
      apart.push(upstream);
      return upstream;
    },
    apply: ({ servers, added, removed, changed }) =>
      inOrder(async () => {
        if (isClosed) return;
        await Promise.all([...removed, ...changed].map(stop));
        await Promise.all([...added, ...changed].map((name) => start(name, servers[name])));
      }),
    close: () =>
      inOrder(async () => {
        isClosed = true;
        await Promise.all([...upstreams.keys()].map(stop));
        await Promise.all(apart.map((upstream) => upstream.close()));
        guard.close();
      }),
  };
}

/** Logins and secrets of the servers, shared or of single people. */
function createCredentials(
  options: Pick<FleetOptions, "secrets" | "secretStore" | "sharedLogins" | "tokenFolder">,
) {
  async function configOf(config: ServerConfig, person: string): Promise<ServerConfig> {
    const { readPersonal, withPersonal } = await import("../config/secrets.ts");
    const { secretStore: store = openSecretStore() } = options;
    const wanted = { names: config.perPerson ?? [], person };
    const values = await readPersonal(wanted, { folder: process.cwd(), store });
    for (const value of Object.values(values)) options.secrets?.add(value);
    return withPersonal(config, values);
  }

  async function stateOf(config: ServerConfig, person: string): Promise<string> {
    const { secretStore = openSecretStore() } = options;
    const target = loginTarget(config);
    const logins = target?.oauth?.perPerson && (await tokenStore(target.url, person).read());
    const secrets = config.perPerson
      ? secretStore.list().filter((secret) => secret.person === person)
      : [];
    return hashOf([logins ?? null, secrets.map(({ changedAt }) => changedAt)]);
  }

  function tokenStore(url: string, person?: string): TokenStore {
    const { tokenFolder: folder, sharedLogins: shared } = options;
    return createTokenStore(url, { folder, person, shared });
  }

  /** A server with its own Authorization header needs no OAuth. */
  function createAuthorizer(
    name: string,
    config: ServerConfig,
    person?: string,
  ): Authorizer | undefined {
    const target = loginTarget(config);
    if (!target || Object.keys(target.headers).some((key) => key.toLowerCase() === "authorization"))
      return undefined;
    return createOAuth({
      name,
      config: target,
      person,
      store: tokenStore(target.url, person),
      secrets: options.secrets,
    });
  }

  return { configOf, stateOf, tokenStore, createAuthorizer };
}
