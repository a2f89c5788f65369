import { expect, test } from "vitest";
import { createLive, type LiveOutput } from "../../src/cli/live.ts";

function listen(
  about: Omit<LiveOutput, "write"> = {},
): LiveOutput & { readonly written: string[] } {
  const written: string[] = [];
  return { ...about, written, write: (text) => void written.push(text) };
}

test("in a pipe each piece of news is one plain line, and how long something runs is none", () => {
  const output = listen();
  const live = createLive(output);
  live.progress({ progress: 1, total: 4, message: "T001: npm test" });
  live.progress({ progress: 1, total: 4, message: "T001: npm test", elapsedSeconds: 2 });
  live.log("compiling\n\u001b[31mone warning\u001b[0m");
  live.log({ files: 3 });
  live.progress({ progress: 2, message: "T002" });
  live.progress({ progress: 3 });
  live.clear();
  expect(output.written.join("")).toBe(
    '[25 %] T001: npm test\ncompiling\none warning\n{"files":3}\nT002\n',
  );
});

test("at a terminal a bar stays below the lines, fits into one, and is taken away", () => {
  const output = listen({ isTTY: true, columns: 40 });
  const live = createLive(output);
  live.progress({
    progress: 1,
    total: 2,
    message: "a message that is far too long for what is left of this line",
  });
  const [bar = ""] = output.written;
  expect(bar).toBe("\r\u001b[K[██████████░░░░░░░░░░] 50 % a message t");
  live.log("compiling");
  expect(output.written.slice(1)).toEqual([
    "\r\u001b[K",
    expect.stringContaining("compiling"),
    bar,
  ]);
  live.clear();
  live.clear();
  expect(output.written.slice(4)).toEqual(["\r\u001b[K"]);
});
