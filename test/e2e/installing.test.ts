// A package that takes long to install: what the commands say of it, and that it is there at last.
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Home, makeHome } from "../servers/home.ts";
import { makeSlowInstaller, type SlowInstaller } from "../servers/slow-installer.ts";
import { openTerminal } from "../servers/terminal.ts";
import { until } from "../servers/until.ts";
import { isAlive } from "../servers/upstreams.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const faulty = fileURLToPath(new URL("../servers/faulty.mjs", import.meta.url));

const box = { command: "npx", args: ["-y", "some-server", "tools=1"] };
let home: Home;
let installer: SlowInstaller;
let env: Readonly<Record<string, string>>;

beforeEach(() => {
  home = makeHome({ "./guildhall.json": { mcpServers: { box } } });
  installer = makeSlowInstaller(home.locate("~/slow"), faulty);
  env = { PATH: `${installer.bin}:${home.env.PATH}` };
});

afterEach(async () => {
  installer.release();
  await until(() => !installer.starts().some(isAlive), "no installer is left");
  home[Symbol.dispose]();
});

test("is named as still installing after the time for a start, and the next build has it", async () => {
  const defaults = { startTimeoutSeconds: 1 };
  home.write("./guildhall.json", { defaults, mcpServers: { box } });
  const first = await home.run(cli, ["build", "--yes"], env);
  expect(first.stdout).toContain("box still installing in the background");
  expect(first.stdout).not.toContain("did not answer");
  const doctor = await home.run(cli, ["doctor"], env);
  expect(doctor.stdout).toContain("still installing after 1 s; the installation continues");
  expect(doctor.stdout).toContain("Check again in a minute.");
  const built = await home.run(cli, ["build", "--json"], env);
  expect(built.stdout).toContain('"installing": true');

  home.write("./guildhall.json", { mcpServers: { box } });
  installer.release();
  const last = await home.run(cli, ["build", "--yes"], env);
  expect(last).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("1 of 1 server answered"),
  });
  expect(installer.starts()).toHaveLength(1);
});

test("survives a build that is killed, and leaves one folder", async () => {
  const build = spawn(process.execPath, [cli, "build", "--yes"], {
    cwd: home.project,
    env: { ...home.env, ...env },
    stdio: "ignore",
  });
  await until(() => installer.starts().length === 1, "the installation has begun");
  build.kill("SIGKILL");
  await until(() => build.signalCode !== null, "the build is gone");
  installer.release();
  expect(await home.run(cli, ["build", "--yes"], env)).toMatchObject({ code: 0 });
  expect(installer.starts()).toHaveLength(1);
  expect(readdirSync(home.locate("~/.cache/guildhall/packages"))).toHaveLength(1);
});

test("Ctrl+C names the work that continues in the background", async () => {
  await using build = openTerminal([process.execPath, cli, "build"], {
    folder: home.project,
    env: { ...home.env, ...env },
  });
  await build.shows("Start them?");
  build.type("\r");
  await build.shows("box: installing");
  build.type("\x03");
  await build.shows("still installing in the background: box; run the command again later");
});
