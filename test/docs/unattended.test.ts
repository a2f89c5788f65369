import { expect, test } from "vitest";
import { examplesIn } from "./pages.ts";
import { Workplace } from "./workplace.ts";

const greeting = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "ci", version: "1" },
};

test("the recipe for unattended machines leads from nothing to a call, without a prompt", async () => {
  await using workplace = new Workplace();
  const recipe = examplesIn("sh").find(({ needs }) => needs.has("unattended"));
  if (!recipe) throw new Error("no example is marked unattended");
  await workplace.prepare(recipe);
  for (const line of recipe.text.trim().split("\n")) {
    const { code, stderr } = await workplace.runLine(line, recipe.needs);
    expect({ line, code, stderr }).toMatchObject({ line, code: 0 });
  }

  const requests = [
    { id: 1, method: "initialize", params: greeting },
    { method: "notifications/initialized" },
    {
      id: 2,
      method: "tools/call",
      params: { name: "github.list_issues", arguments: { state: "open" } },
    },
  ];
  const lines = requests.map((request) => JSON.stringify({ jsonrpc: "2.0", ...request }));
  const { stdout } = await workplace.run("guildhall", ["mcp"], `${lines.join("\n")}\n`);
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { id?: number });
  const answer = answers.find(({ id }) => id === 2);
  expect(answer).toMatchObject({ result: { content: [{ type: "text" }] } });
  expect(answer).not.toMatchObject({ result: { isError: true } });
}, 120_000);
