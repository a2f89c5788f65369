import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectNoProblems } from "./axe.ts";
import { isLive, shareSite, useBrowser } from "./site.ts";

useBrowser();

const group = (name: string, tools: readonly string[]): string =>
  [
    "---",
    `name: ${name}`,
    `description: For ${name}`,
    "tools:",
    ...tools.map((tool) => `  - ${tool}`),
    "---",
    "",
    "Answer shortly.",
    "",
  ].join("\n");

const agentFiles = {
  ".guildhall/agents/numbers.md": group("numbers_agent", ["calculator.*"]),
  ".guildhall/agents/clock.md": group("clock_agent", ["time_tool.*"]),
};

const weather = `openapi: 3.0.3
info: { title: Weather, version: "1" }
paths:
  /today:
    get:
      operationId: today
      summary: The weather of today
      responses: { "200": { description: It } }
`;

const open = shareSite({
  config: { builtin: "all", code: ["lisp", "js"] },
  files: { ...agentFiles, "weather.yaml": weather },
  isReviewed: true,
});

test("a tool moves to another group, and an agent's file is edited and merged", async () => {
  const site = open();
  const { page, folder } = site;
  const fileOf = (name: string): string =>
    readFileSync(join(folder, ".guildhall/agents", name), "utf8");
  await site.show("agents/numbers_agent");
  await page.getByRole("group", { name: /tools by likeness/ }).waitFor();
  await page.getByRole("tab", { name: "Tools" }).click();
  await page
    .getByLabel("Move calculator.convert_units to another group")
    .selectOption("clock_agent");
  await page.getByText("moved calculator.convert_units to clock_agent").waitFor();
  expect(fileOf("clock.md")).toContain("calculator.convert_units");
  expect(fileOf("numbers.md")).not.toContain("convert_units");

  await page.getByRole("tab", { name: "File" }).click();
  const text = page.getByLabel("File of numbers_agent");
  await text.fill((await text.inputValue()).replace("Answer shortly.", "Answer with a number."));
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("saved .guildhall/agents/numbers.md").waitFor();
  expect(fileOf("numbers.md")).toContain("Answer with a number.");

  await page.getByRole("tab", { name: "Ask" }).click();
  await page.getByLabel("Task").fill("calculate 6 * 7");
  await page.getByRole("button", { name: "Ask the agent" }).click();
  await page.getByText("42").first().waitFor();
  await page
    .getByRole("log", { name: "Steps of the agent" })
    .getByText("calculator.calculate")
    .waitFor();

  // From the call to its run, and the run once more.
  await site.show("calls");
  await page
    .getByRole("row", { name: /numbers_agent/ })
    .first()
    .click();
  await page.getByRole("region", { name: "Waterfall" }).getByText("2 calls").waitFor();
  await page.getByRole("link", { name: "Its steps and replay" }).click();
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByText("the same, step by step").waitFor();
});

test("tools are found as a model finds them, and the page says why", async () => {
  const site = open();
  const { page } = site;
  await site.show("tools");
  await page.getByLabel("Describe a task, as a model would").fill("convert units of a length");
  const row = page.getByRole("row", { name: /calculator\.convert_units/ });
  await row.getByText(/^convert name$/).waitFor();
  await row.getByText(/^units name$/).waitFor();
  await row.getByRole("meter", { name: /% of the score by word vectors/ }).waitFor();
});

test("programs run in one session with the tools as functions, and one is saved as a tool", async () => {
  const site = open();
  const { page, folder } = site;
  await site.show("code");
  const program = page.getByLabel("Program");
  await program.fill("(defun twice (n) (* 2 n))");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("=> TWICE").waitFor();
  await program.fill('(twice (jref (calculator:calculate :expression "20 + 1") "number"))');
  await program.press("Control+Enter");
  await page.getByText("=> 42").waitFor();

  await site.show("calls/runs");
  await page
    .getByRole("row", { name: /evaluate-lisp/ })
    .first()
    .click();
  const run = page.getByRole("region", { name: "Run" });
  await run.getByText("=> 42").waitFor();
  await run.getByRole("button", { name: "Replay" }).click();
  await run.getByText("the same, step by step").waitFor();
  await site.show("code");
  await page.getByText("=> 42").waitFor();

  await program.press("Control+ArrowUp");
  await expect.poll(() => program.inputValue()).toContain("20 + 1");
  await page.getByLabel("Find a function").fill("convert");
  await page.getByRole("button", { name: /calculator:convert-units/ }).click();
  await expect.poll(() => program.inputValue()).toContain("(calculator:convert-units");

  await page.getByLabel("Language").selectOption("JavaScript");
  await page.getByRole("button", { name: /tools\.calculator\.convertUnits/ }).waitFor();
  await program.fill('(await tools.calculator.calculate({ expression: "6 * 9" })).number');
  await program.press("Control+Enter");
  await page.getByRole("log", { name: "Results" }).getByText("54").waitFor();

  // A program becomes a tool of the project once a person approves it.
  await page.getByRole("button", { name: "Save as a tool" }).last().click();
  await page.getByLabel("Name").fill("six_by_nine");
  await page.getByLabel("Description").fill("Multiplies six by nine.");
  await page.getByRole("button", { name: "Save and review" }).click();
  await page.getByText("saved .guildhall/tools/six-by-nine.js").waitFor();
  const saved = readFileSync(join(folder, ".guildhall/tools/six-by-nine.js"), "utf8");
  expect(saved).toContain("Multiplies six by nine.");
  expect(saved).toContain('"6 * 9"');

  await page.getByText("Multiplies six by nine.").waitFor();
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByText("The review is over").waitFor();
  await site.show("tools/programs.six_by_nine");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await page.getByRole("region", { name: "Result", exact: true }).getByText("54").waitFor();
});

test("an OpenAPI document is added like a server, with its diff first", async () => {
  const site = open();
  const { page, folder } = site;
  await site.show("servers//add");
  await page.getByRole("tab", { name: "OpenAPI document" }).click();
  await page.getByLabel("Document").fill("./weather.yaml");
  await page.getByLabel("Address of the API").fill("https://api.example.com/v1");
  await page.getByLabel("Name").fill("weather");
  await page.getByRole("button", { name: "Show the change" }).click();
  const diff = page.getByRole("region", { name: "Changes" });
  await diff.getByText('"openapi": "./weather.yaml"').waitFor();
  await diff.getByText('"baseUrl": "https://api.example.com/v1"').waitFor();
  expect(readFileSync(join(folder, "guildhall.json"), "utf8")).not.toContain("weather");
  await page.keyboard.press("Escape");
});

test("a feature is described, its questions are answered in place, and the next step runs", async () => {
  const site = open();
  const { page, folder } = site;
  await site.show("workflow");
  await page.getByRole("button", { name: "New feature" }).click();
  await page
    .getByLabel("What should it do, and for whom?")
    .fill("Members of a club can book a tennis court for one hour");
  await page.getByRole("button", { name: "Write the specification" }).click();
  await page.getByRole("button", { name: /open question/ }).click();
  const questions = page.getByRole("heading", { name: "Open questions" });
  await questions.waitFor();
  for (const answer of await page.locator(".detail .card input").all())
    await answer.fill("At most two weeks ahead");
  await page.getByRole("button", { name: "Write the answers" }).click();
  await page.locator(".markdown").getByText("At most two weeks ahead").first().waitFor();
  const [name = ""] = (await page.locator(".feature .mono").allTextContents()) ?? [];
  expect(readFileSync(join(folder, "specs", name, "spec.md"), "utf8")).toContain(
    "At most two weeks ahead",
  );
  await page.getByRole("button", { name: "Run the next step: plan" }).click();
  await page.getByRole("tab", { name: "plan", exact: true }).waitFor();
  expect(readFileSync(join(folder, "specs", name, "plan.md"), "utf8")).not.toBe("");
});

test("the audit is whole, and a token is created, shown once and revoked", async () => {
  const site = open();
  const { page } = site;
  await site.run("call", "calculator.calculate", "expression=1+1");
  await site.show("audit");
  await page.getByText(/chain of .* is whole/).waitFor();
  await page.getByRole("row", { name: /calculator\.calculate/ }).waitFor();
  await page.getByText(/\d+ calls, by hour/).waitFor();
  await page.getByLabel("Time").selectOption("last year");
  await page.getByText(/\d+ calls, by day/).waitFor();

  await site.show("settings");
  await page
    .getByText(/\d+ listed · .* about .* tokens/)
    .first()
    .waitFor();
  await page.getByLabel("Name of the new token").fill("ci");
  await page.getByLabel("Scope").selectOption("read");
  await page.getByRole("button", { name: "Create a token" }).click();
  const shown = page.getByRole("status").filter({ hasText: "not shown again" });
  const token = (await shown.locator("code").textContent()) ?? "";
  const answer = await fetch(`${site.url}/api/toolkits`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(answer.status).toBe(200);
  await page.getByRole("button", { name: "Revoke" }).click();
  await page.getByText("revoked ci").waitFor();

  await site.show("audit/audit");
  await page.getByRole("row", { name: /revoked.*ci/ }).click();
  await page.getByText("token revoked in the page").last().waitFor();
  await page.getByRole("button", { name: "Close" }).focus();
  await page.keyboard.press("Escape");
  await page.getByRole("region", { name: /^Row/ }).waitFor({ state: "hidden" });
  await expect
    .poll(() => page.evaluate("document.activeElement?.textContent"))
    .toContain("revoked");

  // A screen that was shown before is read again.
  await site.show("audit/trust");
  await page.getByText("No tool is trusted").waitFor();
  await site.show("overview");
  await site.run("trust", "calculator.calculate", "--until", "2h");
  await site.show("audit/trust");
  const granted = page.locator(".list-lines > div", { hasText: "calculator.calculate" });
  await granted.getByText(/granted .* by user /).waitFor();
  await granted.getByText(/^until 20\d\d-/).waitFor();
});

test("neither a lost answer nor one that is older than an event leaves a gap", async () => {
  const site = open();
  const { page } = site;
  await site.show("settings");
  await page.reload();
  await isLive(page);
  // The call ends after the hall has answered and before the page has the answer.
  await page.route(
    "**/api/page/calls",
    async (route) => {
      const response = await route.fetch();
      await site.run("call", "time_tool.current_time");
      await route.fulfill({ response });
    },
    { times: 1 },
  );
  await page.route("**/api/page/audit", (route) => route.abort(), { times: 1 });
  await site.show("calls");
  await page.getByRole("row", { name: /time_tool\.current_time/ }).waitFor();
  await site.show("audit/audit");
  await page
    .getByRole("row", { name: /reviewed/ })
    .first()
    .waitFor();
});

test("no screen has an accessibility problem, in both schemes and on a phone", async () => {
  const site = open();
  await expectNoProblems(site, [
    "overview",
    "servers",
    "review",
    "approvals",
    "tools",
    "tools/calculator.calculate",
    "agents",
    "agents/numbers_agent",
    "code",
    "workflow",
    "calls",
    "audit",
    "audit/audit",
    "settings",
  ]);
});
