import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  deleteWorktree,
  listBranches,
  listWorktrees,
  openWorktree,
  refuseDelete,
} from "../../src/tui/worktrees.ts";
import { makeFolder, openForeign } from "./client-bench.ts";

interface Repository extends Disposable {
  readonly folder: string;
  git(folder: string, ...args: readonly string[]): string;
}

function makeRepository(): Repository {
  const folder = makeFolder();
  const identity = [
    "-c",
    "user.name=t",
    "-c",
    "user.email=t@example.org",
    "-c",
    "commit.gpgsign=false",
    "-c",
    "init.defaultBranch=main",
  ];
  const git: Repository["git"] = (where, ...args) =>
    execFileSync("git", ["-C", where, ...identity, ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  git(folder, "init", "-q");
  writeFileSync(join(folder, "a.txt"), "a\n");
  git(folder, "add", ".");
  git(folder, "commit", "-qm", "first");
  return { folder, git, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

function addFeature(folder: string, name: string): void {
  mkdirSync(join(folder, "specs", name), { recursive: true });
  writeFileSync(join(folder, "specs", name, "spec.md"), `# Feature Specification: ${name}\n`);
}

test("a worktree is created once per branch, with uncommitted files, and is hidden from git", async () => {
  using repository = makeRepository();
  const { folder, git } = repository;
  addFeature(folder, "001-a");
  const path = await openWorktree(folder, "001-a", "001-a");
  expect(path).toBe(join(folder, ".worktrees", "001-a"));
  expect(readFileSync(join(path, "specs", "001-a", "spec.md"), "utf8")).toContain("001-a");
  expect(git(path, "branch", "--show-current").trim()).toBe("001-a");
  expect(await openWorktree(folder, "001-a", "001-a")).toBe(path);
  expect(git(folder, "status", "--porcelain")).toBe("?? specs/\n");
  expect(await listBranches(folder)).toEqual(["001-a", "main"]);
  // A branch that is checked out elsewhere is worked on there.
  expect(await openWorktree(folder, "main", "001-a")).toBe(folder);
});

test("worktrees show whether they are clean, ahead and behind", async () => {
  using repository = makeRepository();
  const { folder, git } = repository;
  git(folder, "branch", "001-a");
  git(folder, "branch", "--set-upstream-to=main", "001-a");
  const path = await openWorktree(folder, "001-a", "001-a");
  for (const name of ["b", "c"]) {
    writeFileSync(join(path, name), name);
    git(path, "add", ".");
    git(path, "commit", "-qm", name);
  }
  git(folder, "commit", "-qm", "second", "--allow-empty");
  writeFileSync(join(path, "new.txt"), "");
  const [main, feature] = await listWorktrees({ folder, current: folder });
  expect(main).toMatchObject({
    path: folder,
    branch: "main",
    isMain: true,
    isCurrent: true,
    isDirty: false,
    ahead: undefined,
    behind: undefined,
  });
  expect(feature).toMatchObject({
    path,
    branch: "001-a",
    isMain: false,
    isCurrent: false,
    isDirty: true,
    ahead: 2,
    behind: 1,
  });
  const inside = await listWorktrees({ folder, current: path });
  expect(inside.map(({ isCurrent }) => isCurrent)).toEqual([false, true]);
});

test("an unfinished merge counts as dirty, and a branch without upstream has no distance", async () => {
  using repository = makeRepository();
  const { folder, git } = repository;
  git(folder, "branch", "elsewhere");
  git(folder, "branch", "001-a");
  git(folder, "branch", "--set-upstream-to=elsewhere", "001-a");
  git(folder, "branch", "-D", "elsewhere");
  const path = await openWorktree(folder, "001-a", "001-a");
  for (const [where, text] of [
    [folder, "ours"],
    [path, "theirs"],
  ] as const) {
    writeFileSync(join(where, "a.txt"), text);
    git(where, "commit", "-qam", text);
  }
  expect(() => git(path, "merge", "-q", "main")).toThrow();
  const [, feature] = await listWorktrees({ folder, current: folder });
  expect(feature).toMatchObject({
    branch: "001-a",
    isDirty: true,
    ahead: undefined,
    behind: undefined,
  });
  await expect(deleteWorktree({ folder, current: folder }, path)).rejects.toThrow(
    "uncommitted changes",
  );
});

test("main, current and dirty worktrees are not deleted; a clean one is, without its branch", async () => {
  using repository = makeRepository();
  const { folder, git } = repository;
  const path = await openWorktree(folder, "001-a", "001-a");
  await expect(deleteWorktree({ folder, current: folder }, folder)).rejects.toThrow(
    "main checkout",
  );
  await expect(deleteWorktree({ folder, current: path }, path)).rejects.toThrow("it is in use");
  writeFileSync(join(path, "new.txt"), "");
  await expect(deleteWorktree({ folder, current: folder }, path)).rejects.toThrow(
    "uncommitted changes",
  );
  rmSync(join(path, "new.txt"));
  await deleteWorktree({ folder, current: folder }, path);
  expect(existsSync(path)).toBe(false);
  expect(git(folder, "branch", "--list", "001-a")).toContain("001-a");
  await expect(deleteWorktree({ folder, current: folder }, path)).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
  // One whose folder went without git is made again.
  await openWorktree(folder, "001-a", "001-a");
  rmSync(path, { recursive: true });
  expect(await listWorktrees({ folder, current: folder })).toHaveLength(1);
  expect(await openWorktree(folder, "001-a", "001-a")).toBe(path);
});

test("a project that is a part of its repository is the same part of its worktrees", async () => {
  using repository = makeRepository();
  const part = join(repository.folder, "packages", "app");
  addFeature(part, "001-a");
  const place = await openWorktree(part, "001-a", "001-a");
  expect(place).toBe(join(repository.folder, ".worktrees", "001-a", "packages", "app"));
  expect(existsSync(join(place, "specs", "001-a", "spec.md"))).toBe(true);
  const list = await listWorktrees({ folder: part, current: place });
  expect(list.map(({ isCurrent }) => isCurrent)).toEqual([false, true]);
});

test("invalid branch names and folders without git are refused", async () => {
  using repository = makeRepository();
  await expect(openWorktree(repository.folder, "--upload-pack=x", "001-a")).rejects.toMatchObject({
    code: "EXECUTION",
  });
  rmSync(join(repository.folder, ".git"), { recursive: true });
  await expect(
    listWorktrees({ folder: repository.folder, current: repository.folder }),
  ).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(
    refuseDelete({
      path: "",
      branch: undefined,
      isMain: false,
      isCurrent: false,
      isDirty: false,
      ahead: 1,
      behind: 0,
    }),
  ).toBeUndefined();
});

test("steps run in the selected worktree, and deleting one asks first", async () => {
  using repository = makeRepository();
  const { folder } = repository;
  addFeature(folder, "001-a");
  await using bench = await openForeign("stdio", { folder });
  const { session } = bench;
  await bench.until(
    ({ tools, features }) => tools.load.kind === "loaded" && features.items.length === 1,
  );
  await session.send({ kind: "switch worktree", feature: "001-a" });
  const path = join(folder, ".worktrees", "001-a");
  expect(session.state().features).toMatchObject({
    folder: path,
    items: [{ name: "001-a", branch: "001-a", directory: join(path, "specs", "001-a") }],
  });
  await session.send({ kind: "run step", feature: "001-a" });
  expect(existsSync(join(path, "specs", "001-a", "plan.md"))).toBe(true);
  await session.send({ kind: "delete worktree", path });
  expect(session.state().notices.at(-1)?.text).toContain("it is in use");
  await session.send({ kind: "switch worktree", feature: undefined });
  await session.send({ kind: "delete worktree", path });
  expect(session.state().notices.at(-1)?.text).toContain("uncommitted changes");
  rmSync(join(path, "specs"), { recursive: true });
  await session.send({ kind: "refresh", screen: "features" });
  await session.send({ kind: "delete worktree", path });
  expect(session.state().confirmation?.message).toContain("is kept");
  await session.send({ kind: "confirm", isYes: false });
  expect(existsSync(path)).toBe(true);
  await session.send({ kind: "delete worktree", path });
  await session.send({ kind: "confirm", isYes: true });
  expect(existsSync(path)).toBe(false);
  expect(session.state().worktrees.items).toHaveLength(1);
});

test("hooks, filters and monitors of the repository's own config are not run", async () => {
  using repository = makeRepository();
  const { folder, git } = repository;
  const traces = join(folder, ".git", "traces");
  mkdirSync(traces);
  writeFileSync(join(folder, ".gitattributes"), "*.txt filter=a=b\n");
  git(folder, "add", ".");
  git(folder, "commit", "-qm", "attributes");
  git(folder, "branch", "001-a");
  const leaveTrace = (name: string, then = ""): string => `touch '${join(traces, name)}'; ${then}`;
  for (const hooks of [join(folder, ".git", "hooks"), join(folder, ".git", "own-hooks")]) {
    mkdirSync(hooks, { recursive: true });
    writeFileSync(join(hooks, "post-checkout"), `#!/bin/sh\n${leaveTrace("hook")}\n`, {
      mode: 0o755,
    });
  }
  git(folder, "config", "core.hooksPath", join(folder, ".git", "own-hooks"));
  git(folder, "config", "core.fsmonitor", leaveTrace("fsmonitor", "false"));
  git(folder, "config", "filter.a=b.clean", leaveTrace("clean", "cat"));
  git(folder, "config", "filter.a=b.smudge", leaveTrace("smudge", "cat"));
  git(folder, "config", "filter.a=b.required", "true");
  rmSync(traces, { recursive: true });
  mkdirSync(traces);
  writeFileSync(join(folder, "a.txt"), "b\n");
  expect((await listWorktrees({ folder, current: folder }))[0]).toMatchObject({ isDirty: true });
  const path = await openWorktree(folder, "001-a", "001-a");
  expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("a\n");
  await deleteWorktree({ folder, current: folder }, path);
  expect(readdirSync(traces)).toEqual([]);
  // The person's own settings are theirs: with them a filter runs as ever.
  git(folder, "status");
  expect(readdirSync(traces)).toContain("fsmonitor");
});

test("links cannot lead a worktree out of the project", async () => {
  using repository = makeRepository();
  using elsewhere = {
    folder: makeFolder(),
    [Symbol.dispose]: () => rmSync(elsewhere.folder, { recursive: true, force: true }),
  };
  const { folder, git } = repository;
  git(folder, "checkout", "-qb", "001-a");
  symlinkSync(elsewhere.folder, join(folder, "specs"));
  git(folder, "add", ".");
  git(folder, "commit", "-qm", "a link");
  git(folder, "checkout", "-q", "main");
  addFeature(folder, "001-a");
  symlinkSync("/etc/hosts", join(folder, "specs", "001-a", "hosts.md"));
  symlinkSync(elsewhere.folder, join(folder, ".worktrees"));
  await expect(openWorktree(folder, "001-a", "001-a")).rejects.toMatchObject({
    code: "DENIED",
    message: expect.stringMatching(/\.worktrees.*link/),
  });
  rmSync(join(folder, ".worktrees"));
  await expect(openWorktree(folder, "001-a", "001-a")).rejects.toMatchObject({
    code: "DENIED",
    message: expect.stringMatching(/specs.*link/),
  });
  const path = await openWorktree(folder, "002-b", "001-a");
  expect(readdirSync(join(path, "specs", "001-a"))).toEqual(["spec.md"]);
  expect(readdirSync(elsewhere.folder)).toEqual([]);
});

test("an unreadable worktree does not hide others and is not deleted", async () => {
  using repository = makeRepository();
  const { folder } = repository;
  const path = await openWorktree(folder, "001-a", "001-a");
  writeFileSync(join(folder, ".git", "worktrees", "001-a", "index"), "no index");
  const [main, broken] = await listWorktrees({ folder, current: folder });
  expect(main).toMatchObject({ isMain: true, isDirty: false });
  expect(broken).toMatchObject({ path, isDirty: true });
});
