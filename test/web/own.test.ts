// A person signs in at the team's issuer, logs in to a server and sets a secret, in a browser that is not the hall's.
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { expect, test } from "vitest";
import { makeHome } from "../servers/home.ts";
import { startOAuthServer } from "../servers/oauth-server.ts";
import { builtCli, watchProcess } from "../servers/serve-process.ts";
import { expectNoProblems } from "./axe.ts";

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { readonly port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test("a person signs in with the team's issuer, logs in to a server, and stores a secret", async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  await using far = await startOAuthServer();
  await using issuer = watchProcess([
    fileURLToPath(new URL("../servers/oidc-issuer.mjs", import.meta.url)),
    `${url}/oauth/callback`,
  ]);
  using home = makeHome({
    "~/.config/guildhall/config.json": {
      auth: { url, issuers: { team: { url: await issuer.firstLine, clientId: "hall" } } },
      listen: { port },
      mcpServers: {
        far: {
          url: far.url,
          headers: { "x-desk": `\${DESK_KEY}` },
          oauth: { perPerson: true },
          perPerson: ["DESK_KEY"],
        },
      },
    },
  });
  const env = { ...home.env, DESK_KEY: "key-of-the-hall" };
  await home.run(builtCli(), ["build", "--yes"], env);
  await using hall = watchProcess([builtCli(), "serve", "--json"], { cwd: home.project, env });
  await hall.firstLine;

  const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  await using browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: sandbox,
  });
  const page = await (await browser.newContext()).newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));

  // The link that a client shows leads to the same screen after the sign-in.
  await page.goto(`${url}/#/own`);
  await page.getByRole("button", { name: "Sign in with team" }).click();
  await page.getByRole("heading", { name: "Your logins and secrets" }).waitFor();
  expect(page.url()).toBe(`${url}/#/own`);
  await page.getByText("no login").waitFor();
  const show = async (hash: string): Promise<void> => void (await page.goto(`${url}/#/${hash}`));
  await expectNoProblems({ page, show }, ["own"]);

  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText("You are logged in to far.").waitFor();
  await page.getByText("logged in", { exact: true }).waitFor();
  expect(page.url()).toBe(`${url}/#/own`);
  expect(far.seen.logins.at(-1)?.get("redirect_uri")).toBe(`${url}/oauth/callback`);

  await page.getByLabel("DESK_KEY").fill("key-of-anna-1234");
  await page.getByRole("button", { name: "Store" }).click();
  await page.getByText("It has a value.").waitFor();
  await expect.poll(() => page.getByLabel("DESK_KEY").inputValue()).toBe("");
  expect(await page.content()).not.toContain("key-of-anna-1234");

  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in to Guildhall" }).waitFor();
  expect(faults).toEqual([]);

  // An answer of the issuer works only with the secrets of the tab that began, and once.
  const post = async (params: object) => {
    const response = await page.request.post(`${url}/api/page/sign-in`, { data: params });
    return (await response.json()) as {
      result?: Record<string, string>;
      error?: { message: string };
    };
  };
  const begun = (await post({ issuer: "team" })).result ?? {};
  const other = (await post({ issuer: "team" })).result ?? {};
  let answer = "";
  page.on("request", (request) => {
    if (request.url().startsWith(`${url}/oauth/callback`))
      answer = new URL(request.url()).search.slice(1);
  });
  await page.goto(begun.url ?? "");
  expect(answer).toContain("code=");
  const { state, verifier } = begun;
  const given = { issuer: "team", answer, state, verifier };
  const foreign = await post({ ...given, state: other.state, verifier: other.verifier });
  expect(foreign.error?.message).toBe("the answer belongs to another sign-in");
  expect((await post({ ...given, issuer: "else" })).error?.message).toContain(
    "does not offer sign-in",
  );
  const iss = answer.replace(/iss=[^&]*/, "iss=https%3A%2F%2Felse.example");
  expect((await post({ ...given, answer: iss })).error?.message).toContain("another issuer");
  expect((await post(given)).result?.csrf).toBeTruthy();
  expect((await post(given)).error?.message).toBe("the issuer gave no access token");
}, 120_000);
