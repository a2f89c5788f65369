import { expect, test } from "vitest";
import type { LogEntry } from "../../src/hall/server-logs.ts";
import { addLines, joinLog, newestOf } from "../../web/log-lines.ts";

const line = (at: number): LogEntry => ({ server: "shop", at, text: `line ${at}` });

test("a log follows its server also once the page forgets the oldest lines", () => {
  const many = Array.from({ length: 5_000 }, (_, at) => line(at + 1));
  const full = addLines([], many);
  const later = addLines(full, [line(5_001)]);
  expect(later).toHaveLength(full.length);
  expect(newestOf(later)).not.toBe(newestOf(full));
  expect(joinLog([], later).at(-1)?.text).toBe("line 5001");
});

test("lines that were read with the log are not shown twice", () => {
  const read = [line(1), line(2)];
  expect(joinLog(read, [line(2), line(3)]).map(({ at }) => at)).toEqual([1, 2, 3]);
});
