import { execFile } from "node:child_process";
import { HallError } from "../base/errors.ts";

const gitMsMax = 60_000;
const outputBytesMax = 16 * 1024 * 1024;

/**
 * Runs git in a folder, without a shell, and gives what it printed. Throws EXECUTION with what it said.
 *
 * A folder that came in an archive has its own `.git/config`, and git runs what that names: at a mere `status` already. So none of it is run;
 * what the person's own settings name is.
 */
export async function runGit(folder: string, args: readonly string[]): Promise<string> {
  const filters = touchesFiles.has(args[0] ?? "") ? await filtersOf(folder) : [];
  return execute(folder, args, [...harmlessSettings, ...filters]);
}

type Setting = readonly [key: string, value: string];

const harmlessSettings: readonly Setting[] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  // A folder of a clone can look like a repository, with a config that came with it.
  ["safe.bareRepository", "explicit"],
  ["submodule.recurse", "false"],
];

/** Only these pass files through filters. */
const touchesFiles: ReadonlySet<string> = new Set(["status", "worktree"]);

/** Filters that the repository's own config names, as settings that switch them off. */
async function filtersOf(folder: string): Promise<readonly Setting[]> {
  const pattern = "^filter\\..*\\.(clean|smudge|process|required)$";
  // It says no by its exit code where there are none; where it is no repository, the command itself says so.
  const listed = await execute(
    folder,
    ["config", "--null", "--show-scope", "--name-only", "--get-regexp", pattern],
    harmlessSettings,
  ).catch(() => "");
  const words = listed.split("\0");
  const own = words.filter(
    (_, index) =>
      index % 2 === 1 && (words[index - 1] === "local" || words[index - 1] === "worktree"),
  );
  return own.map((key) => [key, key.endsWith(".required") ? "false" : ""]);
}

function execute(
  folder: string,
  args: readonly string[],
  settings: readonly Setting[],
): Promise<string> {
  return new Promise((resolve, reject) => {
    // In plain English, asking nobody, fetching nothing, and without taking locks for a mere look.
    const quiet = {
      LC_ALL: "C",
      GIT_TERMINAL_PROMPT: "0",
      GIT_OPTIONAL_LOCKS: "0",
      GIT_ALLOW_PROTOCOL: "none",
    };
    const env = { ...process.env, ...quiet, ...inEnvironment(settings) };
    execFile(
      "git",
      ["-C", folder, ...args],
      { env, timeout: gitMsMax, maxBuffer: outputBytesMax },
      (error, stdout, stderr) => {
        if (!error) resolve(stdout);
        else if (error.code === "ENOENT")
          reject(
            new HallError("UNAVAILABLE", "git was not found", {
              hint: "Install git; everything but worktrees works without.",
            }),
          );
        else reject(explain(stderr, args));
      },
    );
  });
}

/** After those the person has there. Not as `-c key=value`: a key may have an = in it. */
function inEnvironment(settings: readonly Setting[]): Record<string, string> {
  const first = Number(process.env.GIT_CONFIG_COUNT) || 0;
  const pairs = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${first + index}`, key],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ]);
  return { ...Object.fromEntries(pairs), GIT_CONFIG_COUNT: String(first + settings.length) };
}

function explain(stderr: string, args: readonly string[]): HallError {
  const words = stderr
    .split("\n")
    .map((line) => line.replace(/^(fatal|error|warning): /, "").trim())
    .filter(Boolean);
  const isRepository = !/not a git repository/i.test(stderr);
  return isRepository
    ? new HallError("EXECUTION", `git ${args[0]} failed: ${words.at(-1) ?? "it said nothing"}`, {
        hint: "Run it by hand to see all of it.",
      })
    : new HallError("NOT_FOUND", "this folder is not in a git repository", {
        hint: "`git init` makes it one; everything but worktrees works without.",
      });
}
