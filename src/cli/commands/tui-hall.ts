import { basename } from "node:path";
import { type AdminClient, connectAdmin } from "../../hall/admin-client.ts";
import { attach } from "../../hall/attach.ts";
import { type Project, type ProjectOptions, reachOrBecomeHall } from "../../hall/project.ts";
import { socketPath } from "../../hall/socket.ts";
import { type ClientTarget, createHallTarget } from "../../tui/target.ts";
import type { Channel } from "../../wire/channel.ts";
import { defaultLimits } from "../../wire/channel.ts";
import { createMemoryPair } from "../../wire/memory.ts";
import { drainMs } from "../exit.ts";
import { refuseIfStartedByGuildhall } from "../person.ts";

/** The project's hall: the running one, its successor when that ends, or one in this process. */
export function openHallTarget(options: ProjectOptions): ClientTarget {
  const { folder, settings } = options;
  let project: Project | undefined;

  async function dial(): Promise<Channel> {
    const reached = await reachOrBecomeHall(options);
    project = reached.project ?? project;
    return reached.channel;
  }

  return createHallTarget({
    name: basename(folder),
    folder,
    log: settings.log,
    async reach() {
      // A failure of the first attempt is reported; after a later one the client reconnects.
      let first: Channel | undefined = await dial();
      const [near, far] = createMemoryPair();
      const connect = async (): Promise<Channel> => {
        const ready = first;
        first = undefined;
        return ready ?? dial();
      };
      void attach(far, { limits: defaultLimits, connect }).catch(() => near.close({ now: true }));
      return near;
    },
    isHere: () => project !== undefined,
    admin: async () => refuseApprovalsBelowHall(await connectAdmin(await socketPath(folder))),
    close: async () => project?.close(drainMs),
  });
}

/** The person at this client may approve, but not a hall's own process that runs it. */
function refuseApprovalsBelowHall(admin: AdminClient | undefined): AdminClient | undefined {
  return (
    admin && {
      async ask(method, params) {
        if (method === "approve") await refuseIfStartedByGuildhall();
        return admin.ask(method, params);
      },
      close: () => admin.close(),
    }
  );
}
