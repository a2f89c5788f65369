import { randomUUID } from "node:crypto";
import type { JsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { SlotMap } from "../base/slot-map.ts";
import { createIds } from "../base/text.ts";
import { withResolvers } from "../base/timing.ts";
import { tasksExtension } from "../client/tasks.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { HealthBook } from "../registry/health.ts";
import type { Modules } from "../registry/modules.ts";
import type { Monitor } from "../registry/monitor.ts";
import type { OwnToolkits } from "../registry/own.ts";
import type { Registrations } from "../registry/registrations.ts";
import type { Registry } from "../registry/registry.ts";
import type { NameStyle, Spelling } from "../registry/shown-names.ts";
import type { ListKind, Person } from "../tool.ts";
import type { Policies } from "../trust/policy/policies.ts";
import type { Trust } from "../trust/trust.ts";
import type { Channel, Limits } from "../wire/channel.ts";
import { Asking } from "./asking.ts";
import { metaKeys, type Version } from "./client-request.ts";
import { ClientConnection } from "./connection.ts";
import { explainRequest } from "./edge.ts";
import { chooseFaces, type Face, type FaceChoice, type ShownTool, showTools } from "./faces.ts";
import { describeInstructions } from "./instructions.ts";
import type { Presets, Rights } from "./rights.ts";
import { StateSeal } from "./seal.ts";
import { StatelessRequests } from "./stateless.ts";
import { Tasks } from "./tasks.ts";

export interface AcceptOptions {
  /** The authenticated caller. One principal cannot use what another opened. Default "local". */
  readonly principal?: string;
  readonly person?: Person | undefined;
  /** Default: all. */
  readonly rights?: Rights;
  /** False where messages may overtake each other; such a client cannot be sent requests either. Default true. */
  readonly isOrdered?: boolean;
  /** Over HTTP or WebSocket calls are rate-limited. */
  readonly isNetwork?: boolean;
  /** The key of its rate limit. Default: the connection. */
  readonly quota?: string;
  /** False for a session whose client seems to be gone. Default: until it closes. */
  isPresent?(): boolean;
}

export interface ServerOptions {
  readonly registry: Registry;
  readonly gateway: Gateway;
  readonly registrations: Registrations;
  readonly health: HealthBook;
  readonly monitor: Monitor;
  readonly modules: Modules;
  /** While it is full, no new requests are read. */
  readonly pressure?: Pressure;
  readonly log: Log;
  readonly limits: Limits;
  readonly version: string;
  readonly faces: FaceChoice;
  /** `evaluate-lisp` or `evaluate-js` is listed. */
  readonly listsPrograms: boolean;
  /** The languages of programs that are listed, the first one first. */
  readonly languages: readonly string[];
  /** The hall's own tools. */
  readonly own: OwnToolkits;
  /** Instructions about the groups, for clients that see agents. */
  readonly guide?: (() => string | undefined) | undefined;
  /** Tools that it holds back are listed as such. */
  readonly trust?: Trust | undefined;
  readonly policies: Policies;
  /** How names are listed. */
  readonly names: NameStyle;
  /** The lists never change while the hall runs. */
  readonly isStatic: boolean;
  /** Time limit of requests that do not pass the gateway. */
  readonly timeoutMs: number;
  /** Items in one page of a list. */
  readonly pageSize: number;
  /** One of several halls: its name, and the key with which all seal what clients send back. */
  readonly together?: { readonly hall: string; readonly key: Buffer } | undefined;
}

/** A part behind the server that may be unable to accept more for a while. */
export interface Pressure {
  readonly isFull: boolean;
  onFull(listener: (isFull: boolean) => void): () => void;
}

/** Shared by all connections. */
export interface ServerParts extends ServerOptions {
  readonly seal: StateSeal;
  readonly asking: Asking;
  readonly info: JsonObject;
  /** `info` as the `_meta` of a modern result carries it. */
  readonly signature: JsonObject;
  instructions(): string;
  /** `faces` are those that were asked for. Default: the faces of the hall. */
  shownTools(spelling: Spelling, faces?: readonly Face[]): readonly ShownTool[];
  /** The default faces as the call record stores them: `agents`, or several separated by commas. */
  face(): string;
  capabilities(version: Version): JsonObject;
  readonly tasks: Tasks;
  counts(): JsonObject;
  /** List changes, at most four per second for each list. */
  onChange(listener: (kind: ListKind) => void): () => void;
  connectionId(): string;
  /** Logs an unexpected failure and returns a reference that the caller can quote. */
  reference(failure: unknown): string;
}

/** The MCP server: accepts channels and connects each client to the gateway. */
export class Server {
  readonly registry: Registry;
  readonly limits: Limits;
  /** Where it listens over HTTP, once it does. */
  url: string | undefined;
  /** A new address of its page that signs in one browser, once it has one. */
  pageUrl: (() => Promise<string>) | undefined;
  /** Set again when the config changes. */
  presets: Presets = {};
  readonly #lists: ToolLists;
  readonly #parts: ServerParts;
  readonly #stateless: StatelessRequests;
  readonly #connections = new SlotMap<string, ClientConnection>();
  readonly #pressure: Pressure | undefined;
  readonly #stopListening: (() => void) | undefined;
  /** Set while requests are not read. */
  #pause: ReturnType<typeof withResolvers<void>> | undefined;
  #isClosing = false;
  /** Other halls get new requests; running ones finish here. */
  isLeaving = false;

  constructor(options: ServerOptions) {
    this.registry = options.isStatic ? freezeLists(options.registry) : options.registry;
    this.limits = options.limits;
    this.#lists = new ToolLists(this.registry, options);
    this.#parts = createParts(this.registry, this.#lists, options);
    this.#stateless = new StatelessRequests(this.#parts);
    this.#pressure = options.pressure;
    this.#stopListening = this.#pressure?.onFull((isFull) => this.#onPressure(isFull));
  }

  /** True once new requests are refused. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** True if new requests should be sent here: it does not leave, and knows the policies that several halls share. */
  get isReady(): boolean {
    return !this.isLeaving && !this.#isClosing && this.#parts.policies.isKnown;
  }

  /** True while something runs or waits here that no other hall can continue. */
  get isBusy(): boolean {
    const { asking, tasks } = this.#parts;
    return this.#stateless.count + asking.count + tasks.count > 0;
  }

  /** Tasks end with the connection that began them. */
  get hasTasks(): boolean {
    return this.#parts.tasks.count > 0;
  }

  /** Clients that are connected now. */
  get clientCount(): number {
    const present = this.#connections.values().filter(({ isPresent }) => isPresent());
    return present.length + this.#stateless.count;
  }

  /** Rebuilds the lists and notifies clients, after trust has changed. */
  refreshLists(): void {
    this.#lists.refresh("tools", "prompts", "resources");
  }

  /** After an edit of the config. */
  setFaces(faces: FaceChoice): void {
    this.#lists.setFaces(faces);
  }

  counts(): JsonObject {
    return this.#parts.counts();
  }

  /** Resolves when requests may be read again; undefined if they may be read now. */
  whenReading(): Promise<void> | undefined {
    return this.#pause?.promise;
  }

  /** Starts serving a client. */
  accept(channel: Channel, options: AcceptOptions = {}): ClientConnection {
    const connection = new ClientConnection(channel, this.#parts, options, () =>
      this.#connections.delete(connection.id),
    );
    this.#connections.set(connection.id, connection);
    if (this.#pressure?.isFull) connection.hold();
    return connection;
  }

  /** The faces of the hall, as the call record stores them. */
  face(): string {
    return this.#lists.face();
  }

  /** The tools that a client gets with this face alone. Default: the faces of the hall. */
  listFace(face?: Face): readonly ShownTool[] {
    return this.#parts.shownTools(this.#parts.names, face && [face]);
  }

  /** Serves one modern request that has no connection. */
  serveOnce(...request: Parameters<StatelessRequests["serve"]>): void {
    this.#stateless.serve(...request);
  }

  /**
   * Stops accepting, lets requests finish for up to `drainMs`, answers the rest with an error,
   * closes all connections.
   */
  async close(drainMs: number): Promise<void> {
    this.#isClosing = true;
    this.#lists.close();
    this.#stopListening?.();
    this.#pause?.resolve();
    this.#parts.asking.close();
    this.#parts.tasks.close();
    await Promise.all([
      this.#stateless.close(drainMs),
      ...this.#connections.values().map((connection) => connection.close(drainMs)),
    ]);
  }

  #onPressure(isFull: boolean): void {
    this.#pause?.resolve();
    this.#pause = isFull ? withResolvers<void>() : undefined;
    for (const connection of this.#connections.values())
      isFull ? connection.hold() : connection.release();
  }
}

/** The tools of each face, cached until a list or a toolkit's health changes. */
class ToolLists {
  readonly #registry: Registry;
  readonly #options: ServerOptions;
  readonly #listeners = new Set<(kind: ListKind) => void>();
  readonly #shown = new Map<string, readonly ShownTool[]>();
  readonly #stop: readonly (() => void)[];
  readonly #notify = coalesce((kind) => {
    for (const listener of this.#listeners) listener(kind);
  });
  #choice: FaceChoice;
  #face: string | undefined;

  constructor(registry: Registry, options: ServerOptions) {
    this.#registry = registry;
    this.#options = options;
    this.#choice = options.faces;
    const { isStatic, health, trust } = options;
    if (!isStatic) trust?.onChange(() => this.refresh("tools"));
    this.#stop = [
      registry.onChange((kind) => {
        if (kind === "tools" && !isStatic) this.#clear();
        this.#notify(kind);
      }),
      // An unavailable tool stays in the list with a mark, so the list changes with its health.
      health.onChange(({ from, to }) => {
        if (!isStatic && (from === "unavailable" || to.state === "unavailable"))
          this.refresh("tools");
      }),
    ];
  }

  setFaces(choice: FaceChoice): void {
    if (this.#options.isStatic || String(choice) === String(this.#choice)) return;
    this.#choice = choice;
    this.refresh("tools");
  }

  faces(): readonly Face[] {
    return chooseFaces(this.#choice, { registry: this.#registry, own: this.#options.own });
  }

  face(): string {
    this.#face ??= this.faces().join();
    return this.#face;
  }

  tools(spelling: Spelling, asked: readonly Face[] | undefined): readonly ShownTool[] {
    // Another process of the user may have reviewed what is held back.
    this.#options.trust?.refresh();
    const key = `${spelling} ${asked?.join() ?? ""}`;
    let tools = this.#shown.get(key);
    if (!tools) {
      tools = showTools(asked ?? this.faces(), {
        ...this.#options,
        registry: this.#registry,
        spelling,
        isComplete: asked !== undefined,
      });
      this.#shown.set(key, tools);
    }
    return tools;
  }

  refresh(...kinds: readonly ListKind[]): void {
    this.#clear();
    for (const kind of kinds) this.#notify(kind);
  }

  onChange(listener: (kind: ListKind) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    for (const stop of this.#stop) stop();
  }

  #clear(): void {
    this.#shown.clear();
    this.#face = undefined;
  }
}

function createParts(registry: Registry, lists: ToolLists, options: ServerOptions): ServerParts {
  const { together } = options;
  const createId = together && (() => `${together.hall}.${randomUUID()}`);
  const seal = new StateSeal(together?.key);
  const info = { name: "guildhall", title: "Guildhall", version: options.version };
  const tasks = new Tasks(
    (failure, { exchange }) =>
      // Without the envelope of a newer version: it is part of another result.
      explainRequest(failure, exchange.request, "2025-11-25", parts),
    createId,
  );
  const parts: ServerParts = {
    ...options,
    registry,
    seal,
    tasks,
    asking: new Asking(seal, tasks, createId),
    info,
    signature: { [metaKeys.serverInfo]: info },
    instructions: () => describeInstructions(lists.faces(), options),
    connectionId: createIds("connection"),
    shownTools: (spelling, faces) => lists.tools(spelling, faces),
    face: () => lists.face(),
    capabilities: (version) =>
      describeCapabilities(registry, lists.faces(), { isStatic: options.isStatic, version }),
    counts: () => {
      const { resources, prompts } = parts.capabilities("2025-11-25");
      return {
        tools_count: parts.shownTools(options.names).length,
        resources_count: resources === undefined ? 0 : registry.resources().length,
        prompts_count: prompts === undefined ? 0 : registry.prompts().length,
      };
    },
    onChange: (listener) => lists.onChange(listener),
    reference(failure) {
      const reference = randomUUID();
      options.log.error({ reference, err: failure }, "unexpected failure");
      return reference;
    },
  };
  return parts;
}

/** The same registry with its lists frozen. Calls still reach everything that the toolkits offer. */
function freezeLists(registry: Registry): Registry {
  const tools = registry.tools();
  const resources = registry.resources();
  const templates = registry.resourceTemplates();
  const prompts = registry.prompts();
  const names = new Map([...tools, ...prompts].map((item) => [item, registry.shownName(item)]));
  return {
    ...registry,
    shownName: (item) => names.get(item) ?? registry.shownName(item),
    tools: () => tools,
    resources: (isFor) => (isFor ? registry.resources(isFor) : resources),
    resourceTemplates: (isFor) => (isFor ? registry.resourceTemplates(isFor) : templates),
    prompts: () => prompts,
  };
}

/** A static server declares only what it shows; agents, search and programs are tools alone. */
function describeCapabilities(
  registry: Registry,
  faces: readonly Face[],
  { isStatic, version }: { readonly isStatic: boolean; readonly version: Version },
): JsonObject {
  const listChanged = !isStatic;
  const isWhole = faces.includes("tools");
  const resourceCount = registry.resources().length + registry.resourceTemplates().length;
  const hasResources = !isStatic || (isWhole && resourceCount > 0);
  const hasPrompts = !isStatic || (isWhole && registry.prompts().length > 0);
  return {
    tools: { listChanged },
    ...(hasResources ? { resources: { subscribe: true, listChanged } } : {}),
    ...(hasPrompts ? { prompts: { listChanged } } : {}),
    ...(hasResources || hasPrompts ? { completions: {} } : {}),
    ...(isStatic ? {} : { logging: {} }),
    ...describeExtensions(registry, version),
  };
}

/** All that the servers support; of settings that differ, the first. Tasks have a place of their own in 2025-11-25. */
function describeExtensions(registry: Registry, version: Version): JsonObject {
  const all = registry.toolkits().map((toolkit) => toolkit.extensions?.() ?? {});
  const { [tasksExtension]: tasks, ...others }: JsonObject = Object.assign({}, ...all.reverse());
  const isModern = version === "2026-07-28";
  const extensions = isModern && tasks !== undefined ? { ...others, [tasksExtension]: {} } : others;
  return {
    ...(Object.keys(extensions).length > 0 ? { extensions } : {}),
    ...(tasks !== undefined && version === "2025-11-25"
      ? { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }
      : {}),
  };
}

const changeMsMin = 250;

/** Passes the first change on at once and merges those that follow within 250 ms into one. */
function coalesce(notify: (kind: ListKind) => void): (kind: ListKind) => void {
  const resting = new Map<ListKind, { again: boolean }>();
  return function changed(kind) {
    const rest = resting.get(kind);
    if (rest) {
      rest.again = true;
      return;
    }
    const state = { again: false };
    resting.set(kind, state);
    notify(kind);
    setTimeout(() => {
      resting.delete(kind);
      if (state.again) changed(kind);
    }, changeMsMin).unref();
  };
}
