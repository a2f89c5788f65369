import { expect, test, vi } from "vitest";
import { createLive, createWaiting, type LiveOutput } from "../../src/cli/live.ts";

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

test("work that takes long is shown with its time until it ends or there is news", async () => {
  vi.useFakeTimers();
  try {
    const output = listen({ isTTY: true, columns: 40 });
    const waiting = createWaiting(output, true);
    expect(await waiting.during("at once", Promise.resolve(1))).toBe(1);
    let end = (_value: number): void => {};
    const work = new Promise<number>((resolve) => {
      end = resolve;
    });
    const waited = waiting.during("checking the servers", work);
    await vi.advanceTimersByTimeAsync(299);
    expect(output.written).toEqual([]);
    await vi.advanceTimersByTimeAsync(901);
    expect(output.written[0]).toBe("\r\u001b[Kchecking the servers …");
    expect(output.written.at(-1)).toBe("\r\u001b[Kchecking the servers … 1 s");
    waiting.clear();
    const { length } = output.written;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(output.written.slice(length - 1)).toEqual(["\r\u001b[K"]);
    end(2);
    expect(await waited).toBe(2);
  } finally {
    vi.useRealTimers();
  }
});

test("nothing is shown of it in a pipe", async () => {
  vi.useFakeTimers();
  try {
    const output = listen();
    const waited = createWaiting(output, false).during("checking", new Promise(() => {}));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(output.written).toEqual([]);
    void waited;
  } finally {
    vi.useRealTimers();
  }
});
