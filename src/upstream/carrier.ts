import type { Log } from "../base/log.ts";
import type { Scope } from "../base/scope.ts";
import { withResolvers } from "../base/timing.ts";
import { createFallback } from "../client/fallback.ts";
import { type Headers, HttpChannel, type HttpOptions } from "../client/http.ts";
import { openSsePair, openWebSocket } from "../client/remote.ts";
import type { ServerConfig } from "../config/schema.ts";
import { createDialler, lookupOutside } from "../net/dial.ts";
import type { InstalledPackage } from "../trust/review.ts";
import type { Channel, Limits } from "../wire/channel.ts";
import { edgesOf } from "../wire/message.ts";
import type { ProcessGuard } from "./guard.ts";
import type { Installing } from "./installation.ts";
import type { RemoteServerConfig } from "./issuer.ts";
import type { Authorizer, LoginHeaders } from "./oauth.ts";
import { startProcess } from "./process.ts";
import type { BoxPlan } from "./sandbox/box.ts";

/** The transport of a connection: a process, or a network connection to a remote server. */
export interface Carrier {
  readonly channel: Channel;
  /** Resolves with the reason if it ends unexpectedly. */
  readonly ended: Promise<string>;
  /** The last lines of stderr, newest last. */
  evidence(): readonly string[];
  stop(): Promise<void>;
}

export interface CarrierOptions {
  readonly limits: Limits;
  readonly log: Log;
  readonly guard: ProcessGuard;
  readonly authorizer: Authorizer | undefined;
  /** Called for each line of stderr. */
  readonly printed?: ((line: string) => void) | undefined;
  /** Removes secrets from what it says. */
  readonly scrub?: ((text: string) => string) | undefined;
  inputSchema: HttpOptions["inputSchema"];
  /** Throws if the package that was installed to start the server may not run. */
  checkPackage?(installed: InstalledPackage): void;
  readonly installing?: Installing | undefined;
  /** How a process is confined. Default: not at all. */
  readonly box?: BoxPlan | undefined;
}

/** Starts or dials a server. */
export type OpenCarrier = (
  config: ServerConfig,
  options: CarrierOptions,
  scope: Scope,
) => Promise<Carrier>;

export const openCarrier: OpenCarrier = async (config, options, scope) => {
  if (config.type === "stdio") return startProcess(config, options, scope);
  if (config.type !== "openapi") return openRemote(config, options, scope);
  const { openApi } = await import("./openapi/carrier.ts");
  return openApi(config, options, scope);
};

async function openRemote(
  config: RemoteServerConfig,
  { limits, authorizer, inputSchema }: CarrierOptions,
  scope: Scope,
): Promise<Carrier> {
  authorizer?.forget();
  const url = new URL(config.url);
  const lookup = lookupOutside(url, config.allowPrivate);
  const options: HttpOptions = {
    url,
    dialler: createDialler(lookup),
    lookup,
    limits,
    inputSchema,
    headers: authorizer ? withLogin(config.headers, authorizer) : () => config.headers,
    authorize: authorizer?.authorize,
  };
  const channel = await openers[config.type](options, scope);
  return watch(channel, limits);
}

/** No promise while the login is known, because every request needs the headers. */
function withLogin(own: Headers, authorizer: Authorizer): HttpOptions["headers"] {
  const add = (login: LoginHeaders): Headers =>
    login.authorization === undefined ? own : { ...own, ...login };
  return () => {
    const login = authorizer.headers();
    return login instanceof Promise ? login.then(add) : add(login);
  };
}

const openers: Readonly<
  Record<
    RemoteServerConfig["type"],
    (options: HttpOptions, scope: Scope) => Promise<Channel> | Channel
  >
> = {
  http: (options, scope) =>
    createFallback(new HttpChannel(options), () => openSsePair(options, scope)),
  sse: openSsePair,
  ws: openWebSocket,
};

/**
 * Reports the end of the channel to the supervisor. A frame over the limit is reported as an error, as
 * on stdio, instead of closing the connection for all calls.
 */
function watch(channel: Channel, { messageBytesMax }: Limits): Carrier {
  const ended = withResolvers<string>();
  const watched: Channel = {
    start: (receiver) =>
      channel.start({
        ...receiver,
        frame(bytes, owner) {
          if (bytes.length <= messageBytesMax) receiver.frame(bytes, owner);
          else receiver.oversize(edgesOf(bytes));
        },
        closed: () => {
          receiver.closed();
          ended.resolve("the connection closed");
        },
      }),
    send: (frame, message) => channel.send(frame, message),
    answered: (id) => channel.answered?.(id),
    get queuedBytes() {
      return channel.queuedBytes;
    },
    pause: () => channel.pause(),
    resume: () => channel.resume(),
    close: (options) => channel.close(options),
  };
  return {
    channel: watched,
    ended: ended.promise,
    evidence: () => [],
    stop: () => channel.close(),
  };
}
