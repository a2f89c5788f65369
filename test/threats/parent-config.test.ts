// Another user's config above the working directory starts nothing.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { findProject } from "../../src/config/files.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "guildhall-parent-")));
  mkdirSync(join(root, "repo", "src"), { recursive: true });
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(root, { recursive: true, force: true });
});

const at = (...path: readonly string[]): string => join(root, ...path);
const write = (...path: readonly string[]): void => writeFileSync(at(...path), "{}");

test("a config of another user in a parent folder is not used, and named", () => {
  mkdirSync(at(".git"));
  write("guildhall.json");
  write("repo", "guildhall.json");
  const own = process.geteuid?.() ?? 0;
  vi.spyOn(process, "geteuid").mockReturnValue(own + 1);
  expect(findProject(at("repo", "src"))).toEqual({
    folder: at("repo", "src"),
    ignored: [at("repo", "guildhall.json"), at("guildhall.json")],
  });
  // In the folder itself, reading the file decides.
  expect(findProject(at("repo"))).toEqual({ folder: at("repo"), ignored: [] });
});
