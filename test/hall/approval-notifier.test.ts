import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLog } from "../../src/base/log.ts";
import { createApprovalNotifier, type NotifierOptions } from "../../src/hall/approval-notifier.ts";
import type { PendingApproval } from "../../src/trust/approvals.ts";
import { createToolkit } from "../servers/toolkits.ts";
import { until } from "../servers/until.ts";

let folder: string;
const path = process.env.PATH;
const desktop = { DISPLAY: ":0", DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere" };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "guildhall-notify-"));
  mkdirSync(join(folder, "project"));
});
afterEach(() => {
  process.env.PATH = path;
  rmSync(folder, { recursive: true, force: true });
});

/** A stand-in for notify-send that writes its arguments to a file, one in each line. */
function standIn(name: string): string {
  mkdirSync(join(folder, name), { recursive: true });
  const file = join(folder, name, "notify-send");
  const shown = join(folder, `${name.replace("/", "-")}.txt`);
  writeFileSync(
    file,
    `#!/bin/sh\nprintf '%s\\n' "$@" >> '${shown}.part'\nmv '${shown}.part' '${shown}'\n`,
  );
  chmodSync(file, 0o755);
  process.env.PATH = `${join(folder, name)}${delimiter}${path}`;
  return shown;
}

const pending: PendingApproval = {
  target: {
    toolkit: createToolkit("files", {}),
    tool: { name: "delete", inputSchema: { type: "object" } },
    fullName: "files.delete",
  },
  argumentsHash: "a",
  caller: "local",
  client: "a\u001b[2J <b>client</b> $(touch x)",
  preview: "files.delete\n  path: secret",
  callerPreview: "files.delete",
  why: "it may",
  token: "0123456789abcdef01234567",
  askedAt: 0,
  expiresAt: 1,
  isWaiting: false,
};

function open(options: Partial<NotifierOptions>): (pending: PendingApproval) => void {
  return createApprovalNotifier({
    folder: join(folder, "project"),
    log: createLog({ level: "silent" }),
    env: { ...process.env, CI: "", ...desktop },
    platform: "linux",
    ...options,
  });
}

test("a waiting call is shown at the desktop, by name only, and a burst once", async () => {
  const shown = standIn("bin");
  let time = 0;
  const notify = open({ now: () => time });
  notify(pending);
  notify(pending);
  await until(() => existsSync(shown), "the notification is shown");
  const text = readFileSync(shown, "utf8");
  expect(text.split("\n")).toEqual([
    "--app-name=Guildhall",
    "--",
    "Guildhall: approval needed",
    "a &lt;b&gt;client&lt;/b&gt; $(touch x) wants to call files.delete. Run guildhall approvals in project.",
    "",
  ]);
  expect(text).not.toContain(pending.token);
  rmSync(shown);
  time += 5_000;
  notify(pending);
  await until(() => existsSync(shown), "the next one is shown");
});

test("nothing is run in CI, without a desktop, or from the project", async () => {
  const inProject = standIn("project/bin");
  open({})(pending);
  const shown = standIn("bin");
  open({ env: { ...desktop, CI: "true" } })(pending);
  open({ env: { DISPLAY: ":0" } })(pending);
  open({ env: { DBUS_SESSION_BUS_ADDRESS: "x" } })(pending);
  expect([existsSync(inProject), existsSync(shown)]).toEqual([false, false]);
  open({})(pending);
  await until(() => existsSync(shown), "with a desktop it is shown");
  expect(readFileSync(shown, "utf8").match(/wants to call/g)).toHaveLength(1);
  expect(existsSync(inProject)).toBe(false);
});
