import type { ChildProcess } from "node:child_process";
import type { ProgramRun } from "../gate.ts";
import type { ProcessSpec } from "../program.ts";
import { boxRun, prepareFolders, type Runtime } from "./bubblewrap.ts";
import { createControlGroup } from "./cgroup.ts";
import { confineContainer, isContainer } from "./container.ts";
import type { SandboxDenial } from "./denials.ts";
import { createBoxNetwork } from "./network.ts";
import { ownFiles, type Profile } from "./profile.ts";
import { createSystemCallFilter } from "./seccomp.ts";

/** How a server is confined when it starts. */
export interface BoxPlan {
  readonly profile: Profile;
  /** Not needed for a server in a container, which the container's own options confine. */
  readonly runtime: Runtime | undefined;
  denied(denial: SandboxDenial): void;
  /** Finds denied accesses in the server's output, reports them, and returns them as a sentence. */
  explain(text: string): string | undefined;
  /** Also record host names that the server may not reach. */
  readonly isLearning?: boolean | undefined;
  /** A program that records what the server does, with its arguments. */
  readonly tracer?: readonly string[] | undefined;
}

export interface ProcessSandbox {
  readonly run: ProgramRun;
  /** The process exists. */
  attach(child: ChildProcess): void;
  /** The process has ended. */
  close(): void;
}

export function openBox(spec: ProcessSpec, run: ProgramRun, plan: BoxPlan): ProcessSandbox {
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
