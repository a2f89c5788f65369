import type { JsonObject } from "../base/json.ts";
import { visible, visibleLines } from "../base/sanitize.ts";
import { plural } from "../base/text.ts";
import type { Discovery, DiscoveryProgress, WaitingServer } from "../hall/discover.ts";
import { approveAll, type Reviewer, type ServerReview, type ToolReview } from "../hall/review.ts";
import type { Tool } from "../tool.ts";
import { describeFlow, markTool } from "../trust/marks.ts";
import { definitionOf } from "../trust/pin.ts";
import { type Change, isOutdated, willAsk } from "../trust/review.ts";
import { findSuspicions, type Suspicion } from "../trust/suspicion.ts";
import { createLive, type Live } from "./live.ts";
import { type ConfirmedReviewer, requireConfirmation } from "./person.ts";
import { formatFieldChanges, paint, table, wrapProse } from "./print.ts";
import { type AskLine, askLine, askYes, isAttended } from "./terminal.ts";

/** Asks at the terminal, or approves everything with --yes. Undefined where neither is possible. */
export function openReviewer(options: {
  readonly yes?: boolean | undefined;
  readonly json?: boolean | undefined;
}): ConfirmedReviewer | undefined {
  if (isAttended(options))
    return requireConfirmation(createTerminalReviewer(), "You are about to approve programs.");
  const all = "You are about to approve everything of this project that is new or has changed.";
  return options.yes ? requireConfirmation(approveAll, all) : undefined;
}

/** Reviews servers with a person at the terminal. */
export function createTerminalReviewer(ask: AskLine = askLine): Reviewer {
  return {
    mayStart({ name, reached, before }) {
      const lines =
        before === undefined
          ? [`${paint("bold", name)} was never started on this machine`, `  command  ${reached}`]
          : [
              `The command or URL of ${paint("bold", name)} changed since you approved it`,
              `  now     ${reached}`,
              `  before  ${visible(before)}`,
            ];
      return askYes(`${wrapProse(lines.join("\n"))}\nStart it to see what it offers?`, ask);
    },
    async review(reviews) {
      const items = itemsOf(reviews);
      const destructive = new Set(
        reviews.flatMap(({ tools }) =>
          tools.filter(({ isDestructive }) => isDestructive).map(({ tool }) => tool),
        ),
      );
      const marked = new Set(items.filter(isMarked));
      const names = reviews.map(({ name }) => name).join(", ");
      let question = `${formatScreen(reviews)}\n`;
      for (;;) {
        const choices = `y: yes, ${formatPins(reviews)}n: not now, v N: show one whole, numbers: toggle "asks first"`;
        const answer = await ask(`${question}${wrapProse(`Approve ${names}? ${choices} > `)}`);
        const viewed = findViewed(answer, items);
        if (viewed) {
          marked.delete(viewed);
          await showPages(formatDefinition(viewed), ask);
          question = "";
          continue;
        }
        const [unseen] = marked;
        const isPinned = formatPins(reviews) !== "" && /^p$/i.test(answer);
        const isApproved = isPinned || /^y(es)?$/i.test(answer);
        if (isApproved && unseen) {
          marked.delete(unseen);
          await showPages(formatDefinition(unseen), ask);
          question = "This one is marked; you had not opened it.\n";
          continue;
        }
        if (isApproved || /^no?$/i.test(answer)) return { isApproved, isPinned, destructive };
        question = toggle(destructive, items, answer)
          ? `${formatTools(reviews, destructive)}\n`
          : "";
      }
    },
    mayLoadModules(modules) {
      const list = modules.map(
        ({ file, change }) => `  ${visible(file)}${change === "same" ? "" : ` (${change})`}`,
      );
      return askYes(
        `This project has toolkits that run inside the hall:\n${list.join("\n")}\nLoad them?`,
        ask,
      );
    },
    mayUseTexts(texts) {
      const list = texts.map(({ name, text }) =>
        [
          paint("bold", visible(name)),
          ...formatSuspicions(findSuspicions({ text })),
          visibleLines(text),
        ].join("\n"),
      );
      return askYes(
        `This project has texts or folders for models that you have not approved:\n${list.join("\n\n")}\nMay models read them?`,
        ask,
      );
    },
  };
}

function formatPins(reviews: readonly ServerReview[]): string {
  const pins = reviews.flatMap(({ package: installed }) => installed?.pin ?? []);
  const versions = pins.map(({ after }) => visible(after)).join(", ");
  return versions === "" ? "" : `p: yes, and always ${versions}, `;
}

/** Flips the marks with these numbers. False if the text is not a list of numbers. */
function toggle(destructive: Set<Tool>, items: readonly ReviewItem[], answer: string): boolean {
  if (!/^\d+([\s,]+\d+)*$/.test(answer)) return false;
  for (const number of answer.split(/[\s,]+/).map(Number)) {
    const tool = items[number - 1]?.tool;
    if (tool && !destructive.delete(tool)) destructive.add(tool);
  }
  return true;
}

/** One server, or all that version 0.1 had reviewed. */
function formatScreen(reviews: readonly ServerReview[]): string {
  const isRepeated = reviews.some(({ previous }) => previous && isOutdated(previous));
  const head = isRepeated
    ? ["\nYou approved this with version 0.1, which did not show all of it. Review it once more."]
    : [];
  return [
    ...head,
    ...reviews.map((review, at) => formatReview(review, countItems(reviews.slice(0, at)))),
  ].join("\n");
}

function formatTools(reviews: readonly ServerReview[], destructive: ReadonlySet<Tool>): string {
  const tables = reviews.map((review, at) => {
    const tools = review.tools.map((entry) => ({
      ...entry,
      isDestructive: destructive.has(entry.tool),
    }));
    return toolTable({ ...review, tools }, countItems(reviews.slice(0, at)));
  });
  return tables.join("\n");
}

function countItems(reviews: readonly ServerReview[]): number {
  return itemsOf(reviews).length;
}

/** `before`: how many items the screen has above it. */
export function formatReview(review: ServerReview, before = 0): string {
  const { name, reached, previous, source, eased, gone } = review;
  const items = itemsOf([review]).map((item) => ({ ...item, number: item.number + before }));
  const changed = items.flatMap(({ name, change }) =>
    change.kind === "changed"
      ? [`${paint("yellow", `${visible(name)} changed:`)}\n${formatFieldChanges(change.fields)}`]
      : [],
  );
  const isReachedOtherwise = previous !== undefined && previous.source !== source;
  const prose = [
    `\n${paint("bold", name)}  ${reached}`,
    ...(isReachedOtherwise ? [`  before: ${visible(previous.reached)}`] : []),
    ...(eased === undefined ? [] : [`  your config: ${visible(eased)}`]),
    ...formatPackage(review),
    toolTable(review, before),
    ...(review.others.length > 0 ? [otherTable(review, before)] : []),
    ...items.flatMap(formatWords),
    ...(gone.length > 0 ? [`removed: ${gone.map(visible).join(", ")}`] : []),
  ];
  return [...prose.map((line) => wrapProse(line)), ...changed].join("\n");
}

function formatPackage({ package: installed }: ServerReview): readonly string[] {
  if (!installed) return [];
  const { name, version, integrity = "", isExact } = installed;
  const which = isExact ? "" : "; the command names no exact version";
  return [`  package ${visible(`${name}@${version} ${integrity}`)}${which}`];
}

function toolTable({ tools, failure }: ServerReview, before: number): string {
  if (failure !== undefined)
    return `  it did not answer: ${visible(failure)}; approving it allows another start`;
  if (tools.length === 0) return "  it offers no tools";
  const rows = tools.map((entry, index) => [`${before + index + 1}`, ...toolRow(entry)]);
  return table(["#", "tool", "", "asks first", "because"], rows);
}

function otherTable({ tools, others }: ServerReview, before: number): string {
  const rows = others.map(({ kind, name, change }, index) => [
    `${before + tools.length + index + 1}`,
    name,
    change.kind === "same" ? "" : change.kind,
    kind.slice(0, -1),
  ]);
  return table(["#", "name", "", "kind"], rows);
}

/** A tool, prompt, resource or template of a review, with its number on the screen. */
interface ReviewItem {
  readonly number: number;
  readonly name: string;
  readonly definition: JsonObject;
  readonly change: Change;
  readonly suspicions: readonly Suspicion[];
  readonly tool?: Tool;
}

function itemsOf(reviews: readonly ServerReview[]): readonly ReviewItem[] {
  const all = reviews.flatMap(({ tools, others }) => [
    ...tools.map(({ tool, change, suspicions }) => {
      const definition = definitionOf(tool);
      return { name: tool.name, definition, change, suspicions, tool };
    }),
    ...others,
  ]);
  return all.map((item, index) => ({ ...item, number: index + 1 }));
}

/** True if a person must have seen it whole before it is approved. */
function isMarked({ change, suspicions }: ReviewItem): boolean {
  return change.kind !== "same" && suspicions.length > 0;
}

/** `v 2`: the item to show. */
function findViewed(answer: string, items: readonly ReviewItem[]): ReviewItem | undefined {
  const number = /^v\s*(\d+)$/i.exec(answer)?.[1];
  return items.find((item) => item.number === Number(number));
}

const charactersShown = 200;

/** The beginning of the description, how much is not shown, and what looks suspicious. */
function formatWords(item: ReviewItem): readonly string[] {
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

function formatSuspicions(suspicions: readonly Suspicion[]): readonly string[] {
  return suspicions.map(({ why, excerpt }) => paint("red", `  ! ${why}: ${visible(excerpt)}`));
}

/** A whole definition: every character of it, with nothing hidden. */
function formatDefinition({ name, definition, suspicions }: ReviewItem): string {
  const fields = Object.entries(definition).map(([field, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    return `${visible(field)}: ${visibleLines(text)}`;
  });
  return [paint("bold", visible(name)), ...formatSuspicions(suspicions), ...fields].join("\n");
}

/** Prints a long text a screen at a time; q ends it. */
async function showPages(text: string, ask: AskLine): Promise<void> {
  const lines = text.split("\n");
  const size = Math.max(10, (process.stdout.rows || 40) - 2);
  for (let at = 0; at < lines.length; at += size) {
    process.stdout.write(`${lines.slice(at, at + size).join("\n")}\n`);
    const left = lines.length - at - size;
    if (left > 0 && /^q/i.test(await ask(`${plural(left, "more line")}, Enter: next, q: stop > `)))
      return;
  }
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
    why.changes ??
      (marks.effect === "unknown" ? "does not say whether it changes anything" : undefined),
    isContradictory ? "marked read-only, but its name suggests otherwise" : undefined,
    ...describeFlow(marks),
  ];
  return parts.filter((part) => part !== undefined).join("; ");
}

/** One line per server as `build` and `verify` start it. */
function formatDiscovery(discovery: Discovery): string {
  const seconds = `${(discovery.ms / 1000).toFixed(1)} s`;
  return "found" in discovery
    ? `${paint("green", "✔")} ${discovery.name}: ${plural(discovery.found.offer.tools.length, "tool")} (${seconds})`
    : `${paint("red", "✘")} ${discovery.name}: ${visible(discovery.reason)} (${seconds})`;
}

/** Shows progress on stderr, which stays silent with --json. */
export function reportDiscovery(json: boolean | undefined): DiscoveryProgress | undefined {
  if (json) return undefined;
  const live = createLive();
  return {
    ...reportWaiting(live),
    done(discovery) {
      live.clear();
      process.stderr.write(`${wrapProse(formatDiscovery(discovery), process.stderr)}\n`);
    },
  };
}

/** Only the line that shows what is waited for. */
export function reportWaiting(live: Live): DiscoveryProgress {
  return {
    done: () => {},
    waiting(servers) {
      if (servers.length === 0) live.clear();
      else live.status(formatWaiting(servers));
    },
  };
}

function formatWaiting(servers: readonly WaitingServer[]): string {
  const installing = servers.filter(({ isInstalling }) => isInstalling);
  const [verb, shown] = installing.length > 0 ? ["installing", installing] : ["starting", servers];
  const seconds = Math.round((shown[0]?.ms ?? 0) / 1000);
  return `${verb} ${shown.map(({ name }) => name).join(", ")} … ${seconds} s`;
}
