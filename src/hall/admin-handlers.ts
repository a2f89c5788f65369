import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { createOneAtATime } from "../base/one-at-a-time.ts";
import { version } from "../base/version.ts";
import type { Caller } from "../tool.ts";
import { type ApprovalAnswer, answers } from "../trust/approvals.ts";
import { noEntries } from "../trust/ledger.ts";
import { type OfferKind, pinOf } from "../trust/pin.ts";
import { keyOf } from "../trust/trust.ts";
import type { Offer } from "../upstream/lists.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { AdminMethods, HallStatus, ListedApproval, ToolTrust } from "./admin-contract.ts";
import type { AdminHandlers } from "./control.ts";
import type { Hall } from "./hall.ts";
import { openAgents, openSavedPrograms } from "./project-texts.ts";
import { modulesName } from "./sandbox.ts";
import type { Settings } from "./settings.ts";
import { showApproval } from "./together/shared-approvals.ts";

/** Long enough for the answer to be written. */
const answerMs = 50;

/** Handles the admin requests on the hall's local socket. */
export function createHandlers(
  hall: Hall,
  followTrust: () => Promise<void>,
  { folder }: Settings,
): AdminHandlers {
  const startedAt = Date.now();
  const replaceGroups = async (): Promise<void> =>
    hall.groups.replace(await openAgents(folder, hall.trust?.entries() ?? noEntries, hall.log));
  const status = async (): Promise<HallStatus> => ({
    version,
    pid: process.pid,
    project: folder,
    startedAt,
    url: hall.server.url,
    clients: hall.server.clientCount,
    store: hall.store.state(),
    upstreams: describeUpstreams(hall),
    registrations: describeRegistrations(hall),
    failedModules: hall.modules.failures(),
    brokenPolicies: hall.policies.problems,
    deniedToModules: hall.violations.of(modulesName),
  });
  return {
    status,
    async stop() {
      setTimeout(() => process.kill(process.pid, "SIGTERM"), answerMs);
      return status();
    },
    approvals: async () => ({
      pending: listApprovals(hall),
    }),
    approve: (params) => answerApproval(hall, params, { client: "guildhall" }),
    trust: async () => ({ tools: describeTrust(hall) }),
    offers: async () => ({ servers: listOffers(hall) }),
    async groupsChanged() {
      hall.trust?.refresh();
      await replaceGroups();
      hall.server.refreshLists();
      return {};
    },
    async trustChanged() {
      hall.trust?.refresh();
      await followTrust();
      hall.approvals.wake();
      return {};
    },
    statistics: ({ since, person }) => hall.store.statistics(since, person),
    logs: async ({ server }) => ({ lines: hall.fleet.get(server).stderr() }),
    page: async () => ({ url: await hall.server.pageUrl?.() }),
    async restart({ server }) {
      const upstream = hall.fleet.get(server);
      await upstream.restart();
      return { state: upstream.state() };
    },
  };
}

/** The calls that wait for approval, here and in other halls. */
function listApprovals(hall: Hall): readonly ListedApproval[] {
  return [
    ...hall.approvals.pending().map(showApproval),
    ...(hall.together?.approvals.list() ?? []),
  ];
}

/** A person's answer to a call that waits. Throws DENIED if a policy keeps them from answering it. */
export async function answerApproval(
  hall: Hall,
  { token, answer }: AdminMethods["approve"]["params"],
  approver: Pick<Caller, "person" | "client">,
): Promise<AdminMethods["approve"]["result"]> {
  if (!answers.includes(answer))
    throw new HallError("INVALID_PARAMS", `"answer" must be one of ${answers.join(", ")}`);
  const asked = listApprovals(hall).find((pending) => pending.token === token);
  if (asked && hall.policies.isOn) {
    const tool = hall.registry.getTool(asked.tool);
    hall.policies.require({
      caller: approver,
      action: "approve",
      subject: { tool },
      approvedFor: asked.person,
    });
  }
  return (await hall.together?.approvals.answer(token, answer)) ?? answerHere(hall, token, answer);
}

/** Answers a call that waits in this hall. Throws NOT_FOUND. */
export async function answerHere(
  hall: Pick<Hall, "trust" | "approvals">,
  token: string,
  answer: ApprovalAnswer,
): Promise<{ readonly tool: string }> {
  // A grant revoked earlier does not count as this approval.
  hall.trust?.refresh();
  // The tool as it was when approval was requested; it may have changed since.
  const { target, isWaiting } = hall.approvals.answer(token, answer);
  // A waiting call grants the answer itself, after it is in the audit.
  if (!isWaiting) await hall.trust?.grant(target, answer);
  hall.approvals.wake();
  return { tool: target.fullName };
}

/** The trust level of each tool. Empty for a hall without trust. */
export function describeTrust({
  registry,
  trust,
}: Pick<Hall, "registry" | "trust">): readonly ToolTrust[] {
  if (!trust) return [];
  const { grants } = trust.entries();
  return registry.tools().map((target) => {
    const { toolkit, tool, fullName } = target;
    const { level, marks, held, ask } = trust.judge(target);
    const { facts: _ours, ...definition } = tool;
    const until = level === "trusted" ? grants[keyOf(target)]?.until : undefined;
    return {
      name: fullName,
      key: keyOf(target),
      toolkit: toolkit.id,
      source: toolkit.source ?? "built-in",
      level,
      marks,
      held,
      ask,
      until,
      pin: pinOf(tool),
      definition,
    };
  });
}

/** The offer of each server, reviewed or not. */
export function listOffers({ fleet }: Hall): Readonly<Record<string, Offer>> {
  return Object.fromEntries(fleet.all().map((upstream) => [upstream.id, upstream.offer()]));
}

function describeRegistrations(hall: Hall): HallStatus["registrations"] {
  return hall.registrations.all().map((toolkit) => {
    const { health } = hall.health.record(toolkit);
    const { registration, runner, registeredAt } = toolkit;
    const problem = health.state === "available" ? toolkit.problem?.() : health.reason;
    return {
      name: toolkit.id,
      state: health.state,
      runner: runner?.kind ?? null,
      tools: registration.tools.length,
      registeredAt,
      replacesBuiltIn: hall.registrations.isReplacement(toolkit.id),
      problem,
    };
  });
}

function describeUpstreams(hall: Hall): HallStatus["upstreams"] {
  return hall.fleet.all().map((upstream) => {
    const handshake = upstream.handshake();
    const { tools, skipped } = upstream.offer();
    const denied = hall.violations.of(upstream.id);
    return {
      name: upstream.id,
      state: upstream.state(),
      era: handshake?.era,
      protocol: handshake?.version,
      tools: tools.length,
      skipped,
      ...upstream.counts,
      ...(denied.length > 0 ? { denied } : {}),
    };
  });
}

/**
 * Makes a hall follow the user's decisions, whichever process wrote them: loads approved modules and
 * agents, lists again, starts and stops servers. Returns a function that does it now.
 */
export function createFollowTrust(hall: Hall, folder: string): () => Promise<void> {
  const following = createOneAtATime(async () => {
    await hall.modules.scan();
    const entries = hall.trust?.entries() ?? noEntries;
    hall.groups.replace(await openAgents(folder, entries, hall.log));
    await hall.saved.replace(await openSavedPrograms(folder, entries, hall.log));
    hall.server.refreshLists();
    await reconcileUpstreams(hall);
  });
  const follow = (): Promise<void> => following.run("trust");
  hall.trust?.onChange(() => {
    follow().catch((err: unknown) => hall.log.error({ err }, "could not follow a change of trust"));
  });
  return follow;
}

/**
 * After a change of trust: restarts refused servers, stops those no longer approved, and discovers
 * those with something held back again.
 */
async function reconcileUpstreams({ fleet, trust }: Hall): Promise<void> {
  if (!trust) return;
  const { servers } = trust.entries();
  const holdsSome = (upstream: Upstream): boolean =>
    Object.entries(upstream.offer()).some(([kind, definitions]) =>
      definitions.some((definition: JsonObject) =>
        trust.holds(upstream, kind as OfferKind, definition),
      ),
    );
  const work = fleet.all().map(async (upstream) => {
    const isApproved = Object.hasOwn(servers, upstream.id);
    if (!isApproved || upstream.state().kind === "down") await upstream.restart();
    if (isApproved && holdsSome(upstream)) await upstream.discover();
  });
  // A server that fails reports it at its next call.
  await Promise.allSettled(work);
}
