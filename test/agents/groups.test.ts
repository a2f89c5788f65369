import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { modern, type RawClient } from "../servers/client.ts";
import { startHall } from "../servers/hall.ts";
import { createShelf, createShop, stock } from "../servers/shop.ts";
import { until } from "../servers/until.ts";

const agent = (name: string, tools: readonly string[]) => ({
  name,
  description: `Specialized agent for ${name}.`,
  tools,
  instructions: "",
});
const files = agent("files_agent", ["files.*"]);
const code = agent(
  "code_agent",
  Object.keys(stock.tracker).map((name) => `tracker.${name}`),
);

async function ask(client: RawClient, name: string, args: JsonObject): Promise<JsonObject> {
  return client.result("tools/call", modern({ name, arguments: args }));
}

test("an agent without a model does only unambiguous work, and reports each step", async () => {
  await using hall = await startHall({ toolkits: createShop(), agents: { files: [files, code] } });
  const result = await ask(hall.connect(), "files_agent", {
    task: "read a file",
    data: { path: "/a" },
  });
  expect(result.structuredContent).toMatchObject({
    planner: "local",
    stopped_because: "done",
    steps: [{ tool: "files__read_file", arguments: { path: "/a" }, outcome: "ok" }],
    partial: false,
  });
});

test("an agent answers with its own tools for the task and how they are called", async () => {
  await using hall = await startHall({
    toolkits: createShop(),
    faces: "auto",
    agents: { files: [files, code] },
  });
  const result = await ask(hall.connect(), "files_agent", { task: "read a file" });
  const {
    agent: name,
    fits,
    tools,
  } = result.structuredContent as { agent: string; fits: boolean; tools: JsonObject[] };
  expect({ name, fits }).toEqual({ name: "files_agent", fits: true });
  expect(tools[0]).toMatchObject({
    name: "files__read_file",
    signature: "files__read_file(path: string, count_lines?: number)",
  });
  expect(tools.every((tool) => String(tool.name).startsWith("files__"))).toBe(true);
  expect((result.content as JsonObject[]).at(-1)?.text).toContain("call_tool");
});

test("an agent that has nothing for a task names the one that has", async () => {
  await using hall = await startHall({ toolkits: createShop(), agents: { files: [files, code] } });
  const result = await ask(hall.connect(), "files_agent", {
    task: "merge the pull request of a branch",
  });
  expect(result.structuredContent).toMatchObject({ fits: false, better: "code_agent" });
});

test("a tool that no file lists joins the agent of its siblings, or other_agent, with a log warning", async () => {
  await using hall = await startHall({
    toolkits: createShop(),
    agents: { files: [files, agent("code_agent", ["tracker.create_issue"])] },
  });
  const groups = new Map(
    hall.hall.groups
      .all()
      .map(({ file, tools }) => [file.name, [...tools].map(({ toolkit }) => toolkit.id)]),
  );
  expect([...groups.keys()]).toEqual(["code_agent", "files_agent", "other_agent"]);
  expect(groups.get("code_agent")).toHaveLength(5);
  expect(new Set(groups.get("other_agent"))).toEqual(new Set(["browser", "weather"]));
  await until(
    () =>
      hall.logged.some(
        (line) => line.includes("no agent file lists") && line.includes("guildhall build"),
      ),
    "the warning",
  );
});

test("a toolkit that is added later belongs to an agent at once", async () => {
  await using hall = await startHall({
    toolkits: createShop(),
    faces: ["agents"],
    agents: { files: [files, code, agent("rest_agent", ["browser.*", "weather.*"])] },
  });
  const client = hall.connect();
  const names = async (): Promise<string[]> =>
    ((await client.result("tools/list", modern())).tools as JsonObject[]).map(({ name }) =>
      String(name),
    );
  expect(await names()).toEqual(["code_agent", "files_agent", "rest_agent"]);
  await hall.hall.registry.add(createShelf("late", { sing: "Sing a song | words" }));
  expect(await names()).toContain("other_agent");
  expect(
    (await ask(client, "other_agent", { task: "sing a song" })).structuredContent,
  ).toMatchObject({ tools: [{ name: "late__sing" }] });
});

test("a toolkit that is registered later joins the agent whose subject it shares", async () => {
  await using hall = await startHall({
    toolkits: createShop(),
    agents: { files: [files, code, agent("weather_agent", ["weather.*"])] },
  });
  const later = createShelf("rain_radar", {
    rain_forecast: "Forecast of rain for the weather of the next hour | city",
  });
  await hall.hall.registry.add({ ...later, category: "WEATHER" });
  const homes = hall.hall.groups
    .all()
    .filter(({ tools }) => [...tools].some(({ toolkit }) => toolkit.id === "rain_radar"));
  expect(homes.map(({ file }) => file.name)).toEqual(["weather_agent"]);
});

test("while servers come and go, every tool belongs to an agent after each change of the list", async () => {
  await using hall = await startHall({ toolkits: createShop(), agents: { files: [files, code] } });
  const { registry, groups } = hall.hall;
  const changes: string[][] = [];
  const leave = registry.onChange(() => {
    const reached = new Set(groups.all().flatMap(({ tools }) => [...tools]));
    changes.push(
      registry.tools().flatMap((target) => (reached.has(target) ? [] : [target.fullName])),
    );
  });
  for (let round = 0; round < 5; round++) {
    await registry.add(
      createShelf(`late_${round}`, { sing: "Sing a song | words", hum: "Hum a song | words" }),
    );
    if (round > 1) await registry.remove(`late_${round - 2}`);
  }
  await registry.remove("files");
  groups.replace({ files: [code] });
  await registry.remove("weather");
  leave();
  expect(changes.length).toBeGreaterThanOrEqual(10);
  expect(changes.flat()).toEqual([]);
});

test("changed files take effect while the hall runs, and clients are notified", async () => {
  await using hall = await startHall({ toolkits: createShop(), faces: ["agents", "search"] });
  const client = hall.connect();
  await client.greet();
  expect((await client.result("tools/list")).tools).toHaveLength(2);
  hall.hall.groups.replace({ files: [files], guide: "Ask." });
  hall.hall.server.refreshLists();
  await client.heard("notifications/tools/list_changed");
  expect((await client.result("tools/list")).tools).toHaveLength(4);
});

test("an unknown tool in a file is logged with the nearest name", async () => {
  await using hall = await startHall({
    toolkits: createShop(),
    agents: { files: [agent("files_agent", ["files.raed_file"])] },
  });
  await until(
    () =>
      hall.logged.some(
        (line) =>
          line.includes("files_agent lists files.raed_file") &&
          line.includes("did you mean files.read_file"),
      ),
    "the warning",
  );
});

test("an error for an unknown agent lists the known ones", async () => {
  await using hall = await startHall({ toolkits: createShop(), agents: { files: [files] } });
  const { error } = await hall
    .connect()
    .request("tools/call", modern({ name: "fils_agent", arguments: { task: "x" } }));
  expect(error).toMatchObject({
    code: -32602,
    message: expect.stringContaining("(expected: files_agent, other_agent)"),
    data: { details: { near: ["files_agent"] } },
  });
  await using none = await startHall({ toolkits: createShop() });
  const refused = await none
    .connect()
    .request("tools/call", modern({ name: "fils_agent", arguments: { task: "x" } }));
  expect(refused.error).toMatchObject({
    message: expect.stringContaining("no groups have been built"),
    data: { suggestion: "The user can run `guildhall build`." },
  });
});

test("an agent wants a task", async () => {
  await using hall = await startHall({ toolkits: createShop(), agents: { files: [files] } });
  expect(await ask(hall.connect(), "files_agent", { prompt: "x" })).toMatchObject({
    isError: true,
    structuredContent: { error_type: "validation" },
  });
});

test("an agent whose tools are all gone says so", async () => {
  await using hall = await startHall({
    toolkits: [createShelf("weather", stock.weather)],
    agents: { files: [files, agent("sky_agent", ["weather.*"])] },
  });
  const result = await ask(hall.connect(), "files_agent", { task: "read a file" });
  expect(result.structuredContent).toMatchObject({ total: 0, tools: [] });
});

test("the list of agents over five hundred tools is at most three hundredths of the tools' own", async () => {
  const toolkits = Array.from({ length: 25 }, (_, at) =>
    createShelf(
      `server_${at}`,
      Object.fromEntries(
        Array.from({ length: 20 }, (_unused, tool) => [
          `operation_${tool}`,
          `Performs operation ${tool} of service ${at} on the given resource. Use it when the user wants to change, inspect or delete one; pass the identifier that the list operation returned, and the region it lives in. Returns the resource as it is afterwards, with its labels and the time of the last change. Fails when the resource is locked by somebody else. | identifier region name? labels? count_limit? filter? cursor?`,
        ]),
      ),
    ),
  );
  const groups = Array.from({ length: 10 }, (_, at) => ({
    ...agent(
      `group_${at}_agent`,
      [2 * at, 2 * at + 1, ...(at < 5 ? [20 + at] : [])].map((server) => `server_${server}.*`),
    ),
    description: `Specialized agent for ${"work of some kind, ".repeat(30)}`.slice(0, 350),
  }));
  await using hall = await startHall({ toolkits, agents: { files: groups } });
  const client = hall.connect();
  const bytes = async (face: string): Promise<number> =>
    JSON.stringify(
      (await client.result("tools/list", modern({}, {}, { "guildhall/expose": face }))).tools,
    ).length;
  const [all, few] = [await bytes("tools"), await bytes("agents")];
  expect(few / all).toBeLessThan(0.03);
  expect(few).toBeLessThan(12 * 1_024);
});
