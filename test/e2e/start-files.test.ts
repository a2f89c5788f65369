import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { makeHome } from "../servers/home.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const recorder = new URL("../servers/opened-files.mjs", import.meta.url).href;

/** The files of the build that a command reads through `node:fs`, workers included. */
function filesReadBy(line: readonly string[], input = ""): readonly string[] {
  using home = makeHome({ "./guildhall.json": {} });
  const record = join(home.path, "opened");
  const { status, stderr } = spawnSync(process.execPath, ["--import", recorder, cli, ...line], {
    cwd: home.project,
    env: { ...home.env, OPENED_FILES: record },
    input,
    encoding: "utf8",
  });
  expect(status, stderr).toBe(0);
  const files = readFileSync(record, "utf8").split("\n");
  return [...new Set(files)]
    .map((file) => relative(dirname(cli), file))
    .filter((file) => /^[^.].*js$/.test(file))
    .sort();
}

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
};

// Every file costs a start time, and a package as much as a hall.
test("a hall with a config starts from one script", () => {
  expect(filesReadBy(["mcp"], `${JSON.stringify(initialize)}\n`)).toEqual(["main.cjs"]);
});

test("a command reads one script more, the parser of its line", () => {
  expect(filesReadBy(["status"])).toEqual(["lazy/commander.cjs", "main.cjs"]);
});
