import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { HallOptions } from "../../src/hall/hall-options.ts";
import type { RawClient } from "../servers/client.ts";
import { modern } from "../servers/client.ts";
import { startHall as startTestHall, type TestHall } from "../servers/hall.ts";
import { createShelf, createShop, stock } from "../servers/shop.ts";
import { createShowcase } from "../servers/showcase.ts";
import { createToolkit, text } from "../servers/toolkits.ts";

const startHall = (options: HallOptions): Promise<TestHall> =>
  startTestHall({ listsPrograms: true, ...options });

async function listNames(client: RawClient, meta: JsonObject = {}): Promise<string[]> {
  const { tools } = await client.result("tools/list", modern({}, {}, meta));
  return (tools as JsonObject[]).map(({ name }) => String(name));
}

const agent = {
  name: "files_agent",
  description: "Specialized agent for files.",
  tools: ["files.*"],
  instructions: "",
};

test("search shows find_tools, call_tool and evaluate-lisp, and every tool can still be called by its name", async () => {
  await using hall = await startHall({ toolkits: createShop(), faces: ["search"] });
  const client = hall.connect();
  expect(await listNames(client)).toEqual(["call_tool", "evaluate-lisp", "find_tools"]);
  for (const name of ["weather.current_weather", "weather__current_weather", "current_weather"]) {
    expect(
      await client.result("tools/call", modern({ name, arguments: { city: "Ulm" } })),
    ).toMatchObject({ structuredContent: { city: "Ulm" } });
  }
});

test("tools shows evaluate-lisp and no other of the hall's own tools, which can be called all the same", async () => {
  await using hall = await startHall({
    toolkits: createShop(),
    faces: ["tools"],
    agents: { files: [agent] },
  });
  const client = hall.connect();
  const names = await listNames(client);
  expect(names).toHaveLength(17 + 1);
  expect(names).toContain("evaluate-lisp");
  expect(names).not.toContain("find_tools");
  expect(
    await client.result(
      "tools/call",
      modern({ name: "find_tools", arguments: { task: "weather" } }),
    ),
  ).toHaveProperty("structuredContent");
  expect(
    await client.result(
      "tools/call",
      modern({ name: "files_agent", arguments: { task: "read a file" } }),
    ),
  ).toHaveProperty("structuredContent");
});

test("several faces are shown as one sorted list, page by page", async () => {
  await using hall = await startHall({
    toolkits: createShop(),
    faces: ["tools", "agents"],
    agents: { files: [agent] },
    pageSize: 5,
  });
  const client = hall.connect();
  const names: string[] = [];
  let cursor: unknown;
  do {
    const page = await client.result("tools/list", modern(cursor === undefined ? {} : { cursor }));
    names.push(...(page.tools as JsonObject[]).map(({ name }) => String(name)));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  // Tools that no file names are in a provisional group.
  expect(names).toHaveLength(17 + 3);
  expect(names).toEqual([...names].sort());
});

const shelfOf = (count: number, id = "box") =>
  createShelf(
    id,
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`tool_${at}`, `Does thing ${at}`]),
    ),
  );

test("agents alone shows the agents and nothing else; search adds find_tools and call_tool", async () => {
  const options = { toolkits: createShop(), agents: { files: [agent] } };
  await using alone = await startHall({ ...options, faces: ["agents"] });
  expect(await listNames(alone.connect())).toEqual(["files_agent", "other_agent"]);
  expect((await alone.connect().greet()).instructions).toContain("Each agent has a group of tools");
  await using both = await startHall({ ...options, faces: ["agents", "search"] });
  expect(await listNames(both.connect())).toEqual([
    "call_tool",
    "evaluate-lisp",
    "files_agent",
    "find_tools",
    "other_agent",
  ]);
});

test("without a choice, up to 40 tools are shown as they are, with or without groups; above that, search and the agents", async () => {
  const boxAgent = { ...agent, name: "box_agent", tools: ["box.*"] };
  for (const files of [[], [boxAgent]]) {
    await using few = await startHall({
      toolkits: [shelfOf(40)],
      faces: "auto",
      agents: { files },
    });
    const names = await listNames(few.connect());
    expect(names).toHaveLength(40 + 1);
    expect(names).toContain("evaluate-lisp");
    expect(names).not.toContain("box_agent");
    await using many = await startHall({
      toolkits: [shelfOf(41)],
      faces: "auto",
      agents: { files },
    });
    expect(await listNames(many.connect())).toEqual([
      ...files.map(({ name }) => name),
      "call_tool",
      "evaluate-lisp",
      "find_tools",
    ]);
  }
});

test("the face follows the number of tools, and clients are notified", async () => {
  await using hall = await startHall({ toolkits: [shelfOf(30, "one")], faces: "auto" });
  const client = hall.connect();
  await client.greet();
  expect((await client.result("tools/list")).tools).toHaveLength(30 + 1);
  await hall.hall.registry.add(shelfOf(30, "two"));
  await client.heard("notifications/tools/list_changed");
  expect((await client.result("tools/list")).tools).toHaveLength(3);
});

test("a client may ask for another face than the hall shows", async () => {
  await using hall = await startHall({ toolkits: createShop(), faces: ["search"] });
  const client = hall.connect();
  expect(await listNames(client, { "guildhall/expose": "tools" })).toHaveLength(17 + 1);
  const { error } = await client.request(
    "tools/list",
    modern({}, {}, { "guildhall/expose": "nothing" }),
  );
  expect(error).toMatchObject({
    code: -32602,
    message: expect.stringContaining('unknown face "nothing" (expected: tools, search, agents'),
  });
});

test("the hall's own names win over a tool without a prefix", async () => {
  const rival = createShelf(
    "rival",
    { find_tools: "Find tools of another kind | task", other: "Something else" },
    { prefix: "" },
  );
  await using hall = await startHall({ toolkits: [rival], faces: ["tools"] });
  const client = hall.connect();
  expect(await listNames(client)).toEqual(["evaluate-lisp", "other"]);
  const result = await client.result(
    "tools/call",
    modern({ name: "find_tools", arguments: { task: "something else" } }),
  );
  expect(result.structuredContent).toMatchObject({ tools: [{ name: "other" }, {}] });
});

test("the instructions match the visible tools", async () => {
  const guide = "Ask the agents.";
  const told = async (
    faces: "auto" | readonly ("tools" | "search" | "agents" | "code")[],
    files = [agent],
    languages: readonly ("lisp" | "js")[] = ["lisp"],
  ): Promise<unknown> => {
    await using hall = await startHall({
      toolkits: [createShelf("files", stock.files)],
      faces,
      languages,
      agents: { files, guide },
    });
    return (await hall.connect().greet()).instructions;
  };
  expect(await told(["agents"])).toBe("Ask the agents.");
  expect(await told(["agents", "search"])).toMatch(/^Ask the agents\. .*find_tools/);
  expect(await told(["agents"], [])).toContain("guildhall build");
  expect(await told("auto")).toContain("toolkit__tool");
  expect(await told(["tools"])).toContain("toolkit__tool");
  expect(await told(["search"])).toContain("find_tools");
  expect(await told(["code"])).not.toContain("evaluate-js");
  const js = await told(["code"], [agent], ["js"]);
  expect(js).toContain("evaluate-js");
  expect(js).not.toMatch(/lisp/i);
  expect(await told(["code"], [agent], ["lisp", "js"])).toMatch(/evaluate-lisp.*evaluate-js/);
});

test("where only agents are listed, an agent that hands back names nothing else", async () => {
  const search = { type: "object", properties: { query: { type: "string" } }, required: ["query"] };
  const kit = createToolkit("web", {
    search_web: { description: "Search the web", inputSchema: search, run: () => text("found") },
    delete_page: { description: "Delete a web page", inputSchema: search, run: () => text("gone") },
  });
  const agents = { files: [{ ...agent, name: "web_agent", tools: ["web.*"] }] };
  const options = { toolkits: [kit], agents, planner: { kind: "local" as const } };
  const ask = async (faces: readonly ("agents" | "search")[], task: string) => {
    await using hall = await startHall({ ...options, faces });
    return JSON.stringify(
      await hall.connect().result("tools/call", modern({ name: "web_agent", arguments: { task } })),
    );
  };
  expect(await ask(["agents", "search"], "Search the web")).toContain("Call call_tool with");
  const handed = await ask(["agents"], "Search the web");
  expect(handed).not.toContain("call_tool");
  expect(handed).toContain('Call web_agent with {\\"task\\":\\"web__search_web\\"');
  expect(await ask(["agents"], 'delete_page query="a"')).toContain(
    "The user can run `guildhall call web.delete_page",
  );
});

test("the counts of a handshake cover only declared capabilities", async () => {
  const options = { toolkits: [createShowcase()], agents: { files: [agent] }, isStatic: true };
  await using alone = await startHall({ ...options, faces: ["agents"] });
  const { capabilities, _meta } = await alone.connect().greet();
  expect(capabilities).not.toHaveProperty("resources");
  expect(_meta).toMatchObject({ tools_count: 2, resources_count: 0, prompts_count: 0 });
  await using whole = await startHall({ ...options, faces: ["tools"] });
  const { resources_count: count } = (await whole.connect().greet())._meta as JsonObject;
  expect(count).toBeGreaterThan(0);
});
