import { HallError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { version } from "../../base/version.ts";
import type { PageHost } from "../../server/http/page-door.ts";
import type { PageCaller } from "../../server/http/page-sessions.ts";
import { isAllowed } from "../../server/rights.ts";
import type { AdminMethods } from "../admin-contract.ts";
import { answerApproval, createHandlers } from "../admin-handlers.ts";
import type { Project } from "../project.ts";
import type { Settings } from "../settings.ts";
import { agentArea } from "./agents.ts";
import {
  checkFields,
  client,
  deciderOf,
  method,
  type PageMethod,
  type PageParts,
  shape,
} from "./area.ts";
import { configArea } from "./config.ts";
import type { PageReads, PageSession } from "./contract.ts";
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
import { createTraffic, type Traffic, trafficArea } from "./traffic.ts";

const hourMs = 3_600_000;

/** Everything the page can see and do, over one hall. */
export function createPageHost(
  { hall, followTrust }: Pick<Project, "hall" | "followTrust">,
  settings: Settings,
): PageHost & { close(): void } {
  const { folder } = settings;
  const startedAt = Date.now();
  const parts: PageParts = { hall, followTrust, folder, settings: createReader(settings) };
  const events = createPageEvents(hall.events, startedAt);
  const traffic = createTraffic(
    hall.events,
    hall.store.calls.list({ since: startedAt - hourMs, limit: 10_000 }),
  );
  const stops = [
    hall.registry.onChange(() => hall.events.emit({ type: "changed", what: "tools" })),
    events.close,
    traffic.close,
  ];
  const readSession = ({ principal, person, rights }: PageCaller): PageSession => ({
    principal,
    isPerson: person !== undefined,
    scopes: rights.scopes,
    version,
    project: isAllowed(rights, "read") ? folder : "",
    startedAt,
    lastEvent: events.last(),
  });
  const start = async (reads: PageReads, caller: PageCaller) => {
    // Read first: the event stream continues from here, so that changes during the other reads are not
    // missed.
    const session = readSession(caller);
    const answers = await Promise.all(
      Object.entries(reads).map(async ([method, params]) => {
        if (!isAllowed(caller.rights, find(method)?.scope ?? "admin")) return [method];
        // The page asks again by itself, and shows why it failed.
        return [method, await ask(method, params as JsonObject, caller).catch(() => undefined)];
      }),
    );
    return { session, answers: Object.fromEntries(answers) };
  };
  const methods = {
    session: method("call", {}, async (_none, caller) => readSession(caller)),
    start: method("call", { reads: shape<PageReads>() }, ({ reads }, caller) =>
      start(reads, caller),
    ),
    ...hallArea(parts, settings),
    ...createAreas(parts, traffic),
  };
  const find = (name: string): PageMethod<JsonObject, unknown> | undefined =>
    Object.hasOwn(methods, name) ? (methods[name as keyof typeof methods] as never) : undefined;

  const ask: PageHost["ask"] = async (method, params, caller) => {
    const found = find(method);
    if (!found) throw new HallError("METHOD_NOT_FOUND", `unknown method "${method}"`);
    const { person } = caller;
    // The user's own sessions need no permit, and approvals have an action of their own.
    if (person && found.scope === "admin" && !method.startsWith("approv"))
      hall.policies.require({ caller: { person, client }, action: "admin", subject: { method } });
    return found.run(checkFields(params, found.fields), caller);
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

/** Methods that the hall's own socket has too. */
export function hallArea({ hall, followTrust }: PageParts, settings: Settings) {
  const admin = createHandlers(hall, followTrust, settings);
  return {
    status: method("read", {}, () => admin.status({})),
    approvals: method("admin", {}, () => admin.approvals({})),
    approve: method("admin", { token: "string", answer: "string" }, async (given, caller) => {
      const { token, answer } = given as AdminMethods["approve"]["params"];
      const waiting = hall.approvals.pending().find((pending) => pending.token === token);
      const approver = { person: caller.person, client };
      const answered = await answerApproval(hall, { token, answer }, approver);
      const reason = `"${answer}" in the page`;
      const details = { argumentsHash: waiting?.argumentsHash ?? null };
      const entry = { kind: "answered", subject: answered.tool, reason, details };
      await hall.note({ ...entry, caller: deciderOf(caller) });
      return answered;
    }),
    statistics: method("read", { since: "number?", person: "string?" }, admin.statistics),
  };
}

/** The areas of the page, one file each. */
export function createAreas(parts: PageParts, traffic: Traffic) {
  const questions = createQuestions(parts.hall.events);
  return {
    ...serverArea(parts),
    ...ownArea(parts),
    ...configArea(parts),
    ...reviewArea(parts),
    ...toolArea(parts, questions),
    ...questions.area,
    ...runArea(parts),
    ...trafficArea(parts, traffic),
    ...agentArea(parts),
    ...programArea(parts),
    ...featureArea(parts),
    ...recordArea(parts),
    ...exposedArea(parts),
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
