import { HallError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { version } from "../../base/version.ts";
import type { PageHost } from "../../server/http/page-door.ts";
import { answerApproval, createHandlers } from "../admin-handlers.ts";
import type { Project } from "../project.ts";
import type { Settings } from "../settings.ts";
import { agentArea } from "./agents.ts";
import { type Area, checkFields, type Field, type PageParts } from "./area.ts";
import { configArea } from "./config.ts";
import type { PageMethods } from "./contract.ts";
import { createPageEvents } from "./events.ts";
import { exposedArea } from "./exposed.ts";
import { featureArea } from "./features.ts";
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
  const parts: PageParts = {
    hall,
    followTrust,
    folder,
    async settings() {
      const loaded = await settings.load();
      return { ...settings, loaded, config: loaded.config };
    },
  };
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
      scope: "read",
      run: async (_none, { principal, rights }) => ({
        principal,
        scopes: rights.scopes,
        version,
        project: folder,
        startedAt,
        lastEvent: events.last(),
      }),
    },
    status: { scope: "read", run: () => admin.status({}) },
    approvals: { scope: "admin", run: () => admin.approvals({}) },
    approve: {
      scope: "admin",
      fields: { token: "string", answer: "string" },
      async run(params, { principal, person }) {
        const waiting = hall.approvals.pending().find(({ token }) => token === params.token);
        const answered = await answerApproval(hall, params, { person, client });
        const reason = `"${params.answer}" in the page`;
        const details = { argumentsHash: waiting?.argumentsHash ?? null };
        const entry = { kind: "answered", subject: answered.tool, caller: principal, reason };
        await hall.note({ ...entry, details });
        return answered;
      },
    },
    statistics: {
      scope: "read",
      fields: { since: "number?", person: "string?" },
      run: (params) => admin.statistics(params),
    },
    ...serverArea(parts),
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
    Object.hasOwn(methods, method)
      ? (methods[method as keyof PageMethods] as unknown as AnyMethod)
      : undefined;

  return {
    scopeOf: (method) => find(method)?.scope,
    async ask(method, params, caller) {
      const found = find(method);
      if (!found) throw new HallError("METHOD_NOT_FOUND", `unknown method "${method}"`);
      const { person } = caller;
      // The user's own sessions need no permit, and approvals have an action of their own.
      if (person && found.scope === "admin" && !method.startsWith("approv"))
        hall.policies.require({ caller: { person, client }, action: "admin", subject: { method } });
      return found.run(checkFields(params, found.fields ?? {}), caller);
    },
    follow: events.follow,
    close() {
      for (const stop of stops) stop();
    },
  };
}
