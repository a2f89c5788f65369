import { diffLines } from "../base/diff.ts";
import { visibleLines } from "../base/text.ts";
import { paint } from "./print.ts";

const contextLines = 2;

/** What becomes of a text, line by line, with a little of what stays around it. */
export function diffTexts(before: string, after: string): string {
  const [old, young] = [linesOf(before), linesOf(after)];
  const marks = diffLines(old, young);
  const isNear = marks.map((_, at) =>
    marks
      .slice(Math.max(0, at - contextLines), at + contextLines + 1)
      .some(({ sign }) => sign !== " "),
  );
  const shown = marks.flatMap(({ sign, line }, at) => {
    if (!isNear[at]) return isNear[at - 1] ? ["  …"] : [];
    const text = `${sign} ${visibleLines(line)}`;
    return [sign === "+" ? paint("green", text) : sign === "-" ? paint("red", text) : text];
  });
  return shown.join("\n");
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}
