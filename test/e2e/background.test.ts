import { spawn } from "node:child_process";
import { chmodSync, existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { buildTestCli } from "../servers/process.ts";
import { until } from "../servers/until.ts";
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
    const { out } = await run("open", ...flags);
    expect(out).toEqual({ url: expect.any(String), opened: false });
    // The address signs in one browser, once.
    const [page, code] = String(out.url).split("/#/sign-in/");
    expect(page).toBe(url);
    const signIn = () =>
      fetch(`${url}/api/page/sign-in`, {
        method: "POST",
        headers: { "content-type": "application/json", origin: url },
        body: JSON.stringify({ code }),
      });
    expect((await signIn()).status).toBe(200);
    expect((await signIn()).status).toBe(401);
    expect(existsSync(logFile)).toBe(true);
  } finally {
    expect((await run("stop", ...flags)).out).toMatchObject({ stopped: true, pid, url });
  }
  expect(isAlive(pid)).toBe(false);
});

test("of two starts at once one starts the hall, and the other one finds it", async () => {
  const both = await Promise.all([run("start", "--port", "0"), run("start", "--port", "0")]);
  const [{ out }] = both;
  try {
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(both.map(({ out: { started } }) => started).sort()).toEqual([false, true]);
    expect(both.map(({ out: { pid } }) => pid)).toEqual([out.pid, out.pid]);
    const third = await run("serve", "--background", "--port", "0");
    expect(JSON.stringify(third.out)).toContain("another hall of this project is running");
  } finally {
    expect((await run("stop")).out).toMatchObject({ stopped: true, pid: out.pid });
  }
});

test("a log file in a folder that others can read is written", async () => {
  chmodSync(folder, 0o755);
  const serve = (file: string) =>
    spawn(process.execPath, [cli, "serve", "--port", "0", "--log-file", file], {
      cwd: folder,
      env: { ...process.env, XDG_RUNTIME_DIR: places.runtime, XDG_DATA_HOME: places.data },
      stdio: ["ignore", "ignore", "pipe"],
    });
  const children = [serve("./hall.log"), serve("/dev/null/hall.log")];
  const said = ["", ""];
  for (const [at, { stderr }] of children.entries())
    stderr.on("data", (bytes: Buffer) => {
      said[at] += String(bytes);
    });
  try {
    await until(() => existsSync(join(folder, "hall.log")), "the log is written");
    await until(() => said[1]?.includes("cannot write the log"), "the failure is named");
    expect(said[0]).toBe("");
  } finally {
    const ends = children.map((child) => new Promise((resolve) => child.once("exit", resolve)));
    for (const child of children) child.kill();
    await Promise.all(ends);
  }
});

test("a hall that cannot start says why", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  const { port } = other.address() as AddressInfo;
  const { code, out } = await run("start", "--port", String(port));
  other.close();
  expect(code).toBe(69);
  expect(out).toMatchObject({
    error: {
      message: `the hall did not start: port ${port} is in use`,
      suggestion: expect.stringMatching(`^Run: guildhall start --port ${port + 1}\n  Its log is `),
    },
  });
});
