// Who may come through the HTTP and WebSocket door without a token, and what that allows.
import { execFile } from "node:child_process";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { httpClients } from "../../src/server/http/clients.ts";
import { allRights } from "../../src/server/rights.ts";
import { modern } from "../servers/client.ts";
import { type Door, doorToken, openDoor } from "../servers/door.ts";
import { askModern, connectWebSocket, greet } from "../servers/door-clients.ts";
import { createEchoToolkit } from "../servers/toolkits.ts";
import { openWorld } from "../trust/world.ts";

const nobody = 65_534;
const mayChangeUser = process.platform === "linux" && process.getuid?.() === 0;
const authorization = `Bearer ${doorToken}`;

const attempts: Readonly<Record<string, string>> = {
  "POST /mcp": "POST /mcp HTTP/1.1\r\nContent-Length: 2\r\n",
  "GET /sse": "GET /sse HTTP/1.1\r\nAccept: text/event-stream\r\n",
  "GET /health": "GET /health HTTP/1.1\r\n",
  "a WebSocket":
    "GET /ws HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n",
};

/** The first line of the answer to a request that a program of another user sends. */
function askAsOther(
  { port }: Door,
  head: string,
  { host = "127.0.0.1", token }: { readonly host?: string; readonly token?: string } = {},
): Promise<string> {
  const header = token === undefined ? "" : `Authorization: Bearer ${token}\r\n`;
  const body = head.startsWith("POST") ? "{}" : "";
  const request = `${head}Host: 127.0.0.1:${port}\r\n${header}\r\n${body}`;
  const script = `
    const socket = require("node:net").connect(${port}, ${JSON.stringify(host)});
    socket.write(${JSON.stringify(request)});
    socket.once("data", (bytes) => {
      process.stdout.write(bytes.toString().split("\\r\\n")[0]);
      process.exit();
    });`;
  return new Promise((resolve, reject) => {
    const options = { uid: nobody, gid: nobody, cwd: "/", env: {}, timeout: 30_000 };
    execFile(process.execPath, ["-e", script], options, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
  });
}

describe.runIf(mayChangeUser)("a program of another user", () => {
  test.each(Object.entries(attempts))("gets no %s without a token", async (_name, head) => {
    await using door = await openDoor({ toolkits: [createEchoToolkit()] });
    expect(await askAsOther(door, head)).toMatch(/^HTTP\/1\.1 401 /);
  });

  test("gets nothing over an IPv6 socket either", async () => {
    await using door = await openDoor({ toolkits: [] });
    const head = attempts["GET /health"] ?? "";
    expect(await askAsOther(door, head, { host: "::ffff:127.0.0.1" })).toMatch(/ 401 /);
  });

  test("gets in with the token, or if the user opened the hall", async () => {
    const head = attempts["GET /health"] ?? "";
    await using door = await openDoor({ toolkits: [] });
    expect(await askAsOther(door, head, { token: doorToken })).toMatch(/ 200 /);
    await using open = await openDoor({ toolkits: [], open: true });
    expect(await askAsOther(open, head)).toMatch(/ 200 /);
  });
});

describe("a program of the same user", () => {
  test.each(["127.0.0.1", "::ffff:127.0.0.1"])("gets in without a token from %s", async (host) => {
    await using door = await openDoor({ toolkits: [] });
    const socket = connect(door.port, host);
    const answered = new Promise<string>((resolve) =>
      socket.once("data", (bytes) => resolve(bytes.toString())),
    );
    socket.write(`GET /health HTTP/1.1\r\nHost: 127.0.0.1:${door.port}\r\n\r\n`);
    expect(await answered).toMatch(/^HTTP\/1\.1 200 /);
    socket.destroy();
  });

  test("gets in over ::1 and many at once", async () => {
    await using door = await openDoor({ toolkits: [] });
    const replies = await Promise.all(
      Array.from({ length: 100 }, () =>
        door.send({ method: "GET", path: "/health", isShared: false }),
      ),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    await using six = await openDoor({ toolkits: [], host: "::1" });
    expect((await fetch(`${six.url}/health`)).status).toBe(200);
  });
});

describe("an answer that allows later calls", () => {
  const deleting = { name: "files.delete_file", arguments: { path: "x" } };
  const forms = { elicitation: {} };

  async function answerAlways(
    door: Door,
    headers: Readonly<Record<string, string>>,
  ): Promise<{ readonly offered: unknown; readonly result: JsonObject | undefined }> {
    const params = modern(deleting, forms);
    const asked = (await askModern(door, "tools/call", params, headers)).json?.result as JsonObject;
    const [[key, question] = ["", {}]] = Object.entries(asked.inputRequests as JsonObject);
    const answer = { action: "accept", content: { decision: "always" } };
    const again = {
      ...params,
      requestState: asked.requestState,
      inputResponses: { [key]: answer },
    };
    const { json } = await askModern(door, "tools/call", again, headers);
    const { requestedSchema } = (question as { params: { requestedSchema: JsonObject } }).params;
    const { decision } = requestedSchema.properties as { decision: JsonObject };
    return { offered: decision.enum, result: json?.result as JsonObject };
  }

  test("is not taken from a caller without a token", async () => {
    await using world = await openWorld();
    const { offered, result } = await answerAlways(world.door, {});
    expect(offered).toEqual(["once", "no"]);
    expect(result).toMatchObject({ isError: true });
    expect(world.ran).toEqual([]);
    expect((await world.ledger.read()).grants).not.toHaveProperty("files.delete_file");
  });

  test("is taken from one with the user's token", async () => {
    await using world = await openWorld();
    const { offered } = await answerAlways(world.door, { authorization });
    expect(offered).toEqual(["once", "hall", "always", "no"]);
    expect(world.ran).toEqual(["files.delete_file"]);
    expect((await world.ledger.read()).grants).toHaveProperty("files.delete_file");
  });
});

test("printed lines read the token by command", () => {
  const url = "http://127.0.0.1:8080/mcp";
  expect(Object.fromEntries(httpClients(url, true))).toEqual({
    "Token for Cursor and Codex": 'export GUILDHALL_TOKEN="$(guildhall token show)"',
    "Claude Code": `claude mcp add --transport http guildhall ${url} --header "Authorization: Bearer $(guildhall token show)"`,
    "Cursor, in ~/.cursor/mcp.json": `{"mcpServers":{"guildhall":{"url":"${url}","headers":{"Authorization":"Bearer \${env:GUILDHALL_TOKEN}"}}}}`,
    "VS Code": `code --add-mcp '{"name":"guildhall","type":"http","url":"${url}","headers":{"Authorization":"Bearer '"$(guildhall token show)"'"}}'`,
    Codex: `codex mcp add guildhall --url ${url} --bearer-token-env-var GUILDHALL_TOKEN`,
  });
});

describe("a flood of sessions", () => {
  const named = (name: string): { readonly headers: { readonly authorization: string } } => ({
    headers: { authorization: `Bearer ${name}` },
  });
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };

  test("closes the flooder's own ones, not those of another caller", async () => {
    await using door = await openDoor({
      toolkits: [],
      sessionsMax: 4,
      findOwner: (principal) => ({ principal, rights: allRights }),
    });
    const victim = await greet(door, named("victim"));
    for (let i = 0; i < 20; i++) {
      const flooder = await greet(door, named("flooder"));
      await flooder.send(list);
    }
    expect((await victim.send(list)).status).toBe(200);
  });

  test("closes those that never did anything first", async () => {
    await using door = await openDoor({ toolkits: [], sessionsMax: 4 });
    const client = await greet(door);
    await client.send(list);
    for (let i = 0; i < 20; i++) await greet(door);
    expect((await client.send(list)).status).toBe(200);
  });

  test("cannot fill the memory with clients' own descriptions", async () => {
    await using door = await openDoor({ toolkits: [] });
    const capabilities = { experimental: { x: "x".repeat(16 * 1024) } };
    await expect(greet(door, { capabilities })).rejects.toThrow("the limit of 16 KB");
    const socket = await connectWebSocket(door);
    await expect(socket.greet("2025-11-25", capabilities)).rejects.toThrow("the limit of 16 KB");
  });
});
