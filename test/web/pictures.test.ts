import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PNG } from "pngjs";
import { expect, test } from "vitest";
import { openSite, useBrowser } from "./site.ts";

/** Screens as pictures. `GUILDHALL_PICTURES=update npx vitest run test/web/pictures.test.ts` writes them anew. */
useBrowser();

const folder = fileURLToPath(new URL("pictures/", import.meta.url));
const isUpdate = process.env.GUILDHALL_PICTURES === "update";
const server = fileURLToPath(new URL("../servers/defined.mjs", import.meta.url));
const tools = ["read_shelf", "list_books", "find_author"].map((name) => ({
  name,
  description: `Answers questions about the library: ${name.replace("_", " ")}.`,
  inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  annotations: { readOnlyHint: true },
}));

const looks = [
  { name: "light", width: 1280, height: 800, scheme: "light" },
  { name: "dark", width: 1280, height: 800, scheme: "dark" },
  { name: "phone", width: 390, height: 844, scheme: "light" },
] as const;

test("the screens look as they did", async () => {
  await using site = await openSite({
    config: {
      mcpServers: {
        library: { command: "node", args: [server, "tools.json", "starts"] },
        archive: { command: "node", args: [server, "missing.json", "starts"], disabled: true },
      },
    },
    files: { "tools.json": JSON.stringify(tools) },
  });
  const { page } = site;
  // Names of temporary folders, versions and times differ between runs; the navigation grows.
  await page.addInitScript(`
    const style = new CSSStyleSheet();
    style.replaceSync(".brand small, .side nav, .side footer > span, time, .chart, .detail .mono { visibility: hidden }");
    document.adoptedStyleSheets = [style];
  `);
  await page.reload();
  const differing: string[] = [];
  for (const screen of ["servers", "review", "approvals", "servers/library", "calls"])
    for (const look of looks) {
      await page.setViewportSize(look);
      await page.emulateMedia({ colorScheme: look.scheme });
      await site.show(screen);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.evaluate("document.fonts.ready");
      await page.waitForFunction("!document.body.innerText.includes('Loading')");
      const taken = await page.screenshot({ animations: "disabled" });
      const name = `${screen.replace(/\W/g, "-")}-${look.name}.png`;
      if (isUpdate) keep(name, taken);
      else if (differs(name, taken)) differing.push(name);
    }
  expect(differing).toEqual([]);
});

function keep(name: string, picture: Buffer): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}${name}`, picture);
}

/** Text is drawn a little differently by each version of a browser: 1 % of the points may differ. */
const partMax = 0.01;
const distanceMax = 48;

function differs(name: string, taken: Buffer): boolean {
  if (!existsSync(`${folder}${name}`)) return true;
  const [before, now] = [PNG.sync.read(readFileSync(`${folder}${name}`)), PNG.sync.read(taken)];
  if (before.width !== now.width || before.height !== now.height) return true;
  let count = 0;
  for (let at = 0; at < now.data.length; at += 4) {
    const distance = [0, 1, 2].map((i) =>
      Math.abs((before.data[at + i] ?? 0) - (now.data[at + i] ?? 0)),
    );
    if (Math.max(...distance) > distanceMax) count += 1;
  }
  return count > now.width * now.height * partMax;
}
