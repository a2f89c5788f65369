import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { RawClient } from "../servers/client.ts";
import { modern } from "../servers/client.ts";
import { startHall } from "../servers/hall.ts";
import { createShelf, createShop, stock } from "../servers/shop.ts";

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

test("search shows find_tools and call_tool, and every tool can still be called by its name", async () => {
  await using hall = await startHall({ toolkits: createShop(), faces: ["search"] });
  const client = hall.connect();
  expect(await listNames(client)).toEqual(["call_tool", "find_tools"]);
  for (const name of ["weather.current_weather", "weather__current_weather", "current_weather"]) {
    expect(
      await client.result("tools/call", modern({ name, arguments: { city: "Ulm" } })),
    ).toMatchObject({ structuredContent: { city: "Ulm" } });
  }
});

test("tools shows none of the hall's own tools, which can be called all the same", async () => {
  await using hall = await startHall({
    toolkits: createShop(),
    faces: ["tools"],
    agents: { files: [agent] },
  });
  const client = hall.connect();
  const names = await listNames(client);
  expect(names).toHaveLength(17);
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
  // Whatever no file names has a group for the time being.
  expect(names).toHaveLength(17 + 5);
  expect(names).toEqual([...names].sort());
});

test("without a choice, few tools are shown as they are, many are searched, and groups become agents", async () => {
  const shelf = (count: number) =>
    createShelf(
      "box",
      Object.fromEntries(
        Array.from({ length: count }, (_, at) => [`tool_${at}`, `Does thing ${at}`]),
      ),
    );
  await using few = await startHall({ toolkits: [shelf(40)], faces: "auto" });
  expect(await listNames(few.connect())).toHaveLength(40);
  await using many = await startHall({ toolkits: [shelf(41)], faces: "auto" });
  expect(await listNames(many.connect())).toEqual(["call_tool", "find_tools"]);
  await using grouped = await startHall({
    toolkits: createShop(),
    faces: "auto",
    agents: { files: [agent] },
  });
  expect(await listNames(grouped.connect())).toEqual([
    "call_tool",
    "evaluate-lisp",
    "files_agent",
    "find_tools",
    "other_agent",
  ]);
});

test("the face follows the number of tools, and clients are notified", async () => {
  const shelf = (id: string) =>
    createShelf(
      id,
      Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`tool_${at}`, `Does thing ${at}`])),
    );
  await using hall = await startHall({ toolkits: [shelf("one")], faces: "auto" });
  const client = hall.connect();
  await client.greet();
  expect((await client.result("tools/list")).tools).toHaveLength(30);
  await hall.hall.registry.add(shelf("two"));
  await client.heard("notifications/tools/list_changed");
  expect((await client.result("tools/list")).tools).toHaveLength(2);
});

test("a client may ask for another face than the hall shows", async () => {
  await using hall = await startHall({ toolkits: createShop(), faces: ["search"] });
  const client = hall.connect();
  expect(await listNames(client, { "guildhall/expose": "tools" })).toHaveLength(17);
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
  expect(await listNames(client)).toEqual(["other"]);
  const result = await client.result(
    "tools/call",
    modern({ name: "find_tools", arguments: { task: "something else" } }),
  );
  expect(result.structuredContent).toMatchObject({ tools: [{ name: "other" }, {}] });
});

test("the instructions match the visible tools", async () => {
  const guide = "Ask the agents.";
  const told = async (
    faces: "auto" | readonly ("tools" | "search" | "agents")[],
    files = [agent],
  ): Promise<unknown> => {
    await using hall = await startHall({
      toolkits: [createShelf("files", stock.files)],
      faces,
      agents: { files, guide },
    });
    return (await hall.connect().greet()).instructions;
  };
  expect(await told("auto")).toBe("Ask the agents.");
  expect(await told("auto", [])).toContain("toolkit__tool");
  expect(await told(["tools"])).toContain("toolkit__tool");
  expect(await told(["search"])).toContain("find_tools");
});
