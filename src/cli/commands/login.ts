import { createInterface } from "node:readline";
import { HallError } from "../../base/errors.ts";
import { openBrowser } from "../../base/processes.ts";
import { visible } from "../../base/sanitize.ts";
import { withRunningHall } from "../../hall/admin-client.ts";
import { requireApproved } from "../../hall/discover.ts";
import { getServer, type Settings } from "../../hall/settings.ts";
import type { RemoteServerConfig } from "../../upstream/issuer.ts";
import { login } from "../../upstream/login.ts";
import { createTokenStore } from "../../upstream/token-store.ts";
import type { JsonOption } from "../declaration.ts";
import { loadProject } from "../hall.ts";
import { createWaiting } from "../live.ts";
import { print } from "../print.ts";

export async function runLogin(server: string, options: JsonOption): Promise<void> {
  const settings = await loadProject();
  const config = getRemote(server, settings);
  refuseNeedless(server, config);
  await requireApproved(server, config, settings);
  const waiting = createWaiting();
  const loggingIn = login({
    config,
    store: createTokenStore(config.url),
    show(page) {
      waiting.clear();
      showPage(server, page, options);
    },
  });
  const { issuer, scope } = await waiting.during(`contacting ${server}`, loggingIn);
  await restartInHall(server);
  const text = `logged in to ${server}${scope === undefined ? "" : ` with scope ${visible(scope)}`}`;
  print({ server, loggedIn: true, issuer, scope }, text, options);
}

export async function runLogout(server: string, options: JsonOption): Promise<void> {
  const config = getRemote(server, await loadProject());
  const hadLogin = await createTokenStore(config.url).clear();
  await restartInHall(server);
  const text = hadLogin
    ? `logged out of ${server}; the tokens stay valid at the issuer until they expire or are revoked there`
    : `there was no login to ${server}`;
  print({ server, loggedIn: false, hadLogin }, text, options);
}

function getRemote(server: string, { loaded }: Settings): RemoteServerConfig {
  const config = getServer(server, loaded);
  if (config.type !== "stdio") return config;
  throw new HallError("INVALID_PARAMS", `${server} is a local program and has no login`, {
    hint: 'Pass credentials with "env" in its entry.',
  });
}

function refuseNeedless(server: string, { headers, oauth }: RemoteServerConfig): void {
  if (oauth?.grant === "client_credentials")
    throw new HallError("INVALID_PARAMS", `${server} uses client credentials and needs no login`, {
      hint: "The hall gets the tokens itself.",
    });
  if (Object.keys(headers).some((key) => key.toLowerCase() === "authorization"))
    throw new HallError("INVALID_PARAMS", `the entry of ${server} sets an Authorization header`, {
      hint: "Remove it to log in; with it, no other token is sent.",
    });
}

function showPage(server: string, page: URL, { json }: JsonOption): void {
  if (json) {
    process.stdout.write(`${JSON.stringify({ server, open: page.href })}\n`);
    return;
  }
  process.stdout.write(`To log in to ${server}, open this page:\n\n  ${page.href}\n\n`);
  if (!process.stdin.isTTY || !process.stdout.isTTY) return;
  process.stdout.write("Press Enter to open it in your browser. Waiting for the login …\n");
  createInterface({ input: process.stdin }).once("line", () => void openPage(page));
}

async function openPage(page: URL): Promise<void> {
  if (!(await openBrowser(page)))
    process.stdout.write("could not start a browser; open the page by hand\n");
}

/** Lets a running hall use the new login at once. */
async function restartInHall(server: string): Promise<void> {
  try {
    await withRunningHall(process.cwd(), (admin) => admin.ask("restart", { server }));
  } catch {
    // No hall is running, or it does not have this server.
  }
}
