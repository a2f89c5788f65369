import { createAgentToolkit } from "../agents/agents.ts";
import { createGroups, type Groups } from "../agents/groups.ts";
import { createPlanners } from "../agents/planners.ts";
import { createRuns, recordEvaluation } from "../agents/runs.ts";
import { HallError } from "../base/errors.ts";
import { hashOf, type JsonObject } from "../base/json.ts";
import { createLog, type Log, Secrets } from "../base/log.ts";
import { Scope } from "../base/scope.ts";
import { createIds } from "../base/text.ts";
import { version } from "../base/version.ts";
import { type NamedCall, readNamedCall } from "../client/client.ts";
import { auditDecisions, auditRegistrations } from "../gateway/audit.ts";
import { createGateway, type Gateway } from "../gateway/gateway.ts";
import { isPlainSchema } from "../gateway/plain-schema.ts";
import { Meter } from "../gateway/record.ts";
import type { Stage } from "../gateway/stage.ts";
import { createValidators } from "../gateway/validate.ts";
import { createHealthBook, type HealthBook } from "../registry/health.ts";
import { keepRegistrations } from "../registry/kept.ts";
import { createModules, type Modules } from "../registry/modules.ts";
import { createMonitor, type Monitor } from "../registry/monitor.ts";
import { createOwnToolkit } from "../registry/own.ts";
import { createRegistrations, type Registrations } from "../registry/registrations.ts";
import { createRegistry, type Registry } from "../registry/registry.ts";
import { createSpelling } from "../registry/shown-names.ts";
import { visibleTo } from "../registry/visible.ts";
import { withHallResources } from "../server/hall-resources.ts";
import { Server } from "../server/server.ts";
import { mayHaveRows, openStore } from "../store/open-store.ts";
import type { AuditEntry, Store } from "../store/store.ts";
import type { Caller, Outcome, Target } from "../tool.ts";
import { createBuiltinToolkits } from "../toolkits/builtin.ts";
import { createExperience } from "../toolkits/find/experience.ts";
import { createFindToolkit } from "../toolkits/find/find.ts";
import { createFinder, type Finder } from "../toolkits/find/finder.ts";
import { createProgramTools } from "../toolkits/programs/programs.ts";
import { createSavedToolkits, noPrograms } from "../toolkits/programs/saved-toolkit.ts";
import { type Approvals, createApprovals } from "../trust/approvals.ts";
import { keepTime } from "../trust/ledger.ts";
import { markTool } from "../trust/marks.ts";
import type { Policies } from "../trust/policy/policies.ts";
import { createTrust, readableTool, type Trust } from "../trust/trust.ts";
import { createFleet, type Fleet } from "../upstream/fleet.ts";
import { emptyLock } from "../upstream/lock.ts";
import { defaultLimits, type Limits } from "../wire/channel.ts";
import { createWorkflow } from "../workflow/workflow.ts";
import { createModelWriter } from "../workflow/writer.ts";
import { createHallEvents, type HallEvents, reportCalls } from "./events.ts";
import type { HallOptions } from "./hall-options.ts";
import { createModuleLoader, openModuleProcess } from "./module-process.ts";
import { openPolicies } from "./policies.ts";
import { keepRetries } from "./retries.ts";
import { createViolations, followReviews, rightsOf, type Violations } from "./sandbox.ts";
import type { Together } from "./together/together.ts";

/** A running hall. `close` ends its parts in the reverse order of their creation. */
export interface Hall {
  readonly registry: Registry;
  readonly finder: Finder;
  readonly groups: Groups;
  readonly saved: ReturnType<typeof createSavedToolkits>;
  readonly gateway: Gateway;
  readonly registrations: Registrations;
  readonly modules: Modules;
  readonly health: HealthBook;
  readonly monitor: Monitor;
  readonly store: Store;
  /** Writes to the audit; a failure is logged. */
  note(entry: AuditEntry): Promise<void>;
  /** Calls counted since the hall opened. */
  readonly meter: Meter;
  readonly trust: Trust | undefined;
  readonly approvals: Approvals;
  readonly policies: Policies;
  readonly server: Server;
  readonly fleet: Fleet;
  readonly log: Log;
  readonly events: HallEvents;
  /** Set if other halls share its database. */
  readonly together: Together | undefined;
  readonly violations: Violations;
  /** Calls a tool through the whole gateway, for programs and tests. Throws HallError. */
  call(call: string | NamedCall, args?: JsonObject): Promise<Outcome>;
  close(drainMs?: number): Promise<void>;
}

const restoreMs = 100;

/** Builds the path of a call from right to left: toolkits, registry, own tools, gateway, server. */
export async function createHall(options: HallOptions = {}): Promise<Hall> {
  const ownPage = (): string | undefined => server.url && `${server.url}/#/own`;
  const base = await openBase(options, ownPage);
  const parts = await openRegistrations(base, options);
  const seesAgentsOnly = (): boolean => server.face() === "agents";
  const own = await openOwnTools(base, options, seesAgentsOnly);
  const { gateway, tracing } = await openGateway(base, options);
  const server = openServer(base, parts, own, gateway, options);

  // Registrations are restored after the first answers; clients are notified that the list changed.
  const { registrations, modules, monitor, kept } = parts;
  if (options.store && mayHaveRows(options.store))
    setTimeout(() => {
      // Notices a store that was changed, and ends the calls that a crash left open. The store reports a failure itself.
      base.store.flush().catch(() => {});
      void kept?.restore();
    }, restoreMs).unref();

  const { finder, groups, programs, saved } = own;
  const failed = (err: unknown): void => base.log.warn({ err }, "the time was not noted");
  const time = options.trust && keepTime(options.trust.ledger, { now: options.trust.now, failed });
  return {
    ...base,
    finder,
    groups,
    saved,
    gateway,
    registrations,
    modules,
    monitor,
    server,
    call: async (call, args) => callOnce(gateway, readNamedCall(call, args)),
    async close(drainMs = 0) {
      await server.close(drainMs);
      monitor.close();
      groups.close();
      await programs.close();
      modules.close();
      await registrations.close();
      await base.fleet.close();
      await base.registry.close();
      // Calls end with what was closed, and leave a row and a span.
      await base.meter.whenIdle(lastCallsMsMax);
      await tracing?.close();
      await base.store.close();
      await time?.close();
    },
  };
}

/** A call may wait this long for a durable row. */
const lastCallsMsMax = 2_500;

type Base = Awaited<ReturnType<typeof openBase>>;

/** The registry with built-in toolkits and upstreams, and what every later part shares. */
async function openBase(options: HallOptions, ownPage: () => string | undefined) {
  const { toolkits = createBuiltinToolkits(), servers = {}, lock = emptyLock } = options;
  const { log = createLog(), secrets = new Secrets() } = options;
  const { timeoutMs = 30_000, names = "underscore" } = options;
  const limits: Limits = { ...defaultLimits, ...options.limits };
  const events = createHallEvents();
  const { together } = options;
  const approvalsChanged = (): void => events.emit({ type: "changed", what: "approvals" });
  const approvals = createApprovals(
    () => Date.now(),
    options.approvalLeft,
    () => {
      approvalsChanged();
      together?.approvals.publish();
    },
    together?.approvals.answers,
  );
  together?.approvals.attach(approvals, approvalsChanged);
  const trust: Trust | undefined =
    options.trust && createTrust({ ...options.trust, onRevoked: approvals.forget });
  trust?.refresh();
  // First of all: a broken policy ends the hall.
  const policies = await openPolicies(options.policies ?? [], {
    trust,
    note: (entry) => note(entry),
  });
  const registry = createRegistry({
    log,
    ...(trust ? { holds: trust.holds, refreshHeld: trust.refresh } : {}),
  });
  const printed = (server: string, text: string): void => {
    options.printed?.(server, text);
    events.emit({ type: "log", server, at: Date.now(), text: secrets.scrub(text) });
  };
  const store = openStore(options.store, { log, secrets });
  const note = (entry: AuditEntry): Promise<void> =>
    store.audit
      .append(entry)
      .catch((err: unknown) => log.error({ err, ...entry }, "could not write to the audit"));
  const violations = createViolations({ printed, note });
  const sandbox = trust && { ...followReviews(trust.entries, violations.add), ...options.learning };
  const fleet = createFleet({
    limits,
    log,
    lock,
    secrets,
    tokenFolder: options.tokenFolder,
    sharedLogins: together?.own.logins,
    secretStore: options.secretStore,
    ownPage,
    openCarrier: options.openCarrier,
    printed,
    changed: () => events.emit({ type: "changed", what: "servers" }),
    sandbox,
    holdsChanged: trust !== undefined,
    mayStart: (...about) => trust?.mayStart(...about),
    mayDiscover: (server) => options.mayDiscover?.(server) ?? true,
    add: registry.add,
    remove: registry.remove,
  });
  together?.own.follow(fleet);
  await Promise.all([
    ...toolkits.map((toolkit) => registry.add(toolkit)),
    fleet.apply({ servers, added: Object.keys(servers), removed: [], changed: [] }),
  ]);

  return {
    registry,
    trust,
    policies,
    fleet,
    sandbox,
    violations,
    store,
    note,
    log,
    events,
    limits,
    secrets,
    timeoutMs,
    names,
    together,
    ...createSpelling(registry, names),
    approvals,
    meter: new Meter(),
    health: createHealthBook(),
    validators: createValidators({ warn: (message) => log.warn(message) }),
  };
}

type HallRegistrations = Awaited<ReturnType<typeof openRegistrations>>;

/** Toolkits that register themselves or come from modules, and the health checks of all. */
async function openRegistrations(base: Base, options: HallOptions) {
  const { registry, trust, health, store, note, log, validators, together } = base;
  const book = createRegistrations({
    registry,
    health,
    log,
    allowPrivate: options.allowPrivateEndpoints ?? false,
    checkSchema: async (schema) => isPlainSchema(schema) || validators.load(schema),
  });
  const registered = auditRegistrations(book, note);
  const kept =
    options.trust &&
    options.store &&
    keepRegistrations(registered, {
      documents: store.registrations,
      sign: options.trust.ledger.sign,
      log,
    });
  const own: Registrations = kept ?? registered;
  const registrations = together?.share(own, book, health) ?? own;

  const modules = createModules({
    patterns: [],
    folder: ".",
    ...options.modules,
    rights: rightsOf(options.modules?.sandbox),
    registry,
    log,
    load: createModuleLoader(() => openModuleProcess(base.fleet, options.modules, base.sandbox)),
    mayLoad: (file, digest) => trust?.mayLoadModule(file, digest) ?? true,
  });
  if (options.modules) await modules.scan();
  const monitor = createMonitor({ registry, health, log, ...options.healthCheck });
  return { registrations, kept, modules, monitor };
}

type OwnTools = Awaited<ReturnType<typeof openOwnTools>>;

/** The hall's own tools: find_tools, agents, Lisp, and the workflow. */
async function openOwnTools(base: Base, options: HallOptions, seesAgentsOnly: () => boolean) {
  const { registry, trust, policies, health, store, log, secrets, spell, spellingOf } = base;
  const finder = createFinder({
    registry,
    trust,
    aliases: options.aliases,
    experience: createExperience({ store, log }),
    log,
  });
  const groups = createGroups({ registry, source: options.agents, log });
  policies.membersOf = ({ fullName }) =>
    groups.all().find(({ file }) => file.name === fullName)?.tools;
  const parts = { registry, health, trust, policies, spell };
  const planners = createPlanners({ config: options.planner, secrets });
  const runs = createRuns({ documents: store.runs, secrets, log, ...options.runs });
  const programs = createProgramTools({
    tools: registry.tools,
    findTool: registry.findTool,
    getTool: registry.getTool,
    mayChange: (target) => mayChange(target, trust),
    describe: (target) => readableTool(target, trust),
    listGroup: groups.toolNames,
    seenBy: ({ caller }) => {
      const { tools, findTool, getTool } = visibleTo(registry, caller, policies);
      const listed = (name: string) => groups.toolNames(name)?.filter((tool) => findTool(tool));
      return policies.isOn ? { tools, findTool, getTool, listGroup: listed } : undefined;
    },
    spell,
    spellingOf,
    saveRun: (run) => runs.keep(recordEvaluation(run)),
    workers: options.workers,
  });
  const saved = createSavedToolkits(registry, {
    run: programs.run,
    isApproved: ({ textName, text }) =>
      trust === undefined || trust.entries().texts?.[textName] === hashOf(text),
  });
  await saved.replace(options.savedPrograms ?? noPrograms);
  const own = {
    find: createFindToolkit(finder, parts),
    agents: createAgentToolkit({ groups, finder, parts, planners, runs, seesAgentsOnly }),
    programs: createOwnToolkit("programs", programs),
  };
  if (options.workflow) {
    const writer = createModelWriter({ planner: options.planner, secrets });
    await registry.add(
      createWorkflow({ ...options.workflow, documents: store.runs, secrets, writer }),
    );
  }
  registry.setOwn(own);
  return { finder, groups, programs, saved, own };
}

async function openGateway(base: Base, options: HallOptions) {
  const { registry, store, meter, timeoutMs, validators, health, trust, approvals, log } = base;
  const { spell, events, policies } = base;
  const { otlpUrl } = options.telemetry ?? {};
  const tracing = otlpUrl === undefined ? undefined : await startTracing(otlpUrl, log);
  const audit = options.audit ?? auditDecisions(store);
  const gateway = createGateway({
    registry,
    recording: { store, meter, record: options.record, ended: reportCalls(events, log) },
    timeoutMs,
    validators,
    health,
    rates: options.rates,
    openBucket: options.together?.openBucket,
    capacities: options.capacities,
    tracing: tracing?.stage,
    trust: trust && {
      trust,
      approvals,
      audit,
      now: options.trust?.now,
      waits: options.approvalLeft !== undefined,
      confirm: options.together?.confirm,
    },
    retried: keepRetries(store.retries, base.secrets, options.store?.retention),
    policies: { policies, audit },
    spell,
  });
  return { gateway, tracing };
}

function openServer(
  base: Base,
  { registrations, modules, monitor }: HallRegistrations,
  { own, groups }: OwnTools,
  gateway: Gateway,
  options: HallOptions,
): Server {
  const { registry, store, health, trust } = base;
  const { faces = ["tools"], isStatic = false, pageSize = 1_000, together } = options;
  const { hasOwnResources = true, listsPrograms = true, languages = ["lisp"] } = options;
  return new Server({
    ...base,
    registry: hasOwnResources
      ? withHallResources({ registry, store, health, trust, modules })
      : registry,
    own,
    guide: groups.guide,
    gateway,
    registrations,
    monitor,
    modules,
    pressure: store,
    together: together && { hall: together.board.hall, key: together.sealKey },
    version,
    faces,
    listsPrograms,
    languages,
    isStatic,
    pageSize,
  });
}

/** By the review; in a hall without trust, by the tool's own annotations. */
function mayChange(target: Target, trust: Trust | undefined): boolean {
  const { effect, sendsOut } = trust ? trust.judge(target).marks : markTool(target.tool);
  return effect !== "reads" || sendsOut;
}

/** Loaded only if traces are sent. */
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

const callIds = createIds("call");

/** A call of the program that opened the hall, which cannot be asked anything. */
async function callOnce(
  { call }: Gateway,
  named: { readonly name: string; readonly arguments: JsonObject },
): Promise<Outcome> {
  const caller: Caller = { connection: "program", principal: "program", client: "program" };
  const scope = new Scope();
  try {
    return await call(
      { ...named, id: callIds(), caller, target: undefined },
      {
        scope,
        caller,
        progress: () => {},
        log: () => {},
        ask: () => Promise.reject(new HallError("MISSING_CAPABILITY", "a program cannot be asked")),
      },
    );
  } finally {
    scope.close();
  }
}
