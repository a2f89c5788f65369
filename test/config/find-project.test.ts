import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findProject } from "../../src/config/files.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "guildhall-find-")));
  mkdirSync(join(root, "repo", "src", "deep"), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const at = (...path: readonly string[]): string => join(root, ...path);
const write = (...path: readonly string[]): void => writeFileSync(at(...path), "{}");
const found = (...path: readonly string[]): string =>
  findProject(at(...path)).folder.slice(root.length);

test("the nearest config counts, up to the root of the repository", () => {
  mkdirSync(at("repo", ".git"));
  write("guildhall.json");
  expect(found("repo", "src", "deep")).toBe("/repo/src/deep");
  write("repo", "guildhall.toml");
  expect(found("repo", "src", "deep")).toBe("/repo");
  write("repo", "src", "guildhall.json");
  expect(found("repo", "src", "deep")).toBe("/repo/src");
  expect(found("repo")).toBe("/repo");
});

test("a worktree, whose .git is a file, is a repository of its own", () => {
  mkdirSync(at("repo", ".git"));
  write("repo", "guildhall.json");
  write("repo", "src", ".git");
  expect(found("repo", "src", "deep")).toBe("/repo/src/deep");
});

test("outside a repository only the folder itself counts", () => {
  write("repo", "guildhall.json");
  expect(found("repo", "src")).toBe("/repo/src");
  expect(found("repo")).toBe("/repo");
});
