// Keeps docs/threats.md true: every row names a test that exists, and every file of attacks has a row.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

test("every threat names a test, and every file of attacks is named", () => {
  const rows = readFileSync(`${root}docs/threats.md`, "utf8")
    .split("\n")
    .filter((line) => /^\| (?!threat \|)/.test(line));
  const named = rows.map((row) => {
    const [, file = "", name = ""] =
      /\| (test\/(?:threats|web|e2e|halls|upstream)\/\S+\.test\.ts) `(.+)` \|$/.exec(row) ?? [];
    return { row, file, name };
  });
  for (const { row, file, name } of named) {
    expect(file, row).not.toBe("");
    expect(readFileSync(root + file, "utf8"), row).toContain(name);
  }

  const files = readdirSync(`${root}test/threats`).filter((file) => file.endsWith(".test.ts"));
  expect(new Set(named.map(({ file }) => file))).toEqual(
    new Set([
      ...files.map((file) => `test/threats/${file}`),
      "test/e2e/attach.test.ts",
      "test/e2e/sandbox.test.ts",
      "test/halls/people.test.ts",
      "test/upstream/people.test.ts",
      "test/web/hostile.test.ts",
    ]),
  );
});
