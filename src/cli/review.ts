import { visible, visibleLines } from "../base/sanitize.ts";
import { plural } from "../base/text.ts";
import {
  approveAll,
  type Decisions,
  type Reviewer,
  type ServerReview,
  type StartRequest,
} from "../hall/review.ts";
import type { Tool } from "../tool.ts";
import { findSuspicions } from "../trust/suspicion.ts";
import { type AskList, askList, type ListState } from "./list.ts";
import { paint, shortenHome, wrapProse } from "./print.ts";
import {
  formatChanged,
  formatDefinition,
  formatItem,
  formatReview,
  formatStart,
  formatSuspicions,
  itemsOf,
  markedOf,
  type NumberedItem,
  toolTable,
  withMarks,
} from "./review-text.ts";
import {
  type AskLine,
  askFresh,
  askYes,
  type ConfirmedReviewer,
  isAttended,
  type PersonAtTerminal,
  requireConfirmation,
} from "./terminal.ts";

export interface ReviewerOptions {
  readonly yes?: boolean | undefined;
  readonly json?: boolean | undefined;
  /** Servers that the person has just chosen. */
  readonly chosen?: readonly string[] | undefined;
  /** Has confirmed that choice. */
  readonly person?: PersonAtTerminal | undefined;
}

/** Asks at the terminal, or approves everything with --yes. Undefined where neither is possible. */
export function openReviewer(options: ReviewerOptions): ConfirmedReviewer | undefined {
  const { yes, chosen, person } = options;
  if (isAttended(options)) {
    const what = "You are about to approve programs that run with your rights.";
    return requireConfirmation(createTerminalReviewer({ chosen }), what, person);
  }
  const all = "You are about to approve everything of this project that is new or has changed.";
  return yes ? requireConfirmation(approveAll, all, person) : undefined;
}

interface TerminalReviewerOptions {
  readonly ask?: AskLine;
  readonly askList?: AskList;
  readonly chosen?: readonly string[] | undefined;
}

/** Reviews servers with a person at the terminal. */
export function createTerminalReviewer({
  ask = askFresh,
  askList: askItems = askList,
  chosen = [],
}: TerminalReviewerOptions = {}): Reviewer {
  return {
    async chooseStarts(requests) {
      const open = requests.filter(({ name }) => !chosen.includes(name));
      const isTicked = ({ before, runsProjectFile }: StartRequest): boolean =>
        before === undefined && !runsProjectFile;
      const { ticked } =
        open.length === 0
          ? { ticked: new Set() }
          : await askItems(
              {
                title: "\nThese servers have to start once, to see what they offer. Start them?",
                items: open.map(formatStart),
                enter: "start what is ticked",
                cancelled: "no server was started",
              },
              { ticked: ticksOf(open, isTicked), at: 0 },
            );
      return requests
        .filter((request) => chosen.includes(request.name) || ticked.has(open.indexOf(request)))
        .map(({ name }) => name);
    },
    async mayTakeOver(found) {
      const folders = [...new Set(found.map(({ folder }) => folder))];
      const names = found.map(({ name }) => paint("bold", name)).join(", ");
      const where = folders.map((folder) => visible(shortenHome(folder))).join(", ");
      const runs = found.map(({ name, review }) => `  ${name}: ${visible(review.reached)}\n`);
      const question = `${names}: approved in ${where}; use here? [Y/n] `;
      return /^(y(es)?)?$/i.test(await ask(wrapProse(`\n${runs.join("")}${question}`)));
    },
    review: (reviews) => reviewOnOneScreen(reviews, ask, askItems),
    mayLoadModules(modules, runs) {
      const list = modules.map(
        ({ file, change }) => `  ${visible(file)}${change === "same" ? "" : ` (${change})`}`,
      );
      return askYes(
        `This project has toolkits, which run in a process of their own:\n${list.join("\n")}\n  ${visible(runs)}\nLoad them?`,
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

function ticksOf<T>(items: readonly T[], isTicked: (item: T) => boolean): ReadonlySet<number> {
  return new Set([...items.keys()].filter((at) => isTicked(items[at] as T)));
}

/** All servers in one list; `v` opens one. */
async function reviewOnOneScreen(
  reviews: readonly ServerReview[],
  ask: AskLine,
  askItems: AskList,
): Promise<Decisions> {
  const destructive = new Set(
    reviews.flatMap(({ tools }) =>
      tools.filter(({ isDestructive }) => isDestructive).map(({ tool }) => tool),
    ),
  );
  const pinned = new Set<ServerReview>();
  const unseen = new Map(reviews.map((review) => [review, new Set(markedOf(review))]));
  const isSuspicious = (review: ServerReview): boolean => markedOf(review).length > 0;
  const canPin = reviews.some((review) => review.package?.pin !== undefined);
  let state: ListState = {
    ticked: ticksOf(
      reviews,
      (review) =>
        !isSuspicious(review) && !review.runsProjectFile && formatChanged(review).length === 0,
    ),
    at: 0,
  };
  for (const change of reviews.flatMap(formatChanged)) process.stdout.write(`${change}\n`);
  let title = "\nWhat these servers offer. Approve it?";
  for (;;) {
    const items = reviews.map((review) => formatItem(review, destructive, pinned));
    const answer = await askItems(
      {
        title,
        items,
        enter: "approve what is ticked",
        keys: { v: "look closer", ...(canPin ? { p: "pin the version" } : {}) },
        cancelled: "nothing was approved",
      },
      state,
    );
    state = answer;
    title = "";
    const current = reviews[answer.at];
    if (answer.key === "v" && current) {
      await lookCloser(current, { destructive, unseen: unseen.get(current) ?? new Set(), ask });
    } else if (answer.key === "p" && current?.package?.pin) {
      if (!pinned.delete(current)) pinned.add(current);
    } else if (answer.key === "enter") {
      const approved = reviews.filter((_review, at) => answer.ticked.has(at));
      const left = approved.flatMap((review) => [...(unseen.get(review) ?? [])]);
      if (left.length === 0)
        return new Map(
          approved.map((review) => [review, { isPinned: pinned.has(review), destructive }]),
        );
      for (const item of left) await showPages(formatDefinition(item), ask);
      for (const review of approved) unseen.get(review)?.clear();
      title = "\nThese definitions are suspicious, and you had not opened them. Approve them?";
    }
  }
}

interface Looking {
  readonly destructive: Set<Tool>;
  /** Suspicious definitions that the person has not opened. */
  readonly unseen: Set<NumberedItem>;
  readonly ask: AskLine;
}

/** Shows what one server offers, definition by definition. */
async function lookCloser(
  review: ServerReview,
  { destructive, unseen, ask }: Looking,
): Promise<void> {
  const items = itemsOf(review);
  let text = formatReview(withMarks(review, destructive));
  for (;;) {
    const choices = `v N: show one whole, numbers: toggle "asks first", Enter: back to the list`;
    const answer = await ask(`${text}\n${wrapProse(`${review.name}: ${choices} > `)}`);
    if (answer === "") return;
    const viewed = findViewed(answer, items);
    if (viewed) {
      for (const item of unseen) if (item.number === viewed.number) unseen.delete(item);
      await showPages(formatDefinition(viewed), ask);
      text = "";
    } else if (toggle(destructive, items, answer)) {
      text = toolTable(withMarks(review, destructive));
    } else {
      text = `unknown answer "${visible(answer)}" (expected: v 1, 2, 1 3, or Enter; numbers up to ${items.length})`;
    }
  }
}

/** Flips the marks with these numbers. False if the text is not a list of numbers of tools. */
function toggle(destructive: Set<Tool>, items: readonly NumberedItem[], answer: string): boolean {
  if (!/^\d+([\s,]+\d+)*$/.test(answer)) return false;
  const tools = answer.split(/[\s,]+/).map((number) => items[Number(number) - 1]?.tool);
  if (tools.includes(undefined)) return false;
  for (const tool of tools) if (tool && !destructive.delete(tool)) destructive.add(tool);
  return true;
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

/** `v 2`: the item to show. */
function findViewed(answer: string, items: readonly NumberedItem[]): NumberedItem | undefined {
  const number = /^v\s*(\d+)$/i.exec(answer)?.[1];
  return items.find((item) => item.number === Number(number));
}
