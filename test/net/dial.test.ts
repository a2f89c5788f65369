import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import { Scope } from "../../src/base/scope.ts";
import { createDialler, type DialInit, type Dialler, readAll } from "../../src/net/dial.ts";

test("an answer that is aborted before its body is read fails only its reader", async () => {
  const server = createServer((_request, response) => void response.writeHead(200).write("x"));
  const closed = new Promise((resolve) => {
    server.once("request", (_request, response) => response.once("close", resolve));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const uncaught: unknown[] = [];
  const note = (error: unknown): void => void uncaught.push(error);
  process.on("uncaughtException", note);
  const dialler = createDialler(undefined);
  try {
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const controller = new AbortController();
    const answer = await dialler.open(url, {
      method: "GET",
      headers: {},
      signal: controller.signal,
    });
    controller.abort();
    // The error is emitted in a later turn, before the server sees the end.
    await closed;
    await untilRead();
    const read = async (): Promise<void> => {
      for await (const _chunk of answer.body ?? []);
    };
    await expect(read()).rejects.toThrow();
    expect(uncaught).toEqual([]);
  } finally {
    process.off("uncaughtException", note);
    dialler.close();
    server.closeAllConnections();
    server.close();
  }
});

describe("a dialler", () => {
  let sockets: Set<Socket>;
  let requests: IncomingMessage[];
  let server: Server;
  let dialler: Dialler;
  let keepAlive: string | undefined;

  beforeEach(async () => {
    sockets = new Set();
    requests = [];
    keepAlive = undefined;
    server = createServer((request, response) => {
      sockets.add(request.socket);
      requests.push(request);
      if (keepAlive !== undefined) response.setHeader("keep-alive", keepAlive);
      request.resume().on("end", () => response.end("answer"));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    dialler = createDialler(undefined);
  });

  afterEach(() => {
    dialler.close();
    server.closeAllConnections();
    server.close();
  });

  const send = async (init: Partial<DialInit> = {}, credentials = ""): Promise<string> => {
    const { port } = server.address() as AddressInfo;
    const answer = await dialler.open(new URL(`http://${credentials}127.0.0.1:${port}/?a=1`), {
      headers: {},
      signal: new AbortController().signal,
      ...init,
    });
    const text = (await readAll(answer, 1_000)).toString();
    // A socket is free again in the turn after its answer.
    await setImmediate();
    return text;
  };

  test("uses a socket for one request after the other", async () => {
    expect([await send(), await send(), await send()]).toEqual(["answer", "answer", "answer"]);
    expect(sockets.size).toBe(1);
  });

  test("opens a socket for each request that runs at the same time", async () => {
    await Promise.all([send(), send(), send()]);
    expect(sockets.size).toBe(3);
  });

  test("does not reuse a socket that the server is about to close", async () => {
    keepAlive = "timeout=1";
    await send();
    await send();
    expect(sockets.size).toBe(2);
  });

  test("opens another socket when the server has closed the free one", async () => {
    await send();
    const [socket] = sockets;
    if (socket) await once(socket.destroy(), "close");
    await untilRead();
    expect(await send()).toBe("answer");
    expect(sockets.size).toBe(2);
  });

  test("does not send a request again whose socket the server closes", async () => {
    await send();
    server.prependListener("request", (request: IncomingMessage) => {
      if (request.method === "POST") request.socket.destroy();
    });
    await expect(send({ method: "POST", body: "once" })).rejects.toThrow("socket hang up");
    expect(requests.map(({ method }) => method)).toEqual(["GET", "POST"]);
    expect(sockets.size).toBe(1);
  });

  test("takes no answer that came before its request", async () => {
    await send();
    const [socket] = sockets;
    const early = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nearly";
    await new Promise((written) => socket?.write(early, written));
    await untilRead();
    expect(await send()).toBe("answer");
  });

  test("keeps no process alive with free sockets", async () => {
    await send();
    const free = countSockets();
    const sent = send();
    expect(countSockets() - free).toBe(1);
    await sent;
    expect(sockets.size).toBe(1);
  });

  test("sends nothing for a signal that is aborted already", async () => {
    await expect(send({ signal: AbortSignal.abort() })).rejects.toThrow("aborted");
    const scope = new Scope();
    scope.cancel(new HallError("CANCELLED", "no longer wanted"));
    await expect(send({ signal: scope })).rejects.toThrow("no longer wanted");
    expect(await send()).toBe("answer");
    expect(requests).toHaveLength(1);
  });

  test("ends a request with its scope", async () => {
    const scope = new Scope();
    server.prependListener("request", () =>
      scope.cancel(new HallError("CANCELLED", "no longer wanted")),
    );
    await expect(send({ signal: scope })).rejects.toThrow("no longer wanted");
  });

  test("sends the later one of two headers that differ in case, and the length of the body", async () => {
    await send({ method: "POST", headers: { accept: "a/b", Accept: "c/d" }, body: "é" });
    await send({ method: "POST" });
    await send();
    expect(requests.map(({ headers }) => [headers.accept, headers["content-length"]])).toEqual([
      ["c/d", "2"],
      [undefined, "0"],
      [undefined, undefined],
    ]);
    expect(requests[0]?.url).toBe("/?a=1");
    expect(requests[0]?.headers.host).toBe(`127.0.0.1:${(server.address() as AddressInfo).port}`);
  });

  test("sends the credentials of a URL, unless a header has others", async () => {
    await send({}, "me:p%40ss@");
    await send({ headers: { Authorization: "Bearer x" } }, "me:p%40ss@");
    expect(requests.map(({ headers }) => headers.authorization)).toEqual([
      `Basic ${Buffer.from("me:p@ss").toString("base64")}`,
      "Bearer x",
    ]);
  });

  test("refuses an answer over the limit", async () => {
    const { port } = server.address() as AddressInfo;
    const answer = await dialler.open(new URL(`http://127.0.0.1:${port}`), {
      headers: {},
      signal: new AbortController().signal,
    });
    await expect(readAll(answer, 3)).rejects.toMatchObject({ code: "TOO_LARGE" });
  });
});

/** Data on the loopback interface is readable at once, and each turn of the event loop reads first. */
async function untilRead(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

/** The sockets that keep this process alive: free ones do not. */
function countSockets(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length;
}
