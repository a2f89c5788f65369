import { createInterface } from "node:readline";
import type { Command } from "commander";
import { HallError } from "../../base/errors.ts";
import { visible } from "../../base/sanitize.ts";
import type { RemoteServerConfig } from "../../upstream/issuer.ts";
import { addCommand, type JsonOption } from "../declaration.ts";
import { loadProject } from "../hall.ts";
import { print } from "../print.ts";

export function addLoginCommands(program: Command): void {
  addCommand(program, "login <server>", {
    does: "log in to a remote server: prints the page to open and waits for the login",
    examples: ["guildhall login github", "guildhall login github --json"],
    run: runLogin,
  });

  addCommand(program, "logout <server>", {
    does: "delete the stored tokens of a server",
    examples: ["guildhall logout github"],
    run: runLogout,
  });
}

async function runLogin(server: string, options: JsonOption): Promise<void> {
  const config = await getRemote(server);
  refuseNeedless(server, config);
  const [{ login }, { createTokenStore }] = await Promise.all([
    import("../../upstream/login.ts"),
    import("../../upstream/token-store.ts"),
  ]);
  const { issuer, scope } = await login({
    config,
    store: createTokenStore(config.url),
    show: (page) => showPage(server, page, options),
  });
  await restartInHall(server);
  const text = `logged in to ${server}${scope === undefined ? "" : ` with scope ${visible(scope)}`}`;
  print({ server, loggedIn: true, issuer, scope }, text, options);
}

async function runLogout(server: string, options: JsonOption): Promise<void> {
  const config = await getRemote(server);
  const { createTokenStore } = await import("../../upstream/token-store.ts");
  const hadLogin = await createTokenStore(config.url).clear();
  await restartInHall(server);
  const text = hadLogin
    ? `logged out of ${server}; the tokens stay valid at the issuer until they expire or are revoked there`
    : `there was no login to ${server}`;
  print({ server, loggedIn: false, hadLogin }, text, options);
}

async function getRemote(server: string): Promise<RemoteServerConfig> {
  const [{ loaded }, { getServer }] = await Promise.all([
    loadProject(),
    import("../../hall/settings.ts"),
  ]);
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
  const { openBrowser } = await import("../../base/browser.ts");
  if (!(await openBrowser(page)))
    process.stdout.write("could not start a browser; open the page by hand\n");
}

/** Lets a running hall use the new login at once. */
async function restartInHall(server: string): Promise<void> {
  const { withRunningHall } = await import("../../hall/admin-client.ts");
  try {
    await withRunningHall(process.cwd(), (admin) => admin.ask("restart", { server }));
  } catch {
    // No hall is running, or it does not have this server.
  }
}
