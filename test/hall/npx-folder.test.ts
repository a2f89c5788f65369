import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findDamagedNpx, removeNpxFolder } from "../../src/hall/doctor.ts";

/** A folder of the npx cache that an interrupted installation left without its dependencies. */
let cache: string;
const name = "15b07286cbcc3329";

beforeEach(() => {
  cache = realpathSync(mkdtempSync(join(tmpdir(), "guildhall-npx-")));
  mkdirSync(join(cache, "_npx", name, "node_modules"), { recursive: true });
});
afterEach(() => rmSync(cache, { recursive: true, force: true }));

test("the folder is read from Node's message about a missing package", () => {
  const folder = `/home/me/.npm/_npx/${name}`;
  const module = `${folder}/node_modules/server-memory/dist/index.js`;
  expect(
    findDamagedNpx([
      "node:internal/modules/esm/resolve:873",
      `Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from ${module}`,
    ]),
  ).toBe(folder);
  expect(findDamagedNpx([`ERR_MODULE_NOT_FOUND at file://${module}:1:2`])).toBe(folder);
  expect(findDamagedNpx([`listening, from ${module}`])).toBeUndefined();
  expect(findDamagedNpx(["ERR_MODULE_NOT_FOUND: /srv/app/index.js"])).toBeUndefined();
});

test("exactly that folder of the user's own cache is removed", async () => {
  const env = { npm_config_cache: cache };
  mkdirSync(join(cache, "_npx", "aaaaaaaaaaaaaaaa"));
  expect(await removeNpxFolder(join(cache, "_npx", name), env)).toBe(true);
  expect(existsSync(join(cache, "_npx", name))).toBe(false);
  expect(existsSync(join(cache, "_npx", "aaaaaaaaaaaaaaaa"))).toBe(true);
});

test("a path that a server invents is left alone", async () => {
  const env = { npm_config_cache: cache };
  const precious = join(cache, "precious", "_npx", name);
  mkdirSync(precious, { recursive: true });
  symlinkSync(precious, join(cache, "_npx", "bbbbbbbbbbbbbbbb"));
  const paths = [
    precious,
    join(cache, "_npx", "bbbbbbbbbbbbbbbb"),
    join(cache, "_npx", name, "..", "..", "precious", "_npx", name),
    join(cache, "_npx", "..", "_npx"),
    join(cache, "_npx", "cccccccccccccccc"),
    "/",
  ];
  for (const path of paths) expect([path, await removeNpxFolder(path, env)]).toEqual([path, false]);
  expect(existsSync(precious)).toBe(true);
});
