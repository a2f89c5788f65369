import { existsSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openPane } from "../tui/pane.ts";
import { makeProject } from "../workflow/projects.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

test.each([
  ["hangs up", ""],
  // As below nohup: only reading tells that nobody is there.
  ["goes without a word", "trap '' HUP; "],
])(
  "a client whose terminal %s ends, and its hall with it",
  async (_way, before) => {
    const project = makeProject({ "guildhall.json": "{}" });
    try {
      const own = Object.fromEntries(
        ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"].map((name) => [
          name,
          project.path(".own"),
        ]),
      );
      await using pane = await openPane({ folder: project.folder, env: own });
      await pane.type(`sh -c "${before}exec '${process.execPath}' '${cli}' tui"`);
      await pane.press("Enter");
      await pane.until("No servers configured", "2026-07-28");
      const pid = await pane.program();
      expect(isAlive(pid)).toBe(true);
      await pane[Symbol.asyncDispose]();
      await expect.poll(() => isAlive(pid)).toBe(false);
      const log = project.path(".guildhall/logs/tui.log");
      expect(existsSync(log) ? readFileSync(log, "utf8") : "").not.toContain("uncaught");
    } finally {
      await rm(project.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    }
  },
  60_000,
);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
