import { expect, test } from "vitest";
import { createLog, type LogSink, Secrets } from "../../src/base/log.ts";
import { createLineSink, describeLogLine } from "../../src/hall/log-lines.ts";

const line = (entry: object): string =>
  describeLogLine(`${JSON.stringify({ level: "info", time: Date.now(), ...entry })}\n`, false);

test("a line has the time, the level, the subject, the message and the fields", () => {
  expect(
    line({
      upstream: "files",
      msg: "upstream state",
      state: { kind: "down", reason: "exited with code 9", failures: 2 },
    }),
  ).toMatch(/^\d\d:\d\d:\d\d info {2}files: upstream state state=down \(exited with code 9\)\n$/);
  expect(line({ level: "warn", upstream: "files", msg: "files cannot be used: no" })).toMatch(
    / warn {2}files cannot be used: no\n$/,
  );
  expect(line({ msg: "config reloaded", added: ["a"], removed: [] })).toMatch(
    /config reloaded added=\["a"\] removed=\[\]\n$/,
  );
});

test("an error shows its stack; a warning only its message", () => {
  const err = { type: "Error", message: "no luck", stack: "Error: no luck\n    at here" };
  expect(line({ level: "error", msg: "uncaught exception", err })).toMatch(
    /uncaught exception\nError: no luck\n {4}at here\n$/,
  );
  expect(line({ level: "warn", msg: "listing again failed", err })).toMatch(
    /listing again failed: no luck\n$/,
  );
});

test("control characters are escaped, and other lines are shown as they are", () => {
  expect(line({ msg: "it said \u001b[2J\u001b[31m", "\u009bkey": "\u202etext" })).not.toMatch(
    /(?!\n)[\p{Cc}\p{Cf}]/u,
  );
  expect(describeLogLine("not \u001bJSON\n", false)).toBe("not \\u{1b}JSON\n");
});

test("colour is optional, and secrets are never shown", () => {
  const written: string[] = [];
  const terminal: LogSink = { write: (text) => written.push(text) };
  const secrets = new Secrets();
  secrets.add("hunter2hunter2");
  createLog({ sink: createLineSink(terminal, true), secrets }).warn(
    { url: "https://a/?key=hunter2hunter2" },
    "refused",
  );
  createLog({ sink: createLineSink(terminal, false), secrets }).warn("refused");
  expect(written[0]).toContain("\u001b[33mwarn \u001b[39m refused");
  expect(written[0]).toContain("key=***");
  expect(written[1]).not.toContain("\u001b");
});
