import { execFile } from "node:child_process";
import { HallError } from "../base/errors.ts";

const gitMsMax = 60_000;
const outputBytesMax = 16 * 1024 * 1024;

/** Runs git in a folder, without a shell, and gives what it printed. Throws EXECUTION with what it said. */
export function runGit(folder: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    // In plain English, asking nobody, and without taking locks for a mere look.
    const env = { ...process.env, LC_ALL: "C", GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0" };
    execFile("git", ["-C", folder, ...args], { env, timeout: gitMsMax, maxBuffer: outputBytesMax }, (error, stdout, stderr) => {
      if (!error) resolve(stdout);
      else if (error.code === "ENOENT")
        reject(new HallError("UNAVAILABLE", "git was not found", { hint: "Install git; everything but worktrees works without." }));
      else reject(explain(stderr, args));
    });
  });
}

function explain(stderr: string, args: readonly string[]): HallError {
  const words = stderr
    .split("\n")
    .map((line) => line.replace(/^(fatal|error|warning): /, "").trim())
    .filter(Boolean);
  const isRepository = !/not a git repository/i.test(stderr);
  return isRepository
    ? new HallError("EXECUTION", `git ${args[0]} failed: ${words.at(-1) ?? "it said nothing"}`, { hint: "Run it by hand to see all of it." })
    : new HallError("NOT_FOUND", "this folder is not in a git repository", { hint: "`git init` makes it one; everything but worktrees works without." });
}
