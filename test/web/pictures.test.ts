import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PNG } from "pngjs";
import { expect, test } from "vitest";
import type { CallRow } from "../../src/store/store.ts";
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

function agent(name: string, about: string, pattern: string): string {
  return `---\nname: ${name}\ndescription: Answers questions about ${about}.\ntools:\n  - ${pattern}\n---\n\nAnswer shortly.\n`;
}

function spec(title: string, text: string): string {
  return `# ${title}\n\n## User stories\n\nAs a reader I borrow a book. ${text}\n`;
}

/** The ninth has two calls inside it. */
const exampleCalls: readonly CallRow[] = Array.from({ length: 12 }, (_, at) => {
  const isInside = at > 9;
  const failed = at % 5 === 3;
  return {
    id: `call-${at}`,
    parent: isInside ? "call-9" : null,
    root: isInside ? "call-9" : `call-${at}`,
    at: Date.now() - 60_000 * (12 - Math.min(at, 9)) + 20 * Math.max(0, at - 9),
    caller: ["Claude Code", "Cursor", "nightly"][at % 3] ?? "",
    connection: "c",
    person: null,
    token: null,
    face: null,
    toolkit: "library",
    tool: at === 9 ? "library_agent" : `library.${tools[at % tools.length]?.name}`,
    arguments: "{}",
    outcome: failed ? "failed" : "ok",
    code: failed ? "TIMEOUT" : null,
    ms: at === 9 ? 90 : 10 + 7 * at,
    bytesIn: 20,
    bytesOut: 100 * at,
    planner: null,
  };
});

const looks = [
  { name: "light", width: 1280, height: 800, scheme: "light" },
  { name: "dark", width: 1280, height: 800, scheme: "dark" },
  { name: "phone", width: 390, height: 844, scheme: "light" },
] as const;

const screens = [
  "overview",
  "servers",
  "servers/library",
  "review",
  "approvals",
  "tools",
  "tools/library.find_author",
  "agents",
  "code",
  "workflow",
  "calls",
  "calls/call-9",
  "audit",
  "settings",
];

test("the screens look as they did", async () => {
  await using site = await openSite({
    config: {
      mcpServers: {
        library: { command: "node", args: [server, "tools.json", "starts"] },
        archive: { command: "node", args: [server, "missing.json", "starts"], disabled: true },
      },
      builtin: ["calculator", "time_tool", "speckit"],
    },
    files: {
      "tools.json": JSON.stringify(tools),
      ".guildhall/agents/library.md": agent("library_agent", "the books", "library.*"),
      ".guildhall/agents/numbers.md": agent("numbers_agent", "numbers", "calculator.*"),
      "specs/001-lend-books/spec.md": spec("Lend books", "[NEEDS CLARIFICATION: For how long?]"),
      "specs/002-reading-room/spec.md": spec("Reading room", "Readers book a seat for one hour."),
      "specs/002-reading-room/plan.md": "# Plan\n\nOne table of seats.\n",
    },
    calls: exampleCalls,
    isReviewed: true,
  });
  const { page } = site;
  // Names of temporary folders, ports, versions and times differ between runs.
  await page.addInitScript(`
    const style = new CSSStyleSheet();
    style.replaceSync(".brand small, .subtitle, .side footer > span, time, .chart, .facts .mono, .facts .number, .varies { visibility: hidden }");
    document.adoptedStyleSheets = [style];
  `);
  await page.reload();
  const differing: string[] = [];
  for (const look of looks) {
    await page.setViewportSize(look);
    await page.emulateMedia({ colorScheme: look.scheme });
    for (const screen of screens) {
      const at = exampleCalls[9]?.at;
      await site.show(screen.startsWith("calls/") ? `${screen}/${at}` : screen);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.evaluate("document.fonts.ready");
      await page.getByText("Loading …").first().waitFor({ state: "hidden" });
      const taken = await page.screenshot({ animations: "disabled" });
      const name = `${screen.replace(/\W/g, "-")}-${look.name}.png`;
      if (isUpdate) keep(name, taken);
      else if (differs(name, taken)) differing.push(name);
    }
  }
  expect(differing).toEqual([]);
});

function keep(name: string, picture: Buffer): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}${name}`, makeSmall(picture));
}

/** Sixteen levels of each colour are enough to compare, and take half the space. */
function makeSmall(picture: Buffer): Buffer {
  const read = PNG.sync.read(picture);
  read.data.forEach((value, at) => {
    if (at % 4 < 3) read.data[at] = Math.min(255, Math.round(value / 17) * 17);
  });
  return PNG.sync.write(read, { colorType: 2, deflateLevel: 9 });
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
