import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectNoProblems } from "./axe.ts";
import { shareSite, useBrowser } from "./site.ts";

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

const open = shareSite({ config: { builtin: "all" }, files: agentFiles, isReviewed: true });

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

test("programs run in one session with the tools as functions", async () => {
  const site = open();
  const { page } = site;
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
  expect(await program.inputValue()).toContain("20 + 1");
  await page.getByLabel("Find a function").fill("convert");
  await page.getByRole("button", { name: /calculator:convert-units/ }).click();
  expect(await program.inputValue()).toContain("(calculator:convert-units");
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
  await page.locator(".detail .card input").first().fill("At most two weeks ahead");
  await page.getByRole("button", { name: "Write the answers" }).click();
  await page.locator(".markdown").getByText("At most two weeks ahead").first().waitFor();
  const [name = ""] = (await page.locator(".feature .mono").allTextContents()) ?? [];
  expect(readFileSync(join(folder, "specs", name, "spec.md"), "utf8")).toContain(
    "At most two weeks ahead",
  );
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
