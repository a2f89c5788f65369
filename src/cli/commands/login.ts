import { createInterface } from "node:readline";
import type { Command } from "commander";
import { HallError } from "../../base/errors.ts";
import { visible } from "../../base/sanitize.ts";
import type { RemoteServerConfig } from "../../upstream/issuer.ts";
import { asJson, examples, type JsonOption } from "../declaration.ts";
import { loadProject } from "../hall.ts";
import { print } from "../print.ts";

export function addLoginCommands(program: Command): void {
  program
    .command("login <server>")
    .description("log in to a remote server: prints the page to open and waits for the login")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall login github", "guildhall login github --json"]))
    .action(runLogin);

  program
    .command("logout <server>")
    .description("delete the stored tokens of a server")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall logout github"]))
    .action(runLogout);
}

async function runLogin(server: string, { json }: JsonOption): Promise<void> {
  const config = await getRemote(server);
  refuseNeedless(server, config);
  const [{ login }, { createTokenStore }] = await Promise.all([
    import("../../upstream/login.ts"),
    import("../../upstream/token-store.ts"),
  ]);
  const { issuer, scope } = await login({
    config,
    store: createTokenStore(config.url),
    show: (page) => showPage(server, page, json),
  });
  await restartInHall(server);
  const text = `logged in to ${server}${scope === undefined ? "" : ` with scope ${visible(scope)}`}`;
  print({ server, loggedIn: true, issuer, scope }, { json, text: () => text });
}

async function runLogout(server: string, { json }: JsonOption): Promise<void> {
  const config = await getRemote(server);
  const { createTokenStore } = await import("../../upstream/token-store.ts");
  const hadLogin = await createTokenStore(config.url).clear();
  await restartInHall(server);
  const text = hadLogin
    ? `logged out of ${server}; the tokens stay valid at the issuer until they expire or are revoked there`
    : `there was no login to ${server}`;
  print({ server, loggedIn: false, hadLogin }, { json, text: () => text });
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

function showPage(server: string, page: URL, json: boolean | undefined): void {
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
  const [{ connectAdmin }, { socketPath }] = await Promise.all([
    import("../../hall/admin-client.ts"),
    import("../../hall/socket.ts"),
  ]);
  const admin = await connectAdmin(await socketPath(process.cwd()));
  try {
    await admin?.ask("restart", { server });
  } catch {
    // The hall does not have this server.
  } finally {
    await admin?.close();
  }
}
