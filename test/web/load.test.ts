import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { CallRow } from "../../src/store/store.ts";
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

function manyCalls(count: number): readonly CallRow[] {
  const now = Date.now();
  return Array.from({ length: count }, (_, index) => ({
    id: `call-${index}`,
    parent: null,
    root: `call-${index}`,
    at: now - (count - index) * 10,
    caller: "crowd",
    connection: "crowd",
    person: null,
    token: null,
    face: null,
    toolkit: "shop",
    tool: "shop.tool_1",
    arguments: "{}",
    outcome: index % 10 === 0 ? "error" : "ok",
    code: null,
    ms: index % 100,
    bytesIn: 2,
    bytesOut: 100,
    planner: null,
  }));
}

test("3,000 tools and 10,000 calls: the lists hold them all and the document only what is in view", async () => {
  await using site = await openSite({
    config: {
      mcpServers: { shop: { command: "node", args: [server, "tools.json", "starts"] } },
      expose: "search",
    },
    files: { "tools.json": manyTools(3_000) },
    calls: manyCalls(10_000),
    isReviewed: true,
  });
  const { page } = site;
  await site.show("tools");
  const tools = page.getByRole("grid", { name: "Tools" });
  await page.getByText(/3,0\d\d shown/).waitFor();
  expect(await tools.getByRole("row").count()).toBeLessThan(80);
  await tools
    .getByRole("row", { name: /shop\.tool_/ })
    .first()
    .focus();
  await page.keyboard.press("End");
  const focused = "document.activeElement?.getAttribute('aria-rowindex')";
  await expect.poll(() => page.evaluate(focused)).toMatch(/^30\d\d$/);
  expect(await tools.getAttribute("aria-rowcount")).toBe(await page.evaluate(focused));
  // A line keeps the focus while others are in view.
  const last = await page.evaluate(focused);
  await tools.evaluate((grid) => {
    (grid as unknown as { scrollTop: number }).scrollTop = 0;
  });
  await tools.locator('[data-index="0"]').waitFor();
  expect(await page.evaluate(focused)).toBe(last);

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
  await page.getByLabel("Outcome").selectOption("failed");
  await page.getByText("1,000 calls").waitFor();
});
