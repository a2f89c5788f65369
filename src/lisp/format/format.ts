/** `format`: control strings are parsed once, cached, and run with the table of directives. */
import { named } from "../define.ts";
import { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { Str } from "../string.ts";
import { itemsOf, type Value } from "../values.ts";
import { blockDirectives, layoutDirectives } from "./blocks.ts";
import { numberDirectives, valueDirectives } from "./directives.ts";
import {
  Buffer,
  ControlFault,
  type Directive,
  type DirectiveEnding,
  FormatRun,
  type FormatTarget,
  type Piece,
  parseControl,
} from "./run.ts";

/** Runs a directive; returns how its list of directives ends, if it ends there. */
export type Action = (
  run: FormatRun,
  directive: Directive,
  format: Formatting,
) => DirectiveEnding | undefined;

/** Callbacks for blocks and `~?`. */
export interface Formatting {
  /** Runs until the end or a `~^`. */
  readonly pieces: (run: FormatRun, pieces: readonly Piece[]) => DirectiveEnding;
  /** Runs another control (a string or a function) with the arguments of `run`. */
  readonly control: (run: FormatRun, control: Value) => DirectiveEnding;
}

const actions: ReadonlyMap<string, Action> = new Map([
  ...valueDirectives,
  ...numberDirectives,
  ...layoutDirectives,
  ...blockDirectives,
]);

/** `(apply #'format nil control arguments)`. */
export function formatText(m: Machine, control: Value, args: Value): string {
  const buffer = new Buffer(m);
  formatTo(m, buffer, control, itemsOf(args));
  return buffer.text;
}

/** Returns the unused arguments. */
export function formatTo(
  m: Machine,
  target: FormatTarget,
  control: Value,
  args: readonly Value[],
): readonly Value[] {
  const run = new FormatRun(m, target, args);
  runControl(run, control);
  return args.slice(run.at);
}

function runControl(run: FormatRun, control: Value): DirectiveEnding {
  if (control instanceof Fn) {
    const rest = run.m.apply(control, [run.target.stream, ...run.args.slice(run.at)]);
    // A function of `formatter` returns the arguments that it did not use.
    if (control.code.name === named("FORMATTER")) run.at = run.args.length - itemsOf(rest).length;
    return "end";
  }
  if (!(control instanceof Str)) return run.m.typeError(control, "(OR STRING FUNCTION)");
  return runPieces(run, piecesOf(run, control.toString()));
}

function runPieces(run: FormatRun, pieces: readonly Piece[]): DirectiveEnding {
  for (const piece of pieces) {
    run.m.tick(1);
    if (typeof piece === "string") {
      run.target.write(piece);
      continue;
    }
    const action = actions.get(piece.character);
    if (action === undefined) return run.fail(`unknown directive ~${piece.character}`);
    const ending = action(run, piece, formatting);
    if (ending !== undefined) return ending;
  }
  return "end";
}

const formatting: Formatting = { pieces: runPieces, control: runControl };

// The parse depends only on the text, so all sessions can share it.
const parsed = new Map<string, readonly Piece[]>();
const parsedMax = 500;

function piecesOf(run: FormatRun, control: string): readonly Piece[] {
  const known = parsed.get(control);
  if (known !== undefined) return known;
  const pieces = parseOrFail(run, control);
  if (parsed.size >= parsedMax) parsed.clear();
  if (control.length <= 1000) parsed.set(control, pieces);
  return pieces;
}

function parseOrFail(run: FormatRun, control: string): readonly Piece[] {
  run.m.tick(control.length);
  try {
    return parseControl(control);
  } catch (fault) {
    if (fault instanceof ControlFault)
      return run.fail(
        `${fault.text}, at character ${fault.position} of ${run.m.show(new Str(control))}`,
      );
    throw fault;
  }
}
