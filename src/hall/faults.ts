import type { ModuleFailure } from "../registry/modules.ts";
import { isLockedServer, readLock } from "../upstream/lock.ts";
import { askHall } from "./admin-client.ts";
import type { UpstreamStatus } from "./admin-contract.ts";
import type { Settings } from "./settings.ts";

/** Something that the project has and no client can use: a module, or a tool of a server. */
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

export function describeFaults(
  modules: readonly ModuleFailure[],
  servers: readonly Pick<UpstreamStatus, "name" | "skipped">[],
): readonly ProjectFault[] {
  return [
    ...modules.map(({ module, error }) => ({ name: module, reason: `not loaded: ${error}` })),
    ...servers.flatMap(({ name, skipped = [] }) =>
      skipped.map((tool) => ({ name: `${name}.${tool.name}`, reason: tool.reason })),
    ),
  ];
}

/** From the running hall, else from the modules and the lock. */
export async function findFaults(settings: Settings): Promise<readonly ProjectFault[]> {
  const status = await askHall(settings.folder, "status", {});
  if (status) return describeFaults(status.failedModules, status.upstreams);
  const { servers } = await readLock(settings.folder, () => {});
  const locked = Object.entries(servers).flatMap(([name, server]) =>
    isLockedServer(server) ? [{ name, skipped: server.offer.skipped }] : [],
  );
  return describeFaults(await findModuleFailures(settings), locked);
}
