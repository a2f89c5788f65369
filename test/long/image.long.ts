// Builds the image of deploy/Dockerfile with Debian's buildah and runs it. Needs root, buildah, debootstrap, Debian's
// packages and npm's registry. The base is made here: Debian, and this machine's Node, npm and certificates.
import { execFile, spawn } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { until } from "../servers/until.ts";

const root = new URL("../..", import.meta.url).pathname;
const certificates = "/etc/ssl/certs/ca-certificates.crt";
const token = "a-token-of-the-image-test-0123456789";

const run = async (command: string, args: readonly string[], cwd = root): Promise<string> => {
  const { stdout } = await promisify(execFile)(command, args, { cwd, maxBuffer: 1e8 });
  return stdout.trim();
};

test("the image is built, runs without root, serves, and stops on SIGTERM", {
  timeout: 1_800_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-image-"));
  const store = ["--root", join(folder, "store"), "--runroot", join(folder, "run")];
  // Needs no kernel support: works in a container, too.
  const plain = ["--storage-driver", "vfs"];
  const buildah = (command: string, ...args: readonly string[]): Promise<string> =>
    run("buildah", [...store, ...plain, command, ...args], folder);
  try {
    const base = join(folder, "base");
    await run("debootstrap", ["--variant=minbase", "bookworm", base]);
    const npm = dirname(dirname(realpathSync(await run("which", ["npm"]))));
    mkdirSync(join(base, "usr/lib/node_modules"), { recursive: true });
    mkdirSync(join(base, dirname(certificates)), { recursive: true });
    cpSync(process.execPath, join(base, "usr/bin/node"));
    cpSync(npm, join(base, "usr/lib/node_modules/npm"), { recursive: true });
    cpSync(realpathSync(certificates), join(base, certificates));
    symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(base, "usr/bin/npm"));

    // Where this machine gets its packages; without it npm retries for minutes behind a mirror.
    const registry = await run("npm", ["config", "get", "registry"]);
    const made = await buildah("from", "scratch");
    await buildah("add", "--quiet", made, base, "/");
    const variables = [`registry=${registry}`, `cafile=${certificates}`];
    const settings = variables.flatMap((variable) => ["--env", `npm_config_${variable}`]);
    await buildah("config", ...settings, made);
    await buildah("commit", "--quiet", made, "localhost/base");

    await run("npm", ["pack", "--pack-destination", folder]);
    const version = (await run("node", ["-p", "require('./package.json').version"])).trim();
    cpSync(join(root, "deploy/Dockerfile"), join(folder, "Dockerfile"));
    const args = ["BASE=localhost/base", `PACKAGE=guildhall-${version}.tgz`];
    const given = args.flatMap((arg) => ["--build-arg", arg]);
    const where = ["--isolation", "chroot", "--network", "host", "--pull-never"];
    await buildah("build", ...where, ...given, "-t", "localhost/guildhall", ".");

    const hall = await buildah("from", "--pull-never", "localhost/guildhall");
    const inside = ["run", "--isolation", "chroot"];
    expect(await buildah("run", "--isolation", "chroot", hall, "--", "id", "-u")).toBe("10001");
    writeFileSync(join(folder, "token"), token, { mode: 0o644 });
    const volume = ["--volume", `${join(folder, "token")}:/run/secrets/token:ro`];
    const serve = ["serve", "--host", "127.0.0.1", "--port", "0", "--json"];
    const command = ["guildhall", ...serve, "--token-file", "/run/secrets/token"];
    const child = spawn("buildah", [
      ...store,
      ...plain,
      ...inside,
      ...volume,
      hall,
      "--",
      ...command,
    ]);
    let output = "";
    child.stdout.on("data", (bytes: Buffer) => (output += bytes));
    child.stderr.on("data", (bytes: Buffer) => (output += bytes));
    const ended = new Promise((resolve) => child.on("exit", resolve));
    const urlIn = (): string | undefined => /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0];
    await until(() => urlIn() !== undefined, "the hall in the image serves");
    expect((await fetch(`${urlIn()}/ready`)).status).toBe(200);
    const health = await fetch(`${urlIn()}/health`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await health.json()).toMatchObject({ status: "ok", version });
    child.kill("SIGTERM");
    await ended;
    await expect(fetch(`${urlIn()}/ready`)).rejects.toThrow();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
