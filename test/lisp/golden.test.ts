import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createLisp, type Evaluation } from "../../src/lisp/lisp.ts";

/**
 * Files of test/golden/lisp hold cases separated by `====`: input, a line `----`, output. Each input runs in its own
 * session with small budgets; lines `;; then` split it into several evaluations.
 * `GOLDEN=write npx vitest run test/lisp/golden.test.ts` writes the outputs.
 */
const folder = fileURLToPath(new URL("../golden/lisp/", import.meta.url));
const budgets = { steps: 3_000_000, cells: 300_000, depth: 2_000, output: 2_000, timeMs: 20_000 };

const files = readdirSync(folder).map((name) => ({
  name,
  cases: readFileSync(folder + name, "utf8")
    .split(/^====\n/m)
    .map(readCase),
}));

for (const { name, cases } of files) {
  test(`${name.replace(".txt", "")}: every case has the expected output`, () => {
    const actual = cases.map(({ input }) => ({ input, output: outputOf(input) }));
    if (process.env.GOLDEN === "write")
      writeFileSync(
        folder + name,
        actual.map(({ input, output }) => `${input}\n----\n${output}\n`).join("====\n"),
      );
    else expect(actual).toEqual(cases);
  });
}

test("there are at least 400 cases", () => {
  expect(files.flatMap(({ cases }) => cases).length).toBeGreaterThanOrEqual(400);
});

function readCase(text: string): { input: string; output: string } {
  const [input = "", output = ""] = text.split(/^----\n/m);
  return { input: input.replace(/\n$/, ""), output: output.replace(/\n$/, "") };
}

function outputOf(input: string): string {
  const host = { now: () => 0, clock: () => 0, timer: () => 0, seed: () => 1 };
  const lisp = createLisp({ budgets, host });
  const answers = input.split(/^;; then\n/m).map((source) => show(lisp.evaluate(source)));
  return answers.join("\n;; then\n");
}

/** Like the tool's answer, with one line for a condition. */
function show({ output, errorOutput, warnings, values, condition }: Evaluation): string {
  const lines = [
    ...section("stdout", shorten(output)),
    ...section("stderr", errorOutput),
    ...section("warnings", warnings.join("\n")),
    ...values.map((value) => `=> ${value}`),
    ...(condition === null ? [] : [`! ${condition.type}: ${condition.message}`]),
  ];
  return lines.length === 0 ? "; no values" : lines.join("\n");
}

const section = (name: string, text: string): string[] => (text === "" ? [] : [`[${name}]`, text]);

/** The start is enough to recognise the output of a runaway program. */
const shorten = (text: string): string =>
  text.length > 500 ? `${text.slice(0, 60)}… ${text.length} characters` : text;
