import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findWorker } from "../../base/bounded-worker.ts";
import type { ProgramRun } from "../gate.ts";
import type { Launch, Manager } from "../launcher.ts";
import type { BoxPlan } from "./box.ts";
import { boxInstallation, prepareFolders } from "./bubblewrap.ts";
import { ownFiles } from "./profile.ts";

/** Folders that a package manager keeps between installations, its settings, and the hosts it uses without any. */
interface Habits {
  readonly caches: readonly string[];
  readonly settings: readonly string[];
  readonly hosts: readonly string[];
  /** Variables that name the cache instead. */
  readonly variables?: readonly string[];
}

const npmHosts = ["*.npmjs.org"];

const habits: Readonly<Record<Manager, Habits>> = {
  npm: {
    caches: [".npm"],
    settings: [".npmrc"],
    hosts: npmHosts,
    variables: ["npm_config_cache", "NPM_CONFIG_CACHE"],
  },
  pnpm: {
    caches: [".local/share/pnpm", ".cache/pnpm", ".local/state/pnpm"],
    settings: [".npmrc", ".config/pnpm/rc"],
    hosts: npmHosts,
  },
  bun: { caches: [".bun/install"], settings: [".npmrc", ".bunfig.toml"], hosts: npmHosts },
  uv: {
    caches: [".cache/uv", ".local/share/uv"],
    settings: [".config/uv/uv.toml"],
    hosts: ["pypi.org", "files.pythonhosted.org"],
    variables: ["UV_CACHE_DIR"],
  },
};

/** The message to the process that serves the network of an installation. */
export interface BoxedInstallation {
  readonly hosts: readonly string[];
  readonly command: readonly string[];
}

/** The installation of a package: it reaches the registry and writes the cache, and sees nothing else of the user. */
export function boxInstaller(
  run: ProgramRun,
  launch: Launch,
  { runtime, profile }: BoxPlan,
): ProgramRun {
  if (!runtime) return run;
  const home = homedir();
  const { caches, settings, hosts, variables = [] } = habits[launch.manager];
  const given = variables.map((name) => launch.env[name]).find(Boolean);
  const write = given ? [given] : caches.map((name) => join(home, name));
  for (const folder of write) if (!existsSync(folder)) mkdirSync(folder, { recursive: true });
  const files = settings.map((name) => join(home, name));
  const read = [
    ...files,
    ...launch.packages.filter((name) => name.startsWith("/")),
    ...ownFiles(
      { command: launch.program, args: [], env: {} },
      { ...run, program: launch.program },
    ),
  ];
  const allowed = [...hosts, ...hostsIn([...files, "/etc/npmrc"], launch), ...profile.hosts];
  prepareFolders(profile);
  const command = boxInstallation(run, {
    runtime,
    profile: { ...profile, read, write: [...write, run.cwd ?? ""], hosts: allowed },
  });
  const worker = findWorker("install-network", new URL("./install-network.ts", import.meta.url));
  const task: BoxedInstallation = { hosts: allowed, command };
  return {
    ...run,
    program: process.execPath,
    args: [fileURLToPath(worker), JSON.stringify(task)],
    env: { ...run.env, TMPDIR: "/tmp" },
  };
}

const ofRegistry = /^(npm_config_(.*registry|(https?_)?proxy)|(https?|all)_proxy|uv_.*index.*)$/i;

/** Registries and proxies that the user's settings, variables and options name. */
function hostsIn(files: readonly string[], { env, options }: Launch): readonly string[] {
  const texts = [
    ...files.filter((file) => existsSync(file)).map((file) => readFileSync(file, "utf8")),
    ...Object.entries(env).flatMap(([name, value]) => (ofRegistry.test(name) ? [value] : [])),
    ...options,
  ];
  return texts
    .flatMap((text) => text.match(/https?:\/\/[^\s"',\]]+/g) ?? [])
    .filter((url) => URL.canParse(url))
    .map((url) => new URL(url).host);
}
