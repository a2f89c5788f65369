import { openBrowser } from "../../base/browser.ts";
import { HallError } from "../../base/errors.ts";
import { plural } from "../../base/text.ts";
import { askHall } from "../../hall/admin-client.ts";
import { openUserFolder, startInBackground, stopRunning } from "../../hall/daemon.ts";
import { quoteWord } from "../advice.ts";
import type { JsonOption } from "../declaration.ts";
import { createWaiting } from "../live.ts";
import { print } from "../print.ts";

interface HallOption extends JsonOption {
  readonly user?: boolean;
}

const folderOf = async ({ user }: HallOption): Promise<string> =>
  user ? openUserFolder() : process.cwd();

export async function runStart(options: HallOption & { readonly port?: number }): Promise<void> {
  const folder = await folderOf(options);
  const starting = startInBackground({
    folder,
    isUser: options.user ?? false,
    port: options.port,
  });
  const { isNew, status, logFile } = await createWaiting().during("starting the hall", starting);
  const { url, pid } = status;
  const flag = options.user ? " --user" : "";
  const text = [
    `${isNew ? "started the hall" : "the hall is running already"}: ${url} (process ${pid})`,
    "",
    `  connect   claude mcp add --transport http guildhall ${url}/mcp`,
    `  page      guildhall open${flag}`,
    `  log       ${quoteWord(logFile)}`,
    `  stop      guildhall stop${flag}`,
    ...(options.user ? [`  review    guildhall build --folder ${quoteWord(folder)}`] : []),
  ];
  print({ started: isNew, url, mcp: `${url}/mcp`, pid, folder, logFile }, text.join("\n"), options);
}

export async function runStop(options: HallOption): Promise<void> {
  const stopping = stopRunning(await folderOf(options));
  const ended = await createWaiting().during("stopping the hall", stopping);
  if (!ended) return print({ stopped: false }, "no hall is running", options);
  const { pid, url, clients, startedAt } = ended;
  const minutes = Math.round((Date.now() - startedAt) / 60_000);
  const where = url === undefined ? "" : ` at ${url}`;
  const text = `stopped the hall${where}: process ${pid}, ran for ${minutes} min, ${plural(clients, "client")}`;
  print({ stopped: true, pid, url, clients, startedAt }, text, options);
}

export async function runOpen(options: HallOption): Promise<void> {
  const status = await askHall(await folderOf(options), "status", {});
  if (status?.url === undefined)
    throw new HallError("UNAVAILABLE", "no hall listens over HTTP here", {
      next: [{ do: "run-command", command: options.user ? "start --user" : "start" }],
    });
  const page = new URL("/", status.url);
  const opened = !options.json && hasBrowser() && (await openBrowser(page));
  print({ url: page.href, opened }, page.href, options);
}

/** A person at this machine's own screen. */
function hasBrowser(): boolean {
  const { CI, SSH_CONNECTION, DISPLAY, WAYLAND_DISPLAY } = process.env;
  if (CI || SSH_CONNECTION || !process.stdout.isTTY) return false;
  return process.platform !== "linux" || Boolean(DISPLAY || WAYLAND_DISPLAY);
}
