import { visible, visibleLines } from "../base/sanitize.ts";
import { plural } from "../base/text.ts";
import type { ReviewItem, ServerReview, StartRequest, ToolReview } from "../hall/review.ts";
import type { Tool } from "../tool.ts";
import { describeFlow, markTool } from "../trust/marks.ts";
import { isOutdated, willAsk } from "../trust/review.ts";
import type { Suspicion } from "../trust/suspicion.ts";
import type { ListItem } from "./list.ts";
import { formatFieldChanges, joinLines, paint, table, wrapProse } from "./print.ts";

/** The texts of a review at the terminal: the items of its lists, and everything about one server. */

export function formatStart({ name, reached, before, runsProjectFile }: StartRequest): ListItem {
  const warning = runsProjectFile ? "  ! runs a file of this project" : "";
  const text = `before: ${visible(before ?? "")}`;
  return {
    label: `${paint("bold", name)}${paint("red", warning)}`,
    lines: [reached, ...(before === undefined ? [] : [{ text, style: "yellow" } as const])],
  };
}

/** One server on the screen: what it runs, how many tools of each kind, what is suspicious. */
export function formatItem(
  review: ServerReview,
  destructive: ReadonlySet<Tool>,
  pinned: ReadonlySet<ServerReview>,
): ListItem {
  const { name, reached, previous, eased, confined, others, gone } = review;
  const marked = withMarks(review, destructive);
  const pin = pinned.has(review) ? review.package?.pin?.after : undefined;
  const suspicious = markedOf(review).flatMap(({ name, suspicions }) =>
    suspicions.map(({ why, excerpt }) => ({
      text: `! ${visible(name)}: ${why}: ${visible(excerpt)}`,
      style: "red" as const,
    })),
  );
  const prompts = others.filter(({ kind }) => kind === "prompts").length;
  const resources = others.length - prompts;
  const offered = [
    countTools(marked),
    prompts > 0 && plural(prompts, "prompt"),
    resources > 0 && plural(resources, "resource"),
  ];
  return {
    label: `${paint("bold", name)}  ${offered.filter(Boolean).join(", ")}`,
    lines: [
      reached,
      ...formatPackage(review, false),
      ...(pin === undefined ? [] : [`pinned to ${visible(pin)} in the project's config`]),
      ...(confined === undefined ? [] : [visible(confined)]),
      ...(eased === undefined ? [] : [`your config: ${visible(eased)}`]),
      ...(previous && isOutdated(previous)
        ? ["approved with version 0.1, which did not show all of it"]
        : []),
      ...formatNews(review),
      ...(gone.length > 0 ? [`removed: ${gone.map(visible).join(", ")}`] : []),
      ...suspicious,
    ],
  };
}

/** `9 tools: 6 read, 2 change, 1 unknown, 2 ask first`. */
function countTools({ tools }: ServerReview): string {
  if (tools.length === 0) return "no tools";
  const counts = { reads: 0, changes: 0, unknown: 0 };
  for (const { tool } of tools) counts[markTool(tool).effect]++;
  const asking = tools.filter(willAsk).length;
  const parts = [
    counts.reads > 0 ? `${counts.reads} read` : "",
    counts.changes > 0 ? `${counts.changes} change` : "",
    counts.unknown > 0 ? `${counts.unknown} unknown` : "",
    asking > 0 ? `${asking} ask first` : "",
  ];
  return `${plural(tools.length, "tool")}: ${parts.filter(Boolean).join(", ")}`;
}

/** Only what differs from the last review of a known server. */
function formatNews(review: ServerReview): readonly string[] {
  if (!review.previous) return [];
  const added = itemsOf(review).filter(({ change }) => change.kind === "new");
  return added.length > 0 ? [`new: ${added.map(({ name }) => visible(name)).join(", ")}`] : [];
}

export function formatChanged(review: ServerReview): readonly string[] {
  return itemsOf(review).flatMap(({ name, change }) =>
    change.kind === "changed"
      ? [
          `${paint("yellow", `${review.name}: ${visible(name)} changed`)}\n${formatFieldChanges(change.fields)}`,
        ]
      : [],
  );
}

/** Everything about one server; only whole definitions are left out. */
export function formatReview(review: ServerReview): string {
  const { name, reached, previous, source, eased, confined, gone } = review;
  const isReachedOtherwise = previous !== undefined && previous.source !== source;
  const prose = joinLines(
    `\n${paint("bold", name)}  ${reached}`,
    isReachedOtherwise && `  before: ${visible(previous.reached)}`,
    confined !== undefined && `  ${visible(confined)}`,
    eased !== undefined && `  your config: ${visible(eased)}`,
    formatPackage(review, true).map((line) => `  ${line}`),
    toolTable(review),
    review.others.length > 0 && otherTable(review),
    itemsOf(review).flatMap(formatWords),
    gone.length > 0 && `removed: ${gone.map(visible).join(", ")}`,
  );
  return joinLines(wrapProse(prose), formatChanged(review));
}

function formatPackage(
  { package: installed }: ServerReview,
  hasDigest: boolean,
): readonly string[] {
  if (!installed) return [];
  const { name, version, integrity, isExact } = installed;
  const digest = hasDigest && integrity !== undefined ? ` ${integrity}` : "";
  const which = isExact ? "" : "; the command names no exact version";
  return [`package ${visible(`${name}@${version}${digest}`)}${which}`];
}

export function toolTable({ tools, failure }: ServerReview): string {
  if (failure !== undefined) return `  it did not answer: ${visible(failure)}`;
  if (tools.length === 0) return "  it offers no tools";
  const rows = tools.map((entry, index) => [`${index + 1}`, ...toolRow(entry)]);
  return table(["#", "tool", "", "asks first", "because"], rows);
}

function otherTable({ tools, others }: ServerReview): string {
  const rows = others.map(({ kind, name, change }, index) => [
    `${tools.length + index + 1}`,
    name,
    change.kind === "same" ? "" : change.kind,
    kind.slice(0, -1),
  ]);
  return table(["#", "name", "", "kind"], rows);
}

/** With its number on the screen. */
export type NumberedItem = ReviewItem & { readonly number: number; readonly tool?: Tool };

export function itemsOf({ tools, others }: ServerReview): readonly NumberedItem[] {
  return [...tools, ...others].map((item, index) => ({ ...item, number: index + 1 }));
}

/** Definitions that a person must have seen whole before approving them. */
export function markedOf(review: ServerReview): readonly NumberedItem[] {
  return itemsOf(review).filter(
    ({ change, suspicions }) => change.kind !== "same" && suspicions.length > 0,
  );
}

const charactersShown = 200;

/** The beginning of the description, how much is not shown, and what looks suspicious. */
function formatWords(item: NumberedItem): readonly string[] {
  const { number, name, definition, change, suspicions } = item;
  if (change.kind === "same") return [];
  const description = typeof definition.description === "string" ? definition.description : "";
  const shown = visible(description.slice(0, charactersShown));
  const { name: _name, description: _description, ...rest } = definition;
  const left =
    Math.max(0, description.length - charactersShown) +
    (Object.keys(rest).length > 0 ? JSON.stringify(rest).length : 0);
  const more = left > 0 ? ` (${left.toLocaleString("en")} more characters: v ${number})` : "";
  return [
    `${number} ${paint("bold", visible(name))}: ${shown}${more}`,
    ...formatSuspicions(suspicions),
  ];
}

export function formatSuspicions(suspicions: readonly Suspicion[]): readonly string[] {
  return suspicions.map(({ why, excerpt }) => paint("red", `  ! ${why}: ${visible(excerpt)}`));
}

/** A whole definition: every character of it, with nothing hidden. */
export function formatDefinition({ name, definition, suspicions }: ReviewItem): string {
  const fields = Object.entries(definition).map(([field, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    return `${visible(field)}: ${visibleLines(text)}`;
  });
  return [paint("bold", visible(name)), ...formatSuspicions(suspicions), ...fields].join("\n");
}

function toolRow(entry: ToolReview): readonly string[] {
  const { tool, change } = entry;
  return [
    tool.name,
    change.kind === "same" ? "" : change.kind,
    willAsk(entry) ? "yes" : "no",
    describeMarks(entry),
  ];
}

function describeMarks({ tool, isDestructive, isCalledSafe, alwaysAsks }: ToolReview): string {
  const marks = markTool(tool);
  const { why } = marks;
  const isContradictory =
    tool.annotations?.readOnlyHint === true &&
    why.changes === undefined &&
    markTool({ ...tool, annotations: {} }).effect === "changes";
  const parts = [
    alwaysAsks,
    isCalledSafe && !isDestructive ? "your config calls it safe" : undefined,
    why.changes !== undefined && !isDestructive && !isCalledSafe ? "you decided so" : undefined,
    why.changes ??
      (marks.effect === "unknown" ? "does not say whether it changes anything" : undefined),
    isContradictory ? "marked read-only, but its name suggests otherwise" : undefined,
    ...describeFlow(marks),
  ];
  return parts.filter((part) => part !== undefined).join("; ");
}

export function withMarks(review: ServerReview, destructive: ReadonlySet<Tool>): ServerReview {
  const tools = review.tools.map((entry) => ({
    ...entry,
    isDestructive: destructive.has(entry.tool),
  }));
  return { ...review, tools };
}
