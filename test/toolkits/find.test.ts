import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createLog } from "../../src/base/log.ts";
import { createRegistry } from "../../src/registry/registry.ts";
import type { Target, Tool, Toolkit } from "../../src/tool.ts";
import { createFinder } from "../../src/toolkits/find/finder.ts";
import type { Held } from "../../src/trust/trust.ts";
import type { RawClient } from "../servers/client.ts";
import { modern } from "../servers/client.ts";
import { startHall } from "../servers/hall.ts";
import { createShelf, createShop, stock } from "../servers/shop.ts";
import { createToolkit } from "../servers/toolkits.ts";

const log = createLog({ level: "silent" });

async function find(
  client: RawClient,
  args: JsonObject,
): Promise<{ text: string; found: JsonObject; names: string[] }> {
  const result = await client.result("tools/call", modern({ name: "find_tools", arguments: args }));
  const found = result.structuredContent as JsonObject;
  const names = ((found.tools as JsonObject[] | undefined) ?? []).map(({ name }) => String(name));
  return { text: String((result.content as JsonObject[])[0]?.text), found, names };
}

test("find_tools answers the tools that fit, best first: the text has signatures, the data facts", async () => {
  await using hall = await startHall({ toolkits: createShop(), faces: ["search"] });
  const { found, names, text } = await find(hall.connect(), {
    task: "create an issue to report a bug",
    limit: 3,
  });
  expect(names).toHaveLength(3);
  expect(names[0]).toBe("tracker__create_issue");
  expect(found).toMatchObject({ fits: true, total: 17 });
  const [best] = found.tools as JsonObject[];
  expect(best).not.toHaveProperty("signature");
  expect(best?.matched).toEqual(expect.arrayContaining(["issue", "bug"]));
  expect(best).not.toHaveProperty("inputSchema");
  const signature = "tracker__create_issue(repository: string, title: string, body?: string)";
  expect(text).toContain(`1. ${signature}`);
  expect(text).toContain("call_tool");
});

test("signatures are written as a program calls the tools, if the client asks for it", async () => {
  await using hall = await startHall({ toolkits: createShop(), faces: ["search"] });
  const { text } = await find(hall.connect(), {
    task: "create an issue to report a bug",
    limit: 1,
    signatures: "typescript",
  });
  expect(text).toContain(
    "1. tools.tracker.createIssue({ repository: string, title: string, body?: string }): Promise<any>",
  );
});

test("detail full brings the whole schema", async () => {
  await using hall = await startHall({ toolkits: createShop() });
  const { found } = await find(hall.connect(), {
    task: "weather forecast",
    limit: 1,
    detail: "full",
  });
  expect(found.tools).toMatchObject([
    { name: "weather__weather_forecast", inputSchema: { type: "object", required: ["city"] } },
  ]);
});

test.each([
  ["It has a lot to say about itself. ", 40],
  ["查询一个城市今天和未来七天的天气预报，", 0],
])(
  "a page of five long tools takes at most 2.5 KB, and names what each tool requires: %s",
  async (detail, optional) => {
    const schema = {
      type: "object",
      properties: Object.fromEntries(
        Array.from({ length: optional }, (_, at) => [
          `optional_field_${at}`,
          { type: "string" },
        ]).concat([["station", { type: "string" }]]),
      ),
      required: ["station"],
    };
    const description = `Shows the weather forecast. ${detail.repeat(20)}`;
    const tools = Array.from({ length: 8 }, (_, at): Tool => {
      return { name: `forecast_${at}`, description, inputSchema: schema };
    });
    const toolkit: Toolkit = { ...createToolkit("stations", {}), list: async () => tools };
    await using hall = await startHall({ toolkits: [toolkit] });
    const page = await hall
      .connect()
      .result(
        "tools/call",
        modern({ name: "find_tools", arguments: { task: "weather forecast" } }),
      );
    const text = String((page.content as JsonObject[])[0]?.text);
    expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(2_560);
    expect(text.match(/stations__forecast_\d\(station: string(?:, .* …)?\)/g)).toHaveLength(5);
    expect(text.match(/Shows the weather forecast\./g)).toHaveLength(5);
  },
);

test("a search without a match says so, and names the nearest tools as such", async () => {
  await using hall = await startHall({ toolkits: createShop() });
  const { found, text } = await find(hall.connect(), {
    task: "transpose the violin sonata into another key for a quartet page",
  });
  expect(found.fits).toBe(false);
  expect(text).toMatch(/^(Nothing here fits well|None of 17 tools)/);
});

test.each([
  [{ task: "" }],
  [{ task: "x", limit: 0 }],
  [{ task: "x", limit: 21 }],
  [{ task: "x", detail: "much" }],
  [{}],
  [{ task: "x", other: 1 }],
])("%j is refused with the field", async (args) => {
  await using hall = await startHall({ toolkits: createShop() });
  const result = await hall
    .connect()
    .result("tools/call", modern({ name: "find_tools", arguments: args }));
  expect(result).toMatchObject({
    isError: true,
    structuredContent: { error_type: "validation", toolName: "find_tools" },
  });
});

test("a hall without tools says what to do", async () => {
  await using hall = await startHall({ toolkits: [] });
  const { found, text } = await find(hall.connect(), { task: "anything" });
  expect(found).toMatchObject({ fits: false, total: 0, tools: [] });
  expect(text).toContain("mcpServers in guildhall.json");
});

test("a search that finds nothing good says how many servers it could not look through, and no more", async () => {
  const down = (id: string) =>
    createToolkit(id, {}, { problem: () => "/home/me/bin/gone was not found" });
  await using hall = await startHall({ toolkits: [...createShop(), down("gone"), down("lost")] });
  const client = hall.connect();
  const fitting = await find(client, { task: "read a file" });
  expect(fitting.found.notes).toBeUndefined();
  const other = await find(client, { task: "feed the penguins" });
  expect(other.found.notes).toEqual([
    "not searched: 2 servers unavailable (see `guildhall status`)",
  ]);
  expect(other.text).not.toContain("/home/me");
});

test("a conversation is informed once of servers that are down, and again when that changes", async () => {
  const problems: Record<string, string | undefined> = { gone: "it exited", lost: undefined };
  const toolkits = ["gone", "lost"].map((id) =>
    createToolkit(id, {}, { problem: () => problems[id] }),
  );
  await using hall = await startHall({ toolkits: [...createShop(), ...toolkits] });
  const client = hall.connect();
  const notes = async (from: RawClient) =>
    (await find(from, { task: "feed the penguins" })).found.notes;
  const one = "not searched: 1 server unavailable (see `guildhall status`)";
  expect([await notes(client), await notes(client)]).toEqual([[one], undefined]);
  expect(await notes(hall.connect())).toEqual([one]);
  problems.lost = "it exited too";
  expect([await notes(client), await notes(client)]).toEqual([
    [one.replace("1 server", "2 servers")],
    undefined,
  ]);
});

test.each(["gone.read_file", "gone__read_file"])(
  "a call of %s says that its toolkit is down, not that nobody knows it",
  async (name) => {
    const down = createToolkit("gone", {}, { problem: () => "its command was not found" });
    await using hall = await startHall({ toolkits: [...createShop(), down] });
    const result = await hall.connect().result("tools/call", modern({ name, arguments: {} }));
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { error_type: "unavailable", toolName: name },
    });
    expect(JSON.stringify(result.content)).toContain("its command was not found");
  },
);

test("a tool whose toolkit is down is found and marked", async () => {
  const weather = createShelf("weather", stock.weather, { problem: () => "it exited with code 1" });
  await using hall = await startHall({ toolkits: [weather] });
  const { found, text } = await find(hall.connect(), { task: "weather forecast", limit: 1 });
  expect(found.tools).toMatchObject([{ unavailable: "it exited with code 1" }]);
  expect(text).toContain("not available right now: it exited with code 1");
});

test("why a tool is down is said without local folders", async () => {
  const said = {
    '"/home/ana/bin/node" was not found': '"node" was not found',
    "cannot read ~/.config/weather/key.json: no such file": "cannot read key.json: no such file",
    "C:\\Users\\ana\\run.exe exited with code 1": "run.exe exited with code 1",
    "GET https://example.com/v1/sse answered 502": "GET https://example.com/v1/sse answered 502",
    "and/or 3/4 of it failed": "and/or 3/4 of it failed",
  };
  let problem = "";
  const weather = createShelf("weather", stock.weather, { problem: () => problem });
  await using hall = await startHall({ toolkits: [weather] });
  for (const [reason, told] of Object.entries(said)) {
    problem = reason;
    const { found } = await find(hall.connect(), { task: "weather forecast", limit: 1 });
    expect(found.tools).toMatchObject([{ unavailable: told }]);
  }
});

test("the same tool of three servers is found once, with the names of the others", async () => {
  const toolkits = ["one", "two", "three"].map((id) => createShelf(id, stock.weather));
  await using hall = await startHall({ toolkits });
  const { found } = await find(hall.connect(), { task: "current weather of a city", limit: 1 });
  const [best] = found.tools as JsonObject[];
  expect([best?.name, ...((best?.alike as string[] | undefined) ?? [])].sort()).toEqual([
    "one__current_weather",
    "three__current_weather",
    "two__current_weather",
  ]);
});

test("a tool is found by the words its user gave it", async () => {
  await using hall = await startHall({
    toolkits: createShop(),
    aliases: { "tracker.create_issue": ["file a ticket", "moan"] },
  });
  const { names } = await find(hall.connect(), { task: "moan", limit: 1 });
  expect(names).toEqual(["tracker__create_issue"]);
});

test("the index follows the registry, and reads again only the toolkit that changed", async () => {
  const registry = createRegistry({ log });
  const reads: string[] = [];
  const watched = (toolkit: Toolkit): Toolkit => ({
    ...toolkit,
    list: async () =>
      (await toolkit.list()).map((tool) =>
        Object.defineProperty({ ...tool }, "description", {
          enumerable: true,
          get() {
            reads.push(toolkit.id);
            return tool.description;
          },
        }),
      ),
  });
  await registry.add(watched(createShelf("weather", stock.weather)));
  const finder = createFinder({ registry, log });
  expect((await finder.find("weather")).found.map(({ target }) => target.toolkit.id)).toEqual([
    "weather",
    "weather",
  ]);
  await registry.add(watched(createShelf("files", stock.files)));
  reads.length = 0;
  expect(
    (await finder.find("read a file", { limit: 1 })).found.map(({ target }) => target.fullName),
  ).toEqual(["files.read_file"]);
  expect(new Set(reads)).toEqual(new Set(["files"]));
  await registry.remove("weather");
  expect(await finder.find("weather forecast")).toMatchObject({ total: 5 });
  expect(
    (await finder.find("weather forecast")).found.some(
      ({ target }) => target.toolkit.id === "weather",
    ),
  ).toBe(false);
  await registry.close();
});

test("other work runs while thousands of tools are read, and later questions wait for the same index", async () => {
  const registry = createRegistry({ log });
  const many = Array.from({ length: 3_000 }, (_, at) => [
    `tool_${at}`,
    `Shows the weather forecast of station ${at} for a day | station day`,
  ]);
  await registry.add(createShelf("stations", Object.fromEntries(many)));
  const finder = createFinder({ registry, log });
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const findings = await Promise.all(
    ["weather of station 7", "weather of station 8"].map((task) => finder.find(task)),
  );
  isDone = true;
  expect(turns).toBeGreaterThan(5);
  expect(findings.map(({ total }) => total)).toEqual([3_000, 3_000]);
  await registry.close();
});

test("held back tools are never found, and similar names are not suggested", async () => {
  const registry = createRegistry({ log });
  await registry.add(createShelf("one", stock.weather));
  await registry.add(createShelf("two", stock.weather));
  const heldBecause = ({ toolkit }: Target): Held | undefined =>
    toolkit.id === "two" ? { kind: "changed", reason: "it has changed" } : undefined;
  const { found, total } = await createFinder({ registry, trust: { heldBecause }, log }).find(
    "current weather",
  );
  expect(total).toBe(2);
  expect(
    found.every(({ target, alike }) => target.toolkit.id === "one" && alike.length === 0),
  ).toBe(true);
  await registry.close();
});

test("a tool with a prefix of its own, or none, is found under the name it is called by", async () => {
  const toolkits = [
    createShelf("weather", { current_weather: stock.weather.current_weather }, { prefix: "sky" }),
    createShelf("bare", { sunrise: "When the sun rises | city" }, { prefix: "" }),
  ];
  await using hall = await startHall({ toolkits });
  const client = hall.connect();
  expect((await find(client, { task: "current weather", limit: 1 })).names).toEqual([
    "sky__current_weather",
  ]);
  expect((await find(client, { task: "sun rises", limit: 1 })).names).toEqual(["sunrise"]);
});

test("one of five thousand tools is found", async () => {
  const tools = Array.from(
    { length: 5_000 },
    (_, at): Tool => ({
      name: `tool_${at}`,
      description: `Handles the ${at}th kind of parcel`,
      inputSchema: { type: "object" },
    }),
  );
  const toolkit: Toolkit = { ...createToolkit("many", {}), list: async () => tools };
  await using hall = await startHall({ toolkits: [toolkit], faces: "auto" });
  const client = hall.connect();
  expect((await find(client, { task: "the 4711th kind of parcel", limit: 1 })).names).toEqual([
    "many__tool_4711",
  ]);
});
