import { realpath } from "node:fs/promises";
import { basename } from "node:path";
import { HallError } from "../../base/errors.ts";
import { dataFolder } from "../../base/files.ts";
import { hashOf } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import { visible } from "../../base/sanitize.ts";
import { loadConfig } from "../../config/load.ts";
import { type AdminClient, connectAdmin } from "../../hall/admin-client.ts";
import { attach } from "../../hall/attach.ts";
import { type Project, type ProjectOptions, reachOrBecomeHall } from "../../hall/project.ts";
import { socketPath } from "../../hall/socket.ts";
import { openLedger } from "../../trust/ledger.ts";
import { type ClientConfig, type ClientTarget, createHallTarget } from "../../tui/target.ts";
import { type Channel, defaultLimits } from "../../wire/channel.ts";
import { createMemoryPair } from "../../wire/memory.ts";
import { quoteWord } from "../advice.ts";
import { drainMs } from "../exit.ts";
import { type AskLine, askLine, askYes, refuseIfStartedByGuildhall } from "../terminal.ts";

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
    async reach(replaced) {
      // A failure of the first attempt is reported; after a later one the client reconnects.
      let first: Channel | undefined = await dial();
      const [near, far] = createMemoryPair();
      const connect = async (): Promise<Channel> => {
        const ready = first;
        first = undefined;
        if (ready) return ready;
        const next = await dial();
        replaced();
        return next;
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

export interface ConsentOptions {
  /** The file that names the server. */
  readonly file: string | undefined;
  /** The project. */
  readonly folder: string;
  readonly log: Log;
  readonly ask?: AskLine;
}

/**
 * Asks before the terminal client starts or contacts a server that only the project's config names.
 * The answer is kept in the ledger for exactly that server. Throws DENIED.
 */
export async function requireConsent(
  config: ClientConfig,
  { file = "the project's config", folder, log, ask = askLine }: ConsentOptions,
): Promise<void> {
  const { config: own } = await loadConfig({ folder: dataFolder() });
  const wanted = serverHash(config);
  if (own.mcp && serverHash(own.mcp) === wanted) return;
  const ledger = openLedger(await realpath(folder), { warn: (message) => log.warn(message) });
  if ((await ledger.read()).client === wanted) return;
  const question = `${visible(file)} wants to ${visible(describe(config))}. Do you trust it?`;
  if (!(await askYes(question, ask)))
    throw new HallError("DENIED", "not started: the server is not trusted", {
      hint: "Use --command or --endpoint, or remove [mcp] from the project's config.",
    });
  await ledger.change((entries) => ({ ...entries, client: wanted }));
}

function describe({ transport, command, args, endpoint, headers = {} }: ClientConfig): string {
  if (transport === "stdio") return `start ${[command ?? "", ...args].map(quoteWord).join(" ")}`;
  const names = Object.keys(headers).sort();
  if (names.length === 0) return `connect to ${endpoint}`;
  return `connect to ${endpoint} and send ${names.join(", ")}, which may contain your secrets`;
}

/** Covers header values, since a changed one may be another secret, but not the timeout. */
function serverHash({ transport, command, args, endpoint, headers }: ClientConfig): string {
  return hashOf({ transport, command, args, endpoint, ...(headers ? { headers } : {}) });
}
