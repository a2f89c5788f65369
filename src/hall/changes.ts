import type { JsonObject } from "../base/json.ts";
import { easingOf } from "../trust/easing.ts";
import { markTool } from "../trust/marks.ts";
import { definitionKey, definitionOf } from "../trust/pin.ts";
import { type Change, compareDefinition, type FieldChange, willAsk } from "../trust/review.ts";
import type { Suspicion } from "../trust/suspicion.ts";
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
  findReview,
  formatSource,
  goneFrom,
  type OtherReview,
  offerKinds,
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
    const review = findReview(entries, name);
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
export interface ReviewedItem {
  readonly name: string;
  readonly state: Change["kind"];
  readonly suspicions: readonly Suspicion[];
  readonly fields?: readonly FieldChange[] | undefined;
  readonly definition: JsonObject;
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
  readonly others: readonly (ReviewedItem & { readonly kind: OtherReview["kind"] })[];
}

export function summariseReview({
  name,
  reached,
  eased,
  confined,
  isOpen,
  isApproved,
  package: installed,
  tools,
  others,
  gone,
}: ServerReview): ReviewSummary {
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
    approved: isApproved,
    changed: isOpen,
    tools: tools.map((entry) => {
      const { tool, change, isDestructive, suspicions } = entry;
      const { why, effect: _reviewed, ...flow } = markTool(tool);
      return {
        name: tool.name,
        state: change.kind,
        destructive: isDestructive,
        asks: willAsk(entry),
        ...flow,
        why,
        fields: change.kind === "changed" ? change.fields : undefined,
        suspicions,
        definition: definitionOf(tool),
      };
    }),
    others: others.map(({ kind, name, definition, change, suspicions }) => ({
      kind,
      name,
      state: change.kind,
      suspicions,
      fields: change.kind === "changed" ? change.fields : undefined,
      definition,
    })),
    gone,
  };
}
