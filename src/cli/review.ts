import type { JsonObject } from "../base/json.ts";
import { visible, visibleLines } from "../base/sanitize.ts";
import { plural } from "../base/text.ts";
import type { Discovery } from "../hall/discover.ts";
import { approveAll, type Reviewer, type ServerReview, type ToolReview } from "../hall/review.ts";
import type { Tool } from "../tool.ts";
import { markTool } from "../trust/marks.ts";
import { definitionOf } from "../trust/pin.ts";
import type { Change } from "../trust/review.ts";
import { findSuspicions, type Suspicion } from "../trust/suspicion.ts";
import { type ConfirmedReviewer, requireConfirmation } from "./person.ts";
import { formatFieldChanges, paint, table } from "./print.ts";
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
      return askYes(`${lines.join("\n")}\nStart it to see what it offers?`, ask);
    },
    async review(review) {
      const destructive = review.tools.map(({ isDestructive }) => isDestructive);
      const items = itemsOf(review);
      const marked = new Set(items.filter(isMarked));
      let question = `${formatReview(review)}\n`;
      for (;;) {
        const answer = await ask(
          `${question}Approve ${review.name}? y: yes, n: not now, v N: show one whole, numbers: toggle "asks first" > `,
        );
        const viewed = findViewed(answer, items);
        if (viewed) {
          marked.delete(viewed);
          await showPages(formatDefinition(viewed), ask);
          question = "";
          continue;
        }
        const [unseen] = marked;
        if (/^y(es)?$/i.test(answer) && unseen) {
          marked.delete(unseen);
          await showPages(formatDefinition(unseen), ask);
          question = "This one is marked; you had not opened it.\n";
          continue;
        }
        if (/^(y(es)?|no?)$/i.test(answer)) {
          const names = review.tools
            .filter((_, at) => destructive[at])
            .map(({ tool }) => tool.name);
          return { isApproved: /^y/i.test(answer), destructive: new Set(names) };
        }
        const isToggled = toggle(destructive, answer);
        const tools = review.tools.map((entry, at) => ({
          ...entry,
          isDestructive: destructive[at] ?? true,
        }));
        question = isToggled ? `${toolTable({ ...review, tools })}\n` : "";
      }
    },
    mayLoadModules(patterns) {
      const list = patterns.map((pattern) => `  ${visible(pattern)}`).join("\n");
      return askYes(
        `This project has toolkits that run inside the hall:\n${list}\nLoad them?`,
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
        `This project has texts for models that you have not approved:\n${list.join("\n\n")}\nMay models read them?`,
        ask,
      );
    },
  };
}

/** Flips the marks with these numbers. False if the text is not a list of numbers. */
function toggle(destructive: boolean[], answer: string): boolean {
  if (!/^\d+([\s,]+\d+)*$/.test(answer)) return false;
  for (const number of answer.split(/[\s,]+/).map(Number)) {
    const mark = destructive[number - 1];
    if (mark !== undefined) destructive[number - 1] = !mark;
  }
  return true;
}

export function formatReview(review: ServerReview): string {
  const { name, reached, previous, source, tools, others, gone } = review;
  const items = [...tools.map(({ tool, change }) => ({ name: tool.name, change })), ...others];
  const changed = items.flatMap(({ name, change }) =>
    change.kind === "changed"
      ? [`${paint("yellow", `${visible(name)} changed:`)}\n${formatFieldChanges(change.fields)}`]
      : [],
  );
  const isReachedOtherwise = previous !== undefined && previous.source !== source;
  return [
    `\n${paint("bold", name)}  ${reached}`,
    ...(isReachedOtherwise ? [`  before: ${visible(previous.reached)}`] : []),
    toolTable(review),
    ...(others.length > 0 ? [otherTable(review)] : []),
    ...itemsOf(review).flatMap(formatWords),
    ...(gone.length > 0 ? [`removed: ${gone.map(visible).join(", ")}`] : []),
    ...changed,
  ].join("\n");
}

function toolTable({ tools, failure }: ServerReview): string {
  if (failure !== undefined)
    return `  it did not answer: ${visible(failure)}; approving it allows another start`;
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

/** A tool, prompt, resource or template of a review, with its number. */
interface ReviewItem {
  readonly number: number;
  readonly name: string;
  readonly definition: JsonObject;
  readonly change: Change;
  readonly suspicions: readonly Suspicion[];
}

function itemsOf({ tools, others }: ServerReview): readonly ReviewItem[] {
  const all = [
    ...tools.map(({ tool, change, suspicions }) => {
      const definition = definitionOf(tool);
      return { name: tool.name, definition, change, suspicions };
    }),
    ...others,
  ];
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

function toolRow({ tool, change, isDestructive }: ToolReview): readonly string[] {
  return [
    tool.name,
    change.kind === "same" ? "" : change.kind,
    isDestructive ? "yes" : "no",
    describeMarks(tool),
  ];
}

function describeMarks(tool: Tool): string {
  const { why } = markTool(tool);
  const isContradictory =
    tool.annotations?.readOnlyHint === true &&
    why.destructive === undefined &&
    markTool({ ...tool, annotations: {} }).destructive;
  const parts = [
    why.destructive,
    isContradictory ? "marked read-only, but its name suggests otherwise" : undefined,
    why.bringsIn === undefined ? undefined : "reads outside content",
    why.sendsOut === undefined ? undefined : "sends data out",
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
export function reportDiscovery(json: boolean | undefined): (discovery: Discovery) => void {
  return (discovery) => {
    if (!json) process.stderr.write(`${formatDiscovery(discovery)}\n`);
  };
}
