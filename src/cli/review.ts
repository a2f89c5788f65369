import { visible } from "../base/sanitize.ts";
import { plural } from "../base/text.ts";
import type { Discovery } from "../hall/discover.ts";
import { approveAll, type Reviewer, type ServerReview, type ToolReview } from "../hall/review.ts";
import type { Tool } from "../tool.ts";
import { describeFlow, markTool } from "../trust/marks.ts";
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
      let question = `${formatReview(review)}\n`;
      for (;;) {
        const answer = await ask(
          `${question}Approve ${review.name}? y: yes, n: not now, numbers: toggle "asks first" > `,
        );
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
    ...(gone.length > 0 ? [`removed: ${gone.map(visible).join(", ")}`] : []),
    ...changed,
  ].join("\n");
}

function toolTable({ tools, failure }: ServerReview): string {
  if (failure !== undefined)
    return `  it did not answer: ${visible(failure)}; approving it allows another start`;
  if (tools.length === 0) return "  it offers no tools";
  const rows = tools.map((entry, index) => [`${index + 1}`, ...toolRow(entry)]);
  return table(["#", "tool", "", "asks first", "because", "description"], rows);
}

function otherTable({ others }: ServerReview): string {
  const rows = others.map(({ kind, name, change, definition }) => [
    name,
    kind.slice(0, -1),
    change.kind === "same" ? "" : change.kind,
    typeof definition.description === "string" ? definition.description : "",
  ]);
  return table(["name", "kind", "", "description"], rows);
}

function toolRow({ tool, change, isDestructive }: ToolReview): readonly string[] {
  return [
    tool.name,
    change.kind === "same" ? "" : change.kind,
    isDestructive ? "yes" : "no",
    describeMarks(tool),
    tool.description ?? "",
  ];
}

function describeMarks(tool: Tool): string {
  const marks = markTool(tool);
  const { why } = marks;
  const isContradictory =
    tool.annotations?.readOnlyHint === true &&
    why.changes === undefined &&
    markTool({ ...tool, annotations: {} }).effect === "changes";
  const parts = [
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
export function reportDiscovery(json: boolean | undefined): (discovery: Discovery) => void {
  return (discovery) => {
    if (!json) process.stderr.write(`${formatDiscovery(discovery)}\n`);
  };
}
