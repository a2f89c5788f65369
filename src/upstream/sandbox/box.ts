import type { ChildProcess } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Run } from "../gate.ts";
import type { Launch, Manager } from "../launcher.ts";
import type { ProcessSpec } from "../program.ts";
import { boxInstallation, boxRun, prepareFolders, type Runtime } from "./bubblewrap.ts";
import { createControlGroup } from "./cgroup.ts";
import { confineContainer, isContainer } from "./container.ts";
import type { Denial } from "./denials.ts";
import { createBoxNetwork } from "./network.ts";
import { ownFiles, type Profile } from "./profile.ts";
import { createSystemCallFilter } from "./seccomp.ts";

/** How a server is confined when it starts. */
export interface BoxPlan {
  readonly profile: Profile;
  /** Not needed for a server in a container, which the container's own options confine. */
  readonly runtime: Runtime | undefined;
  denied(denial: Denial): void;
  /** Reports the denials that a text of the server tells of, and returns them in words. */
  explain(text: string): string | undefined;
  /** Names that it may not reach are recorded, too. */
  readonly isLearning?: boolean | undefined;
  /** A program that records what the server does, with its arguments. */
  readonly tracer?: readonly string[] | undefined;
}

export interface Box {
  readonly run: Run;
  /** The process exists. */
  attach(child: ChildProcess): void;
  /** The process has ended. */
  close(): void;
}

export function openBox(spec: ProcessSpec, run: Run, plan: BoxPlan): Box {
  const { profile, runtime } = plan;
  if (isContainer(spec) || !runtime) {
    const args = confineContainer(run.args, profile);
    return { run: { ...run, args }, attach: () => {}, close: () => {} };
  }
  prepareFolders(profile);
  const filter = createSystemCallFilter();
  const boxed = boxRun(run, {
    runtime,
    profile,
    own: ownFiles(spec, run),
    given: Object.keys(spec.env),
    isLearning: plan.isLearning,
    tracer: plan.tracer,
    hasFilter: filter !== undefined,
  });
  const group = createControlGroup(profile.memoryMb);
  const network = boxed.hasNetwork
    ? createBoxNetwork(profile.hosts, (what) => plan.denied({ kind: "host", what }))
    : undefined;
  return {
    run: {
      ...boxed.run,
      filter,
      hasChannel: boxed.hasNetwork,
      entered: (pid) => group?.add(pid),
    },
    attach: (child) => network?.attach(child),
    close() {
      network?.close();
      group?.close();
    },
  };
}

/** Folders of the home in which package managers keep files between installations. */
const caches: Readonly<Record<Manager, readonly string[]>> = {
  npm: [".npm"],
  pnpm: [".local/share/pnpm", ".cache/pnpm", ".local/state/pnpm"],
  bun: [".bun/install"],
};

/** The installation of a package: it reaches the network and writes the cache, and sees nothing else of the user. */
export function boxInstaller(run: Run, launch: Launch, { runtime, profile }: BoxPlan): Run {
  if (!runtime) return run;
  const home = homedir();
  const { npm_config_cache: lower, NPM_CONFIG_CACHE: upper } = launch.env;
  const given = launch.manager === "npm" ? (lower ?? upper) : undefined;
  const write = given ? [given] : caches[launch.manager].map((name) => join(home, name));
  for (const folder of write) if (!existsSync(folder)) mkdirSync(folder, { recursive: true });
  const read = [
    join(home, ".npmrc"),
    join(home, ".config/pnpm"),
    join(home, ".bunfig.toml"),
    ...launch.packages.filter((name) => name.startsWith("/")),
    ...ownFiles({ command: run.program, args: [], env: {} }, run),
  ];
  prepareFolders(profile);
  return boxInstallation(run, {
    runtime,
    profile: { ...profile, read, write: [...write, run.cwd ?? ""] },
  });
}
