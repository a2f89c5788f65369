import { createInterface } from "node:readline";
import { openBrowser } from "../../base/browser.ts";
import { HallError } from "../../base/errors.ts";
import { visible } from "../../base/text.ts";
import { connectAdmin } from "../../hall/admin-client.ts";
import { loadSettings } from "../../hall/settings.ts";
import { socketPath } from "../../hall/socket.ts";
import type { RemoteServerConfig } from "../../upstream/issuer.ts";
import { login } from "../../upstream/login.ts";
import { createTokenStore } from "../../upstream/token-store.ts";
import { print } from "../print.ts";
import { getServer } from "../servers.ts";

export interface LoginCommandOptions {
  readonly json?: boolean;
}

/** A person logs in to a server: the page is printed, and opened only when a person at a terminal says so. */
export async function runLogin(server: string, options: LoginCommandOptions): Promise<void> {
  const config = await getRemote(server);
  refuseNeedless(server, config);
  const { issuer, scope } = await login({
    config,
    store: createTokenStore(config.url),
    show: (page) => show(server, page, options),
  });
  await tellHall(server);
  print(
    { server, loggedIn: true, issuer, scope },
    {
      json: options.json,
      text: () => `logged in to ${server}${scope === undefined ? "" : ` for ${visible(scope)}`}`,
    },
  );
}

/** Forgets the tokens here; to the issuer they are good until they expire. */
export async function runLogout(server: string, options: LoginCommandOptions): Promise<void> {
  const config = await getRemote(server);
  const hadLogin = await createTokenStore(config.url).clear();
  await tellHall(server);
  const text = hadLogin
    ? `logged out of ${server}; what it was granted can be revoked with its issuer`
    : `nobody was logged in to ${server}`;
  print({ server, loggedIn: false, hadLogin }, { json: options.json, text: () => text });
}

async function getRemote(server: string): Promise<RemoteServerConfig> {
  const config = getServer(server, (await loadSettings({}, "error")).loaded);
  if (config.type !== "stdio") return config;
  throw new HallError("INVALID_PARAMS", `${server} is a program on this machine`, {
    hint: "It takes what it needs from env in its entry; nobody logs in.",
  });
}

function refuseNeedless(server: string, { headers, oauth }: RemoteServerConfig): void {
  if (oauth?.grant === "client_credentials") {
    throw new HallError("INVALID_PARAMS", `${server} is used with a client of its own`, {
      hint: "The hall gets its tokens by itself; nobody logs in.",
    });
  }
  if (Object.keys(headers).some((key) => key.toLowerCase() === "authorization")) {
    throw new HallError("INVALID_PARAMS", `the entry of ${server} has an Authorization header`, {
      hint: "Remove it to log in; with it, no other token is sent.",
    });
  }
}

function show(server: string, page: URL, { json }: LoginCommandOptions): void {
  if (json) {
    process.stdout.write(`${JSON.stringify({ server, open: page.href })}\n`);
    return;
  }
  process.stdout.write(`To log in to ${server}, open this page:\n\n  ${page.href}\n\n`);
  if (!process.stdin.isTTY || !process.stdout.isTTY) return;
  process.stdout.write("Enter opens it in your browser; waiting for your answer there …\n");
  createInterface({ input: process.stdin }).once("line", () => void open(page));
}

async function open(page: URL): Promise<void> {
  // The address is on the screen.
  if (!(await openBrowser(page)))
    process.stdout.write("no browser could be started; open the page by hand\n");
}

/** A running hall need not wait until it tries again by itself. */
async function tellHall(server: string): Promise<void> {
  const admin = await connectAdmin(await socketPath(process.cwd()));
  try {
    await admin?.ask("restart", { server });
  } catch {
    // A hall that does not have this server has nothing to restart.
  } finally {
    await admin?.close();
  }
}
