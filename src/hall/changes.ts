import type { JsonObject } from "../base/json.ts";
import { easingOf, ownValue } from "../trust/easing.ts";
import { markTool } from "../trust/marks.ts";
import { definitionKey } from "../trust/pin.ts";
import {
  compareDefinition,
  type DefinitionChange,
  type FieldChange,
  willAsk,
} from "../trust/review.ts";
import { emptyOffer } from "../upstream/lists.ts";
import { approvalOf } from "../upstream/source.ts";
import { openProjectLedger } from "./project-store.ts";
import {
  compareModules,
  findModules,
  type ModuleReview,
  type ModuleSession,
} from "./project-texts.ts";
import { readOffers } from "./project-trust.ts";
import {
  formatSource,
  goneFrom,
  offerKinds,
  type ReviewItem,
  type ServerReview,
  signHidden,
} from "./review.ts";
import { getServer, type Settings, trustSettingsOf } from "./settings.ts";

/** The differences between a server now and as it was reviewed, as far as the hall or the lock knows. */
export interface ServerChanges {
  readonly name: string;
  readonly reached?:
    | {
        readonly before: string;
        readonly now: string;
        /** Variables, headers and options whose values are hidden and have changed. */
        readonly hidden: readonly string[];
      }
    | undefined;
  /** The limits that the user's config eases for it; empty if none. */
  readonly eased?: { readonly before: string; readonly now: string } | undefined;
  readonly changed: readonly { readonly name: string; readonly fields: readonly FieldChange[] }[];
  /** Unchanged, but reviewed by version 0.1, which did not show all of it. */
  readonly again: readonly string[];
  readonly added: readonly string[];
  readonly gone: readonly string[];
}

export async function findChanges(
  settings: Settings,
  server: string | undefined,
): Promise<readonly ServerChanges[]> {
  if (server !== undefined) getServer(server, settings.loaded);
  const ledger = await openProjectLedger(settings);
  const entries = await ledger.read();
  const chosen = Object.entries(settings.config.mcpServers).filter(([name, { disabled }]) =>
    server === undefined ? !disabled : name === server,
  );
  const names = chosen.map(([name]) => name);
  const offers = await readOffers(settings, names);
  const ofModules = server === undefined ? await findModuleChanges({ settings, entries }) : [];
  const compared = chosen.map(async ([name, config]): Promise<ServerChanges> => {
    const review = ownValue(entries.servers, name);
    const offer = offers[name] ?? emptyOffer;
    const changes = offerKinds.flatMap((kind) =>
      offer[kind].map((definition: JsonObject) => ({
        name: definitionKey(kind, definition),
        change: compareDefinition(kind, definition, review),
      })),
    );
    const isReachedOtherwise = review !== undefined && review.source !== approvalOf(config);
    const eased = easingOf(name, trustSettingsOf(settings.config));
    const isEasedOtherwise = review !== undefined && review.eased !== eased;
    return {
      name,
      reached: isReachedOtherwise
        ? {
            before: review.reached,
            now: formatSource(config),
            hidden: changedKeys(review.hidden ?? {}, await signHidden(config, ledger)),
          }
        : undefined,
      eased: isEasedOtherwise ? { before: review.eased ?? "", now: eased ?? "" } : undefined,
      changed: changes.flatMap(({ name, change }) =>
        change.kind === "changed" ? [{ name, fields: change.fields }] : [],
      ),
      again: changes.filter(({ change }) => change.kind === "again").map(({ name }) => name),
      added: changes.filter(({ change }) => change.kind === "new").map(({ name }) => name),
      gone: changes.length > 0 ? goneFrom(offer, review) : [],
    };
  });
  return [...(await Promise.all(compared)), ...ofModules];
}

function changedKeys(
  before: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): readonly string[] {
  return Object.keys(now).filter((key) => Object.hasOwn(before, key) && before[key] !== now[key]);
}

/** The project's modules as one entry, under a name that no server can have. */
async function findModuleChanges(session: ModuleSession): Promise<readonly ServerChanges[]> {
  const found = await findModules(session);
  const modules = compareModules(session.entries, found);
  const gone = Object.keys(session.entries.modules ?? {}).filter((file) => !(file in found));
  if (modules.length + gone.length === 0) return [];
  const filesOf = (kind: ModuleReview["change"]): readonly string[] =>
    modules.filter(({ change }) => change === kind).map(({ file }) => file);
  return [
    {
      name: "toolkits of this project",
      changed: filesOf("changed").map((name) => ({ name, fields: [] })),
      again: [],
      added: filesOf("new"),
      gone,
    },
  ];
}

/** A tool, prompt, resource or template in a review, as JSON. */
export interface ReviewedItem extends Pick<ReviewItem, "name" | "suspicions" | "definition"> {
  readonly state: DefinitionChange["kind"];
  readonly fields?: readonly FieldChange[] | undefined;
  /** Of a tool: why it is marked as it is, by mark. */
  readonly why?: Readonly<Record<string, string>> | undefined;
}

/** A review as JSON. */
export interface ReviewSummary
  extends Pick<ServerReview, "name" | "reached" | "eased" | "gone" | "confined"> {
  readonly package: object | undefined;
  readonly approved: boolean;
  readonly changed: boolean;
  readonly tools: readonly (ReviewedItem & {
    readonly destructive: boolean;
    readonly asks: boolean;
  })[];
  readonly others: readonly (ReviewedItem & Pick<ReviewItem, "kind">)[];
}

export function summariseReview(review: ServerReview): ReviewSummary {
  const { name, reached, eased, confined, gone, package: installed } = review;
  return {
    name,
    reached,
    package: installed && {
      name: installed.name,
      version: installed.version,
      integrity: installed.integrity,
      exact: installed.isExact,
    },
    eased,
    confined,
    approved: review.isApproved,
    changed: review.isOpen,
    tools: review.tools.map((entry) => {
      const { effect: _reviewed, ...marks } = markTool(entry.tool);
      const asking = { destructive: entry.isDestructive, asks: willAsk(entry) };
      return { ...summariseItem(entry), ...asking, ...marks };
    }),
    others: review.others.map((item) => ({ kind: item.kind, ...summariseItem(item) })),
    gone,
  };
}

function summariseItem({ name, change, suspicions, definition }: ReviewItem): ReviewedItem {
  const fields = change.kind === "changed" ? change.fields : undefined;
  return { name, state: change.kind, fields, suspicions, definition };
}
