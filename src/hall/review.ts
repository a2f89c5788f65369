import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { hashOf } from "../base/json.ts";
import { visible } from "../base/sanitize.ts";
import type { ServerConfig } from "../config/schema.ts";
import { configuredServers } from "../config/unusable.ts";
import type { Tool } from "../tool.ts";
import type { Entries, Ledger, Review } from "../trust/ledger.ts";
import { markTool } from "../trust/marks.ts";
import { definitionKey, definitionOf, type OfferKind } from "../trust/pin.ts";
import {
  type Change,
  compareDefinition,
  type FieldChange,
  goneDefinitions,
  reviewServer,
} from "../trust/review.ts";
import { emptyOffer, type Offer } from "../upstream/lists.ts";
import { writeLock } from "../upstream/lock.ts";
import { describeSource, sourceOf } from "../upstream/source.ts";
import { notifyHall } from "./admin-client.ts";
import {
  type DiscoverOptions,
  type Discovery,
  discoverServers,
  mergeIntoLock,
} from "./discover.ts";
import { openProjectLedger, type PersonDecision, recordInProject } from "./project-store.ts";
import { readOffers } from "./project-trust.ts";
import { getServer, type Settings } from "./settings.ts";

/** Asks a person; each surface does it in its own way. */
export interface Reviewer {
  /** Before a server is started for the first time, or in another way than approved. */
  mayStart(request: StartRequest): Promise<boolean>;
  review(review: ServerReview): Promise<ReviewDecision>;
  mayLoadModules(patterns: readonly string[]): Promise<boolean>;
}

export interface StartRequest {
  readonly name: string;
  /** The command or URL, without values of variables. */
  readonly reached: string;
  /** How it was reached when it was approved; undefined if it never was. */
  readonly before: string | undefined;
}

export interface ReviewDecision {
  readonly isApproved: boolean;
  /** Names of the tools whose calls require approval. Default: as they are marked. */
  readonly destructive?: ReadonlySet<string> | undefined;
}

/** Approves everything with the marks it has. */
export const approveAll: Reviewer = {
  mayStart: async () => true,
  review: async () => ({ isApproved: true }),
  mayLoadModules: async () => true,
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

export interface ToolReview {
  readonly tool: Tool;
  readonly change: Change;
  readonly isDestructive: boolean;
}

/** A prompt, resource or template. */
export interface OtherReview {
  readonly kind: OtherKind;
  /** Its name, URI or URI template. */
  readonly name: string;
  readonly definition: JsonObject;
  readonly change: Change;
}

const otherKinds = ["prompts", "resources", "templates"] as const;
type OtherKind = (typeof otherKinds)[number];
const offerKinds: readonly OfferKind[] = ["tools", ...otherKinds];

export interface ServerReview {
  readonly name: string;
  readonly reached: string;
  readonly source: string;
  readonly previous: Review | undefined;
  readonly tools: readonly ToolReview[];
  readonly others: readonly OtherReview[];
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
  const allowed: string[] = [];
  for (const name of names) {
    // An unusable entry is reported by the discovery; nothing is started.
    const isUnusable = Object.hasOwn(settings.loaded.unusable, name);
    if (isUnusable || (await mayStart(name))) allowed.push(name);
  }
  return allowed;

  async function mayStart(name: string): Promise<boolean> {
    const config = settings.config.mcpServers[name];
    if (!config || config.disabled) return false;
    const previous = findReview(entries, name);
    if (previous?.source === sourceOf(config)) return true;
    const reached = formatSource(config);
    return (await reviewer?.mayStart({ name, reached, before: previous?.reached })) ?? false;
  }
}

export interface ReviewResult {
  readonly reviews: readonly ServerReview[];
  readonly decision: PersonDecision;
}

/** Has each discovered server reviewed and writes the approvals to the ledger. */
export async function reviewDiscoveries(
  session: ReviewSession,
  discoveries: readonly Discovery[],
): Promise<ReviewResult> {
  const { settings, entries, reviewer, ledger } = session;
  const usable = discoveries.filter(({ name }) => !Object.hasOwn(settings.loaded.unusable, name));
  const reviews: ServerReview[] = [];
  for (const discovery of usable) {
    const review = prepareReview(discovery, session);
    const isAsked = review.isOpen && reviewer !== undefined;
    reviews.push(isAsked ? applyDecision(review, await reviewer.review(review)) : review);
  }

  const modules = await reviewModules(session);
  const approved = reviews.filter(({ isOpen, isApproved }) => isOpen && isApproved);
  if (approved.length > 0 || modules !== entries.modules) {
    const servers = Object.fromEntries(approved.map((review) => [review.name, toEntry(review)]));
    await ledger.change((current) => ({
      ...current,
      modules,
      servers: { ...current.servers, ...servers },
    }));
  }
  const subjects = approved.map(({ name }) => name);
  return { reviews, decision: { kind: "reviewed", subjects, reason: "by command" } };
}

function applyDecision(
  review: ServerReview,
  { isApproved, destructive }: ReviewDecision,
): ServerReview {
  const tools = destructive
    ? review.tools.map((entry) => ({ ...entry, isDestructive: destructive.has(entry.tool.name) }))
    : review.tools;
  return { ...review, tools, isApproved };
}

/** True if the project names toolkit modules that are not approved. */
export function hasUnapprovedModules({
  settings,
  entries,
}: Pick<ReviewSession, "settings" | "entries">): boolean {
  const { toolkits } = settings.config;
  return toolkits.length > 0 && entries.modules !== hashOf(toolkits);
}

/** The hash of the module patterns that are approved from now on. */
async function reviewModules(session: ReviewSession): Promise<string | undefined> {
  const { settings, entries, reviewer } = session;
  const { toolkits } = settings.config;
  if (!reviewer || !hasUnapprovedModules(session)) return entries.modules;
  return (await reviewer.mayLoadModules(toolkits)) ? hashOf(toolkits) : entries.modules;
}

function prepareReview(
  discovery: Discovery,
  { settings, entries }: Pick<ReviewSession, "settings" | "entries">,
): ServerReview {
  const { name } = discovery;
  const config = settings.config.mcpServers[name];
  if (!config) throw new Error(`${name} was discovered but is not configured`);
  const source = sourceOf(config);
  const previous = findReview(entries, name);
  const offer = "found" in discovery ? discovery.found.offer : undefined;
  const tools = (offer?.tools ?? []).map((tool): ToolReview => {
    const change = compareDefinition("tools", tool, previous);
    const before = change.kind === "same" ? previous?.tools[tool.name] : undefined;
    const isDestructive = before?.isDestructive ?? markTool(tool).effect === "changes";
    return { tool, change, isDestructive };
  });
  const others = otherKinds.flatMap((kind) =>
    (offer?.[kind] ?? []).map((definition: JsonObject): OtherReview => {
      const change = compareDefinition(kind, definition, previous);
      return { kind, name: definitionKey(kind, definition), definition, change };
    }),
  );
  const isOpen =
    previous?.source !== source ||
    [...tools, ...others].some(({ change }) => change.kind !== "same");
  return {
    name,
    reached: formatSource(config),
    source,
    previous,
    tools,
    others,
    gone: offer ? goneFrom(offer, previous) : [],
    failure: "found" in discovery ? undefined : discovery.reason,
    isOpen,
    isApproved: !isOpen,
  };
}

function goneFrom(offer: Offer, review: Review | undefined): readonly string[] {
  return offerKinds.flatMap((kind) => goneDefinitions(kind, offer[kind], review));
}

function toEntry({ source, reached, tools, others }: ServerReview): Review {
  const marks = new Map(tools.map(({ tool, isDestructive }) => [tool, isDestructive]));
  const take = (wanted: OtherKind): readonly JsonObject[] =>
    others.filter(({ kind }) => kind === wanted).map(({ definition }) => definition);
  return reviewServer({
    source,
    reached,
    tools: [...marks.keys()],
    prompts: take("prompts"),
    resources: take("resources"),
    templates: take("templates"),
    isDestructive: (tool) => marks.get(tool) ?? true,
  });
}

export interface VerifyOptions extends Pick<DiscoverOptions, "onDiscovery"> {
  /** One server. Default: all. */
  readonly server?: string | undefined;
  readonly reviewer: Reviewer | undefined;
}

export interface VerifyReport {
  readonly reviews: readonly ServerReview[];
  /** Servers that did not answer. */
  readonly down: readonly string[];
}

/** Starts servers, has what they offer reviewed, and notifies the running hall. */
export async function verifyServers(
  settings: Settings,
  { server, reviewer, onDiscovery }: VerifyOptions,
): Promise<VerifyReport> {
  const configured = Object.keys(configuredServers(settings.loaded));
  const session = await openReview(settings, reviewer);
  if (server !== undefined) getServer(server, settings.loaded);
  const chosen = server === undefined ? configured : [server];
  if (chosen.length === 0 && !hasUnapprovedModules(session))
    throw new HallError("NOT_FOUND", "nothing to review: no servers are configured", {
      hint: "Add servers under mcpServers in guildhall.json.",
      next: [{ do: "run-command", command: "init" }],
    });

  if (!reviewer)
    throw new HallError("INVALID_PARAMS", "a review needs a person at a terminal", {
      hint: "Run it in a terminal.",
    });

  const names = await selectStartable(session, chosen);
  const discoveries = await discoverServers(settings, { names, onDiscovery });
  await writeLock(settings.folder, await mergeIntoLock(settings.folder, discoveries, configured));
  const { reviews, decision } = await reviewDiscoveries(session, discoveries);
  await recordInProject(settings, { decision, discoveries });
  await notifyHall(settings.folder, { trustChanged: {} });

  const down = discoveries.filter((discovery) => !("found" in discovery));
  return { reviews, down: down.map(({ name }) => name) };
}

/** What differs between a server now and as it was reviewed, as far as the hall or the lock knows. */
export interface ServerChanges {
  readonly name: string;
  readonly reached?: { readonly before: string; readonly now: string } | undefined;
  readonly changed: readonly { readonly name: string; readonly fields: readonly FieldChange[] }[];
  readonly added: readonly string[];
  readonly gone: readonly string[];
}

export async function findChanges(
  settings: Settings,
  server: string | undefined,
): Promise<readonly ServerChanges[]> {
  if (server !== undefined) getServer(server, settings.loaded);
  const entries = await (await openProjectLedger(settings)).read();
  const offers = await readOffers(settings);

  const chosen = Object.entries(settings.config.mcpServers).filter(
    ([name]) => server === undefined || name === server,
  );
  return chosen.map(([name, config]): ServerChanges => {
    const review = findReview(entries, name);
    const offer = offers[name] ?? emptyOffer;
    const changes = offerKinds.flatMap((kind) =>
      offer[kind].map((definition: JsonObject) => ({
        name: definitionKey(kind, definition),
        change: compareDefinition(kind, definition, review),
      })),
    );
    const isReachedOtherwise = review !== undefined && review.source !== sourceOf(config);
    return {
      name,
      reached: isReachedOtherwise
        ? { before: review.reached, now: formatSource(config) }
        : undefined,
      changed: changes.flatMap(({ name, change }) =>
        change.kind === "changed" ? [{ name, fields: change.fields }] : [],
      ),
      added: changes.filter(({ change }) => change.kind === "new").map(({ name }) => name),
      gone: changes.length > 0 ? goneFrom(offer, review) : [],
    };
  });
}

/** A review as JSON. */
export function summariseReview({
  name,
  reached,
  isOpen,
  isApproved,
  tools,
  others,
  gone,
}: ServerReview): JsonObject {
  return {
    name,
    reached,
    approved: isApproved,
    changed: isOpen,
    tools: tools.map(({ tool, change, isDestructive }) => {
      const { why, effect: _reviewed, ...flow } = markTool(tool);
      return {
        name: tool.name,
        state: change.kind,
        destructive: isDestructive,
        ...flow,
        why,
        fields: change.kind === "changed" ? change.fields : undefined,
        definition: definitionOf(tool),
      };
    }),
    others: others.map(({ kind, name, definition, change }) => ({
      kind,
      name,
      state: change.kind,
      fields: change.kind === "changed" ? change.fields : undefined,
      definition,
    })),
    gone,
  };
}

function formatSource(config: ServerConfig): string {
  return visible(describeSource(config));
}

function findReview({ servers }: Entries, name: string): Review | undefined {
  return Object.hasOwn(servers, name) ? servers[name] : undefined;
}
