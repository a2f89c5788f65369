import { expect, test, vi } from "vitest";
import { clientInfo } from "../servers/client.ts";
import { openDoor } from "../servers/door.ts";
import { call } from "../servers/door-clients.ts";
import { createEchoToolkit } from "../servers/toolkits.ts";

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
};

test("a session whose client is gone without a word is no longer counted", async () => {
  await using door = await openDoor({ toolkits: [createEchoToolkit()] });
  const { headers } = await door.send({ body: initialize });
  const session = { "mcp-session-id": String(headers["mcp-session-id"]) };
  expect(door.hall.server.clientCount).toBe(1);

  const later = performance.now() + 61_000;
  const clock = vi.spyOn(performance, "now").mockReturnValue(later);
  expect(door.hall.server.clientCount).toBe(0);
  clock.mockRestore();

  await door.send({ body: call(2, "echo.echo", {}), headers: session });
  expect(door.hall.server.clientCount).toBe(1);
  await door.send({ method: "DELETE", headers: session });
  expect(door.hall.server.clientCount).toBe(0);
});

test("each call leaves one line in the log, without its arguments", async () => {
  await using door = await openDoor({ toolkits: [createEchoToolkit()] });
  const { headers } = await door.send({ body: initialize });
  const session = { "mcp-session-id": String(headers["mcp-session-id"]) };
  await door.send({ body: call(2, "echo.echo", { word: "private" }), headers: session });
  await door.send({ body: call(3, "echo.nothing", {}), headers: session });
  const lines = door.logged.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "call");
  expect(lines).toMatchObject([
    { level: "info", tool: "echo.echo", outcome: "ok", ms: expect.any(Number) },
    { level: "info", tool: "echo.nothing", outcome: "NOT_FOUND" },
  ]);
  expect(lines[0].client).toContain(clientInfo.name);
  expect(door.logged.join()).not.toContain("private");
});
