/** `~<…~>` spreads its segments over a field; `~<…~:>` is a logical block, printed here on one line. */
import { printText } from "../printer.ts";
import { NIL } from "../symbol.ts";
import { Cons } from "../values.ts";
import type { Formatting } from "./format.ts";
import type { Directive } from "./parse.ts";
import { Buffer, type Ending, Run } from "./run.ts";

export function justify(run: Run, directive: Directive, format: Formatting): Ending | undefined {
  const parameters = run.parameters(directive);
  const width = parameters.number() ?? 0;
  const step = parameters.number() ?? 1;
  const padding = parameters.number() ?? 0;
  const pad = parameters.character() ?? " ";
  const { texts, overflow } = segments(run, directive, format);
  const gaps = texts.length - 1 + (directive.colon ? 1 : 0) + (directive.at ? 1 : 0);
  const least = texts.reduce((sum, text) => sum + text.length, 0) + gaps * padding;
  const length = least > width ? width + Math.ceil((least - width) / step) * step : width;
  if (
    overflow !== undefined &&
    run.target.stream.column + length + overflow.extra > overflow.lineLength
  )
    run.target.write(overflow.text);
  run.target.write(
    spread(run, texts, directive, { gaps, pad, room: length - least + gaps * padding }),
  );
  return undefined;
}

interface Overflow {
  /** Written before everything when the field does not fit on the line. */
  readonly text: string;
  readonly extra: number;
  readonly lineLength: number;
}

/** The text of each segment; a `~^` drops the segment it stands in and those after it. */
function segments(
  run: Run,
  { clauses }: Directive,
  format: Formatting,
): { texts: string[]; overflow: Overflow | undefined } {
  const texts: string[] = [];
  let overflow: Overflow | undefined;
  for (const [index, { pieces, separator }] of clauses.entries()) {
    const inner = run.into(new Buffer(run.m));
    const ending = format.pieces(inner, pieces);
    run.at = inner.at;
    if (ending !== "end") break;
    const { text } = inner.target as Buffer;
    if (index === 0 && separator?.colon) {
      const parameters = run.parameters(separator);
      overflow = { text, extra: parameters.number() ?? 0, lineLength: parameters.number() ?? 72 };
    } else texts.push(text);
  }
  return { texts, overflow };
}

function spread(
  run: Run,
  texts: readonly string[],
  { colon, at }: Directive,
  { gaps, pad, room }: { gaps: number; pad: string; room: number },
): string {
  let [left, gapsLeft] = [room, gaps];
  const gap = (): string => {
    const count = gapsLeft === 0 ? left : Math.trunc(left / gapsLeft);
    left -= count;
    gapsLeft -= 1;
    return run.repeat(pad, count);
  };
  let text = colon || (!at && texts.length <= 1) ? gap() : "";
  texts.forEach((segment, index) => {
    text += index === 0 ? segment : gap() + segment;
  });
  return at ? text + gap() : text;
}

export function logicalBlock(run: Run, directive: Directive, format: Formatting): undefined {
  const { clauses } = directive;
  const parts = clauses.map(({ pieces }) => pieces);
  const [prefix, body, suffix] =
    parts.length > 1 ? [literal(parts[0]), parts[1], literal(parts[2])] : ["", parts[0], ""];
  const [open, close] = directive.colon && parts.length === 1 ? ["(", ")"] : [prefix, suffix];
  if (directive.at) {
    run.target.write(open);
    format.pieces(run, body ?? []);
    run.target.write(close);
    run.at = run.args.length;
    return;
  }
  const value = run.next();
  if (!(value instanceof Cons) && value !== NIL) {
    run.target.write(printText(run.m, value));
    return;
  }
  run.at -= 1;
  run.target.write(open);
  format.pieces(new Run(run.m, run.target, run.nextList()), body ?? []);
  run.target.write(close);
}

function literal(pieces: Directive["clauses"][number]["pieces"] | undefined): string {
  return (pieces ?? []).filter((piece) => typeof piece === "string").join("");
}
