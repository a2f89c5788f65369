import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { installService, planService, removeService } from "../../src/hall/daemon.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "guildhall-service-"));
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

const program = ["/usr/bin/node", '/home/a "b" 100%/$cli.js'];

test("a systemd unit quotes everything systemd would expand, and is installed and removed", async () => {
  const env = {
    HOME: home,
    PATH: "/usr/bin:/opt/$X",
    XDG_DATA_HOME: "/data 1%",
    XDG_CACHE_HOME: "",
  };
  const service = planService({ program, env, platform: "linux" });
  expect(service.file).toBe(join(home, ".config/systemd/user/guildhall.service"));
  expect(service.text).toContain(
    String.raw`ExecStart="/usr/bin/node" "/home/a \"b\" 100%%/$$cli.js" "serve" "--user"`,
  );
  expect(service.text).toContain(
    'Environment="PATH=/usr/bin:/opt/$X"\nEnvironment="XDG_DATA_HOME=/data 1%%"\nRestart=',
  );
  expect(service.enable.at(-1)).toEqual([
    ..."systemctl --user enable --now guildhall.service".split(" "),
  ]);

  // Nothing of this machine's own manager is touched.
  const quiet = { ...service, enable: [["false"]], disable: [["true"]] } as const;
  expect(await installService(quiet)).toBe(false);
  expect(readFileSync(service.file, "utf8")).toBe(service.text);
  expect(planService({ program, env, platform: "linux" }).current).toBe(service.text);
  expect(await removeService(quiet)).toBe(true);
  expect(existsSync(service.file)).toBe(false);
});

test("a plist escapes XML; a foreign file and other systems are refused", () => {
  const env = { HOME: home, PATH: "/a&b", XDG_DATA_HOME: "/data" };
  const { file, text } = planService({ program, env, platform: "darwin" });
  expect(file).toBe(join(home, "Library/LaunchAgents/guildhall.plist"));
  expect(text).toContain("<string>/a&amp;b</string>");
  expect(text).toContain("<key>XDG_DATA_HOME</key><string>/data</string>");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "<plist/>");
  expect(() => planService({ program, env, platform: "darwin" })).toThrow(
    "was not written by guildhall",
  );
  expect(() => planService({ program, env, platform: "win32" })).toThrow("systemd and launchd");
});
