import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { createLog, Secrets } from "../../src/base/log.ts";

function scrubber(...values: readonly string[]): Secrets {
  const secrets = new Secrets();
  for (const value of values) secrets.add(value);
  return secrets;
}

test("a secret that begins with a shorter one leaves no tail", () => {
  expect(scrubber("hunter2", "hunter2-and-more").scrub("key hunter2-and-more, hunter2")).toBe(
    "key ***, ***",
  );
});

test("each line of a secret is redacted on its own, until the secret is removed", () => {
  const secrets = scrubber("-----BEGIN KEY-----\r\nMIIEvQ+IBADANB\nend\n");
  expect(secrets.scrub("bad line: MIIEvQ+IBADANB")).toBe("bad line: ***");
  expect(secrets.scrub("?key=MIIEvQ%2BIBADANB")).toBe("?key=***");
  expect(secrets.scrub("the end")).toBe("the end");
  secrets.remove("-----BEGIN KEY-----\r\nMIIEvQ+IBADANB\nend\n");
  expect(secrets.scrub("MIIEvQ+IBADANB")).toBe("MIIEvQ+IBADANB");
});

test("a line has its level, the fields of its log and its own, and the error", () => {
  const lines: string[] = [];
  const log = createLog({ level: "info", sink: { write: (line) => lines.push(line) } });
  const failure = new Error("no answer", { cause: new Error("socket closed") });
  Object.assign(failure, { itself: failure });
  log.debug("left out");
  log.child({ upstream: "github" }).warn({ err: failure, size: 1n }, "call failed");
  log.info("plain");
  log.info({ text: 'a "b"\n\\\u2028é', not: Number.NaN, is: true, none: null, gone: undefined });
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      level: "warn",
      time: expect.any(Number),
      upstream: "github",
      err: {
        type: "Error",
        message: "no answer",
        stack: expect.stringMatching(/no answer.*socket closed/s),
      },
      size: "1",
      msg: "call failed",
    },
    { level: "info", time: expect.any(Number), msg: "plain" },
    {
      level: "info",
      time: expect.any(Number),
      text: 'a "b"\n\\\u2028é',
      not: null,
      is: true,
      none: null,
    },
  ]);
});

test("the lines of one turn are one write to stderr", async () => {
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  onTestFinished(() => write.mockRestore());
  const log = createLog();
  log.info("one");
  log.warn("two");
  expect(write).not.toHaveBeenCalled();
  await setImmediate();
  log.info("three");
  await setImmediate();
  const written = write.mock.calls.map(([text]) => String(text).trim().split("\n"));
  expect(written.map((lines) => lines.map((line) => JSON.parse(line).msg))).toEqual([
    ["one", "two"],
    ["three"],
  ]);
});
