import { readNoteFiles } from "../agents/agent-folder.ts";
import { type AgentPlan, applyPlan, planAgents, type Refine } from "../agents/plan.ts";
import { openingFor } from "../agents/planners.ts";
import { HallError } from "../base/errors.ts";
import { collectServers } from "../config/configured-servers.ts";
import type { Target } from "../tool.ts";
import { createTrust, type Held } from "../trust/trust.ts";
import { type Lock, lockPath, writeLock } from "../upstream/lock.ts";
import { askHall } from "./admin-client.ts";
import {
  type DiscoverOptions,
  type Discovery,
  discoverForReview,
  mergeIntoLock,
} from "./discover.ts";
import { listKnownTools } from "./known-tools.ts";
import {
  approvedWords,
  approveRewritten,
  hasUnapprovedModules,
  isTextApproved,
} from "./project-texts.ts";
import {
  type Approved,
  findWaitingTexts,
  openReview,
  type Reviewer,
  type ReviewSession,
  reviewDiscoveries,
  type ServerReview,
  selectStartable,
  takeOver,
} from "./review.ts";
import { getServer, hasProjectFile, type Settings } from "./settings.ts";

export interface BuildOptions extends Pick<DiscoverOptions, "progress"> {
  /** Only these servers are started, recorded and reviewed. Default: all. */
  readonly servers?: readonly string[] | undefined;
  /** Without one, nothing new is started or approved. */
  readonly reviewer?: Reviewer | undefined;
  /** Group all tools again, except those moved by hand. */
  readonly regroup?: boolean | undefined;
  /** Change no file. */
  readonly dryRun?: boolean | undefined;
  /** `local` (default) or `model`. */
  readonly planner?: string | undefined;
}

export interface BuildReport {
  readonly configured: readonly string[];
  readonly discoveries: readonly Discovery[];
  /** Undefined after a dry run. */
  readonly lockFile: string | undefined;
  readonly reviews: readonly ServerReview[];
  /** Servers that must be reviewed before they start. */
  readonly waiting: readonly string[];
  readonly areModulesWaiting: boolean;
  /** Texts of the project that models do not read until they are reviewed. */
  readonly textsWaiting: readonly string[];
  /** Servers were started and none answered. */
  readonly isSilent: boolean;
  /** Undefined if no tools are known yet. */
  readonly plan: AgentPlan | undefined;
}

/** Starts the servers, writes the lock, has changes reviewed, and groups the tools into agents. */
export async function buildProject(
  settings: Settings,
  { servers = [], reviewer, regroup, dryRun = false, planner, progress }: BuildOptions,
): Promise<BuildReport> {
  const { folder, loaded, config } = settings;
  const configured = Object.keys(collectServers(loaded));
  refuseWrongFolder(settings, configured);
  for (const server of servers) getServer(server, loaded);
  const chosen = servers.length > 0 ? servers : configured;
  const refine = await openRefine(settings, planner);
  const opened = await openReview(settings, reviewer);
  const { session, names, discoveries, lock, reviews } = await startAndReview(opened, chosen, {
    progress,
    dryRun,
  });
  const plan = await groupTools(settings, { lock, refine, regroup, session, dryRun });
  if (!dryRun) {
    if (plan) {
      await applyPlan(folder, plan);
      await approveRewritten(session.ledger, plan.changes);
    }
    if (reviewer) await askHall(folder, "trustChanged", {});
    if (plan) await askHall(folder, "groupsChanged", {});
  }

  const isUnapproved = (name: string): boolean =>
    reviews.some((review) => review.name === name && !review.isApproved);
  const isUnstarted = (name: string): boolean =>
    !names.includes(name) && config.mcpServers[name]?.disabled !== true;
  const waiting = chosen.filter((name) => isUnstarted(name) || isUnapproved(name));
  return {
    configured,
    discoveries,
    lockFile: dryRun ? undefined : lockPath(folder),
    reviews,
    waiting,
    areModulesWaiting: !reviewer && (await hasUnapprovedModules(session)),
    textsWaiting: await findWaitingTexts(session),
    isSilent: isSilent(discoveries, waiting, settings),
    plan,
  };
}

interface Reviewed extends Approved {
  readonly session: ReviewSession;
  /** The servers that were started. */
  readonly names: readonly string[];
  readonly discoveries: readonly Discovery[];
  readonly lock: Lock;
}

/** The common part of `build` and `verify`: starts the servers, writes the lock, has what is new reviewed. */
async function startAndReview(
  opened: ReviewSession,
  chosen: readonly string[],
  { progress, dryRun = false }: Pick<BuildOptions, "progress" | "dryRun">,
): Promise<Reviewed> {
  const { folder, loaded } = opened.settings;
  const session = dryRun ? opened : await takeOver(opened, chosen);
  const names = await selectStartable(session, chosen);
  const discoveries = await discoverForReview(session, { names, progress });
  const lock = await mergeIntoLock(folder, discoveries, Object.keys(collectServers(loaded)));
  if (dryRun) return { session, names, discoveries, lock, reviews: [], modules: [], texts: [] };
  await writeLock(folder, lock);
  const approved = await reviewDiscoveries(session, discoveries);
  return { session, names, discoveries, lock, ...approved };
}

/** A build in a folder that is no project would leave a `.guildhall` there. Throws NOT_FOUND. */
function refuseWrongFolder(settings: Settings, configured: readonly string[]): void {
  const { folder, config } = settings;
  if (configured.length > 0 || config.toolkits.length > 0 || hasProjectFile(settings)) return;
  throw new HallError("NOT_FOUND", `no config found for the folder "${folder}"`, {
    hint: "Nothing was created. Go to your project, or import the servers of your clients into this folder.",
    next: [{ do: "run-command", command: "init" }],
  });
}

function isSilent(
  discoveries: readonly Discovery[],
  waiting: readonly string[],
  { loaded }: Settings,
): boolean {
  if (discoveries.some((discovery) => "found" in discovery)) return false;
  const started = discoveries.filter(({ name }) => !Object.hasOwn(loaded.unusable, name));
  return started.length > 0 || (discoveries.length > 0 && waiting.length === 0);
}

interface GroupingInput {
  readonly session: ReviewSession;
  readonly dryRun: boolean;
  readonly lock: Lock;
  readonly refine: Refine | undefined;
  readonly regroup: boolean | undefined;
}

async function groupTools(
  settings: Settings,
  { session: { ledger }, dryRun, lock, refine, regroup }: GroupingInput,
): Promise<AgentPlan | undefined> {
  const { folder, loaded } = settings;
  const configured = Object.keys(collectServers(loaded));
  // Without servers, the built-in tools are grouped.
  const isKnown =
    configured.length === 0 || configured.some((name) => Object.hasOwn(lock.servers, name));
  if (!isKnown) return undefined;
  const trust = createTrust({ ledger });
  trust.refresh();
  const entries = trust.entries();
  const known = await listKnownTools(folder, settings, lock);
  // Descriptions of agents are made of their tools' words. A dry run only shows them to a person.
  const targets =
    dryRun && !refine
      ? known
      : known.flatMap((target) => groupable(target, trust.heldBecause(target)));
  const { domain, hints } = approvedWords(loaded, entries);
  const notes = await readNoteFiles(folder, configured);
  const noteText = notes
    .filter((note) => isTextApproved(entries, note))
    .map(({ text }) => text)
    .join("\n");
  return planAgents({ folder, targets, regroup, refine, domain, hints, noteText });
}

/** A reviewed tool that is held back stays in its group, by its name: nothing else of it is used. */
function groupable(target: Target, held: Held | undefined): readonly Target[] {
  if (!held) return [target];
  const tool = { name: target.tool.name, inputSchema: { type: "object" } } as const;
  return held.kind === "changed" ? [{ ...target, tool }] : [];
}

/** Undefined to group without a model. Throws INVALID_PARAMS. */
async function openRefine(
  { config, secrets }: Settings,
  planner = "local",
): Promise<Refine | undefined> {
  if (planner === "local") return undefined;
  if (planner !== "model")
    throw new HallError("INVALID_PARAMS", `unknown planner "${planner}" (expected: local, model)`);
  const opening = openingFor(undefined, config.planner, process.env);
  if (!opening)
    throw new HallError("NOT_FOUND", "no model is configured", {
      hint: "Without --planner, tools are grouped without a model.",
      next: [{ do: "edit-config", field: "planner.model" }],
    });
  const [{ openModel }, { regroupWithModel }] = await Promise.all([
    import("../agents/model/provider.ts"),
    import("../agents/model/regroup.ts"),
  ]);
  return regroupWithModel({ open: () => openModel({ ...opening, secrets }), secrets });
}

export interface VerifyOptions extends Pick<DiscoverOptions, "progress"> {
  /** One server. Default: all. */
  readonly server?: string | undefined;
  readonly reviewer: Reviewer | undefined;
}

export interface VerifyReport extends Approved {
  /** Servers that did not answer. */
  readonly down: readonly string[];
}

/** Starts servers, has what they offer reviewed, and notifies the running hall. */
export async function verifyServers(
  settings: Settings,
  { server, reviewer, progress }: VerifyOptions,
): Promise<VerifyReport> {
  const configured = Object.keys(collectServers(settings.loaded));
  const opened = await openReview(settings, reviewer);
  if (server !== undefined) getServer(server, settings.loaded);
  const chosen = server === undefined ? configured : [server];
  const hasOther =
    (await hasUnapprovedModules(opened)) || (await findWaitingTexts(opened)).length > 0;
  if (chosen.length === 0 && !hasOther)
    throw new HallError("NOT_FOUND", "nothing to review: no servers are configured", {
      hint: "Add servers under mcpServers in guildhall.json.",
      next: [{ do: "run-command", command: "init" }],
    });

  if (!reviewer)
    throw new HallError("INVALID_PARAMS", "a review needs a person at a terminal", {
      hint: "Run it in a terminal.",
    });

  const reviewed = await startAndReview(opened, chosen, { progress });
  await askHall(settings.folder, "trustChanged", {});
  const { discoveries, reviews, modules, texts } = reviewed;
  const down = discoveries.filter((discovery) => !("found" in discovery));
  return { reviews, modules, texts, down: down.map(({ name }) => name) };
}
