import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLog, Secrets } from "../../src/base/log.ts";
import { createRotatingFile, partsOf } from "../../src/base/rotating-file.ts";
import { logFolder, openServerLogs, readServerLogs } from "../../src/hall/server-logs.ts";
import { until } from "../servers/until.ts";
import { faulty, startUpstreams } from "../servers/upstreams.ts";

let folder: string;
const before = process.env.XDG_DATA_HOME;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "guildhall-logs-"));
  process.env.XDG_DATA_HOME = join(folder, "data");
});
afterEach(() => {
  process.env.XDG_DATA_HOME = before;
  rmSync(folder, { recursive: true, force: true });
});

function openLogs(secrets = new Secrets()) {
  return openServerLogs({ folder, secrets, log: createLog({ level: "silent" }) });
}

test("lines are kept without secrets, in files that only the user can read, and read back in order", async () => {
  const secrets = new Secrets();
  secrets.add("hunter2hunter2");
  const logs = await openLogs(secrets);
  logs.write("files", "reading with hunter2hunter2");
  logs.write("github", "ready\r");
  logs.flush();
  const reader = await readServerLogs(folder);
  expect(reader.read()).toMatchObject([
    { server: "files", text: "reading with ***" },
    { server: "github", text: "ready " },
  ]);
  const servers = join(await logFolder(folder), "servers");
  expect(readdirSync(servers)).toEqual(["files.log", "github.log"]);
  expect(statSync(join(servers, "files.log")).mode & 0o777).toBe(0o600);
  expect(statSync(servers).mode & 0o777).toBe(0o700);

  logs.write("files", "more");
  logs.flush();
  expect(reader.read()).toMatchObject([{ server: "files", text: "more" }]);
  expect(reader.read()).toEqual([]);
  const one = await readServerLogs(folder, "github");
  expect(one.read().map(({ server }) => server)).toEqual(["github"]);
});

test("a log has at most two files of the given size, and a reader that follows misses nothing", async () => {
  const logs = await openLogs();
  const reader = await readServerLogs(folder, "loud");
  const seen: string[] = [];
  const line = "x".repeat(60_000);
  for (let at = 0; at < 50; at++) {
    logs.write("loud", `${at} ${line}`);
    logs.flush();
    seen.push(...reader.read().map(({ text }) => text.split(" ")[0] ?? ""));
  }
  expect(seen).toEqual(Array.from({ length: 50 }, (_, at) => String(at)));
  const file = join(await logFolder(folder), "servers", "loud.log");
  for (const part of partsOf(file)) expect(statSync(part).size).toBeLessThanOrEqual(1_000_000);
});

test("of a flood the end is kept, and a folder that cannot be written is reported once", () => {
  const file = join(folder, "flood", "a.log");
  const rotating = createRotatingFile(file);
  for (let at = 0; at < 10_000; at++) rotating.write(`line ${at} of a flood\n`);
  rotating.flush();
  expect(statSync(file).size).toBeLessThanOrEqual(64 * 1024);

  const failures: unknown[] = [];
  const broken = createRotatingFile("/dev/null/a.log", { failed: (error) => failures.push(error) });
  for (const text of ["one\n", "two\n"]) {
    broken.write(text);
    broken.flush();
  }
  expect(failures).toHaveLength(1);
});

test("a folder that others can read is refused only where it is ours", () => {
  chmodSync(folder, 0o755);
  const failures: unknown[] = [];
  const failed = (error: unknown): void => void failures.push(error);
  for (const hasOwnFolder of [false, true]) {
    const log = createRotatingFile(join(folder, "hall.log"), { hasOwnFolder, failed });
    log.write("a line\n");
    log.flush();
  }
  expect(readFileSync(join(folder, "hall.log"), "utf8")).toBe("a line\n");
  expect(failures).toHaveLength(1);
});

test("a log whose size and time are unchanged is not read again", async () => {
  const logs = await openLogs();
  logs.write("files", "one");
  logs.flush();
  const reader = await readServerLogs(folder, "files");
  const file = join(await logFolder(folder), "servers", "files.log");
  utimesSync(file, 1_000, 1_000);
  expect(reader.read()).toHaveLength(1);
  writeFileSync(file, readFileSync(file, "utf8").replace("one", "two"));
  utimesSync(file, 1_000, 1_000);
  expect(reader.read()).toEqual([]);
  utimesSync(file, 2_000, 2_000);
  expect(reader.read()).toMatchObject([{ text: "two" }]);
});

test("a server that fails to start leaves its last words and the reason", async () => {
  const logs = await openLogs();
  await using hall = await startUpstreams(
    { billing: faulty("crash-start") },
    { printed: logs.write },
  );
  await hall.untilState("billing", "down");
  const reader = await readServerLogs(folder, "billing");
  const texts: string[] = [];
  await until(() => {
    logs.flush();
    texts.push(...reader.read().map(({ text }) => text));
    return texts.some((text) => text.startsWith("guildhall: "));
  }, "the reason is in the log");
  expect(texts).toContain("cannot start: no licence");
  expect(texts).toContainEqual(expect.stringMatching(/^guildhall: exited with code \d+$/));
});
