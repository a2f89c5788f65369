import type { ModuleFailure } from "../registry/modules.ts";
import { Policies } from "../trust/policy/policies.ts";
import { isLockedServer, readLock } from "../upstream/lock.ts";
import { askHall } from "./admin-client.ts";
import type { HallStatus, UpstreamStatus } from "./admin-contract.ts";
import type { Settings } from "./settings.ts";

/** Something that the project has and no client can use: a module, a tool of a server, or everything. */
export interface ProjectFault {
  readonly name: string;
  readonly reason: string;
}

/** Loads the project's approved modules once, and returns those that failed. No server is started. */
export async function findModuleFailures(settings: Settings): Promise<readonly ModuleFailure[]> {
  const { folder, config } = settings;
  if (config.toolkits.length === 0) return [];
  const { openAlone } = await import("./project.ts");
  const project = await openAlone({ folder, settings, mayDiscover: () => false });
  const failures = project.hall.modules.failures();
  await project.close();
  return failures;
}

/** What is wrong with the policy files. A hall does not start with such a file. */
export async function findPolicyProblems({ loaded }: Settings): Promise<readonly string[]> {
  const policies = new Policies();
  await policies.replace(loaded.policies);
  return policies.problems;
}

/** The name of a fault that concerns all tools. */
export const anyTool = "any tool";

type Faulty = Pick<HallStatus, "failedModules" | "brokenPolicies"> & {
  readonly upstreams: readonly Pick<UpstreamStatus, "name" | "skipped">[];
};

export function describeFaults({
  failedModules,
  upstreams,
  brokenPolicies = [],
}: Faulty): readonly ProjectFault[] {
  return [
    ...brokenPolicies.map((problem) => ({
      name: anyTool,
      reason: `the policies deny everything: ${problem}`,
    })),
    ...failedModules.map(({ module, error }) => ({ name: module, reason: `not loaded: ${error}` })),
    ...upstreams.flatMap(({ name, skipped = [] }) =>
      skipped.map((tool) => ({ name: `${name}.${tool.name}`, reason: tool.reason })),
    ),
  ];
}

/** From the running hall, else from the modules and the lock. */
export async function findFaults(settings: Settings): Promise<readonly ProjectFault[]> {
  const status = await askHall(settings.folder, "status", {});
  if (status) return describeFaults(status);
  const { servers } = await readLock(settings.folder, () => {});
  const locked = Object.entries(servers).flatMap(([name, server]) =>
    isLockedServer(server) ? [{ name, skipped: server.offer.skipped }] : [],
  );
  return describeFaults({
    failedModules: await findModuleFailures(settings),
    upstreams: locked,
  });
}
