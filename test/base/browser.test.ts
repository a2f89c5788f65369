import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openBrowser } from "../../src/base/processes.ts";

/** The launcher of a machine, as these tests want it. */
let folder: string;
const path = process.env.PATH;
/** However slow the machine is. */
const launchMs = 20_000;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "guildhall-browser-"));
  process.env.PATH = folder;
});
afterEach(() => {
  process.env.PATH = path;
  rmSync(folder, { recursive: true, force: true });
});

function install(script: string): void {
  for (const name of ["xdg-open", "open"]) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
}

test("the address is passed to the launcher as one argument, with any characters", async () => {
  install(`printf '%s\\n' "$#" "$1" > '${join(folder, "heard")}'`);
  const page = new URL("https://example.org/?a=$(touch x)&b=`id`;c");
  expect(await openBrowser(page, launchMs)).toBe(true);
  expect(readFileSync(join(folder, "heard"), "utf8")).toBe(`1\n${page.href}\n`);
});

test("a launcher without a browser, and a missing launcher, are distinguished from one that opened the page", async () => {
  expect(await openBrowser(new URL("https://example.org/"), launchMs)).toBe(false);
  install("exit 3");
  expect(await openBrowser(new URL("https://example.org/"), launchMs)).toBe(false);
});
