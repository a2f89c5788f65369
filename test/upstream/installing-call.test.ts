import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { makeSlowInstaller, type SlowInstaller } from "../servers/slow-installer.ts";
import { until } from "../servers/until.ts";
import {
  callTool,
  faulty,
  faultyFile,
  isAlive,
  locked,
  startUpstreams,
  untilAnswers,
} from "../servers/upstreams.ts";

let folder: string;
let installer: SlowInstaller;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "guildhall-installing-"));
  vi.stubEnv("XDG_CACHE_HOME", folder);
  installer = makeSlowInstaller(folder, faultyFile);
});
afterEach(async () => {
  installer.release();
  await until(() => !installer.starts().some(isAlive), "no installer is left");
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

test("a call that meets a running installation says when to call again, and a later one is answered", async () => {
  const box = faulty("", {
    command: "npx",
    args: ["-y", "some-server"],
    env: { PATH: `${installer.bin}:${process.env.PATH}` },
  });
  await using hall = await startUpstreams(
    { box },
    { timeoutMs: 1_500, lock: { lockVersion: 1, servers: { box: locked(box, ["echo"]) } } },
  );
  expect(await callTool(hall.client, "box.echo")).toMatchObject({
    result: {
      isError: true,
      structuredContent: {
        error_type: "unavailable",
        next: [{ do: "retry-after", seconds: 15 }],
      },
    },
  });
  expect(installer.starts()).toHaveLength(1);
  installer.release();
  await untilAnswers(hall.client, "box.echo");
  expect(installer.starts()).toHaveLength(1);
});
