import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { buildTestCli } from "../servers/process.ts";
import { faulty, isAlive, usePlaces } from "../servers/upstreams.ts";

/** Halls in the background: start, open, stop, for a project and for the user. */
const places = usePlaces();
let cli: string;
let folder: string;

beforeAll(async () => {
  cli = await buildTestCli();
  folder = await places.newProject({ box: faulty("") });
});
afterAll(() => {
  places.remove();
});

async function run(...args: string[]): Promise<{ code: number | null; out: JsonObject }> {
  const child = spawn(process.execPath, [cli, ...args, "--json"], {
    cwd: folder,
    env: { ...process.env, XDG_RUNTIME_DIR: places.runtime, XDG_DATA_HOME: places.data },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let out = "";
  child.stdout.on("data", (bytes: Buffer) => {
    out += bytes;
  });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, out: JSON.parse(out) };
}

test.each([[], ["--user"]])("a hall starts, answers, is found and stops: %s", async (...flags) => {
  expect((await run("stop", ...flags)).out).toEqual({ stopped: false });
  expect(await run("open", ...flags)).toMatchObject({ code: 69 });
  const started = await run("start", "--port", "0", ...flags);
  expect(started).toMatchObject({ code: 0, out: { started: true } });
  const { url, pid, logFile } = started.out as { url: string; pid: number; logFile: string };
  try {
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ status: "ok" });
    expect(await run("start", ...flags)).toMatchObject({
      code: 0,
      out: { started: false, url, pid },
    });
    expect((await run("open", ...flags)).out).toEqual({ url: `${url}/`, opened: false });
    expect(existsSync(logFile)).toBe(true);
  } finally {
    expect((await run("stop", ...flags)).out).toMatchObject({ stopped: true, pid, url });
  }
  expect(isAlive(pid)).toBe(false);
});

test("a hall that cannot start says why", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  const { port } = other.address() as AddressInfo;
  const { code, out } = await run("start", "--port", String(port));
  other.close();
  expect(code).toBe(69);
  expect(JSON.stringify(out)).toContain(`the hall did not start: port ${port} is in use`);
});
