import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { callTool, shareSite, useBrowser } from "./site.ts";

useBrowser();

const server = fileURLToPath(new URL("../servers/defined.mjs", import.meta.url));
const askingServer = fileURLToPath(new URL("asking-server.mjs", import.meta.url));
const erase = {
  name: "erase",
  description: "Erases a shelf.",
  inputSchema: { type: "object", properties: { shelf: { type: "string" } } },
  annotations: { destructiveHint: true },
};

/** Erases a shelf as a client would. */
const call = (url: string, shelf: string): Promise<string> =>
  callTool(url, "shop__erase", { shelf });

const open = shareSite({
  config: {
    mcpServers: {
      shop: { command: "node", args: [server, "tools.json", "starts"] },
      library: { command: "node", args: [askingServer] },
    },
  },
  files: { "tools.json": JSON.stringify([erase]) },
  isReviewed: true,
});

test("a waiting call is shown with its arguments, and approved in the page it goes through in the client", async () => {
  const site = open();
  const { page } = site;
  await site.show("tools");
  await page.getByRole("row", { name: /shop\.erase/ }).waitFor();
  await site.show("approvals");
  await page.getByText("Nothing waits for you").waitFor();
  const waiting = call(site.url, "books");
  const card = page.getByRole("article", { name: "Call of shop.erase" });
  await card.getByText("books").waitFor();
  await card.getByText("test client").waitFor();
  await card.getByRole("timer").waitFor();
  await card.getByRole("button", { name: "Allow once" }).click();
  expect(await waiting).toContain("ran erase");
  await page.getByText("Nothing waits for you").waitFor();

  const refused = call(site.url, "maps");
  await card.getByRole("button", { name: "Deny" }).click();
  expect(await refused).not.toContain("ran erase");

  const lasting = call(site.url, "prints");
  await card.getByRole("button", { name: "While the hall runs" }).click();
  expect(await lasting).toContain("ran erase");
  expect(await call(site.url, "charts")).toContain("ran erase");
  expect(await site.run("audit", "--json")).toContain("in the page");

  // The waterfall of the first call says how long it waited, and who answered.
  await site.show("calls");
  await page
    .getByRole("row", { name: /shop\.erase/ })
    .last()
    .click();
  const waterfall = page.getByRole("region", { name: "Waterfall" });
  await waterfall.getByText("approved").waitFor();
  await waterfall.getByText(/"once" in the page/).waitFor();
});

test("a tool that the page called reports its progress and asks its question in the page", async () => {
  const site = open();
  const { page } = site;
  await site.show("tools/library.lend");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  const question = page.getByRole("article", { name: "Question of library.lend" });
  await question.getByText("Who borrows it?").waitFor();
  await page.getByText("opening the shelf").waitFor();
  await page.getByText("1 of 4").waitFor();
  expect(await page.getByRole("progressbar").getAttribute("value")).toBe("1");
  await question.getByLabel("reader").fill("Ada");
  await question.getByLabel("card").selectOption("Year card");
  await question.getByRole("button", { name: "Answer" }).click();
  await page.getByText('"reader":"Ada","card":"year"').waitFor();

  // A question stays open when the page is loaded again.
  await page.getByRole("button", { name: "Repeat" }).click();
  await question.waitFor();
  await page.reload();
  await site.show("approvals");
  await question.getByRole("button", { name: "Decline" }).click();
  await page.getByText("Nothing waits for you").waitFor();
});
