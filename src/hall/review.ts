import type { JsonObject } from "../base/json.ts";
import { visible } from "../base/sanitize.ts";
import { collectServers } from "../config/configured-servers.ts";
import type { ServerConfig } from "../config/schema.ts";
import type { Tool } from "../tool.ts";
import { easingOf, ownValue } from "../trust/easing.ts";
import type { Entries, Ledger, Review } from "../trust/ledger.ts";
import { definitionKey, definitionOf, type OfferKind } from "../trust/pin.ts";
import {
  compareDefinition,
  type DefinitionChange,
  goneDefinitions,
  type ProposedMark,
  proposeMark,
  reviewServer,
} from "../trust/review.ts";
import { findSuspicions, type Suspicion } from "../trust/suspicion.ts";
import type { Offer } from "../upstream/lists.ts";
import { projectFiles } from "../upstream/program.ts";
import { approvalOf, describeSource, hiddenValues } from "../upstream/source.ts";
import type { Discovery } from "./discover.ts";
import { findLaunchedPackage, type LaunchedPackage, writePin } from "./package-pin.ts";
import { openProjectLedger, type PersonDecision, recordInProject } from "./project-store.ts";
import {
  compareModules,
  findModules,
  isTextApproved,
  type ModuleReview,
  type ProjectText,
  readProjectTexts,
  withApprovedTexts,
} from "./project-texts.ts";
import { chooseSandbox, describeSandbox, moduleServer, modulesName } from "./sandbox.ts";
import { type Settings, trustSettingsOf } from "./settings.ts";
import { adopt, findReviewsElsewhere, identityOf, type ReviewElsewhere } from "./take-over.ts";

const byCommand = "by command";

/** Asks a person; each surface does it in its own way. */
export interface Reviewer {
  /** Where the person answers, for the audit. Default: by command. */
  readonly place?: string;
  /** The person who answers, for the audit. Default: the hall's owner. */
  readonly by?: string | undefined;
  /** The names of the servers that may start, of those never approved here or changed since. */
  chooseStarts(requests: readonly StartRequest[]): Promise<readonly string[]>;
  /** All that waits for approval, on one screen. Has an entry for each approved server. */
  review(reviews: readonly ServerReview[]): Promise<Decisions>;
  /** The same servers were reviewed in other folders of this user. */
  mayTakeOver(found: readonly ReviewElsewhere[]): Promise<boolean>;
  /** `runs` says how their process is confined. */
  mayLoadModules(modules: readonly ModuleReview[], runs: string): Promise<boolean>;
  /** Texts of the project that models would read, new or changed since they were approved. */
  mayUseTexts(texts: readonly ProjectText[]): Promise<boolean>;
}

export interface StartRequest {
  readonly name: string;
  /** The command or URL, without values of variables. */
  readonly reached: string;
  /** How it was reached when it was approved; undefined if it never was. */
  readonly before: string | undefined;
  /** It runs a program or script of the project. */
  readonly runsProjectFile: boolean;
}

export type Decisions = ReadonlyMap<ServerReview, ReviewDecision>;

/** How a server is approved. */
export interface ReviewDecision {
  /** Write the exact version of its package into the project's config. */
  readonly isPinned?: boolean;
  /** The tools whose calls require approval. Default: as they are marked. */
  readonly destructive?: ReadonlySet<Tool> | undefined;
}

/** Approves everything with the marks it has. */
export const approveAll: Reviewer = {
  chooseStarts: async (requests) => requests.map(({ name }) => name),
  review: async (reviews) => new Map(reviews.map((review) => [review, {}])),
  mayTakeOver: async () => true,
  mayLoadModules: async () => true,
  mayUseTexts: async () => true,
};

/** Without a reviewer nothing new is approved. */
export interface ReviewSession {
  readonly settings: Settings;
  readonly ledger: Ledger;
  readonly entries: Entries;
  readonly reviewer: Reviewer | undefined;
}

export async function openReview(
  settings: Settings,
  reviewer: Reviewer | undefined,
): Promise<ReviewSession> {
  const ledger = await openProjectLedger(settings);
  return { settings, ledger, entries: await ledger.read(), reviewer };
}

/** Approves the servers whose reviews of other folders the person takes over. Later questions do not undo it. */
export async function takeOver(
  session: ReviewSession,
  names: readonly string[],
): Promise<ReviewSession> {
  const { settings, ledger, reviewer } = session;
  const elsewhere = reviewer ? await findReviewsElsewhere(settings, ledger) : [];
  const found = elsewhere.filter(({ name }) => names.includes(name));
  if (found.length === 0 || !(await reviewer?.mayTakeOver(found))) return session;
  const entries = await adopt(found, ledger);
  const subjects = found.map(({ name }) => name);
  await recordInProject(settings, {
    decision: decisionOf(subjects, reviewer),
  });
  return { ...session, entries };
}

/** A tool, prompt, resource or template. */
export interface ReviewItem {
  readonly kind: OfferKind;
  /** Its name, URI or URI template. */
  readonly name: string;
  readonly definition: JsonObject;
  readonly change: DefinitionChange;
  /** Words in it that a person should look at. */
  readonly suspicions: readonly Suspicion[];
}

export interface ToolReview extends ReviewItem, ProposedMark {
  readonly tool: Tool;
}

const otherKinds = ["prompts", "resources", "templates"] as const;
export const offerKinds: readonly OfferKind[] = ["tools", ...otherKinds];

export interface ServerReview extends Omit<StartRequest, "before"> {
  readonly source: string;
  readonly previous: Review | undefined;
  /** The package that starts it, if a launcher has installed one. */
  readonly package?: LaunchedPackage | undefined;
  /** Its digest, which later starts must have. */
  readonly integrity?: string | undefined;
  readonly identity: string | undefined;
  readonly hidden: Review["hidden"];
  readonly sandbox: Review["sandbox"];
  /** The same in words; undefined where there is nothing to say. */
  readonly confined: string | undefined;
  /** The limits that the user's config eases for a server of this name. */
  readonly eased: string | undefined;
  readonly tools: readonly ToolReview[];
  readonly others: readonly ReviewItem[];
  /** Tools, prompts, resources and templates that it no longer offers. */
  readonly gone: readonly string[];
  /** Set if the server did not answer. */
  readonly failure: string | undefined;
  /** Something about it is not reviewed yet. */
  readonly isOpen: boolean;
  readonly isApproved: boolean;
}

/** The servers that may be started: those approved as they are now, and those the reviewer allows. */
export async function selectStartable(
  { settings, entries, reviewer }: ReviewSession,
  names: readonly string[],
): Promise<readonly string[]> {
  const { mcpServers } = settings.config;
  const enabled = names.filter((name) => mcpServers[name]?.disabled === false);
  const requests = enabled.flatMap((name): readonly StartRequest[] => {
    const config = mcpServers[name];
    const previous = ownValue(entries.servers, name);
    if (!config || previous?.source === approvalOf(config)) return [];
    const [reached, before] = [formatSource(config), previous?.reached];
    return [{ name, reached, before, runsProjectFile: runsProjectFile(config) }];
  });
  const chosen = requests.length > 0 ? ((await reviewer?.chooseStarts(requests)) ?? []) : [];
  const refused = requests.filter(({ name }) => !chosen.includes(name)).map(({ name }) => name);
  // An unusable entry is reported by the discovery; nothing is started.
  const isUnusable = (name: string): boolean => Object.hasOwn(settings.loaded.unusable, name);
  return names.filter(
    (name) => isUnusable(name) || (enabled.includes(name) && !refused.includes(name)),
  );
}

function runsProjectFile(config: ServerConfig): boolean {
  return config.type === "stdio" && Object.keys(projectFiles(config)).length > 0;
}

export interface Approved {
  readonly reviews: readonly ServerReview[];
  /** Modules and texts of the project that were approved now. */
  readonly modules: readonly string[];
  readonly texts: readonly string[];
}

/** Has each discovered server reviewed, writes the approvals to the ledger, and records them. */
export async function reviewDiscoveries(
  session: ReviewSession,
  discoveries: readonly Discovery[],
): Promise<Approved> {
  const { settings, entries, reviewer, ledger } = session;
  const usable = discoveries.filter(({ name }) => !Object.hasOwn(settings.loaded.unusable, name));
  const prepared: ServerReview[] = [];
  for (const discovery of usable) prepared.push(await prepareReview(discovery, session));
  const open = prepared.filter(({ isOpen, failure }) => isOpen && failure === undefined);
  const decisions = open.length > 0 ? await reviewer?.review(open) : undefined;
  const { modules, moduleSandbox } = await reviewModules(session);
  const texts = await reviewTexts(session);
  // Nothing is written before the last question is answered.
  const reviews: ServerReview[] = [];
  for (const review of prepared)
    reviews.push(await applyDecision(review, decisions?.get(review), settings));
  const approved = reviews.filter(({ isOpen, isApproved }) => isOpen && isApproved);
  if (approved.length > 0 || modules !== entries.modules || texts.length > 0) {
    const servers = Object.fromEntries(approved.map((review) => [review.name, toEntry(review)]));
    await ledger.change((current) => ({
      ...withApprovedTexts(current, texts),
      modules,
      moduleSandbox,
      servers: { ...current.servers, ...servers },
    }));
  }
  const loaded = Object.entries(modules ?? {})
    .filter(([file, digest]) => entries.modules?.[file] !== digest)
    .map(([file]) => file);
  const subjects = [...[...approved, ...texts].map(({ name }) => name), ...loaded];
  const decision = decisionOf(subjects, reviewer);
  await recordInProject(settings, { decision, discoveries });
  return { reviews, modules: loaded, texts: texts.map(({ name }) => name) };
}

function decisionOf(subjects: readonly string[], reviewer: Reviewer | undefined): PersonDecision {
  const { place: reason = byCommand, by: caller } = reviewer ?? {};
  return { kind: "reviewed", subjects, reason, caller };
}

async function applyDecision(
  review: ServerReview,
  decision: ReviewDecision | undefined,
  { folder }: Settings,
): Promise<ServerReview> {
  if (!decision) return review;
  const { isPinned = false, destructive } = decision;
  const tools = destructive
    ? review.tools.map((entry) => ({ ...entry, isDestructive: destructive.has(entry.tool) }))
    : review.tools;
  const decided = { ...review, tools, isApproved: true };
  const pin = review.package?.pin;
  if (!isPinned || !pin) return decided;
  await writePin(folder, pin);
  return {
    ...decided,
    source: approvalOf(pin.config),
    reached: formatSource(pin.config),
    integrity: review.package?.integrity,
    identity: identityOf(pin.config),
  };
}

/** The modules that are approved from now on. */
async function reviewModules(
  session: ReviewSession,
): Promise<Pick<Entries, "modules" | "moduleSandbox">> {
  const { entries, reviewer, settings } = session;
  const found = await findModules(session);
  const modules = compareModules(entries, found);
  if (!reviewer || modules.every(({ change }) => change === "same")) return entries;
  const server = moduleServer(settings.config.defaults.sandbox);
  const before = entries.moduleSandbox?.kind === "on" ? entries.moduleSandbox.learned : undefined;
  const moduleSandbox = await chooseSandbox(server, undefined, before);
  const runs =
    (await describeSandbox(modulesName, server, moduleSandbox)) ??
    "not in a sandbox: your config turns it off";
  return (await reviewer.mayLoadModules(modules, runs))
    ? { modules: found, moduleSandbox }
    : entries;
}

/** The texts that are approved from now on. */
async function reviewTexts({
  settings,
  entries,
  reviewer,
}: ReviewSession): Promise<readonly ProjectText[]> {
  if (!reviewer) return [];
  const texts = await readProjectTexts(settings);
  const open = texts.filter((text) => !isTextApproved(entries, text));
  return open.length > 0 && (await reviewer.mayUseTexts(open)) ? open : [];
}

/** Names of the texts that are not used because nobody has approved them as they are. */
export async function findWaitingTexts({
  settings,
  ledger,
}: Pick<ReviewSession, "settings" | "ledger">): Promise<readonly string[]> {
  const [entries, texts] = await Promise.all([ledger.read(), readProjectTexts(settings)]);
  return texts.filter((text) => !isTextApproved(entries, text)).map(({ name }) => name);
}

async function prepareReview(
  discovery: Discovery,
  { settings, entries, ledger }: ReviewSession,
): Promise<ServerReview> {
  const { name } = discovery;
  const config = settings.config.mcpServers[name];
  if (!config) throw new Error(`${name} was discovered but is not configured`);
  const source = approvalOf(config);
  const previous = ownValue(entries.servers, name);
  const offer = "found" in discovery ? discovery.found.offer : undefined;
  const otherServers = Object.keys(collectServers(settings.loaded)).filter(
    (other) => other !== name,
  );
  const trustSettings = trustSettingsOf(settings.config);
  const eased = easingOf(name, trustSettings);
  const reviewItem = (kind: OfferKind, definition: JsonObject): ReviewItem => ({
    kind,
    name: definitionKey(kind, definition),
    definition,
    change: compareDefinition(kind, definition, previous),
    suspicions: findSuspicions(definition, otherServers),
  });
  const tools = (offer?.tools ?? []).map(
    (tool): ToolReview => ({
      ...reviewItem("tools", tool),
      definition: definitionOf(tool),
      tool,
      ...proposeMark(name, tool, { previous, eased, trustSettings }),
    }),
  );
  const others = otherKinds.flatMap((kind) =>
    (offer?.[kind] ?? []).map((definition) => reviewItem(kind, definition)),
  );
  const launched = await findLaunchedPackage(config, settings.folder);
  const isOpen =
    previous?.source !== source ||
    previous.eased !== eased ||
    [...tools, ...others].some(({ change }) => change.kind !== "same");
  return {
    name,
    reached: formatSource(config),
    source,
    previous,
    runsProjectFile: runsProjectFile(config),
    package: launched,
    integrity: launched?.isExact ? launched.integrity : undefined,
    identity: offer && identityOf(config),
    hidden: await signHidden(config, ledger),
    sandbox: discovery.sandbox ?? previous?.sandbox,
    confined: await describeSandbox(name, config, discovery.sandbox ?? previous?.sandbox),
    eased,
    tools,
    others,
    gone: offer ? goneFrom(offer, previous) : [],
    failure: "found" in discovery ? undefined : discovery.reason,
    isOpen,
    // A server that did not answer was allowed to start; whatever it offers later is reviewed then.
    isApproved: !isOpen || (!("found" in discovery) && previous?.source !== source),
  };
}

/** Signatures of the values that a description hides. */
export async function signHidden(
  config: ServerConfig,
  ledger: Ledger,
): Promise<NonNullable<Review["hidden"]>> {
  const values = Object.entries(hiddenValues(config));
  const signed = values.map(async ([name, value]) => [name, await ledger.sign(`${name}=${value}`)]);
  return Object.fromEntries(await Promise.all(signed));
}

export function goneFrom(offer: Offer, review: Review | undefined): readonly string[] {
  return offerKinds.flatMap((kind) => goneDefinitions(kind, offer[kind], review));
}

function toEntry(review: ServerReview): Review {
  const { source, reached, eased, integrity, identity, hidden, sandbox, tools, others } = review;
  const marks = new Map(tools.map(({ tool, isDestructive }) => [tool, isDestructive]));
  const take = (wanted: OfferKind): readonly JsonObject[] =>
    others.filter(({ kind }) => kind === wanted).map(({ definition }) => definition);
  return reviewServer({
    source,
    reached,
    eased,
    integrity,
    identity,
    hidden,
    sandbox,
    tools: [...marks.keys()],
    prompts: take("prompts"),
    resources: take("resources"),
    templates: take("templates"),
    isDestructive: (tool) => marks.get(tool) ?? true,
  });
}

export function formatSource(config: ServerConfig): string {
  return visible(describeSource(config));
}
