import { HallError } from "../base/errors.ts";
import { withResolvers } from "../base/timing.ts";
import { Keyboard } from "../tui/keyboard.ts";
import { wrap } from "../tui/parts/text.ts";
import { type Cell, paint, wrapAt } from "./print.ts";
import { dropTypeAhead } from "./terminal.ts";

/** A list at the terminal in which a person ticks items. */
export interface ListQuestion {
  readonly title: string;
  readonly items: readonly ListItem[];
  /** The effect of Enter, such as "start what is ticked". */
  readonly enter: string;
  /** Other keys that end the question, with what they do. */
  readonly keys?: Readonly<Record<string, string>>;
  /** The effect of Ctrl+C, such as "nothing was approved". */
  readonly cancelled: string;
}

export interface ListItem {
  /** May be painted. */
  readonly label: string;
  /** Shown below the label. */
  readonly lines: readonly Cell[];
}

/** The ticked items, and the item under the cursor. */
export interface ListState {
  readonly ticked: ReadonlySet<number>;
  readonly at: number;
  /** How many items have been on the screen, counted from the first. Enter is accepted once all have been. */
  readonly seen?: number | undefined;
  /** The items on the screen: from the first to before the last. */
  readonly shown?: { readonly from: number; readonly to: number } | undefined;
}

export interface ListAnswer extends ListState {
  /** `enter`, or one of the question's own keys. */
  readonly key: string;
}

/** Asks until a key ends the question. Throws CANCELLED after Ctrl+C or q. */
export type AskList = (question: ListQuestion, state: ListState) => Promise<ListAnswer>;

/** The state after a key that does not end the question. */
export function pressKey(key: string, state: ListState, count: number): ListState {
  const { ticked, at, shown: { from, to } = { from: at, to: at + 1 } } = state;
  if (key === "up" || key === "k") return { ...state, at: Math.max(0, at - 1) };
  if (key === "down" || key === "j") return { ...state, at: Math.min(count - 1, at + 1) };
  if (key === "pageup") return { ...state, at: Math.max(0, from - (to - from)) };
  // Only to the next item, so that none is left out.
  if (key === "pagedown") return { ...state, at: Math.min(count - 1, to) };
  if (key === "a") {
    const all = ticked.size < count ? Array.from({ length: count }, (_, index) => index) : [];
    return { ...state, ticked: new Set(all) };
  }
  if (key !== "space") return state;
  const next = new Set(ticked);
  if (!next.delete(at)) next.add(at);
  return { ...state, ticked: next };
}

/** Enter ends the question once every item has been on the screen. */
export function endsList(
  key: string,
  { seen = 0 }: ListState,
  { items, keys = {} }: ListQuestion,
): boolean {
  return key === "enter" ? seen >= items.length : Object.hasOwn(keys, key);
}

export interface DrawnList {
  readonly lines: readonly string[];
  /** As in `ListState`, with what these lines show. */
  readonly seen: number;
  readonly shown: { readonly from: number; readonly to: number };
}

/** The lines of the list. Items that do not fit are left out above and below the one at the cursor. */
export function drawList(
  { title, items, enter, keys = {} }: ListQuestion,
  { ticked, at, seen = 0 }: ListState,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): DrawnList {
  const wrapPainted = (text: string): readonly string[] => wrapAt(text, columns).split("\n");
  const blocks = items.map(({ label, lines }, index) => [
    ...wrapPainted(`${index === at ? ">" : " "} [${ticked.has(index) ? "x" : " "}] ${label}`),
    ...lines.flatMap((line) => drawLine(line, columns)),
  ]);
  const others = Object.entries(keys).map(([key, does]) => `${key}: ${does}`);
  const head = wrapPainted(title);
  const drawFoot = (note: string): readonly string[] => {
    const last = [`Enter: ${enter}${note}`, "q: stop"];
    return wrapPainted(["space: tick or untick", "a: all or none", ...others, ...last].join(", "));
  };
  const noteOn = (hidden: number, isSeen: boolean): string => {
    const parts = [
      ...(hidden > 0 ? [`${hidden} not visible`] : []),
      ...(isSeen ? [] : ["go to the end of the list first, with PgDn"]),
    ];
    return parts.length > 0 ? ` (${parts.join("; ")})` : "";
  };

  const findShown = (foot: readonly string[]): { from: number; to: number } => {
    // Two lines for the notes about the rest, and one for the cursor.
    const room = rows - head.length - foot.length - 3;
    let [from, to] = [at, at + 1];
    const height = (): number =>
      blocks.slice(from, to).reduce((sum, { length }) => sum + length, 0);
    const fits = (index: number): boolean =>
      blocks[index] !== undefined && height() + blocks[index].length <= room;
    while (fits(to)) to++;
    while (fits(from - 1)) from--;
    return { from, to };
  };
  const isWhole = ({ from, to }: { from: number; to: number }): boolean =>
    to - from >= items.length;
  const first = findShown(drawFoot(""));
  const shown = isWhole(first) ? first : findShown(drawFoot(noteOn(items.length, false)));
  const { from, to } = shown;
  const below = items.length - to;
  const nowSeen = Math.max(seen, to);
  const hidden = [...ticked].filter((index) => index < from || index >= to).length;
  const note = isWhole(shown) ? "" : noteOn(hidden, nowSeen >= items.length);
  return {
    lines: [
      ...head,
      ...(from > 0 ? [`${indent}… ${from} more above`] : []),
      ...blocks.slice(from, to).flat(),
      ...(below > 0 ? [`${indent}… ${below} more below`] : []),
      ...drawFoot(note),
    ],
    seen: nowSeen,
    shown,
  };
}

const indent = " ".repeat(6);

function drawLine(line: Cell, columns: number): readonly string[] {
  const { text, style } = typeof line === "string" ? { text: line, style: undefined } : line;
  const lines = wrap(text, columns - indent.length).map((part) => `${indent}${part}`);
  return style === undefined ? lines : lines.map((part) => paint(style, part));
}

/** Asks at stdin and stdout, which must be a terminal. */
export const askList: AskList = async (question, initial) => {
  const { stdin, stdout } = process;
  const { items, cancelled } = question;
  const keyboard = new Keyboard();
  let state = initial;
  let height = 0;

  function draw(): void {
    // A terminal that does not know its size says 0.
    const size = { columns: stdout.columns || 80, rows: stdout.rows || 24 };
    const { lines, seen, shown } = drawList(question, state, size);
    state = { ...state, seen, shown };
    const up = height > 1 ? `\x1b[${height - 1}A` : "";
    stdout.write(`${height > 0 ? `${up}\r\x1b[J` : ""}${lines.join("\n")}`);
    height = lines.length;
  }

  dropTypeAhead();
  stdin.setRawMode(true);
  draw();
  stdout.on("resize", draw);
  const { promise: answered, resolve, reject } = withResolvers<ListAnswer>();
  const cancel = (): void => reject(new HallError("CANCELLED", cancelled));
  const read = (bytes: Buffer): void => {
    for (const { name } of keyboard.read(bytes.toString("utf8"))) {
      if (name === "ctrl+c" || name === "q") {
        cancel();
        return;
      }
      if (endsList(name, state, question)) {
        resolve({ ...state, key: name });
        return;
      }
      state = pressKey(name, state, items.length);
      draw();
    }
  };
  stdin.on("data", read).once("end", cancel).resume();
  try {
    return await answered;
  } finally {
    stdin.off("data", read).off("end", cancel).pause();
    stdin.setRawMode(false);
    stdout.off("resize", draw).write("\n");
  }
};
