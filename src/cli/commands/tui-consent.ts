import { realpath } from "node:fs/promises";
import { dataFolder } from "../../base/data-folder.ts";
import { HallError } from "../../base/errors.ts";
import { hashOf } from "../../base/hash.ts";
import type { Log } from "../../base/log.ts";
import { visible } from "../../base/text.ts";
import { loadConfig } from "../../config/load.ts";
import { openLedger } from "../../trust/ledger.ts";
import type { ClientConfig } from "../../tui/target.ts";
import { quoteWord } from "../call-line.ts";
import { type AskLine, askLine, askYes } from "../terminal.ts";

export interface ConsentOptions {
  /** The file that names the server. */
  readonly file: string | undefined;
  /** The project. */
  readonly folder: string;
  readonly log: Log;
  readonly ask?: AskLine;
}

/**
 * A cloned project brings no trust: what its config wants the terminal client to start or to reach is shown first. A yes is kept in the ledger,
 * for exactly that; what the user's own config says is the user's word. Throws DENIED.
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
  if (
    !(await askYes(`${visible(file)} wants to ${visible(describe(config))}. Do you trust it?`, ask))
  )
    throw new HallError("DENIED", "not started", {
      hint: "Name your own server with --command or --endpoint, or remove [mcp] from the project's config.",
    });
  await ledger.change((entries) => ({ ...entries, client: wanted }));
}

function describe({ transport, command, args, endpoint, headers = {} }: ClientConfig): string {
  if (transport === "stdio") return `start ${[command ?? "", ...args].map(quoteWord).join(" ")}`;
  const names = Object.keys(headers).sort();
  return `speak to ${endpoint}${names.length > 0 ? ` and send it ${names.join(", ")}, which may hold your secrets` : ""}`;
}

/**
 * How the server is reached; how long one waits for it is no matter of trust. The values of headers are: another one may be another
 * secret of the user's.
 */
function serverHash({ transport, command, args, endpoint, headers }: ClientConfig): string {
  return hashOf({ transport, command, args, endpoint, ...(headers ? { headers } : {}) });
}
