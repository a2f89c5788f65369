import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openModel } from "../../src/agents/model/provider.ts";
import { regroupWithModel } from "../../src/agents/model/regroup.ts";
import { planAgents } from "../../src/agents/plan.ts";
import { createLog, Secrets } from "../../src/base/log.ts";
import { createRegistry } from "../../src/registry/registry.ts";
import type { Target } from "../../src/tool.ts";
import type { Script } from "../servers/model-script.ts";
import { startOpenAi } from "../servers/openai-endpoint.ts";
import { createShop, stock } from "../servers/shop.ts";

/** A model may name, describe and regroup; what it says is held to the rules. */
async function toolsOfShop(): Promise<readonly Target[]> {
  const registry = createRegistry({ log: createLog({ level: "silent" }) });
  await Promise.all(createShop().map((toolkit) => registry.add(toolkit)));
  return registry.tools();
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-regroup-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function planWith(script: Script, folder = newFolder()) {
  await using endpoint = await startOpenAi(script);
  const secrets = new Secrets();
  const refine = regroupWithModel({
    open: () => openModel({ model: endpoint.model, baseUrl: endpoint.url, env: {}, secrets }),
    secrets,
  });
  const plan = await planAgents({ folder, targets: await toolsOfShop(), refine });
  return { plan, requests: endpoint.requests, agents: plan.agents.map(({ agent }) => agent) };
}

const toolsIn = (id: keyof typeof stock): string[] =>
  Object.keys(stock[id]).map((name) => `${id}.${name}`);
const group = (
  name: string,
  tools: readonly string[],
  description = `Specialized agent for ${name}; can do what it should.`,
) => ({ name, description, tools });
const good = [
  group("paper work", [...toolsIn("files"), ...toolsIn("tracker")]),
  group("outside_agent", [...toolsIn("browser"), ...toolsIn("weather")]),
];
const say = (agents: readonly object[]) => ({
  say: `\`\`\`json\n${JSON.stringify({ agents })}\n\`\`\``,
});

test("groups of a model are used if they follow the rules", async () => {
  const { agents, requests } = await planWith([say(good)]);
  expect(agents.map(({ name }) => name)).toEqual(["outside_agent", "paper_work_agent"]);
  expect(agents.flatMap(({ tools }) => tools).sort()).toEqual(
    (await toolsOfShop()).map(({ fullName }) => fullName).sort(),
  );
  expect(agents[0]?.instructions).toContain("browser (5)");
  expect(requests).toHaveLength(1);
  expect(JSON.stringify(requests[0])).toContain("weather.current_weather: Get the current weather");
});

test("broken rules are reported to the model, and its corrected answer is used", async () => {
  const faults = [
    { say: "I would rather not." },
    say([
      group("all", toolsIn("files").slice(1)),
      group("all_agent", ["files.fly"]),
      group("none", []),
      group("plain", toolsIn("tracker"), "Does things."),
    ]),
    say([group("twice", [...toolsIn("files"), "files.read_file"])]),
    say(good),
  ];
  const { agents, requests, plan } = await planWith(faults);
  expect(agents.map(({ name }) => name)).toEqual(["outside_agent", "paper_work_agent"]);
  expect(plan.warnings.join()).not.toContain("without a model");
  const told = JSON.stringify(requests[2]);
  for (const words of [
    "tools that do not exist: files.fly",
    "none_agent has no tools",
    "must begin with",
    "tools are in no group: ",
  ])
    expect(told).toContain(words);
  expect(JSON.stringify(requests[3])).toContain("names a tool twice");
});

test("the groups made without a model are kept if the model breaks the rules or cannot be reached", async () => {
  const alone = await planAgents({ folder: newFolder(), targets: await toolsOfShop() });
  const stubborn = await planWith([{ say: "{}" }]);
  expect(stubborn.agents).toEqual(alone.agents.map(({ agent }) => agent));
  expect(stubborn.requests).toHaveLength(4);
  expect(stubborn.plan.warnings.join()).toContain("broke the rules in 4 attempts");
  const refused = await planWith([{ status: 401, message: "no" }]);
  expect(refused.agents).toEqual(stubborn.agents);
  expect(refused.plan.warnings.join()).toContain("made without a model: scripted answered 401");
});

test("groups that a person composed stay as they are", async () => {
  const folder = newFolder();
  mkdirSync(join(folder, ".guildhall", "agents"), { recursive: true });
  const mine =
    "---\nname: mine_agent\ndescription: My own.\ntools:\n  - files.read_file\n  - weather.current_weather\n---\n";
  writeFileSync(join(folder, ".guildhall", "agents", "mine.md"), mine);
  const { agents, requests } = await planWith(
    [say(good), say([group("mine", ["files.read_file", "weather.current_weather"]), ...good])],
    folder,
  );
  expect(JSON.stringify(requests[1])).toContain("mine_agent is fixed");
  expect(agents.find(({ name }) => name === "mine_agent")).toMatchObject({
    description: "My own.",
    tools: ["files.read_file", "weather.current_weather"],
  });
});
