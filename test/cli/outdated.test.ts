import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const script = new URL("../../scripts/outdated.mjs", import.meta.url).href;
const { isOutdated, stamp } = (await import(script)) as {
  isOutdated(root: string): boolean;
  readonly stamp: string;
};

test("a build is outdated once a source is newer, is gone, or nothing was built", () => {
  const root = mkdtempSync(join(tmpdir(), "guildhall-build-"));
  const write = (name: string, minute: number): void => {
    mkdirSync(join(root, dirname(name)), { recursive: true });
    writeFileSync(join(root, name), "");
    date(name, minute);
  };
  const date = (name: string, minute: number): void =>
    utimesSync(join(root, name), minute * 60, minute * 60);
  const sources = ["src/base/text.ts", "src/cli/main.ts", "web/main.ts", "scripts/build.mjs"];
  const folders = ["src/base", "src/cli", "src", "web", "scripts"];
  try {
    for (const name of [...sources, "package.json", "package-lock.json"]) write(name, 1);
    for (const folder of folders) date(folder, 1);
    expect(isOutdated(root)).toBe(true);
    write(`dist/${stamp}`, 2);
    expect(isOutdated(root)).toBe(false);
    write("src/base/text.ts", 3);
    expect(isOutdated(root)).toBe(true);
    write(`dist/${stamp}`, 4);
    for (const folder of folders) date(folder, 1);
    expect(isOutdated(root)).toBe(false);
    rmSync(join(root, "src/cli/main.ts"));
    expect(isOutdated(root)).toBe(true);
  } finally {
    rmSync(root, { recursive: true });
  }
});
