import { randomUUID } from "node:crypto";
import { HallError } from "../base/errors.ts";
import { createIds } from "../base/ids.ts";
import type { JsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { SlotMap } from "../base/slot-map.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { HealthBook } from "../registry/health.ts";
import type { Modules } from "../registry/modules.ts";
import type { Monitor } from "../registry/monitor.ts";
import type { Registrations } from "../registry/registrations.ts";
import type { Registry } from "../registry/registry.ts";
import type { ListKind } from "../tool.ts";
import type { Trust } from "../trust/trust.ts";
import type { Channel } from "../wire/channel.ts";
import type { Limits } from "../wire/limits.ts";
import type { Request } from "../wire/message.ts";
import { type Asking, createAsking } from "./asking.ts";
import type { Envelope } from "./client-request.ts";
import { Connection } from "./connection.ts";
import {
  chooseFaces,
  type Face,
  type FaceChoice,
  type NameStyle,
  type OwnToolkits,
  type ShownTool,
  showTools,
} from "./faces.ts";
import { createSeal, type Seal } from "./seal.ts";
import { type ReplyTarget, type StatelessOptions, StatelessRequests } from "./stateless.ts";

/** The MCP server side: takes channels, gives each client its line to the gateway. */
export interface Server {
  /** What is shown is made anew, and clients are told: somebody has said what may be seen. */
  refreshLists(): void;
  readonly registry: Registry;
  readonly limits: Limits;
  /** From now on nobody new is served. */
  readonly isClosing: boolean;
  counts(): JsonObject;
  readonly clientCount: number;
  /** Asks the model of some client that lends its own. Throws UNAVAILABLE where none does. */
  sample(params: JsonObject): Promise<JsonObject>;
  /** Undefined when requests may be read; while they may not, resolves when they may again. */
  whenReading(): Promise<void> | undefined;
  /** Starts serving a client. */
  accept(channel: Channel, options?: AcceptOptions): Connection;
  /** Serves one modern request that has no connection. */
  serveOnce(
    request: Request,
    envelope: Envelope,
    target: ReplyTarget,
    options: StatelessOptions,
  ): void;
  /** Stops accepting, lets what runs end for up to `drainMs`, answers the rest, closes all lines. */
  close(drainMs: number): Promise<void>;
}

export interface AcceptOptions {
  /** Who is on the line, as far as the listener can tell. What one caller opened another cannot use. */
  readonly principal?: string;
  /** False where messages may overtake each other; then the client cannot be called back either. */
  readonly isOrdered?: boolean;
  /** It came over HTTP or WebSocket: its calls are counted, and registering needs the token. */
  readonly isNetwork?: boolean;
  /** Who shares one allowance of calls, for lines that last one request only. Default: the line. */
  readonly quota?: string;
}

export interface ServerOptions {
  readonly registry: Registry;
  readonly gateway: Gateway;
  readonly registrations: Registrations;
  readonly health: HealthBook;
  readonly monitor: Monitor;
  readonly modules: Modules;
  /** While it is full, nothing new is read. */
  readonly pressure?: Pressure;
  readonly log: Log;
  readonly limits: Limits;
  readonly version: string;
  readonly faces: FaceChoice;
  /** The hall's own tools. */
  readonly own: OwnToolkits;
  /** What clients are told of the groups, where they are shown them. */
  readonly guide?: (() => string | undefined) | undefined;
  /** What is held back is listed as such. */
  readonly trust?: Trust | undefined;
  readonly names: NameStyle;
  /** The lists never change for as long as the hall runs. */
  readonly isStatic: boolean;
  /** Deadline of requests that do not pass the gateway. */
  readonly timeoutMs: number;
  /** Items in one page of a list. */
  readonly pageSize: number;
}

/** Somebody behind the server who cannot take more for the moment. */
export interface Pressure {
  readonly isFull: boolean;
  onFull(listener: (isFull: boolean) => void): () => void;
}

/** What all connections share. */
export interface ServerParts extends ServerOptions {
  readonly seal: Seal;
  readonly asking: Asking;
  readonly info: JsonObject;
  instructions(): string;
  /** Without faces, the hall's. */
  shownTools(faces?: readonly Face[]): readonly ShownTool[];
  /** What clients are shown who ask for nothing else, as the record says it: `agents`, or several with commas between. */
  face(): string;
  capabilities(): JsonObject;
  counts(): JsonObject;
  /** List changes, at most four a second for each list. */
  onChange(listener: (kind: ListKind) => void): () => void;
  connectionId(): string;
  /** Logs what nobody expected under a reference that the caller also sees. */
  reference(failure: unknown): string;
}

export function createServer(options: ServerOptions): Server {
  const { log, own } = options;
  const registry = options.isStatic ? freezeLists(options.registry) : options.registry;
  const connections = new SlotMap<string, Connection>();
  const listeners = new Set<(kind: ListKind) => void>();
  /** By faces; emptied when something changes. */
  const shown = new Map<string, readonly ShownTool[]>();
  let face: string | undefined;
  const forgetShown = (): void => {
    shown.clear();
    face = undefined;
  };
  const tell = coalesce((kind) => listeners.forEach((listener) => void listener(kind)));
  const leave = registry.onChange((kind) => {
    if (kind === "tools" && !options.isStatic) forgetShown();
    tell(kind);
  });
  // A tool that cannot be called right now stays in the list, marked.
  const leaveHealth = options.health.onChange(({ from, to }) => {
    if (options.isStatic || (from !== "unavailable" && to.state !== "unavailable")) return;
    forgetShown();
    tell("tools");
  });
  const { pressure } = options;
  let reading: { readonly again: Promise<void>; resume(): void } | undefined;
  const leavePressure = pressure?.onFull((isFull) => {
    reading?.resume();
    reading = isFull ? createPause() : undefined;
    for (const connection of connections.values())
      isFull ? connection.hold() : connection.release();
  });
  const seal = createSeal();
  let isClosing = false;

  const parts: ServerParts = {
    ...options,
    registry,
    seal,
    asking: createAsking(seal),
    info: { name: "guildhall", title: "Guildhall", version: options.version },
    instructions: () =>
      describeInstructions(chooseFaces(options.faces, { registry, own }), options),
    connectionId: createIds("connection"),
    shownTools(faces = chooseFaces(options.faces, { registry, own })) {
      const key = faces.join();
      let tools = shown.get(key);
      if (!tools) {
        tools = showTools(faces, {
          names: options.names,
          registry,
          own,
          health: options.health,
          trust: options.trust,
        });
        shown.set(key, tools);
      }
      return tools;
    },
    face: () => (face ??= chooseFaces(options.faces, { registry, own }).join()),
    capabilities: () => describeCapabilities(registry, options.isStatic),
    counts: () => ({
      tools_count: parts.shownTools().length,
      resources_count: registry.resources().length,
      prompts_count: registry.prompts().length,
    }),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    reference(failure) {
      const reference = randomUUID();
      log.error({ reference, err: failure }, "unexpected failure");
      return reference;
    },
  };

  const stateless = new StatelessRequests(parts);

  return {
    refreshLists() {
      forgetShown();
      tell("tools");
    },
    registry,
    limits: options.limits,
    counts: parts.counts,
    get clientCount() {
      return connections.size + stateless.count;
    },
    async sample(params) {
      const lender = connections.values().find(({ lendsModel }) => lendsModel);
      if (lender) return lender.sample(params);
      throw new HallError("UNAVAILABLE", "no client that is connected lends its model", {
        hint: "Connect one that offers sampling, or use --planner model.",
      });
    },
    whenReading: () => reading?.again,
    get isClosing() {
      return isClosing;
    },
    accept(channel, { principal = "local", isOrdered = true, isNetwork = false, quota } = {}) {
      const connection = new Connection(channel, parts, {
        principal,
        isOrdered,
        isNetwork,
        quota,
        gone: () => connections.delete(connection.id),
      });
      connections.set(connection.id, connection);
      if (pressure?.isFull) connection.hold();
      return connection;
    },
    serveOnce: (request, envelope, target, options) =>
      stateless.serve(request, envelope, target, options),
    async close(drainMs) {
      isClosing = true;
      leave();
      leaveHealth();
      leavePressure?.();
      reading?.resume();
      parts.asking.close();
      await Promise.all([
        stateless.close(drainMs),
        ...connections.values().map((connection) => connection.close(drainMs)),
      ]);
    },
  };
}

function createPause(): { readonly again: Promise<void>; resume(): void } {
  let resume = (): void => {};
  const again = new Promise<void>((resolve) => {
    resume = resolve;
  });
  return { again, resume };
}

/** The same registry with its lists as they are now. Calls still reach whatever the toolkits offer. */
function freezeLists(registry: Registry): Registry {
  const tools = registry.tools();
  const resources = registry.resources();
  const templates = registry.resourceTemplates();
  const prompts = registry.prompts();
  return {
    ...registry,
    tools: () => tools,
    resources: () => resources,
    resourceTemplates: () => templates,
    prompts: () => prompts,
  };
}

function describeInstructions(
  faces: readonly Face[],
  { registry, modules, guide }: ServerOptions,
): string {
  const broken = modules
    .failures()
    .map(({ module, error }) => `${module} (${error.slice(0, 200)})`);
  const downs = registry.toolkits().flatMap((toolkit) => {
    const problem = toolkit.problem?.();
    return problem === undefined ? [] : [`${toolkit.id} (${problem.slice(0, 200)})`];
  });
  const problems = [...downs, ...broken];
  const known =
    (faces.includes("agents") ? guide?.() : undefined) ??
    instructions[faces.find((face) => face !== "agents") ?? "search"];
  return problems.length === 0
    ? known
    : `${known} Not available right now: ${problems.join(", ")}.`;
}

const afterFailure = "When a call fails, the error says what to do next.";
const instructions: Readonly<Record<Exclude<Face, "agents">, string>> = {
  tools: `Tools are named toolkit.tool. ${afterFailure}`,
  search: `The tools here are found on demand: say what you want to do to find_tools, then run what it finds with call_tool. ${afterFailure}`,
  code: `The tools here are called from programs: say what you want to do to find_tools, then write a Lisp program for evaluate-lisp that calls what it finds. ${afterFailure}`,
};

function describeCapabilities(registry: Registry, isStatic: boolean): JsonObject {
  const listChanged = !isStatic;
  const hasResources =
    !isStatic || registry.resources().length + registry.resourceTemplates().length > 0;
  const hasPrompts = !isStatic || registry.prompts().length > 0;
  return {
    tools: { listChanged },
    ...(hasResources ? { resources: { subscribe: true, listChanged } } : {}),
    ...(hasPrompts ? { prompts: { listChanged } } : {}),
    ...(hasResources || hasPrompts ? { completions: {} } : {}),
    logging: {},
  };
}

const changeMsMin = 250;

/** Tells the first change at once and gathers those that follow within a quarter of a second into one. */
function coalesce(tell: (kind: ListKind) => void): (kind: ListKind) => void {
  const resting = new Map<ListKind, { again: boolean }>();
  return function changed(kind) {
    const rest = resting.get(kind);
    if (rest) {
      rest.again = true;
      return;
    }
    const state = { again: false };
    resting.set(kind, state);
    tell(kind);
    setTimeout(() => {
      resting.delete(kind);
      if (state.again) changed(kind);
    }, changeMsMin).unref();
  };
}
