import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { type OAuthServer, startOAuthServer } from "../servers/oauth-server.ts";
import { buildTestCli } from "../servers/process.ts";
import { until } from "../servers/until.ts";
import { type CliProcess, usePlaces } from "../servers/upstreams.ts";

/**
 * `guildhall login` and `logout` as a person types them, without a terminal: the page is printed,
 * and nothing is opened.
 */
const places = usePlaces();
const tokens = join(dirname(places.runtime), "data", "guildhall", "tokens");
let cli: string;
let server: OAuthServer;

beforeAll(async () => {
  cli = await buildTestCli();
  server = await startOAuthServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  places.remove();
});

async function newProject(): Promise<string> {
  const folder = await places.newProject(
    {},
    {
      mcpServers: {
        far: { url: server.url },
        near: { command: "true" },
        own: { url: server.url, headers: { authorization: "Bearer x" } },
      },
    },
  );
  // Nobody is logged in yet, so there is nothing to see; that it may be reached is what is approved.
  await run(folder, "verify", "far", "--yes");
  return folder;
}

function start(folder: string, ...args: string[]): CliProcess {
  const command = places.spawn(cli, args, folder);
  command.child.stdin.end();
  return command;
}

async function run(
  folder: string,
  ...args: string[]
): Promise<{ readonly code: unknown; readonly stdout: string; readonly stderr: string }> {
  await using command = start(folder, ...args);
  return { code: await command.exited, ...command.output };
}

/** Opens the page a command has printed, and says yes. */
async function follow({ output }: CliProcess): Promise<void> {
  const find = (): string | undefined =>
    /https?:\/\/\S+authorize\?[^\s"]+/.exec(output.stdout)?.[0];
  await until(() => find() !== undefined, "the page is printed");
  await (await fetch(find() ?? "")).text();
}

test("login prints the page, waits, and notifies the running hall; logout reverts it", async () => {
  const folder = await newProject();
  await using hall = places.spawn(cli, ["mcp"], folder);
  await hall.greet();
  const toolNames = async (): Promise<unknown[]> =>
    ((await hall.result("tools/list")).tools as JsonObject[]).map(({ name }) => name);
  await until(
    async () =>
      (await run(folder, "status")).stdout.includes("needs login: run `guildhall login far`"),
    "status says what to run",
  );
  expect(await toolNames()).not.toContain("far__echo");

  await using command = start(folder, "login", "far");
  await follow(command);
  expect(await command.exited).toBe(0);
  expect(command.output.stdout).toMatch(
    /^To log in to far, open this page:\n\n {2}http:\S+\n\nlogged in to far with scope tools:list offline_access\n$/,
  );
  expect(command.output.stderr).toBe("");
  await until(async () => (await toolNames()).includes("far__echo"), "far__echo listed");
  // Its tools could not be reviewed before the login.
  expect(await run(folder, "verify", "far", "--yes")).toMatchObject({ code: 0 });

  expect(await run(folder, "logout", "far")).toMatchObject({
    code: 0,
    stdout:
      "logged out of far; the tokens stay valid at the issuer until they expire or are revoked there\n",
  });
  expect(readdirSync(tokens)).toEqual(["key"]);
  const answer = await hall.answer(hall.ask("tools/call", { name: "far.echo", arguments: {} }));
  expect(JSON.stringify(answer)).toContain("guildhall login far");
  expect(await run(folder, "logout", "far")).toMatchObject({
    code: 0,
    stdout: "there was no login to far\n",
  });
});

test("login --json prints the page and the result, and no token", async () => {
  const folder = await newProject();
  await using command = start(folder, "login", "far", "--json");
  await follow(command);
  expect(await command.exited).toBe(0);
  const [first = "", ...rest] = command.output.stdout.split("\n");
  expect(JSON.parse(first)).toEqual({
    server: "far",
    open: expect.stringContaining("/authorize?"),
  });
  expect(JSON.parse(rest.join("\n"))).toEqual({
    server: "far",
    loggedIn: true,
    issuer: server.issuer,
    scope: "tools:list offline_access",
  });
  expect(server.seen.tokens.filter((token) => command.output.stdout.includes(token))).toEqual([]);
  expect(JSON.parse((await run(folder, "logout", "far", "--json")).stdout)).toEqual({
    server: "far",
    loggedIn: false,
    hadLogin: true,
  });
});

test.each([
  ["fra", 66, 'unknown server "fra"; did you mean far?'],
  ["near", 2, "near is a local program and has no login"],
  ["own", 2, "the entry of own sets an Authorization header"],
])("login %s is refused with exit code %i", async (name, code, message) => {
  const ran = await run(await newProject(), "login", name);
  expect(ran).toMatchObject({ code, stdout: "" });
  expect(ran.stderr).toContain(message);
});

test("doctor names the command to run", async () => {
  const { stdout } = await run(await newProject(), "doctor");
  expect(stdout).toMatch(/needs login\s+Log in: guildhall login far/);
});
