import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { modern } from "../servers/client.ts";
import { startHall } from "../servers/hall.ts";
import { createEchoToolkit, createToolkit } from "../servers/toolkits.ts";

const echo = modern({ name: "echo.echo", arguments: {} });
const asking = (faces: string): JsonObject => ({
  ...echo,
  _meta: { ...(echo._meta as JsonObject), "guildhall/expose": faces },
});

test("a call is recorded with the face its client was shown, or asked for", async () => {
  await using hall = await startHall({
    toolkits: [createEchoToolkit()],
    faces: ["search", "code"],
  });
  const client = hall.connect();
  await client.result("tools/call", echo);
  await client.result("tools/call", asking("tools"));
  await client.result("tools/call", asking("no such face"));
  await client.result(
    "tools/call",
    modern({ name: "call_tool", arguments: { name: "echo.echo", arguments: {} } }),
  );
  const rows = await hall.hall.store.calls.list();
  expect(rows.map(({ tool, face }) => `${tool} ${face}`)).toEqual([
    "echo.echo search,code",
    "echo.echo tools",
    "echo.echo search,code",
    "echo.echo search,code",
  ]);
});

test("a hall that chooses its face by the number of tools records its choice", async () => {
  await using hall = await startHall({ toolkits: [createEchoToolkit()], faces: "auto" });
  const client = hall.connect();
  await client.result("tools/call", echo);
  const many = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [`tool_${at}`, { run: () => ({ content: [] }) }]),
  );
  await hall.hall.registry.add(createToolkit("many", many));
  await client.result("tools/call", echo);
  expect((await hall.hall.store.calls.list()).map(({ face }) => face)).toEqual(["tools", "search"]);
});
