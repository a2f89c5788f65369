/** Directives for lines, columns and arguments: `~% ~& ~| ~~ ~t ~* ~? ~_ ~i`. */
import type { Action, Formatting } from "./format.ts";
import type { Directive } from "./parse.ts";
import { Run } from "./run.ts";

export const layoutDirectives: readonly (readonly [string, Action])[] = [
  ["%", (run, directive) => repeated(run, directive, "\n")],
  ["|", (run, directive) => repeated(run, directive, "\f")],
  ["~", (run, directive) => repeated(run, directive, "~")],
  ["&", freshLines],
  ["T", tabulate],
  ["*", goTo],
  ["?", recurse],
  // Places where the pretty printer may break a line; there is none here.
  ["_", () => undefined],
  ["I", () => undefined],
];

function repeated(run: Run, directive: Directive, character: string): undefined {
  run.target.write(run.repeat(character, run.parameters(directive).number() ?? 1));
}

function freshLines(run: Run, directive: Directive): undefined {
  const count = run.parameters(directive).number() ?? 1;
  if (count > 0)
    run.target.write(run.repeat("\n", run.target.stream.column > 0 ? count : count - 1));
}

function tabulate(run: Run, directive: Directive): undefined {
  const parameters = run.parameters(directive);
  const wanted = parameters.number() ?? 1;
  const step = parameters.number() ?? 1;
  if (directive.colon) return;
  const { column } = run.target.stream;
  const spaces = directive.at
    ? relativeSpaces(column, wanted, step)
    : absoluteSpaces(column, wanted, step);
  run.target.write(run.repeat(" ", spaces));
}

function relativeSpaces(column: number, count: number, step: number): number {
  return step > 0 ? Math.ceil((column + count) / step) * step - column : count;
}

function absoluteSpaces(column: number, wanted: number, step: number): number {
  if (column < wanted) return wanted - column;
  return step === 0 ? 0 : step - ((column - wanted) % step);
}

function goTo(run: Run, directive: Directive): undefined {
  const count = run.parameters(directive).number() ?? (directive.at ? 0 : 1);
  if (!directive.at && !directive.colon) {
    for (let skipped = 0; skipped < count; skipped += 1) run.next();
    return;
  }
  const at = directive.at ? count : run.at - count;
  if (at < 0 || at > run.args.length)
    run.fail(`there is no argument ${at}; there are ${run.args.length}`);
  run.at = at;
}

function recurse(run: Run, directive: Directive, format: Formatting): undefined {
  const control = run.next();
  if (directive.at) format.control(run, control);
  else format.control(new Run(run.m, run.target, run.nextList()), control);
}
