import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isLive, shareSite, useBrowser } from "./site.ts";

useBrowser();

const open = shareSite({ isSignedOut: true });

test("guildhall open signs in one browser, once, with a cookie that scripts cannot read", async () => {
  const site = open();
  const { page, context } = site;
  await page.goto(site.url);
  await page.getByRole("heading", { name: "Sign in to Guildhall" }).waitFor();

  const address = await site.open();
  await page.goto(address);
  await isLive(page);
  await page.reload();
  await isLive(page);
  // The code does not stay in the address.
  expect(page.url()).not.toContain(address.split("/").at(-1));
  const [cookie] = await context.cookies(`${site.url}/api/page`);
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/api/page" });
  expect(await page.evaluate("document.cookie")).toBe("");

  const code = address.split("/").at(-1);
  const again = await page.request.post(`${site.url}/api/page/sign-in`, { data: { code } });
  expect(again.status()).toBe(401);

  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in to Guildhall" }).waitFor();
  const token = (await site.run("token", "show")).trim();
  await page.getByLabel("Or paste a token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await isLive(page);
  expect(
    readFileSync(`${site.folder}/home/data/guildhall/page-sessions.json`, "utf8"),
  ).not.toContain(cookie?.value);
});

test("many hidden pages leave connections to the one that is shown", async () => {
  const site = open();
  const { context, page } = site;
  await page.goto(await site.open());
  await isLive(page);
  await context.addInitScript(`
    Object.defineProperty(document, "visibilityState", {
      get: () => (sessionStorage.isShown ? "visible" : "hidden"),
    });
  `);
  // A browser opens six connections to one address.
  const hidden = await Promise.all(Array.from({ length: 6 }, () => context.newPage()));
  for (const other of hidden) {
    await other.goto(site.url);
    await other.getByRole("heading", { name: "Overview" }).waitFor();
  }
  await page.evaluate("sessionStorage.isShown = 'yes'");
  await page.reload();
  await isLive(page);
  // A hidden page that is shown now follows the hall too.
  const last = hidden.at(-1);
  await last?.evaluate(
    "sessionStorage.isShown = 'yes'; document.dispatchEvent(new Event('visibilitychange'))",
  );
  if (last) await isLive(last);
});
