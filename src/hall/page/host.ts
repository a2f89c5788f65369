import { HallError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { version } from "../../base/version.ts";
import type { PageHost } from "../../server/http/page-door.ts";
import { isAllowed } from "../../server/rights.ts";
import { answerApproval, createHandlers } from "../admin-handlers.ts";
import type { Project } from "../project.ts";
import type { Settings } from "../settings.ts";
import { agentArea } from "./agents.ts";
import { type Area, checkFields, deciderOf, type Field, type PageParts } from "./area.ts";
import { configArea } from "./config.ts";
import type { PageMethods } from "./contract.ts";
import { createPageEvents } from "./events.ts";
import { exposedArea } from "./exposed.ts";
import { featureArea } from "./features.ts";
import { ownArea } from "./own.ts";
import { programArea } from "./programs.ts";
import { createQuestions } from "./questions.ts";
import { recordArea } from "./records.ts";
import { reviewArea } from "./review.ts";
import { runArea } from "./runs.ts";
import { serverArea } from "./servers.ts";
import { toolArea } from "./tools.ts";
import { createTraffic, trafficArea } from "./traffic.ts";

interface AnyMethod {
  readonly scope: string;
  readonly fields?: Readonly<Record<string, Field>>;
  run(params: JsonObject, caller: Parameters<PageHost["ask"]>[2]): Promise<unknown>;
}

const hourMs = 3_600_000;
const client = "Guildhall page";

/** Everything the page can see and do, over one hall. */
export function createPageHost(
  { hall, followTrust }: Pick<Project, "hall" | "followTrust">,
  settings: Settings,
): PageHost & { close(): void } {
  const { folder } = settings;
  const startedAt = Date.now();
  const admin = createHandlers(hall, followTrust, settings);
  const parts: PageParts = { hall, followTrust, folder, settings: createReader(settings) };
  const events = createPageEvents(hall.events, startedAt);
  const traffic = createTraffic(
    hall.events,
    hall.store.calls.list({ since: startedAt - hourMs, limit: 10_000 }),
  );
  const questions = createQuestions(hall.events);
  const stops = [
    hall.registry.onChange(() => hall.events.emit({ type: "changed", what: "tools" })),
    events.close,
    traffic.close,
  ];

  const methods: Area<PageMethods> = {
    session: {
      scope: "call",
      run: async (_none, { principal, person, rights }) => ({
        principal,
        isPerson: person !== undefined,
        scopes: rights.scopes,
        version,
        project: isAllowed(rights, "read") ? folder : "",
        startedAt,
        lastEvent: events.last(),
      }),
    },
    start: {
      scope: "call",
      fields: { reads: "object" },
      async run({ reads }, caller) {
        // Read first: the event stream continues from here, so that changes during the other reads are not
        // missed.
        const session = await methods.session.run({}, caller);
        const answers = await Promise.all(
          Object.entries(reads).map(async ([method, params]) => {
            if (!isAllowed(caller.rights, find(method)?.scope ?? "admin")) return [method];
            // The page asks again by itself, and shows why it failed.
            return [method, await ask(method, params as JsonObject, caller).catch(() => undefined)];
          }),
        );
        return { session, answers: Object.fromEntries(answers) };
      },
    },
    status: { scope: "read", run: () => admin.status({}) },
    approvals: { scope: "admin", run: () => admin.approvals({}) },
    approve: {
      scope: "admin",
      fields: { token: "string", answer: "string" },
      async run(params, caller) {
        const waiting = hall.approvals.pending().find(({ token }) => token === params.token);
        const answered = await answerApproval(hall, params, { person: caller.person, client });
        const reason = `"${params.answer}" in the page`;
        const details = { argumentsHash: waiting?.argumentsHash ?? null };
        const entry = { kind: "answered", subject: answered.tool, reason, details };
        await hall.note({ ...entry, caller: deciderOf(caller) });
        return answered;
      },
    },
    statistics: {
      scope: "read",
      fields: { since: "number?", person: "string?" },
      run: (params) => admin.statistics(params),
    },
    ...serverArea(parts),
    ...ownArea(parts),
    ...configArea(parts),
    ...reviewArea(parts),
    ...toolArea(parts, questions),
    ...questions.area,
    ...runArea(parts),
    ...trafficArea(parts, traffic),
    series: {
      scope: "read",
      fields: { since: "number", of: "string?" },
      run: ({ since, of }) => hall.store.series(since, of),
    },
    ...agentArea(parts),
    ...programArea(parts),
    ...featureArea(parts),
    ...recordArea(parts),
    ...exposedArea(parts),
  };
  const find = (method: string): AnyMethod | undefined =>
    Object.hasOwn(methods, method) ? (methods as Record<string, AnyMethod>)[method] : undefined;

  const ask: PageHost["ask"] = async (method, params, caller) => {
    const found = find(method);
    if (!found) throw new HallError("METHOD_NOT_FOUND", `unknown method "${method}"`);
    const { person } = caller;
    // The user's own sessions need no permit, and approvals have an action of their own.
    if (person && found.scope === "admin" && !method.startsWith("approv"))
      hall.policies.require({ caller: { person, client }, action: "admin", subject: { method } });
    return found.run(checkFields(params, found.fields ?? {}), caller);
  };

  return {
    scopeOf: (method) => find(method)?.scope,
    ask,
    follow: events.follow,
    close() {
      for (const stop of stops) stop();
    },
  };
}

/** The answers of a first screen are made at once and read the config once. */
function createReader(settings: Settings): PageParts["settings"] {
  let loading: ReturnType<Settings["load"]> | undefined;
  return () => {
    loading ??= settings.load();
    setImmediate(() => (loading = undefined));
    return loading.then((loaded) => ({ ...settings, loaded, config: loaded.config }));
  };
}
