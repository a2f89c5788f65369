import { HallError, messageOf } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { Scope } from "../base/scope.ts";
import type { ServerConnection } from "../client/connection.ts";
import type { Handshake } from "../client/handshake.ts";
import { hasValidHeaders } from "../client/headers.ts";
import type { ServerConfig } from "../config/schema.ts";
import type { CallContext, Health, Outcome, Prompt, Resource, Tool, Toolkit } from "../tool.ts";
import { pinOf } from "../trust/pin.ts";
import { heldBack } from "../trust/trust.ts";
import type { Limits } from "../wire/limits.ts";
import type { Authorizer } from "./authorizer.ts";
import type { Carrier } from "./carrier.ts";
import type { Guard } from "./guard.ts";
import { createKnownOffer } from "./known-offer.ts";
import type { Offer } from "./lists.ts";
import { isLockedServer, type LockedServer, lockServer } from "./lock.ts";
import { sourceOf } from "./source.ts";
import { createSupervisor, type SupervisorState } from "./supervisor.ts";
import { createToolFilter } from "./tool-filter.ts";
import { createWatching } from "./watching.ts";

/** An MCP server we connect to, as a toolkit: its tools, resources and prompts, passed on as they are. */
export interface Upstream extends Toolkit {
  state(): UpstreamState;
  handshake(): Handshake | undefined;
  offer(): Offer;
  /** What `build` writes to the lock: starts the server and reads everything it offers. */
  discover(): Promise<LockedServer>;
  stderr(): readonly string[];
  restart(): Promise<void>;
  readonly counts: UpstreamCounts;
}

/** As its supervisor says; or it is never started, as its entry in the config cannot be used. */
export type UpstreamState =
  | SupervisorState
  | { readonly kind: "unusable"; readonly reason: string };

export interface UpstreamCounts {
  calls: number;
  errors: number;
  lastError: string | undefined;
}

export interface UpstreamOptions {
  readonly limits: Limits;
  readonly log: Log;
  readonly guard: Guard;
  /** Tokens for a server elsewhere; programs here get theirs from the config. */
  readonly authorizer?: Authorizer | undefined;
  /** What is known from an earlier look; ignored when the config has changed since. */
  readonly locked?: LockedServer | undefined;
  /** A tool that is no longer what the caller saw is not called. Default false: the upstream is taken as it is. */
  readonly holdsChanged?: boolean;
  /** Why it may not be started, or undefined when it may: asked before every start. */
  mayStart?(source: string): string | undefined;
  /** How long a start may take, handshake and first list included. Default 20,000. */
  readonly startMs?: number;
}

export function createUpstream(
  name: string,
  config: ServerConfig,
  options: UpstreamOptions,
): Upstream {
  const log = options.log.child({ upstream: name });
  const source = sourceOf(config);
  const { startMs = 20_000 } = options;
  const locked =
    options.locked?.source === source && isLockedServer(options.locked)
      ? options.locked
      : undefined;
  const counts: UpstreamCounts = { calls: 0, errors: 0, lastError: undefined };
  const isShown = createToolFilter(config.tools);
  let handshake: Handshake | undefined = locked && handshakeOf(locked);
  let carrier: Carrier | undefined;

  const supervisor = createSupervisor({
    name,
    startMs,
    idleMs: config.idleTimeoutSeconds * 1000,
    isEager: config.start === "eager",
    evidence: () => carrier?.evidence() ?? [],
    isNeeded: () => watching.isNeeded(),
    changed: createStateLog(log),
    open,
  });
  const known = createKnownOffer({
    name,
    log,
    known: locked?.offer,
    readMs: startMs,
    isUsable,
    supervisor,
  });
  const watching = createWatching({ log, supervisor });

  async function open(scope: Scope, lost: (reason: string) => void): Promise<ServerConnection> {
    const refusal = options.mayStart?.(source);
    if (refusal !== undefined) throw new HallError("DENIED", refusal);
    const { limits, guard, authorizer } = options;
    // Loaded lazily: a hall that only answers from its lock never needs the transports.
    const { openServer } = await import("./opening.ts");
    const line = await openServer({
      limits,
      guard,
      authorizer,
      config,
      log,
      scope,
      startMs,
      era: handshake?.era,
      connection: { name },
      lost,
      inputSchema,
      listChanged: (kind) => void known.refresh(kind),
      resourceUpdated: watching.updated,
      carried: (opened) => {
        carrier = opened;
      },
    });
    handshake = line.handshake;
    watching.startAgain(line, scope);
    await known.meet(line, scope);
    return line;
  }

  function inputSchema(name: string): JsonObject | undefined {
    return known.current().tools.find((tool) => tool.name === name)?.inputSchema;
  }

  /** Over HTTP some arguments are repeated in headers, where the schema says so; it must be possible. */
  function isUsable({ inputSchema }: Tool): boolean {
    return config.type !== "http" || hasValidHeaders(inputSchema);
  }

  function relay(
    method: string,
    params: JsonObject,
    context: CallContext,
    tool?: Tool,
  ): Promise<JsonObject> {
    counts.calls++;
    const used = supervisor.use(context.scope, (line) => {
      if (tool) refuseChanged(tool);
      return line.relay(method, params, context);
    });
    return used.catch((error: unknown) => {
      if (!(error instanceof HallError && error.code === "CANCELLED")) {
        counts.errors++;
        counts.lastError = messageOf(error);
      }
      throw error;
    });
  }

  return {
    id: name,
    source: "upstream",
    get version() {
      const { version } = handshake?.info ?? {};
      return typeof version === "string" ? version : "unknown";
    },
    ...(config.prefix === undefined ? {} : { prefix: config.prefix }),
    counts,
    state: supervisor.state,
    handshake: () => handshake,
    offer: known.current,
    stderr: () => carrier?.evidence() ?? [],
    async restart() {
      await supervisor.restart();
      // Somebody has mended it: what it offers need not wait for the next try.
      if (!known.isKnown) void known.look().catch(() => {});
    },
    async discover() {
      const found = await known.look();
      if (!handshake) throw new HallError("INTERNAL", `${name} was read without a handshake`);
      return lockServer(source, handshake, found);
    },
    async list() {
      if (!known.isKnown || config.start === "eager") known.lookUntilKnown();
      return known
        .current()
        .tools.filter((tool) => isShown(tool.name))
        .map(withFacts);
    },
    call(tool, args, context) {
      const run = (): Promise<Outcome> =>
        relay("tools/call", { name: tool.name, arguments: args }, context, tool) as Promise<
          JsonObject & Outcome
        >;
      return run().catch(async (error: unknown) => {
        // HeaderMismatch: what is known of the tool is out of date.
        if (!(error instanceof HallError) || error.relayed?.code !== -32020) throw error;
        await known.refresh("tools");
        return run();
      });
    },
    async health(): Promise<Health> {
      const state = supervisor.state();
      if (state.kind === "down") return { state: "unavailable", reason: state.reason };
      if (state.kind === "closed") return { state: "unavailable", reason: "closed" };
      return { state: "available" };
    },
    async probe(scope): Promise<Health | undefined> {
      // Only one that runs is asked: a look at its health must not start a server.
      const line = supervisor.line();
      if (!line) return undefined;
      await line
        .request(line.handshake.era === "legacy" ? "ping" : "tools/list", {}, scope)
        .catch((error: unknown) => {
          // A refusal is an answer too.
          if (!(error instanceof HallError && error.relayed)) throw error;
        });
      return { state: "available" };
    },
    looking: known.looking,
    problem() {
      const state = supervisor.state();
      return state.kind === "down" ? state.reason : undefined;
    },
    close: supervisor.close,
    resources: {
      list: async () => known.current().resources as readonly Resource[],
      templates: async () => known.current().templates,
      read: (uri, context) => relay("resources/read", { uri }, context),
      covers: (uri) =>
        known
          .current()
          .templates.some(({ uriTemplate }) => matchesTemplate(uri, String(uriTemplate))),
      watch: watching.watch,
    },
    prompts: {
      list: async () => known.current().prompts as readonly Prompt[],
      get: (prompt, args, context) =>
        relay("prompts/get", { name: prompt, arguments: args }, context),
    },
    complete: (ref, argument, context, params) =>
      relay(
        "completion/complete",
        { ref, argument, ...(params.context === undefined ? {} : { context: params.context }) },
        context,
      ),
    onChange: known.onChange,
  };

  /** The server may have been started for this very call, and be another than the one that was judged. */
  function refuseChanged(tool: Tool): void {
    if (!options.holdsChanged) return;
    const pin = known.pinOf(tool.name);
    if (pin !== undefined && pin !== pinOf(tool))
      throw heldBack(`${name}.${tool.name} has changed since it was listed`);
  }

  function withFacts(tool: Tool): Tool {
    return config.timeoutSeconds === undefined
      ? tool
      : { ...tool, facts: { timeoutMs: config.timeoutSeconds * 1000 } };
  }
}

/** Says what changed: a server that is tried again and again and stays down for the same reason is said once. */
function createStateLog(log: Log): (state: SupervisorState) => void {
  let said = "";
  return (state) => {
    const news = state.kind === "down" ? `down: ${state.reason}` : state.kind;
    if (news === said || (state.kind === "starting" && said.startsWith("down"))) return;
    said = news;
    log.info({ state }, "upstream state");
  };
}

function handshakeOf({ era, protocol, info, capabilities, instructions }: LockedServer): Handshake {
  return { era, version: protocol, info, capabilities, instructions };
}

/** Whether a uri can come from a template, without expressions that a stranger wrote: the fixed parts must appear in order. */
function matchesTemplate(uri: string, template: string): boolean {
  const parts = template.split(/\{[^}]*\}/);
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  if (parts.length === 1) return uri === template;
  if (!uri.startsWith(first) || !uri.endsWith(last) || uri.length < first.length + last.length)
    return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = uri.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= uri.length - last.length;
}
