import { createInterface } from "node:readline";
import { text as readAll } from "node:stream/consumers";
import { HallError } from "../../base/errors.ts";
import { secretLengthMin } from "../../base/log.ts";
import { openBrowser } from "../../base/processes.ts";
import { visible } from "../../base/sanitize.ts";
import { openSecretStore } from "../../base/secret-store.ts";
import { formatTime } from "../../base/text.ts";
import { withRunningHall } from "../../hall/admin-client.ts";
import { requireApproved } from "../../hall/discover.ts";
import {
  checkSecretName,
  openProjectSecrets,
  type ProjectSecrets,
  type SecretOptions,
} from "../../hall/secrets.ts";
import { readToken } from "../../hall/serve.ts";
import {
  getServer,
  loadSettings,
  type Settings,
  type SettingsOptions,
} from "../../hall/settings.ts";
import { createToken, revokeToken } from "../../hall/together/shared-tokens.ts";
import { withOwn } from "../../hall/together/team.ts";
import { openNamedTokens } from "../../server/http/tokens.ts";
import { loginTarget, type RemoteServerConfig } from "../../upstream/issuer.ts";
import { login } from "../../upstream/login.ts";
import { createTokenStore } from "../../upstream/token-store.ts";
import type { JsonOption } from "../declaration.ts";
import { loadProject } from "../hall.ts";
import { createWaiting } from "../live.ts";
import { print, table } from "../print.ts";

type LoginOptions = JsonOption & { readonly person?: string };

export async function runLogin(server: string, options: LoginOptions): Promise<void> {
  const settings = await loadProject();
  const config = getRemote(server, settings);
  const { person } = options;
  refuseNeedless(server, config);
  refusePerson(server, config, person);
  await requireApproved(server, getServer(server, settings.loaded), settings);
  const waiting = createWaiting();
  const loggingIn = withOwn(settings, (own) =>
    login({
      config,
      store: createTokenStore(config.url, { person, shared: own?.logins }),
      show(page) {
        waiting.clear();
        showPage(server, page, options);
      },
    }),
  );
  const { issuer, scope } = await waiting.during(`contacting ${server}`, loggingIn);
  await restartInHall(server);
  const whose = person === undefined ? "" : ` as ${visible(person)}`;
  const text = `logged in to ${server}${whose}${scope === undefined ? "" : ` with scope ${visible(scope)}`}`;
  print({ server, person, loggedIn: true, issuer, scope }, text, options);
}

/** A login that no call would use. */
function refusePerson(server: string, { oauth }: RemoteServerConfig, person?: string): void {
  if (person === undefined || oauth?.perPerson) return;
  throw new HallError(
    "INVALID_PARAMS",
    `${server} has one login for all people, so --person cannot be used`,
    {
      next: [{ do: "edit-config", field: `mcpServers.${server}.oauth.perPerson` }],
    },
  );
}

export async function runLogout(server: string, options: LoginOptions): Promise<void> {
  const settings = await loadProject();
  const config = getRemote(server, settings);
  const { person } = options;
  const hadLogin = await withOwn(settings, (own) =>
    createTokenStore(config.url, { person, shared: own?.logins }).clear(),
  );
  await restartInHall(server);
  const text = hadLogin
    ? `logged out of ${server}; the tokens stay valid at the issuer until they expire or are revoked there`
    : `there was no login to ${server}`;
  print({ server, loggedIn: false, hadLogin }, text, options);
}

function getRemote(server: string, { loaded }: Settings): RemoteServerConfig {
  const config = getServer(server, loaded);
  const target = loginTarget(config);
  if (target) return target;
  if (config.type === "openapi")
    throw new HallError("INVALID_PARAMS", `the entry of ${server} has no OAuth to log in with`, {
      hint: 'Set "oauth" and "baseUrl" in its entry, or give its key with "auth".',
    });
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

type SecretCommandOptions = JsonOption & SecretOptions;

const places = {
  keyring: "the system keyring",
  file: "an encrypted file",
  database: "the database of the halls, encrypted",
} as const;

export async function runSecretSet(name: string, options: SecretCommandOptions): Promise<void> {
  checkSecretName(name);
  const { person } = options;
  const users = person === undefined ? [] : await findUsers(name);
  if (person !== undefined && users.length === 0)
    throw new HallError("INVALID_PARAMS", `no server uses ${name} as a secret of each person`, {
      hint: `Add it to "perPerson" in the entry of the server that uses \${${name}}.`,
    });
  const value = await readValue(name);
  const kept = await withSecrets(person !== undefined, (secrets) =>
    secrets.set(name, value, options),
  );
  // A running hall notices changes of its own secrets by itself.
  for (const server of users) await restartInHall(server);
  const scope = options.user ? "user" : "project";
  const where = options.user ? "all your projects" : "this project";
  const whose = person === undefined ? "" : `${visible(person)} in `;
  const lines = [
    `${name} is set for ${whose}${where}, kept in ${places[kept]}`,
    ...(value.length < secretLengthMin
      ? [`note: it is too short to be recognised, so logs may show it`]
      : []),
  ];
  print({ name, scope, person, kept }, lines.join("\n"), options);
}

/** People's secrets are in the database if several halls share it. Without people the config need not be valid. */
async function withSecrets<T>(
  hasPeople: boolean,
  use: (secrets: ProjectSecrets) => Promise<T>,
): Promise<T> {
  if (!hasPeople) return use(await openProjectSecrets(process.cwd()));
  return withOwn(await loadProject(), async (own) =>
    use(await openProjectSecrets(process.cwd(), own?.secrets(openSecretStore()))),
  );
}

/** The servers that use it as a secret of each person. */
async function findUsers(name: string): Promise<readonly string[]> {
  const { config } = (await loadProject()).loaded;
  const servers = Object.entries(config.mcpServers);
  return servers.flatMap(([server, { perPerson }]) => (perPerson?.includes(name) ? [server] : []));
}

/** From a hidden prompt, or from stdin. Never from an argument: shells keep those, and other users see them. */
async function readValue(name: string): Promise<string> {
  if (!process.stdin.isTTY) return (await readAll(process.stdin)).replace(/\r?\n$/, "");
  const { isCancel, password } = await import("@clack/prompts");
  const value = await password({ message: `Value of ${name}`, output: process.stderr });
  if (isCancel(value)) throw new HallError("CANCELLED", "nothing was stored");
  return value ?? "";
}

export async function runSecretList(options: JsonOption): Promise<void> {
  const secrets = await withSecrets(true, async (opened) => opened.list());
  const rows = secrets.map(({ name, scope, project = "", person = "", kept, changedAt }) => [
    name,
    visible(person),
    scope === "other project" ? project : scope,
    places[kept],
    formatTime(changedAt),
  ]);
  const empty = "no secrets; add one with: guildhall secret set NAME";
  print(
    secrets,
    table(["name", "person", "for", "kept in", "changed"], rows, {
      empty,
      extra: ["person", "changed"],
    }),
    options,
  );
}

export async function runSecretRemove(name: string, options: SecretCommandOptions): Promise<void> {
  await withSecrets(options.person !== undefined, (secrets) => secrets.remove(name, options));
  const users = options.person === undefined ? [] : await findUsers(name);
  for (const server of users) await restartInHall(server);
  print({ name, removed: true }, `${name} is removed`, options);
}

interface TokenOptions extends JsonOption {
  readonly scope?: readonly string[];
  readonly tools?: readonly string[];
  readonly until?: number;
}

export async function runTokenCreate(name: string, options: TokenOptions): Promise<void> {
  const { scope, tools, until } = options;
  const settings = await loadSettings({}, "warn");
  const token = await createToken(settings, name, { scopes: scope, tools, expiresAt: until });
  const text = `${token}\n\nThis token is shown only once. Send it as \`Authorization: Bearer TOKEN\`; calls are recorded under the name ${name}.`;
  print({ name, token }, text, options);
}

/** The user's own token, or the one that the config names. */
export async function runTokenShow(options: SettingsOptions): Promise<void> {
  const { config } = await loadSettings(options, "warn");
  const token = await readToken(config);
  print({ token }, token, options);
}

export async function runTokenList(options: JsonOption): Promise<void> {
  const tokens = openNamedTokens().list();
  const rows = tokens.map(({ name, createdAt, scopes, tools, expiresAt }) => [
    name,
    scopes.join(", "),
    tools?.join(", ") ?? "all",
    expiresAt === undefined ? "" : formatTime(expiresAt),
    formatTime(createdAt),
  ]);
  const head = ["name", "scopes", "tools", "expires", "created"];
  print(tokens, table(head, rows, { empty: "no named tokens", extra: ["created"] }), options);
}

export async function runTokenRevoke(name: string, options: JsonOption): Promise<void> {
  await revokeToken(await loadSettings({}, "warn"), name);
  print({ name, revoked: true }, `the token ${name} is revoked`, options);
}
