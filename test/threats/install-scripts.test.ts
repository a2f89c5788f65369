// Installing the dependencies runs no code of theirs.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (name: string): string =>
  readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");

test("npm runs no script of a package while it installs, and no step of ours depends on one", () => {
  expect(read(".npmrc").split("\n")).toContain("ignore-scripts=true");
  // With that setting npm also skips our own hooks, so a step in one would silently not happen.
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  expect(
    Object.keys(scripts).filter((name) => /^(pre|post|install|dependencies)/.test(name)),
  ).toEqual([]);
});
