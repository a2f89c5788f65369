import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openSite, useBrowser } from "./site.ts";

useBrowser();

const server = fileURLToPath(new URL("../servers/defined.mjs", import.meta.url));

/** Many tools as a file for the server; all of them only read. */
function manyTools(count: number): string {
  const tools = Array.from({ length: count }, (_, index) => ({
    name: `tool_${index}`,
    description: `Reads shelf ${index} of the archive and says what stands there.`,
    inputSchema: { type: "object", properties: { shelf: { type: "string" } } },
    annotations: { readOnlyHint: true },
  }));
  return JSON.stringify(tools);
}

test("3,000 tools and 10,000 calls: the lists hold them all and the document only what is in view", async () => {
  await using site = await openSite({
    config: {
      mcpServers: { shop: { command: "node", args: [server, "tools.json", "starts"] } },
      expose: "search",
    },
    files: { "tools.json": manyTools(3_000) },
  });
  const { page } = site;
  await site.show("review/shop");
  await page.getByLabel("Start shop").check();
  await page.getByRole("button", { name: "Start 1 server" }).click();
  await page.getByRole("button", { name: "Approve shop" }).click();
  await page.getByText("The review is over").waitFor();
  await site.show("tools");
  const tools = page.getByRole("grid", { name: "Tools" });
  await page.getByText(/3,0\d\d shown/).waitFor();
  expect(await tools.getByRole("row").count()).toBeLessThan(80);
  await tools
    .getByRole("row", { name: /shop\.tool_/ })
    .first()
    .focus();
  await page.keyboard.press("End");
  await tools.getByRole("row").last().waitFor();
  expect(await tools.getAttribute("aria-rowcount")).toMatch(/^30\d\d$/);

  for (let round = 0; round < 100; round++)
    await Promise.all(Array.from({ length: 100 }, () => callTool(site.url)));
  await site.show("calls");
  const calls = page.getByRole("grid", { name: "Calls" });
  await page.getByText("10,000 calls").waitFor();
  expect(await calls.getByRole("row").count()).toBeLessThan(80);
  const rows = "document.querySelectorAll('[role=row]').length";
  for (const to of [50_000, 200_000, 379_000]) {
    await calls.evaluate((grid, top) => {
      (grid as unknown as { scrollTop: number }).scrollTop = top;
    }, to);
    await calls.locator(`[data-index="${Math.floor(to / 38) + 2}"]`).waitFor();
    expect(await page.evaluate(rows)).toBeLessThan(80);
  }
}, 300_000);

async function callTool(url: string): Promise<void> {
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "shop__tool_1",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: "shop__tool_1",
        arguments: {},
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "crowd", version: "1" },
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    }),
  });
  await response.arrayBuffer();
}
