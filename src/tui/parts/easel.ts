/**
 * Pictures go past Ink: it takes styled text apart character by character, which would be half a second for a picture. It lays out one mark
 * for each row, as wide as the row, and the colours are put on when the frame is there. The marks are of the private use that `makeHarmless` takes
 * out of all other text, so nobody else can make one; and of a picture nothing but numbers gets here.
 */
export interface Easel {
  /** What stands for a row of a picture in the frame. */
  hang(row: readonly Cell[]): string;
  /** The frame with its pictures. What was hung is taken down: the next frame hangs its own. */
  reveal(frame: string): string;
}

/** Half blocks in colours of their own, 0xrrggbb; blank without any. */
export interface Cell {
  readonly upper: number | undefined;
  readonly lower: number | undefined;
}

/** `depth`: the bits of a colour, as terminals have them. */
export function createEasel(depth: 8 | 24): Easel {
  const hung: (readonly Cell[])[] = [];
  // A picture that stays where it is comes with the same rows, frame after frame.
  const coloured = new WeakMap<readonly Cell[], string>();
  const colourOnce = (row: readonly Cell[]): string => {
    const text = coloured.get(row) ?? colour(row, depth);
    coloured.set(row, text);
    return text;
  };
  return {
    hang(row) {
      hung.push(row);
      return (
        String.fromCodePoint(firstMark + hung.length - 1) + " ".repeat(Math.max(0, row.length - 1))
      );
    },
    reveal(frame) {
      const rows = hung.splice(0);
      return frame.replace(marks, (found) => {
        const row = rows[(found.codePointAt(0) ?? 0) - firstMark];
        if (!row) return found;
        // Blanks at the end of a line are not in the frame; those that are belong to the row, as far as it goes.
        return colourOnce(row) + found.slice(markLength + row.length - 1);
      });
    },
  };
}

const firstMark = 0xf0000;
const markLength = String.fromCodePoint(firstMark).length;
const marks = /[\u{f0000}-\u{ffffd}] */gu;
const reset = "\u001b[0m";

/** A style is said where it changes. */
function colour(row: readonly Cell[], depth: 8 | 24): string {
  let [text, last] = ["", ""];
  for (const { upper, lower } of row) {
    const [block, fore, back] =
      upper === undefined
        ? ([lower === undefined ? " " : "▄", lower, undefined] as const)
        : (["▀", upper, lower] as const);
    const style = `${reset}${fore === undefined ? "" : sequence(38, fore, depth)}${back === undefined ? "" : sequence(48, back, depth)}`;
    text += style === last ? block : style + block;
    last = style;
  }
  return text + reset;
}

function sequence(plane: 38 | 48, pixel: number, depth: 8 | 24): string {
  const [red, green, blue] = [pixel >> 16, (pixel >> 8) & 255, pixel & 255];
  if (depth === 24) return `\u001b[${plane};2;${red};${green};${blue}m`;
  const [r, g, b] = [red, green, blue].map((value) => Math.round((value / 255) * 5));
  return `\u001b[${plane};5;${16 + 36 * (r ?? 0) + 6 * (g ?? 0) + (b ?? 0)}m`;
}
