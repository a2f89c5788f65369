import { describe, expect, test } from "vitest";
import { readPages } from "./pages.ts";
import { Workplace } from "./workplace.ts";

const shells = ["sh", "bash", "console"];

/** `npm` lines are run by .ci/run. */
const isCommand = (line: string): boolean => line.trim() !== "" && !line.startsWith("npm ");

describe.concurrent("every command of the documentation runs", () => {
  for (const { name, examples } of readPages()) {
    const blocks = examples.filter(
      ({ language, text }) => shells.includes(language) && text.split("\n").some(isCommand),
    );
    if (blocks.length === 0) continue;

    test(name, { timeout: 600_000 }, async () => {
      await using workplace = new Workplace();
      for (const block of blocks) {
        await workplace.prepare(block);
        for (const line of block.text.split("\n").filter(isCommand)) {
          const { code, stdout, stderr } = await workplace.runLine(line, block.needs);
          expect(code, `${block.place}: ${line}\n${stdout}${stderr}`).toBe(0);
        }
      }
    });
  }
});
