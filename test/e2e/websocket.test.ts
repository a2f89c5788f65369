import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import type { JsonObject } from "../../src/base/json.ts";
import { legacyVersions } from "../../src/server/client-request.ts";
import type { Receiver } from "../../src/wire/channel.ts";
import { createWebSocketChannel } from "../../src/wire/websocket.ts";
import { keys, modern } from "../servers/client.ts";
import { type Dialled, type Door, openDoor, untilCut } from "../servers/door.ts";
import { connectWebSocket } from "../servers/door-clients.ts";
import {
  createAskingToolkit,
  createChangingToolkit,
  createEchoToolkit,
  createReportingToolkit,
  createSlowToolkit,
  type SlowToolkit,
  said,
} from "../servers/toolkits.ts";
import { happens, until } from "../servers/until.ts";

/** WebSocket: the same messages as on stdio, one in each text frame. */
let door: Door;
let slow: SlowToolkit;
const changing = createChangingToolkit();
beforeAll(async () => {
  slow = createSlowToolkit();
  door = await openDoor({
    toolkits: [
      createEchoToolkit(),
      slow,
      createAskingToolkit(),
      createReportingToolkit(),
      changing,
    ],
  });
});
afterAll(() => door[Symbol.asyncDispose]());

const echo = { name: "echo.echo", arguments: { a: 1 } };
const request = (id: unknown, method: string, params: JsonObject = {}): JsonObject => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

test("a client that knows only host and port is served, too", async () => {
  const client = await connectWebSocket(door, { path: "/" });
  expect(await client.result("tools/list", modern())).toHaveProperty("tools");
  client.close();
});

describe("messages", () => {
  test.each(legacyVersions)("%s: shakes hands, lists, calls, pings", async (version) => {
    const client = await connectWebSocket(door);
    expect(await client.greet(version)).toMatchObject({ protocolVersion: version });
    expect(await client.result("tools/call", echo)).toMatchObject({
      content: [{ text: '{"a":1}' }],
    });
    expect(await client.result("ping")).toEqual({});
    expect((await client.request("nope")).error).toMatchObject({ code: -32601 });
    client.close();
  });

  test("2026-07-28: no handshake", async () => {
    const client = await connectWebSocket(door);
    expect(await client.result("tools/call", modern(echo))).toMatchObject({
      resultType: "complete",
      content: [{ text: '{"a":1}' }],
    });
    expect((await client.request("ping", modern())).error).toMatchObject({ code: -32601 });
    client.close();
  });

  test("an invalid message is answered, and the connection stays", async () => {
    const client = await connectWebSocket(door);
    await client.greet();
    for (const [sent, code] of [
      ["{", -32700],
      ["", -32700],
      ["hello", -32700],
      ["42", -32600],
      ["[]", -32600],
      [`[${JSON.stringify(request(1, "ping"))}]`, -32600],
    ] as const) {
      client.send(sent);
      expect.soft(await client.next(), sent).toMatchObject({ id: null, error: { code } });
    }
    expect(await client.result("tools/call", echo)).toMatchObject({ structuredContent: { a: 1 } });
    expect(client.unread).toEqual([]);
    client.close();
  });

  test("a modern client is answered without an id of null", async () => {
    const client = await connectWebSocket(door);
    await client.result("server/discover", modern());
    client.send("{");
    const answer = await client.next();
    expect(answer).toMatchObject({ error: { code: -32700 } });
    expect(answer).not.toHaveProperty("id");
    client.close();
  });

  test("batches are answered as one, in 2025-03-26 only", async () => {
    const client = await connectWebSocket(door);
    await client.greet("2025-03-26");
    client.send([
      request("a", "ping"),
      request("b", "tools/call", echo),
      { jsonrpc: "2.0", method: "notifications/nope" },
    ]);
    const answers = (await client.next()) as unknown as JsonObject[];
    expect(answers.map(({ id }) => id).sort()).toEqual(["a", "b"]);
    client.close();
  });

  test("a call that is withdrawn stops and is not answered", async () => {
    const client = await connectWebSocket(door);
    await client.greet();
    const before = slow.aborted.length;
    const id = client.ask("tools/call", { name: "slow.wait" });
    await until(() => slow.running === 1);
    client.cancel(id);
    await until(() => slow.aborted.length === before + 1);
    expect(await client.result("ping")).toEqual({});
    expect(client.unread).toEqual([]);
    client.close();
  });

  test("an id that is still running is refused, and the first is unharmed", async () => {
    const client = await connectWebSocket(door);
    await client.greet();
    client.send(request("x", "tools/call", { name: "slow.wait", arguments: { ms: 100 } }));
    client.send(request("x", "ping"));
    expect(await client.answer("x")).toMatchObject({ error: { code: -32600 } });
    expect(said(await client.answer("x"))).toBe("waited");
    client.close();
  });

  test("progress, questions and changes come on the same line", async () => {
    const client = await connectWebSocket(door);
    await client.greet("2025-11-25", { elicitation: {} });
    const id = client.ask("tools/call", {
      name: "reporting.steps",
      arguments: { progress: [[1], [2]], pauseMs: 60 },
      _meta: { progressToken: 7 },
    });
    expect(await client.heard("notifications/progress")).toMatchObject({
      params: { progressToken: 7, progress: 1 },
    });
    expect(await client.heard("notifications/progress")).toMatchObject({
      params: { progressToken: 7, progress: 2 },
    });
    expect(said(await client.answer(id))).toBe("reported");
    const asking = client.ask("tools/call", { name: "asking.one" });
    const question = await client.heard("elicitation/create");
    client.send({
      jsonrpc: "2.0",
      id: question.id,
      result: { action: "accept", content: { name: "Ada" } },
    });
    expect(await client.answer(asking)).toMatchObject({
      result: { structuredContent: { name: { content: { name: "Ada" } } } },
    });
    changing.setTools(["one", "two"]);
    await client.heard("notifications/tools/list_changed");
    client.close();
  });

  test("a modern subscription gets changes and ends when it is cancelled", async () => {
    const client = await connectWebSocket(door);
    const id = client.ask(
      "subscriptions/listen",
      modern({ notifications: { toolsListChanged: true } }),
    );
    expect(await client.heard("notifications/subscriptions/acknowledged")).toMatchObject({
      params: { _meta: { [keys.subscription]: id } },
    });
    changing.setTools(["three"]);
    await client.heard("notifications/tools/list_changed");
    client.cancel(id);
    expect(await client.result("server/discover", modern())).toMatchObject({
      resultType: "complete",
    });
    client.close();
  });

  test("running calls are cancelled when the socket is lost", async () => {
    const client = await connectWebSocket(door);
    await client.greet();
    const before = slow.aborted.length;
    client.ask("tools/call", { name: "slow.wait" });
    await until(() => slow.running === 1);
    client.socket.terminate();
    await until(() => slow.aborted.length === before + 1);
  });

  test("ten thousand requests in one breath are all answered", async () => {
    const client = await connectWebSocket(door);
    await client.greet();
    const ids = Array.from({ length: 10_000 }, () => client.ask("ping"));
    await client.answer(ids.at(-1));
    expect(client.received.length).toBeGreaterThanOrEqual(10_000);
    expect(new Set(client.received.map(({ id }) => id)).size).toBe(10_001);
    client.close();
  });
});

/** A socket that has shaken hands and now writes its own frames. */
async function upgrade(): Promise<
  Dialled & { frame(frame: Frame): void; closeCode(): Promise<number> }
> {
  const dialled = door.dial();
  dialled.write(
    "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  await dialled.until(/^HTTP\/1\.1 101 [\s\S]*?\r\n\r\n/);
  return Object.assign(Object.create(dialled) as Dialled, {
    frame: (frame: Frame) => dialled.write(encode(frame)),
    async closeCode(): Promise<number> {
      // Two bytes of head, two of code.
      // biome-ignore lint/suspicious/noControlCharactersInRegex: a frame is made of them
      const [, code = ""] = await dialled.until(/\x88[\x02-\x7d]([\s\S]{2})/);
      return code.charCodeAt(0) * 256 + code.charCodeAt(1);
    },
  });
}

interface Frame {
  readonly opcode: number;
  readonly payload?: Buffer | string;
  readonly isFinal?: boolean;
  readonly reserved?: number;
  readonly isMasked?: boolean;
}

function encode({
  opcode,
  payload = "",
  isFinal = true,
  reserved = 0,
  isMasked = true,
}: Frame): Buffer {
  const bytes = Buffer.from(payload as string);
  const head = [(isFinal ? 0x80 : 0) | (reserved << 4) | opcode];
  const mask = isMasked ? 0x80 : 0;
  if (bytes.length < 126) head.push(mask | bytes.length);
  else if (bytes.length < 65_536) head.push(mask | 126, bytes.length >> 8, bytes.length & 255);
  else
    head.push(
      mask | 127,
      0,
      0,
      0,
      0,
      (bytes.length >> 24) & 255,
      (bytes.length >> 16) & 255,
      (bytes.length >> 8) & 255,
      bytes.length & 255,
    );
  // A mask of zeros changes nothing, and is a mask all the same.
  return Buffer.concat([Buffer.from(head), ...(isMasked ? [Buffer.alloc(4)] : []), bytes]);
}

const text = 1;
const binary = 2;
const close = 8;
const ping = 9;

describe("frames", () => {
  const broken: readonly (readonly [
    what: string,
    frames: readonly (Frame | Buffer)[],
    code: number,
  ])[] = [
    ["without a mask", [{ opcode: text, payload: "{}", isMasked: false }], 1002],
    ["with a reserved bit", [{ opcode: text, payload: "{}", reserved: 4 }], 1002],
    ["of a kind there is not", [{ opcode: 3, payload: "x" }], 1002],
    ["a ping in pieces", [{ opcode: ping, payload: "x", isFinal: false }], 1002],
    ["a ping of 126 bytes", [{ opcode: ping, payload: "x".repeat(126) }], 1002],
    ["a goodbye of one byte", [{ opcode: close, payload: "x" }], 1002],
    [
      "a goodbye with a code nobody may send",
      [{ opcode: close, payload: Buffer.from([0x03, 0xed]) }],
      1002,
    ],
    ["a middle without a beginning", [{ opcode: 0, payload: "x" }], 1002],
    [
      "a beginning in the middle",
      [
        { opcode: text, payload: "x", isFinal: false },
        { opcode: text, payload: "y" },
      ],
      1002,
    ],
    ["bytes that are no UTF-8", [{ opcode: text, payload: Buffer.from([0xff, 0xfe]) }], 1007],
    ["half a letter", [{ opcode: text, payload: Buffer.from([0xe2, 0x82]) }], 1007],
    ["binary", [{ opcode: binary, payload: "{}" }], 1003],
    [
      "a byte over the limit",
      [Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0x00, 0xa0, 0x00, 0x01, 0, 0, 0, 0])],
      1009,
    ],
    [
      "a length of terabytes",
      [Buffer.from([0x81, 0xff, 0, 0, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0])],
      1009,
    ],
  ];
  test.each(broken)(
    "%s: the socket is closed with the right code, and others live",
    async (_what, frames, code) => {
      const socket = await upgrade();
      for (const frame of frames) {
        if (Buffer.isBuffer(frame)) socket.write(frame);
        else socket.frame(frame);
      }
      expect(await socket.closeCode()).toBe(code);
      socket.frame({ opcode: close, payload: Buffer.from([0x03, 0xe8]) });
      expect(await happens(socket.closed)).toBe(true);
      const client = await connectWebSocket(door);
      expect(await client.result("tools/call", modern(echo))).toMatchObject({
        structuredContent: { a: 1 },
      });
      client.close();
    },
  );

  test("more than ten MiB in pieces is too much as well", async () => {
    const socket = await upgrade();
    socket.frame({ opcode: text, payload: "x".repeat(1024 * 1024), isFinal: false });
    for (let n = 0; n < 10; n++)
      socket.frame({ opcode: 0, payload: "x".repeat(1024 * 1024), isFinal: false });
    expect(await socket.closeCode()).toBe(1009);
  });

  test("a message in pieces is one message", async () => {
    const socket = await upgrade();
    const message = JSON.stringify(request(1, "server/discover", modern()));
    socket.frame({ opcode: text, payload: message.slice(0, 20), isFinal: false });
    socket.frame({ opcode: ping, payload: "between" });
    socket.frame({ opcode: 0, payload: message.slice(20) });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a frame is made of them
    await socket.until(/\x8a\x07between/);
    await socket.until(/"id":1,"result"/);
  });

  test("a thousand pings a second are too many: 1008", async () => {
    const socket = await upgrade();
    for (let n = 0; n < 1_000; n++) socket.frame({ opcode: ping });
    expect(await socket.closeCode()).toBe(1008);
  });

  test("forty pings a second are not", async () => {
    const socket = await upgrade();
    for (let n = 0; n < 40; n++) socket.frame({ opcode: ping });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a frame is made of them
    await socket.until(/(\x8a\x00){40}/);
    socket.frame({
      opcode: text,
      payload: JSON.stringify(request(1, "server/discover", modern())),
    });
    await socket.until(/"id":1,"result"/);
  });

  test("a hundred thousand pieces of one byte are too many: 1008", async () => {
    const socket = await upgrade();
    socket.frame({ opcode: text, payload: "x", isFinal: false });
    const piece = encode({ opcode: 0, payload: "x", isFinal: false });
    socket.write(Buffer.concat(Array.from({ length: 100_000 }, () => piece)));
    expect(await socket.closeCode()).toBe(1008);
  });

  test("a goodbye is answered with one", async () => {
    const client = await connectWebSocket(door);
    client.socket.close(1000);
    expect(await client.closed).toBe(1000);
  });

  test.each([
    ["no key", "Sec-WebSocket-Version: 13\r\n", 400],
    ["a key that is none", "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n", 400],
    [
      "an old version",
      "Sec-WebSocket-Version: 7\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
      400,
    ],
  ])("a handshake with %s is refused", async (_what, lines, status) => {
    const dialled = door.dial();
    dialled.write(
      `GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${lines}\r\n`,
    );
    const [, got] = await dialled.until(/^HTTP\/1\.1 (\d+) /);
    expect(Number(got)).toBe(status);
    expect(await happens(dialled.closed)).toBe(true);
  });
});

describe("how many, and for how long", () => {
  test("past the limit the next one is asked to retry later", async () => {
    await using small = await openDoor({ toolkits: [], sessionsMax: 2 });
    const clients = [await connectWebSocket(small), await connectWebSocket(small)];
    await expect(connectWebSocket(small)).rejects.toMatchObject({ status: 503 });
    clients[0]?.close();
    await expect
      .poll(async () =>
        connectWebSocket(small).then(
          (client) => client.close(),
          () => "full",
        ),
      )
      .toBeUndefined();
  });

  test("all are closed with 1001 when the hall closes", async () => {
    const other = await openDoor({ toolkits: [] });
    const client = await connectWebSocket(other);
    await other[Symbol.asyncDispose]();
    expect(await client.closed).toBe(1001);
  });

  test("one that does not say goodbye itself does not keep the hall open", async () => {
    const other = await openDoor({ toolkits: [] });
    const dialled = other.dial();
    dialled.write(
      "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    await dialled.until(/^HTTP\/1\.1 101 /);
    const closing = other.hall.close();
    const isClosed = await happens(closing);
    await other[Symbol.asyncDispose]();
    expect(isClosed).toBe(true);
  });

  test("one that reads nothing is cut, with all that waits for it", async () => {
    await using other = await openDoor({
      toolkits: [createEchoToolkit()],
      limits: { writeQueueBytesMax: 1_000_000, stalledMsMax: 300 },
    });
    const client = await connectWebSocket(other);
    await client.greet();
    client.socket.pause();
    const filler = "x".repeat(1_000_000);
    for (let n = 0; n < 20; n++)
      client.ask("tools/call", { name: "echo.echo", arguments: { filler } });
    await untilCut(other, { socket: (client.socket as unknown as { _socket: Socket })._socket });
    client.socket.resume();
    expect(await happens(client.closed)).toBe(true);
    expect(client.received.length).toBeLessThan(21);
  });
});

describe("a peer that stops answering pings", () => {
  const pingMs = 15_000;

  /** Both ends of one socket: ours as the hall has it, and a client that answers pings or does not. */
  async function openPair(autoPong: boolean): Promise<{
    readonly heard: string[];
    readonly client: WebSocket;
    readonly socket: WebSocket;
    close(): void;
  }> {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const http = createServer();
    const server = new WebSocketServer({ server: http });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const heard: string[] = [];
    const connected = new Promise<WebSocket>((resolve) =>
      server.on("connection", (socket) => {
        const receiver: Receiver = {
          frame: (bytes) => heard.push(bytes.toString()),
          oversize() {},
          drained() {},
          ended: () => heard.push("ended"),
          closed: () => heard.push("closed"),
        };
        createWebSocketChannel(socket, { pingMs }).start(receiver);
        resolve(socket);
      }),
    );
    const client = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`, {
      autoPong,
    });
    const [socket] = await Promise.all([connected, once(client, "open")]);
    const close = (): void => {
      client.terminate();
      server.close();
      http.close();
    };
    return { heard, client, socket, close };
  }

  test("is disconnected at the second ping", async () => {
    const pair = await openPair(false);
    vi.advanceTimersByTime(2 * pingMs);
    const closed = new Promise((resolve) => pair.client.on("close", resolve));
    expect(await happens(closed)).toBe(true);
    await until(() => pair.heard.length === 2);
    expect(pair.heard).toEqual(["ended", "closed"]);
    pair.close();
  });

  test("is kept while it sends messages", async () => {
    const pair = await openPair(false);
    for (let n = 1; n <= 5; n++) {
      vi.advanceTimersByTime(pingMs);
      pair.client.send("{}");
      await until(() => pair.heard.length === n);
    }
    expect(pair.client.readyState).toBe(WebSocket.OPEN);
    pair.close();
  });

  test("is kept while it answers", async () => {
    const pair = await openPair(true);
    for (let n = 0; n < 5; n++) {
      const answered = once(pair.socket, "pong");
      vi.advanceTimersByTime(pingMs);
      await answered;
    }
    expect(pair.heard).toEqual([]);
    pair.close();
  });
});
