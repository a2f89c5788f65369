// The person behind a call is known to every stage and toolkit, however the call arrives.
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Person } from "../../src/tool.ts";
import { modern } from "../servers/client.ts";
import { type Door, openDoor } from "../servers/door.ts";
import { askModern, connectLegacy, connectWebSocket } from "../servers/door-clients.ts";
import { createToolkit, text } from "../servers/toolkits.ts";

const anna: Person = {
  user: "anna@https://id.example",
  groups: ["staff"],
  issuer: "https://id.example",
  token: "editor",
};
const headers = { authorization: "Bearer token-of-anna" };
const seen: (Person | undefined)[] = [];
let door: Door;
beforeEach(async () => {
  seen.length = 0;
  const who = createToolkit("who", {
    ami: { run: (_args, { caller }) => text(String(seen.push(caller?.person))) },
    inner: { run: async (_args, { call }) => (await call?.("who.ami", {})) ?? text("nothing") },
  });
  door = await openDoor({
    toolkits: [who],
    rates: { client: { perSecond: 0.001, burst: 3 } },
    findOwner: (token) =>
      token === "token-of-anna"
        ? { principal: anna.user, person: anna, rights: { scopes: ["call"] } }
        : undefined,
  });
});
afterEach(() => door[Symbol.asyncDispose]());

const callWho = { name: "who.ami", arguments: {} };

test("a session and a WebSocket carry the person", async () => {
  const session = await connectLegacy(door, { headers });
  await session.request("tools/call", callWho);
  const socket = await connectWebSocket(door, { headers });
  await socket.request("tools/call", modern(callWho));
  expect(seen).toEqual([anna, anna]);
  session.close();
  socket.close();
});

test("a request without a connection, a nested call and the REST API carry the person", async () => {
  await askModern(door, "tools/call", { name: "who.inner", arguments: {} }, headers);
  await door.send({ path: "/api/toolkits/who/functions/ami/call", headers, body: {} });
  expect(seen).toEqual([anna, anna]);
});

test("a program of the user has no person", async () => {
  await askModern(door, "tools/call", callWho);
  expect(seen).toEqual([undefined]);
});

test("all connections of a person share one rate limit", async () => {
  for (const count of [1, 2]) {
    const client = await connectWebSocket(door, { headers });
    await client.request("tools/call", modern(callWho));
    expect(seen.length).toBe(count);
    client.close();
  }
  await askModern(door, "tools/call", callWho, headers);
  const fourth = await askModern(door, "tools/call", callWho, headers);
  expect(fourth.text).toContain("rate limit exceeded");
  await askModern(door, "tools/call", callWho);
  expect(seen).toEqual([anna, anna, anna, undefined]);
});
