import { HallError, messageOf } from "../base/errors.ts";
import { isObject, type JsonObject, TextOutcome } from "../base/json.ts";
import type { Log, Secrets } from "../base/log.ts";
import type { Slots } from "../base/one-at-a-time.ts";
import type { Scope } from "../base/scope.ts";
import type { ServerConnection } from "../client/connection.ts";
import type { Handshake } from "../client/handshake.ts";
import { hasValidHeaders } from "../client/headers.ts";
import { tasksExtension } from "../client/tasks.ts";
import type { ServerConfig } from "../config/schema.ts";
import type {
  CallContext,
  Health,
  ListKind,
  Outcome,
  Prompt,
  Resource,
  Tool,
  Toolkit,
} from "../tool.ts";
import { pinOf } from "../trust/pin.ts";
import type { InstalledPackage } from "../trust/review.ts";
import { toolChanged } from "../trust/trust.ts";
import type { Limits } from "../wire/channel.ts";
import type { OpenCarrier } from "./carrier.ts";
import type { ProcessGuard } from "./guard.ts";
import { KnownOffer } from "./known-offer.ts";
import { Lines } from "./lines.ts";
import { createToolFilter, disabledTool, matchesTemplate, type Offer } from "./lists.ts";
import { handshakeOf, isLockedServer, type LockedServer, lockServer } from "./lock.ts";
import type { Authorizer } from "./oauth.ts";
import type { OwnLoginOptions } from "./own-login.ts";
import type { SandboxPolicy } from "./sandbox/policy.ts";
import { sourceOf } from "./source.ts";
import { Starter } from "./starter.ts";
import { createStateLog, reasonOf, Supervisor, type SupervisorState } from "./supervisor.ts";
import { createWatching, type Watching } from "./watching.ts";

/** An MCP server we connect to, as a toolkit: its tools, resources and prompts are passed on unchanged. */
export interface Upstream extends Toolkit {
  state(): UpstreamState;
  handshake(): Handshake | undefined;
  offer(): Offer;
  /** Starts the server and reads everything it offers, for the lock. */
  discover(): Promise<LockedServer>;
  stderr(): readonly string[];
  /** Its package is being installed; it cannot start before that. */
  isInstalling(): boolean;
  /** All its connections, or those of one person. */
  restart(person?: string): Promise<void>;
  /** Names the access that the sandbox denied, if a text of the server mentions it. */
  explain(text: string): string | undefined;
  readonly counts: UpstreamCounts;
}

/** The supervisor's state, or `unusable` for an invalid config entry. */
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
  readonly guard: ProcessGuard;
  readonly openCarrier?: OpenCarrier | undefined;
  /** Access tokens for a remote server. */
  readonly authorizer?: Authorizer | undefined;
  /** The same of a person, for a server to which each person logs in. */
  authorizerOf?(person: string): Authorizer | undefined;
  /** The entry with the person's own secrets. Throws DENIED if one is missing. */
  configOf?(person: string): Promise<ServerConfig>;
  /** The page for people who lack a login or secret of their own. */
  readonly ownLogin?: Pick<OwnLoginOptions, "url" | "stateOf"> | undefined;
  /** From an earlier discovery; ignored if the config changed since. */
  readonly locked?: LockedServer | undefined;
  /** Refuse calls of tools that changed since they were listed. Default false. */
  readonly holdsChanged?: boolean;
  /** Why it may not be started; undefined if it may. Checked before every start. */
  mayStart?(source: string, installed?: InstalledPackage): string | undefined;
  /** False: it starts only for a call, even to be listed for the first time. Default true. */
  readonly discovers?: boolean;
  /** Called for each line it writes to stderr, and when it fails. */
  printed?(line: string): void;
  /** How its process is confined. Default: not at all. */
  readonly sandbox?: SandboxPolicy | undefined;
  /** Called when its state changes. */
  changed?(): void;
  /** Limits how many servers install at once. */
  readonly slots?: Slots | undefined;
  /** Values that must not appear in what it reports about the server. */
  readonly secrets?: Secrets | undefined;
}

export function createUpstream(
  name: string,
  config: ServerConfig,
  options: UpstreamOptions,
): Upstream {
  return new UpstreamServer(name, config, options);
}

/** One configured server, as a toolkit. */
class UpstreamServer implements Upstream {
  readonly id: string;
  readonly source = "upstream";
  readonly prefix: string | undefined;
  readonly counts: UpstreamCounts = { calls: 0, errors: 0, lastError: undefined };
  readonly resources: NonNullable<Toolkit["resources"]>;
  readonly prompts: NonNullable<Toolkit["prompts"]>;
  readonly #config: ServerConfig;
  readonly #options: UpstreamOptions;
  readonly #log: Log;
  readonly #sourceHash: string;
  readonly #isShown: (tool: string) => boolean;
  readonly #lines: Lines;
  readonly #starter: Starter;
  /** The line that everything but calls uses. */
  readonly #supervisor: Supervisor;
  readonly #known: KnownOffer;
  readonly #watching: Watching;
  /** URIs in results, oldest first. */
  readonly #links = new Set<string>();
  #handshake: Handshake | undefined;

  constructor(name: string, config: ServerConfig, options: UpstreamOptions) {
    this.id = name;
    this.prefix = config.prefix;
    this.#config = config;
    this.#options = options;
    this.#log = options.log.child({ upstream: name });
    this.#sourceHash = sourceOf(config);
    this.#isShown = createToolFilter(config.tools);
    const locked =
      options.locked?.source === this.#sourceHash && isLockedServer(options.locked)
        ? options.locked
        : undefined;
    this.#handshake = locked && handshakeOf(locked);

    this.#starter = new Starter(name, config, options, {
      log: this.#log,
      scrub: (text) => this.#scrub(text),
      inputSchema: (tool) => this.#known.find(tool)?.inputSchema,
      asked: () => this.#lines.hasAsked(),
      listChanged: (kind) => void this.#known.refresh(kind),
      resourceUpdated: (uri) => this.#watching.updated(uri),
    });
    const { startMs } = this.#starter.limits;
    const idleMs = config.idleTimeoutSeconds * 1000;
    const line = {
      name,
      startMs,
      evidence: () => this.stderr(),
      scrub: (text: string) => this.#scrub(text),
    };
    this.#supervisor = new Supervisor({
      ...line,
      idleMs,
      isEager: config.start === "eager",
      isNeeded: () => this.#watching.isNeeded(),
      changed: createStateLog(this.#log, options),
      open: (scope, lost) => this.#openMain(scope, lost),
    });
    const hasLogins = config.type !== "stdio" && config.oauth?.perPerson === true;
    const hasSecrets = config.perPerson !== undefined;
    this.#lines = new Lines({
      name,
      share: config.share ?? "auto",
      main: this.#supervisor,
      isPersonal: hasLogins || hasSecrets,
      ownLogin: options.ownLogin,
      // Other transports start a server of its own for each connection: all clients share its era.
      isSplitByEra: () => config.type === "http" && this.#handshake?.era === "modern",
      create: (isLegacy, person) =>
        new Supervisor({
          ...line,
          idleMs: idleMs === 0 ? extraIdleMs : idleMs,
          isEager: false,
          changed: (state) => this.#log.debug({ state }, "further connection"),
          open: async (scope, lost) =>
            this.#starter.open(scope, {
              lost,
              prefers: isLegacy ? "legacy" : this.#handshake?.era,
              ...(person !== undefined && hasLogins
                ? { authorizer: options.authorizerOf?.(person) }
                : {}),
              ...(person !== undefined && hasSecrets
                ? { config: await options.configOf?.(person) }
                : {}),
            }),
        }),
    });
    this.#known = new KnownOffer({
      name,
      log: this.#log,
      known: locked?.offer,
      readMs: startMs,
      // Over HTTP some arguments are repeated in headers; the schema must allow it.
      isUsable: ({ inputSchema }) => config.type !== "http" || hasValidHeaders(inputSchema),
      supervisor: this.#supervisor,
    });
    this.#watching = createWatching({ log: this.#log, supervisor: this.#supervisor });
    this.resources = this.#createResources();
    this.prompts = {
      list: async () => this.offer().prompts as readonly Prompt[],
      get: (prompt, args, context) =>
        this.#relay("prompts/get", { name: prompt, arguments: args }, context),
    };
  }

  get version(): string {
    const { version } = this.#handshake?.info ?? {};
    return typeof version === "string" ? version : "unknown";
  }

  state(): UpstreamState {
    return this.#supervisor.state();
  }

  handshake(): Handshake | undefined {
    return this.#handshake;
  }

  offer(): Offer {
    return this.#known.current;
  }

  stderr(): readonly string[] {
    return this.#starter.evidence().map((line) => this.#scrub(line));
  }

  /** A server may print the secrets it was given, and an error may quote its address. */
  #scrub(text: string): string {
    return this.#options.secrets?.scrub(text) ?? text;
  }

  isInstalling(): boolean {
    return this.#starter.isInstalling;
  }

  async restart(person?: string): Promise<void> {
    await this.#lines.restart(person);
    // It was probably repaired: read its offer now, not at the next retry.
    if (!this.#known.isKnown) void this.#known.discover().catch(() => {});
  }

  explain(text: string): string | undefined {
    return this.#starter.explain(text);
  }

  async discover(): Promise<LockedServer> {
    const found = await this.#known.discover();
    if (!this.#handshake)
      throw new HallError("INTERNAL", `server "${this.id}" was read before the handshake`);
    return lockServer(this.#sourceHash, this.#handshake, found);
  }

  async list(): Promise<readonly Tool[]> {
    const { discovers = true } = this.#options;
    const { start, timeoutSeconds } = this.#config;
    if (discovers && (!this.#known.isKnown || start === "eager"))
      void this.#known.discoverUntilKnown();
    const tools = this.offer().tools.filter((tool) => this.#isShown(tool.name));
    if (timeoutSeconds === undefined) return tools;
    return tools.map((tool) => ({ ...tool, facts: { timeoutMs: timeoutSeconds * 1000 } }));
  }

  refusalOf(tool: string): HallError | undefined {
    const isOffered = this.offer().tools.some(({ name }) => name === tool);
    if (!isOffered || this.#isShown(tool)) return undefined;
    return disabledTool(`${this.prefix ?? this.id}.${tool}`);
  }

  call(tool: Tool, args: JsonObject, context: CallContext): Promise<Outcome> {
    const params = { name: tool.name, arguments: args };
    return this.#use("tools/call", params, context, tool).then(
      (result) => this.#takeOutcome(result, tool),
      async (error: unknown) => {
        this.#count(error);
        // HeaderMismatch: our copy of the tool's schema is out of date.
        const isMismatch = error instanceof HallError && error.relayed?.code === -32020;
        if (!isMismatch || !context.scope.takeRetry()) throw this.#starter.explainError(error);
        await this.#known.refresh("tools");
        return this.#takeOutcome(await this.#relay("tools/call", params, context, tool), tool);
      },
    );
  }

  #takeOutcome(result: JsonObject, { outputSchema }: Tool): Outcome {
    const outcome = result as JsonObject & Outcome;
    if (outcome instanceof TextOutcome) return outcome;
    // The gateway refuses a result without content.
    for (const item of Array.isArray(outcome.content) ? outcome.content : [])
      if (item?.type === "resource_link" || item?.type === "resource") this.#addLink(item);
    const explained = outcome.isError ? this.#starter.explainFailure(outcome) : outcome;
    return outputSchema === undefined ? explained : unwrap(explained, outputSchema);
  }

  /** A linked resource can be read, even if it is not listed. */
  #addLink({ uri, resource }: JsonObject): void {
    const linked = isObject(resource) ? resource.uri : uri;
    if (typeof linked !== "string" || this.#links.has(linked)) return;
    const [oldest] = this.#links;
    if (this.#links.size >= linksMax && oldest !== undefined) this.#links.delete(oldest);
    this.#links.add(linked);
  }

  async health(): Promise<Health> {
    const state = this.#supervisor.state();
    const reason = state.kind === "closed" ? "closed" : reasonOf(state);
    return reason === undefined ? { state: "available" } : { state: "unavailable", reason };
  }

  isRunning(): boolean {
    return this.state().kind !== "stopped";
  }

  /** Undefined while it is not running: a health check must not start a server. */
  async probe(scope: Scope): Promise<Health | undefined> {
    const connection = this.#supervisor.connection();
    if (!connection) return undefined;
    const method = connection.handshake.era === "legacy" ? "ping" : "tools/list";
    await connection.request(method, {}, scope).catch((error: unknown) => {
      // An error response shows that it is alive.
      if (!(error instanceof HallError && error.relayed)) throw error;
    });
    return { state: "available" };
  }

  pendingDiscovery(): Promise<void> | undefined {
    return this.#known.pendingDiscovery();
  }

  problem(): string | undefined {
    return reasonOf(this.#supervisor.state());
  }

  complete(
    ref: JsonObject,
    argument: JsonObject,
    context: CallContext,
    params: JsonObject,
  ): Promise<JsonObject> {
    const given = params.context === undefined ? {} : { context: params.context };
    return this.#relay("completion/complete", { ref, argument, ...given }, context);
  }

  onChange(listener: (kind: ListKind) => void): () => void {
    return this.#known.onChange(listener);
  }

  close(): Promise<void> {
    return this.#lines.close();
  }

  clientChanged(...change: Parameters<ServerConnection["clientChanged"]>): void {
    for (const { supervisor } of this.#lines.all) supervisor.connection()?.clientChanged(...change);
  }

  extensions(): JsonObject {
    const { extensions, tasks } = this.#handshake?.capabilities ?? {};
    return {
      ...(isObject(extensions) ? extensions : {}),
      ...(isObject(tasks) ? { [tasksExtension]: {} } : {}),
    };
  }

  async #openMain(scope: Scope, lost: (reason: string) => void): Promise<ServerConnection> {
    const connection = await this.#starter.open(scope, { lost, prefers: this.#handshake?.era });
    this.#handshake = connection.handshake;
    this.#watching.startAgain(connection, scope);
    await this.#known.syncOnOpen(connection, scope);
    return connection;
  }

  #relay(
    method: string,
    params: JsonObject,
    context: CallContext,
    tool?: Tool,
  ): Promise<JsonObject> {
    return this.#use(method, params, context, tool).catch((error: unknown) => {
      this.#count(error);
      throw error;
    });
  }

  #use(
    method: string,
    params: JsonObject,
    context: CallContext,
    tool: Tool | undefined,
  ): Promise<JsonObject> {
    this.counts.calls++;
    const used = this.#lines.use(context, (connection) => {
      if (tool) this.#refuseChanged(tool);
      return connection.relay(method, params, context, tool?.execution?.taskSupport);
    });
    if (this.#supervisor.connection()) return used;
    return this.#starter.beforeInstalled(used, context.scope);
  }

  #count(error: unknown): void {
    if (error instanceof HallError && error.code === "CANCELLED") return;
    this.counts.errors++;
    this.counts.lastError = this.#scrub(messageOf(error));
  }

  /** The server may have started for this call with another definition than the approved one. */
  #refuseChanged(tool: Tool): void {
    if (!this.#options.holdsChanged) return;
    const current = this.#known.find(tool.name);
    // Usually the same object: hashing is for a tool that was listed again.
    if (current && current !== tool && pinOf(current) !== pinOf(tool))
      throw toolChanged(`${this.id}.${tool.name} has changed since it was listed`, this.id);
  }

  #createResources(): NonNullable<Toolkit["resources"]> {
    return {
      list: async () => this.offer().resources as readonly Resource[],
      templates: async () => this.offer().templates,
      read: (uri, context) => this.#relay("resources/read", { uri }, context),
      covers: (uri, templates) =>
        this.#links.has(uri) ||
        templates.some(({ uriTemplate }) => matchesTemplate(uri, String(uriTemplate))),
      watch: this.#watching.watch,
    };
  }
}

/**
 * Up to 2025-11-25 structured content is an object, so servers put other values into `result`. The
 * definition that is known may be the newer one, without that object.
 */
function unwrap(outcome: Outcome, outputSchema: JsonObject): Outcome {
  const { structuredContent } = outcome;
  if (outputSchema.type === "object" || !isObject(structuredContent)) return outcome;
  const isWrapped = Object.keys(structuredContent).join() === "result";
  return isWrapped ? { ...outcome, structuredContent: structuredContent.result } : outcome;
}

const linksMax = 10_000;

/** When a further connection is closed, where the main one is never. */
const extraIdleMs = 600_000;
