import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parseAgentFile } from "../../src/agents/agent-file.ts";
import { readAgentFolder } from "../../src/agents/agent-folder.ts";
import { applyPlan, type PlanOptions, planAgents } from "../../src/agents/plan.ts";
import { createLog } from "../../src/base/log.ts";
import { createRegistry } from "../../src/registry/registry.ts";
import type { Target, Toolkit } from "../../src/tool.ts";
import { createShelf, createShop, stock } from "../servers/shop.ts";

/** A project folder with its agents, and the tools there are. */
interface Place {
  readonly folder: string;
  build(targets: readonly Target[], options?: Partial<PlanOptions>): Promise<readonly string[]>;
  /** Every file, by name, `instructions.md` and the lock included. */
  files(): Record<string, string>;
  edit(fileName: string, change: (text: string) => string): void;
  /** The agent that names a tool. */
  home(tool: string): string[];
}

function newPlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-agents-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const hall = join(folder, ".guildhall");
  const files = (): Record<string, string> => {
    const names = readdirSync(hall, { recursive: true })
      .map(String)
      .filter((name) => /\.(md|json)$/.test(name));
    return Object.fromEntries(
      names.sort().map((name) => [name, readFileSync(join(hall, name), "utf8")]),
    );
  };
  return {
    folder,
    files,
    async build(targets, options = {}) {
      const plan = await planAgents({ folder, targets, ...options });
      await applyPlan(folder, plan);
      return plan.warnings;
    },
    edit(fileName, change) {
      const path = join(hall, "agents", fileName);
      mkdirSync(join(hall, "agents"), { recursive: true });
      let text = "";
      try {
        text = readFileSync(path, "utf8");
      } catch {
        // A new file.
      }
      writeFileSync(path, change(text));
    },
    home: (tool) =>
      agentsIn(files())
        .filter(({ tools }) => tools.includes(tool))
        .map(({ name }) => name),
  };
}

function agentsIn(
  files: Record<string, string>,
): readonly { name: string; description: string; tools: readonly string[] }[] {
  return Object.entries(files)
    .filter(([name, text]) => name.startsWith("agents/") && text.includes("\n---"))
    .map(([name, text]) => parseAgentFile(text, name));
}

async function toolsOf(toolkits: readonly Toolkit[]): Promise<readonly Target[]> {
  const registry = createRegistry({ log: createLog({ level: "silent" }) });
  for (const toolkit of toolkits) await registry.add(toolkit);
  return registry.tools();
}

const calendar = createShelf("calendar", {
  create_event: "Create an event in the calendar | title start",
  list_events: "List the events of a day in the calendar | day",
  delete_event: "Delete an event from the calendar | id",
  find_free_time: "Find free time in the calendars of several people | people",
  send_invitation: "Send an invitation to an event of the calendar | id people",
});

function fileOf(place: Place, agent: string): string {
  const found = Object.entries(place.files()).find(
    ([name, text]) => name.startsWith("agents/") && parseAgentFile(text, "x").name === agent,
  );
  return found?.[0].replace("agents/", "") ?? "";
}

test("every tool is in exactly one agent, and the agent describes it", async () => {
  const place = newPlace();
  const targets = await toolsOf(createShop());
  await place.build(targets);
  const agents = agentsIn(place.files());
  expect(agents.flatMap(({ tools }) => tools).sort()).toEqual(
    targets.map(({ fullName }) => fullName).sort(),
  );
  for (const { name, description } of agents) {
    expect(name).toMatch(/^[a-z][a-z0-9_]*_agent$/);
    expect(name).not.toMatch(/cluster|group/);
    expect(description).toMatch(/^Specialized agent for .+/);
  }
  // The hall adds what else is in a client's list.
  expect(place.files()["instructions.md"]).toContain("Specialist agents");
  expect(place.files()["instructions.md"]).not.toContain("find_tools");
});

test("the same tools give the same bytes, in another folder, in another order, and again", async () => {
  const [one, two] = [newPlace(), newPlace()];
  await one.build(await toolsOf(createShop()));
  await two.build(await toolsOf([...createShop()].reverse()));
  expect(two.files()).toEqual(one.files());
  await two.build(await toolsOf(createShop()));
  expect(two.files()).toEqual(one.files());
});

test("a server that is added moves no other tool, and changes one or two files", async () => {
  const place = newPlace();
  await place.build(await toolsOf(createShop()));
  const before = place.files();
  const homes = new Map(
    (await toolsOf(createShop())).map(({ fullName }) => [fullName, place.home(fullName)]),
  );
  await place.build(await toolsOf([...createShop(), calendar]));
  const after = place.files();
  for (const [tool, home] of homes) expect(place.home(tool), tool).toEqual(home);
  expect(place.home("calendar.create_event")).toHaveLength(1);
  const changed = Object.keys({ ...before, ...after }).filter(
    (name) => name.endsWith(".md") && before[name] !== after[name],
  );
  expect(changed.length).toBeGreaterThan(0);
  expect(changed.length).toBeLessThanOrEqual(2);
});

test("the name of a group follows its tools, unless a person edited the file", async () => {
  const salesforce = createShelf("salesforce", {
    create_lead: "Create a lead in Salesforce",
    update_lead: "Update a lead in Salesforce",
    find_account: "Find a customer account",
    close_deal: "Close a deal of a customer",
    list_contacts: "List the contacts of a customer account",
  });
  const hubspot = createShelf("hubspot", {
    create_contact: "Create a contact of a customer company",
    update_deal: "Update a deal in the pipeline of a customer",
    find_company: "Find a customer company",
  });
  const [followed, kept] = [newPlace(), newPlace()];
  for (const place of [followed, kept]) {
    await place.build(await toolsOf([salesforce]));
    expect(place.home("salesforce.create_lead")).toEqual(["salesforce_agent"]);
  }
  kept.edit("salesforce.md", (text) => text.replace(/description: .*/, "description: Mine."));
  for (const place of [followed, kept]) await place.build(await toolsOf([salesforce, hubspot]));
  expect(followed.home("salesforce.create_lead")).toEqual(["customer_relations_agent"]);
  expect(followed.home("hubspot.update_deal")).toEqual(["customer_relations_agent"]);
  expect(Object.keys(followed.files())).not.toContain("agents/salesforce.md");
  expect(kept.home("salesforce.create_lead")).toEqual(["salesforce_agent"]);
  expect(kept.home("hubspot.update_deal")).toEqual(["salesforce_agent"]);
});

test("a removed server takes its tools with it, and an unedited agent that has none left", async () => {
  const place = newPlace();
  await place.build(await toolsOf([...createShop(), calendar]));
  await place.build(await toolsOf(createShop()));
  const left = agentsIn(place.files()).flatMap(({ tools }) => tools);
  expect(left.filter((tool) => tool.startsWith("calendar."))).toEqual([]);
  const alone = newPlace();
  await alone.build(await toolsOf([calendar]));
  await alone.build(await toolsOf([createShelf("files", stock.files)]));
  expect(agentsIn(alone.files()).flatMap(({ tools }) => tools)).toEqual(
    Object.keys(stock.files)
      .map((name) => `files.${name}`)
      .sort(),
  );
});

test("edits of a person stay, everything else is kept up to date", async () => {
  const place = newPlace();
  const targets = await toolsOf(createShop());
  await place.build(targets);
  const [agent] = place.home("tracker.create_issue");
  const file = fileOf(place, agent ?? "");
  place.edit(file, (text) =>
    text
      .replace(/description: .*/, "description: Mine, and mine alone.")
      .replace("---\n\n", "---\n\nAlways be polite.\n\n")
      .replace("name:", "color: red\nname:"),
  );
  await place.build(
    await toolsOf([...createShop(), createShelf("tracker_two", stock.tracker), calendar]),
  );
  const text = place.files()[`agents/${file}`] ?? "";
  expect(text).toContain("description: Mine, and mine alone.");
  expect(text).toContain("Always be polite.");
  expect(text).toContain("color: red");
  const again = place.files();
  await place.build(
    await toolsOf([...createShop(), createShelf("tracker_two", stock.tracker), calendar]),
  );
  expect(place.files()).toEqual(again);
});

test("a tool moved by hand stays where it was put, even when everything is grouped anew", async () => {
  const place = newPlace();
  const targets = await toolsOf(createShop());
  await place.build(targets);
  const [from] = place.home("weather.current_weather");
  const to =
    place.home("tracker.create_issue").find((name) => name !== from) ??
    place.home("browser.open_page").find((name) => name !== from) ??
    "";
  expect(to).not.toBe("");
  place.edit(fileOf(place, from ?? ""), (text) =>
    text.replace("  - weather.current_weather\n", ""),
  );
  place.edit(fileOf(place, to), (text) =>
    text.replace("tools:\n", "tools:\n  - weather.current_weather\n"),
  );
  await place.build(targets);
  expect(place.home("weather.current_weather")).toEqual([to]);
  await place.build(targets);
  await place.build(targets, { regroup: true });
  expect(place.home("weather.current_weather")).toEqual([to]);
});

test("a file written before the first build keeps what it has, and the rest is grouped around it", async () => {
  const place = newPlace();
  place.edit(
    "sky.md",
    () => "---\nname: sky\ndescription: The sky.\ntools: [weather.*]\n---\n\nLook up.\n",
  );
  await place.build(await toolsOf([...createShop(), calendar]));
  const sky = agentsIn(place.files()).find(({ name }) => name === "sky_agent");
  expect(sky).toMatchObject({ description: "The sky.", tools: ["weather.*"] });
  expect(agentsIn(place.files()).length).toBeGreaterThanOrEqual(3);
});

test("many servers that come to a few groups get groups of their own", async () => {
  const place = newPlace();
  await place.build(await toolsOf([createShelf("weather", stock.weather)]));
  await place.build(await toolsOf([...createShop(), calendar]));
  const all = newPlace();
  await all.build(await toolsOf([...createShop(), calendar]));
  expect(agentsIn(place.files())).toEqual(agentsIn(all.files()));
});

test("a tool may be in two agents when a person says so", async () => {
  const place = newPlace();
  const targets = await toolsOf(createShop());
  await place.build(targets);
  const [home] = place.home("files.read_file");
  const other = agentsIn(place.files()).find(({ name }) => name !== home)?.name ?? "";
  place.edit(fileOf(place, other), (text) =>
    text.replace("tools:\n", "tools:\n  - files.read_file\n"),
  );
  await place.build(targets);
  expect(place.home("files.read_file").sort()).toEqual([home, other].sort());
});

test("server.* means all tools of a server, new ones too", async () => {
  const place = newPlace();
  await place.build(await toolsOf(createShop()));
  const [home] = place.home("tracker.create_issue");
  const file = fileOf(place, home ?? "");
  place.edit(file, (text) => text.replace(/( {2}- tracker\..*\n)+/, "  - tracker.*\n"));
  await place.build(
    await toolsOf([
      ...createShop().filter(({ id }) => id !== "tracker"),
      createShelf("tracker", { ...stock.tracker, reopen_issue: "Reopen an issue" }),
    ]),
  );
  const text = place.files()[`agents/${file}`] ?? "";
  expect(text).toContain("  - tracker.*\n");
  expect(text).not.toContain("tracker.reopen_issue");
});

test("an invalid file is kept and reported; the other files are updated", async () => {
  const place = newPlace();
  const targets = await toolsOf(createShop());
  await place.build(targets);
  const before = place.files();
  const [home] = place.home("tracker.create_issue");
  const file = fileOf(place, home ?? "");
  place.edit(file, () => "---\nname: half\n");
  const warnings = await place.build(await toolsOf([...createShop(), calendar]));
  expect(warnings).toContainEqual(
    expect.stringMatching(new RegExp(`agents/${file} is skipped: the front matter is not closed`)),
  );
  expect(place.files()[`agents/${file}`]).toBe("---\nname: half\n");
  expect(place.home("weather.current_weather")).toHaveLength(1);
  place.edit(file, () => before[`agents/${file}`] ?? "");
  await place.build(await toolsOf([...createShop(), calendar]));
  expect(place.home("tracker.create_issue")).toEqual([home]);
  expect(place.home("calendar.create_event")).toHaveLength(1);
});

test("a hand-written entry for an unknown tool is kept and reported", async () => {
  const place = newPlace();
  const targets = await toolsOf(createShop());
  await place.build(targets);
  const [home = ""] = place.home("files.read_file");
  place.edit(fileOf(place, home), (text) =>
    text.replace("tools:\n", "tools:\n  - files.raed_file\n"),
  );
  expect(await place.build(targets)).toContain(
    `${home} lists files.raed_file, which no server provides; did you mean files.read_file?`,
  );
  expect(place.files()[`agents/${fileOf(place, home)}`]).toContain("files.raed_file");
});

test("a hand-written agent without tools is kept with a warning", async () => {
  const place = newPlace();
  place.edit("future.md", () => "---\nname: future\ndescription: Later.\ntools: []\n---\n");
  const warnings = await place.build(await toolsOf(createShop()));
  expect(warnings).toContainEqual(expect.stringContaining("future.md has no tools left"));
  expect(place.files()["agents/future.md"]).toContain("Later.");
});

test("the second of two files with the same agent name is skipped", async () => {
  const place = newPlace();
  place.edit("a.md", () => "---\nname: same\ndescription: A.\ntools: [files.read_file]\n---\n");
  place.edit(
    "b.md",
    () => "---\nname: same_agent\ndescription: B.\ntools: [files.write_file]\n---\n",
  );
  const { agents, problems } = await readAgentFolder(place.folder);
  expect(agents.map(({ fileName }) => fileName)).toEqual(["a.md"]);
  expect(problems).toEqual([
    expect.stringContaining("b.md is skipped: a.md has the same name, same_agent"),
  ]);
});

test("without a readable lock every file counts as written by hand and is kept", async () => {
  const place = newPlace();
  const targets = await toolsOf(createShop());
  await place.build(targets);
  const before = place.files();
  writeFileSync(join(place.folder, ".guildhall", "agents.lock.json"), "{");
  const warnings = await place.build(targets);
  expect(warnings).toContainEqual(expect.stringContaining("agents.lock.json is unreadable"));
  expect(agentsIn(place.files())).toEqual(agentsIn(before));
});

test("edited instructions are kept", async () => {
  const place = newPlace();
  const targets = await toolsOf(createShop());
  await place.build(targets, { domain: "a shop for lamps" });
  expect(place.files()["instructions.md"]).toContain("a shop for lamps");
  writeFileSync(join(place.folder, ".guildhall", "instructions.md"), "Mine.");
  await place.build(targets, { domain: "a shop for chairs" });
  expect(place.files()["instructions.md"]).toBe("Mine.");
});

test("one tool makes one agent; no tools make none", async () => {
  const place = newPlace();
  await place.build(await toolsOf([createShelf("clock", { now: "Tells the time" })]));
  expect(agentsIn(place.files())).toMatchObject([{ tools: ["clock.now"] }]);
  const empty = newPlace();
  expect(await empty.build([])).toEqual([]);
  expect(agentsIn(empty.files())).toEqual([]);
});

test("groups outside the recommended sizes give warnings", async () => {
  const place = newPlace();
  const wide = createShelf(
    "wide",
    Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [`paint_${at}`, `Paint picture number ${at}`]),
    ),
  );
  place.edit("all.md", () => "---\nname: all\ndescription: All.\ntools: [wide.*]\n---\n");
  const warnings = await place.build(await toolsOf([wide]));
  expect(warnings).toEqual([
    "1 group for 30 tools (recommended: 3 to 25); try --regroup",
    "all_agent has 30 tools (recommended: 5 to 20)",
  ]);
});

test("the groups of a first build give no warnings at any size", async () => {
  const pair = createShelf("pair", { spin: "Spins a top", weigh: "Weighs a stone" });
  const place = newPlace();
  const warnings = await place.build(await toolsOf([...createShop(), pair]));
  expect(agentsIn(place.files()).some(({ tools }) => tools.length < 5)).toBe(true);
  expect(warnings).toEqual([]);
});

test("hints make groups; unknown tools in hints give warnings", async () => {
  const place = newPlace();
  const warnings = await place.build(await toolsOf(createShop()), {
    hints: ["sky and pages: weather, browser.open_page, nothing_here", "prefer short names"],
  });
  expect(warnings).toContain(
    'hints: sky_and_pages_agent lists "nothing_here", which no server provides',
  );
  const sky = agentsIn(place.files()).find(({ name }) => name === "sky_and_pages_agent");
  expect([...(sky?.tools ?? [])].sort()).toEqual([
    "browser.open_page",
    "weather.current_weather",
    "weather.weather_forecast",
  ]);
  expect(place.home("browser.open_page")).toEqual(["sky_and_pages_agent"]);
});

test("a heading of the project's notes does not name a group", async () => {
  const place = newPlace();
  const rest = createShop().filter(({ id }) => id !== "tracker");
  const noteText = "# Notes\n\n## Release work\n\nUse `tracker` and tracker_two for issues.\n";
  await place.build(
    await toolsOf([
      ...rest,
      createShelf("tracker", stock.tracker),
      createShelf("tracker_two", stock.tracker),
    ]),
    { noteText },
  );
  expect(place.home("tracker.create_issue")).not.toEqual(["release_work_agent"]);
});

test("five thousand tools are grouped into 25 agents", async () => {
  const place = newPlace();
  const topics = [
    "invoice",
    "parcel",
    "garden",
    "engine",
    "museum",
    "recipe",
    "ticket",
    "planet",
    "concert",
    "library",
  ];
  const toolkits = Array.from({ length: 50 }, (_, at) => {
    const topic = topics[at % topics.length] ?? "";
    return createShelf(
      `${topic}_${at}`,
      Object.fromEntries(
        Array.from({ length: 100 }, (_unused, tool) => [
          `${topic}_tool_${tool}`,
          `Handles ${topic} number ${tool} | id`,
        ]),
      ),
    );
  });
  const targets = await toolsOf(toolkits);
  const warnings = await place.build(targets);
  const agents = agentsIn(place.files());
  expect(agents).toHaveLength(25);
  expect(agents.flatMap(({ tools }) => tools)).toHaveLength(5_000);
  expect(warnings).toEqual([]);
});
