import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openSite, useBrowser } from "./site.ts";

useBrowser();

const server = fileURLToPath(new URL("hostile-server.mjs", import.meta.url));

test("names, descriptions and results of a hostile server are only text", async () => {
  await using site = await openSite({
    config: { mcpServers: { evil: { command: "node", args: [server] } } },
  });
  const { page } = site;
  const isUntouched = async (): Promise<void> => {
    expect(await page.evaluate("globalThis.wasHere")).toBeUndefined();
    expect(await page.evaluate("document.title")).toContain("Guildhall");
    // A name of any length must not push the page aside.
    const [wide, view] = (await page.evaluate(
      "[document.documentElement.scrollWidth, innerWidth]",
    )) as [number, number];
    expect(wide).toBeLessThanOrEqual(view);
  };

  await site.show("review/evil");
  await page.getByLabel("Start evil").check();
  await page.getByRole("button", { name: "Start 1 server" }).click();
  await page.getByRole("button", { name: "Approve evil" }).waitFor();
  await page.getByText("suspicious text").first().waitFor();
  await isUntouched();
  await page.getByRole("button", { name: "Approve evil" }).click();
  await page.getByText("The review is over").waitFor();

  await site.show("tools");
  await page
    .getByRole("row", { name: /evil\./ })
    .first()
    .waitFor();
  await isUntouched();
  for (const kind of ["script", "svg", "bidi", "resources", "huge"]) {
    await site.show("tools/evil.results");
    await page.getByLabel("kind").fill(kind);
    await page.getByRole("button", { name: "Call", exact: true }).click();
    const result = page.getByRole("region", { name: "Result", exact: true });
    await result.waitFor();
    await isUntouched();
    if (kind !== "resources") continue;
    // A picture in a resource is shown; a link is text.
    await result.getByRole("img", { name: "Result of the tool" }).waitFor();
    await result.getByText("javascript:").waitFor();
    expect(await result.getByRole("link").count()).toBe(0);
  }
  await site.show("servers/evil/logs");
  await page.getByRole("log").getByText("<img src=x").first().waitFor();
  await isUntouched();
});
