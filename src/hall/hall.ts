import { existsSync } from "node:fs";
import { createAgentToolkit } from "../agents/agents.ts";
import { createGroups, type GroupSource, type Groups } from "../agents/groups.ts";
import { createPlanners, type PlannerConfig } from "../agents/planners.ts";
import { createRuns, type RunStoreOptions, recordEvaluation } from "../agents/runs.ts";
import { createLog, type Log, Secrets } from "../base/log.ts";
import { version } from "../base/version.ts";
import type { ConfiguredServers } from "../config/unusable.ts";
import { auditDecisions, auditRegistrations } from "../gateway/audit.ts";
import type { Capacities } from "../gateway/concurrency.ts";
import { createGateway, type Gateway } from "../gateway/gateway.ts";
import { createMeter, type Meter } from "../gateway/meter.ts";
import { isPlainSchema } from "../gateway/plain-schema.ts";
import type { RateLimits } from "../gateway/rate-limit.ts";
import type { Recording } from "../gateway/record.ts";
import { createValidators } from "../gateway/schema.ts";
import type { Stage } from "../gateway/stage.ts";
import type { Decision } from "../gateway/trust.ts";
import { createHealthBook, type HealthBook } from "../registry/health.ts";
import { keepRegistrations } from "../registry/kept.ts";
import { createModules, type Modules } from "../registry/modules.ts";
import { createMonitor, type Monitor } from "../registry/monitor.ts";
import { createOwnToolkit, withOwn } from "../registry/own.ts";
import { createRegistrations, type Registrations } from "../registry/registrations.ts";
import { createRegistry, type Registry } from "../registry/registry.ts";
import type { FaceChoice, NameStyle } from "../server/faces.ts";
import { withHallResources } from "../server/hall-resources.ts";
import { createServer, type Server } from "../server/server.ts";
import { openStore, type StoreSettings } from "../store/open-store.ts";
import type { AuditEntry, Store } from "../store/store.ts";
import type { Call, Target, Toolkit } from "../tool.ts";
import { createBuiltinToolkits } from "../toolkits/builtin.ts";
import { createExperience } from "../toolkits/find/experience.ts";
import { createFindToolkit } from "../toolkits/find/find.ts";
import { createFinder, type Finder } from "../toolkits/find/finder.ts";
import { createLispTools } from "../toolkits/lisp/lisp.ts";
import { type Approvals, createApprovals } from "../trust/approvals.ts";
import { createFlowGuard } from "../trust/flow.ts";
import { markTool } from "../trust/marks.ts";
import { createTrust, readableTool, type Trust, type TrustOptions } from "../trust/trust.ts";
import { createFleet, type Fleet } from "../upstream/fleet.ts";
import { emptyLock, type Lock } from "../upstream/lock.ts";
import { defaultLimits, type Limits } from "../wire/limits.ts";
import { createWorkflow, type WorkflowOptions } from "../workflow/workflow.ts";
import { createModelWriter } from "../workflow/writer.ts";

/** A running hall: the line of a call, built right to left. `close` undoes it in reverse. */
export interface Hall {
  readonly registry: Registry;
  readonly finder: Finder;
  readonly groups: Groups;
  readonly gateway: Gateway;
  readonly registrations: Registrations;
  readonly modules: Modules;
  readonly health: HealthBook;
  readonly monitor: Monitor;
  readonly store: Store;
  /** Puts something into the audit; should that fail, the log says it. */
  note(entry: AuditEntry): Promise<void>;
  /** Calls counted since the hall opened. */
  readonly meter: Meter;
  readonly trust: Trust | undefined;
  readonly approvals: Approvals;
  readonly server: Server;
  readonly fleet: Fleet;
  readonly log: Log;
  close(drainMs?: number): Promise<void>;
}

export interface HallOptions {
  /** What clients are shown. Default: every tool as it is. */
  readonly faces?: FaceChoice;
  readonly names?: NameStyle;
  /** The groups there are, and what clients are told of them. Default: none. */
  readonly agents?: GroupSource;
  /** Who plans for agents. Default: the client's model where it lends one, else nobody. */
  readonly planner?: PlannerConfig;
  /** What is kept of an agent's run. Default `full`. */
  readonly runs?: Pick<RunStoreOptions, "keep" | "keepDays">;
  /** Where the evaluator's thread is, for halls that are not bundled. Default: beside the program. */
  readonly lisp?: { readonly worker?: URL };
  /** The spec-driven workflow of a project. Default: none. */
  readonly workflow?: Pick<WorkflowOptions, "folder" | "roots" | "commands" | "agent">;
  /** Other words for tools, by full name: they are found by them too. */
  readonly aliases?: Readonly<Record<string, readonly string[]>>;
  /** What the hall has of its own. Default: the built-in toolkits. */
  readonly toolkits?: readonly Toolkit[];
  /** The upstreams, by name. */
  readonly servers?: ConfiguredServers;
  /** What is known of the upstreams from an earlier look. */
  readonly lock?: Lock;
  /** Globs of modules that export toolkits, and the folder they are looked for in. */
  readonly modules?: {
    readonly patterns: readonly string[];
    readonly folder: string;
    readonly loadMsMax?: number;
  };
  /** Who may call how often, and how many calls a toolkit takes at once. Default: no limits. */
  readonly rates?: RateLimits;
  readonly capacities?: Capacities;
  /** Default: every 60 s, an answer within 5,000 ms. */
  readonly healthCheck?: { readonly intervalSeconds?: number; readonly timeoutMs?: number };
  /** Registered endpoints may be inside a private network. */
  readonly allowPrivateEndpoints?: boolean;
  /** What a person has said about this project. Without it nothing is asked for: the program that makes the hall answers for it. */
  readonly trust?: TrustOptions;
  /** Keeps what was decided; resolves when it is safe. Default: the store's audit. */
  readonly audit?: (decision: Decision, call: Call) => Promise<void>;
  /** The file that calls and the audit are kept in. Default: memory. */
  readonly store?: StoreSettings;
  /** What is kept of a call: its arguments' digest, or everything. Default `digest`. */
  readonly record?: Recording["record"];
  /** Offers `guildhall://stats`, `health` and `trust`. Default true. */
  readonly hasOwnResources?: boolean;
  /** Where spans of calls are sent. Default: nowhere. */
  readonly telemetry?: { readonly otlpUrl?: string | undefined };
  readonly isStatic?: boolean;
  readonly pageSize?: number;
  readonly limits?: Partial<Limits>;
  /** Deadline of tools that set none. Default 30,000. */
  readonly timeoutMs?: number;
  readonly log?: Log;
  /** What the log leaves out; tokens of upstreams are added to it. */
  readonly secrets?: Secrets;
  /** Where logins to upstreams are kept. Default: the user's data folder. */
  readonly tokenFolder?: string;
}

const restoreMs = 100;

export async function createHall(options: HallOptions = {}): Promise<Hall> {
  const {
    toolkits = createBuiltinToolkits(),
    servers = {},
    lock = emptyLock,
    log = createLog(),
  } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const registry = createRegistry({ log });
  const trust = options.trust && createTrust(options.trust);
  await trust?.refresh();
  const approvals = createApprovals();
  const fleet = createFleet({
    limits,
    log,
    lock,
    secrets: options.secrets,
    tokenFolder: options.tokenFolder,
    holdsChanged: trust !== undefined,
    mayStart: (name, source) => trust?.mayStart(name, source),
    add: registry.add,
    remove: registry.remove,
  });
  await Promise.all([
    ...toolkits.map((toolkit) => registry.add(toolkit)),
    fleet.apply({ servers, added: Object.keys(servers), removed: [], changed: [] }),
  ]);
  const store = openStore(options.store, { log, secrets: options.secrets });
  const note = (entry: AuditEntry): Promise<void> =>
    store.audit
      .append(entry)
      .catch((err: unknown) => log.error({ err, ...entry }, "not in the audit"));
  const meter = createMeter();
  const { timeoutMs = 30_000 } = options;
  const validators = createValidators({ warn: (message) => log.warn(message) });
  const health = createHealthBook();
  const monitor = createMonitor({ registry, health, log, ...options.healthCheck });
  const registered = auditRegistrations(
    createRegistrations({
      registry,
      health,
      log,
      allowPrivate: options.allowPrivateEndpoints ?? false,
      checkSchema: async (schema) => isPlainSchema(schema) || validators.load(schema),
    }),
    note,
  );
  const kept =
    options.trust &&
    options.store &&
    keepRegistrations(registered, {
      documents: store.registrations,
      sign: options.trust.ledger.sign,
      log,
    });
  const registrations = kept ?? registered;
  const modules = createModules({ patterns: [], folder: ".", ...options.modules, registry, log });
  if (options.modules && (trust?.mayLoadModules(options.modules.patterns) ?? true))
    await modules.scan();
  else if (options.modules)
    log.warn(
      "the toolkits of this project were never approved on this machine, so they are not loaded: run `guildhall verify`",
    );
  const audit = options.audit ?? auditDecisions(store);
  const trustParts = trust && { trust, approvals, flow: createFlowGuard(), audit };
  const finder = createFinder({
    registry,
    trust,
    aliases: options.aliases,
    experience: createExperience({ store, log }),
    log,
  });
  const groups = createGroups({ registry, source: options.agents, log });
  const answers = { registry, health, trust };
  const { secrets = new Secrets() } = options;
  const planners = createPlanners({ config: options.planner, secrets });
  const runs = createRuns({ shelf: store.runs, secrets, log, ...options.runs });
  const lisp = createLispTools({
    tools: registry.tools,
    findTool: (name) => callable.findTool(name),
    getTool: (name) => callable.getTool(name),
    isDestructive: (target) => isDestructive(target, trust),
    describe: (target) => readableTool(target, trust),
    listGroup: (name) => listGroup(groups, name),
    saveRun: (run) => runs.keep(recordEvaluation(run)),
    worker: options.lisp?.worker,
  });
  const own = {
    find: createFindToolkit(finder, answers),
    agents: createAgentToolkit({ groups, finder, parts: answers, planners, runs }),
    lisp: createOwnToolkit("lisp", lisp),
  };
  if (options.workflow) {
    const writer = createModelWriter({ planner: options.planner, secrets });
    await registry.add(createWorkflow({ ...options.workflow, shelf: store.runs, secrets, writer }));
  }
  // What may be called; whoever goes through toolkits or lists needs only what others brought.
  const callable = withOwn(registry, Object.values(own));
  const tracing =
    options.telemetry?.otlpUrl === undefined
      ? undefined
      : await startTracing(options.telemetry.otlpUrl, log);
  const gateway = createGateway({
    registry: callable,
    recording: { store, meter, record: options.record },
    timeoutMs,
    validators,
    health,
    rates: options.rates,
    capacities: options.capacities,
    tracing: tracing?.stage,
    trust: trustParts,
  });
  const { faces = ["tools"], names = "dot", isStatic = false, pageSize = 1_000 } = options;
  const server = createServer({
    registry:
      options.hasOwnResources === false
        ? callable
        : withHallResources({ registry: callable, store, health, trust }),
    own,
    guide: groups.guide,
    gateway,
    registrations,
    health,
    monitor,
    modules,
    trust,
    pressure: store,
    log,
    limits,
    version,
    faces,
    names,
    isStatic,
    timeoutMs,
    pageSize,
  });
  // Nobody's first answer waits for it; what comes back is announced as a change of the list.
  if (kept && options.store && ("url" in options.store || existsSync(options.store.path)))
    setTimeout(() => void kept.restore(), restoreMs).unref();
  return {
    registry,
    finder,
    groups,
    gateway,
    registrations,
    modules,
    health,
    monitor,
    store,
    note,
    meter,
    trust,
    approvals,
    server,
    fleet,
    log,
    async close(drainMs = 0) {
      await server.close(drainMs);
      monitor.close();
      groups.close();
      await lisp.close();
      modules.close();
      await registrations.close();
      await fleet.close();
      await registry.close();
      await tracing?.close();
      await store.close();
    },
  };
}

/** Under the group's name, or its agent's. */
function listGroup(groups: Groups, name: string): readonly string[] | undefined {
  const group = groups
    .all()
    .find(({ file }) => file.name === name || file.name === `${name}_agent`);
  return group && [...group.tools].map(({ fullName }) => fullName);
}

/** As a person has said, or, where nobody is asked, as the tool says of itself. */
function isDestructive(target: Target, trust: Trust | undefined): boolean {
  const { destructive, sendsOut } = trust ? trust.judge(target).marks : markTool(target.tool);
  return destructive || sendsOut;
}

/** Loaded only where traces go somewhere. */
async function startTracing(
  url: string,
  log: Log,
): Promise<{ readonly stage: Stage; close(): Promise<void> }> {
  const [{ traceCalls }, { createExporter }] = await Promise.all([
    import("../gateway/trace.ts"),
    import("../gateway/otlp.ts"),
  ]);
  const exporter = createExporter({ url, log });
  return { stage: traceCalls(exporter.send), close: exporter.close };
}
