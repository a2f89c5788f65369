import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allowUnattended } from "../servers/home.ts";
import { findProblems } from "./axe.ts";
import { openSite, useBrowser } from "./site.ts";

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

test("a tool moves to another group, and an agent's file is edited and merged", async () => {
  await using site = await openSite({ config: { builtin: "all" }, files: agentFiles });
  const { page, folder } = site;
  const fileOf = (name: string): string =>
    readFileSync(join(folder, ".guildhall/agents", name), "utf8");
  allowUnattended(join(site.folder, "home/config"));
  await site.run("verify", "--yes");
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
});

test("programs run in one session with the tools as functions", async () => {
  await using site = await openSite({ config: { builtin: "all" } });
  const { page } = site;
  await site.show("code");
  const program = page.getByLabel("Program");
  await program.fill("(defun twice (n) (* 2 n))");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("=> TWICE").waitFor();
  await program.fill('(twice (jref (calculator:calculate :expression "20 + 1") "number"))');
  await program.press("Control+Enter");
  await page.getByText("=> 42").waitFor();

  await program.press("Control+ArrowUp");
  expect(await program.inputValue()).toContain("20 + 1");
  await page.getByLabel("Find a function").fill("convert");
  await page.getByRole("button", { name: /calculator:convert-units/ }).click();
  expect(await program.inputValue()).toContain("(calculator:convert-units");
});

test("a feature is described, its questions are answered in place, and the next step runs", async () => {
  await using site = await openSite();
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
  await using site = await openSite({ config: { builtin: "all" } });
  const { page } = site;
  await site.run("call", "calculator.calculate", "expression=1+1");
  await site.show("audit");
  await page.getByText(/chain of .* is whole/).waitFor();
  await page.getByRole("row", { name: /calculator\.calculate/ }).waitFor();

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

test("these screens have no accessibility problem, in both schemes and on a phone", async () => {
  await using site = await openSite({ config: { builtin: "all" }, files: agentFiles });
  const { page } = site;
  allowUnattended(join(site.folder, "home/config"));
  await site.run("verify", "--yes");
  for (const screen of ["agents", "agents/numbers_agent", "code", "workflow", "audit", "settings"])
    for (const { scheme, ...size } of looks) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme: scheme });
      await site.show(screen);
      await page.getByRole("heading", { level: 1 }).waitFor();
      expect(await findProblems(page), `${screen} ${scheme} ${size.width}`).toEqual([]);
    }
});

const looks = [
  { width: 1280, height: 800, scheme: "light" },
  { width: 1280, height: 800, scheme: "dark" },
  { width: 390, height: 844, scheme: "light" },
] as const;
