import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request as httpRequest } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { JsonObject } from "../../src/base/json.ts";
import { AccessGuard } from "../../src/server/http/guard.ts";
import { allRights, rightsWithoutToken } from "../../src/server/rights.ts";
import { modern, modernVersion } from "../servers/client.ts";
import { type Door, doorToken, openDoor } from "../servers/door.ts";
import { askModern, connectWebSocket, greet, modernHeaders } from "../servers/door-clients.ts";
import { buildTestCli } from "../servers/process.ts";
import { spawnServe } from "../servers/serve-process.ts";
import { createEchoToolkit, createToolkit, text } from "../servers/toolkits.ts";
import { happens, until } from "../servers/until.ts";

/** Access by Host, Origin and token. */
let door: Door;
let calls = 0;
beforeAll(async () => {
  const counter = createToolkit("counter", { count: { run: () => text(String(++calls)) } });
  door = await openDoor({ toolkits: [createEchoToolkit(), counter] });
});
afterAll(() => door[Symbol.asyncDispose]());

interface Route {
  readonly name: string;
  readonly line: string;
  readonly headers: readonly string[];
  readonly body: string;
  /** The response to an accepted caller. */
  readonly status: number;
  /** A modern answer carries no id of null. */
  readonly isModern?: boolean;
}

/** Every way in, each as it is when all is well. */
async function routes(): Promise<readonly Route[]> {
  const json = ["Content-Type: application/json", "Accept: application/json, text/event-stream"];
  const message = (method: string, params: JsonObject): string =>
    JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const handshake = message("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: {},
  });
  const count = { method: "tools/call", params: modern({ name: "counter.count" }) };
  const modernLines = Object.entries(modernHeaders(count)).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const counting = message("tools/call", count.params);
  const [listening, leaving] = [await greet(door), await greet(door)];
  const pair = await door.open({ method: "GET", path: "/sse" });
  const { data: endpoint } = await pair.events.next();
  const upgrade = [
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ];
  return [
    { name: "POST /mcp, legacy", line: "POST /mcp", headers: json, body: handshake, status: 200 },
    {
      name: "POST /mcp, modern",
      line: "POST /mcp",
      headers: [...json, ...modernLines],
      body: counting,
      status: 200,
      isModern: true,
    },
    {
      name: "POST /",
      line: "POST /",
      headers: [...json, ...modernLines],
      body: counting,
      status: 200,
      isModern: true,
    },
    {
      name: "GET /, a browser",
      line: "GET /",
      headers: ["Accept: text/html,application/xhtml+xml,*/*;q=0.8"],
      body: "",
      status: 405,
    },
    {
      name: "GET /mcp",
      line: "GET /mcp",
      headers: ["Accept: text/event-stream", `Mcp-Session-Id: ${listening.id}`],
      body: "",
      status: 200,
    },
    {
      name: "DELETE /mcp",
      line: "DELETE /mcp",
      headers: [`Mcp-Session-Id: ${leaving.id}`],
      body: "",
      status: 204,
    },
    {
      name: "GET /sse",
      line: "GET /sse",
      headers: ["Accept: text/event-stream"],
      body: "",
      status: 200,
    },
    {
      name: "POST /messages",
      line: `POST ${endpoint}`,
      headers: json,
      body: message("ping", {}),
      status: 202,
    },
    { name: "GET /health", line: "GET /health", headers: [], body: "", status: 200 },
    { name: "GET /ws", line: "GET /ws", headers: upgrade, body: "", status: 101 },
  ];
}

/** Sends a route by hand, with these lines for where it comes from. Returns the head and body of the answer. */
async function knock(
  { line, headers, body }: Route,
  site: readonly string[],
): Promise<{ readonly status: number; readonly answer: string }> {
  const dialled = door.dial();
  const size = body === "" ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  dialled.write(
    `${line} HTTP/1.1\r\n${[...site, ...headers, ...size].join("\r\n")}\r\n\r\n${body}`,
  );
  const [head, status] = await dialled.until(/^HTTP\/1\.1 (\d+) [\s\S]*?\r\n\r\n/);
  const [, length] = /\r\ncontent-length: (\d+)\r\n/i.exec(head) ?? [];
  if (length !== undefined) await dialled.until(new RegExp(`\\r\\n\\r\\n[\\s\\S]{${length}}`));
  const answer = dialled.received;
  dialled.socket.destroy();
  return { status: Number(status), answer };
}

const host = (name: string): string => `Host: ${name}`;
const origin = (name: string): string => `Origin: ${name}`;
const ourHosts = (): string[] => [
  `127.0.0.1:${door.port}`,
  `localhost:${door.port}`,
  `[::1]:${door.port}`,
  "LOCALHOST",
  "127.0.0.1",
];
const badHosts = (): string[] => [
  "evil.example",
  `evil.example:${door.port}`,
  "127.0.0.1.evil.example",
  "localhost.evil.example",
  `[::1].evil.example:${door.port}`,
  `localhost:${door.port}@evil.example`,
  "0.0.0.0",
  "192.168.0.1",
  "127.0.0.1@evil.example",
  "",
];
const ourOrigins = [
  "http://localhost:3000",
  "https://localhost",
  "http://127.0.0.1:1",
  "http://[::1]:5173",
];
const badOrigins = [
  "http://evil.example",
  "https://localhost.evil.example",
  "http://127.0.0.1.evil.example:8080",
  "http://127.0.0.1@evil.example",
  "null",
  "",
  "localhost",
  "file://",
  "ws://localhost",
  "chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  "http://localhost, http://evil.example",
];

/** Tries every route with each of these, and tells which were not answered with this status. */
async function holes(sites: readonly (readonly string[])[], status: number): Promise<string[]> {
  const found: string[] = [];
  for (const route of await routes()) {
    for (const site of sites) {
      const { status: got, answer } = await knock(route, site);
      const wrong = [
        ...(got === status ? [] : [`is ${got}`]),
        ...(/access-control-allow/i.test(answer) ? ["names origins"] : []),
        ...(/mcp-session-id|"result"/i.test(answer) ? ["gives something away"] : []),
        ...(/\r\nconnection: close\r\n/i.test(answer) ? [] : ["keeps the line"]),
        ...(route.isModern && answer.includes('"id":null') ? ["has an id of null"] : []),
      ];
      if (wrong.length > 0)
        found.push(`${route.name} with ${site.join(" and ")}: ${wrong.join(", ")}`);
    }
  }
  return found;
}

describe("GET /", () => {
  test("is not for programs, nor for a browser where there is no page", async () => {
    for (const accept of [
      "text/html",
      "*/*",
      "application/json, text/event-stream",
      "text/event-stream",
      "text/*",
    ]) {
      expect(await door.send({ method: "GET", path: "/", headers: { accept } })).toMatchObject({
        status: 405,
        headers: { allow: "POST" },
      });
    }
    expect(
      (await door.send({ method: "GET", path: "/mcp", headers: { accept: "text/html" } })).status,
    ).toBe(405);
  });
});

describe("Host and Origin, on every route", () => {
  test("a Host that is not ours is 403", async () => {
    const before = calls;
    expect(
      await holes(
        badHosts().map((name) => [host(name)]),
        403,
      ),
    ).toEqual([]);
    expect(calls).toBe(before);
  });

  test("a foreign Origin is 403 with any Host", async () => {
    const before = calls;
    const sites = badOrigins.flatMap((name) => [
      [host(`127.0.0.1:${door.port}`), origin(name)],
      [host("evil.example"), origin(name)],
    ]);
    expect(await holes(sites, 403)).toEqual([]);
    expect(calls).toBe(before);
  });

  test("a bad Host is 403 although the Origin is ours", async () => {
    expect(
      await holes(
        ourOrigins.map((name) => [host("evil.example"), origin(name)]),
        403,
      ),
    ).toEqual([]);
  });

  test("two Hosts are 400, two Origins 403, even when all are ours", async () => {
    const ours = host(`127.0.0.1:${door.port}`);
    expect(
      await holes(
        [
          [ours, ours],
          [ours, host("evil.example")],
          [host("evil.example"), ours],
        ],
        400,
      ),
    ).toEqual([]);
    expect(
      await holes(
        [
          [ours, origin("http://localhost"), origin("http://localhost")],
          [ours, origin("http://localhost"), origin("http://evil.example")],
        ],
        403,
      ),
    ).toEqual([]);
  });

  test("a token opens none of these", async () => {
    const shown = `Authorization: Bearer ${doorToken}`;
    expect(
      await holes(
        [
          [host("evil.example"), shown],
          [host(`127.0.0.1:${door.port}`), origin("http://evil.example"), shown],
        ],
        403,
      ),
    ).toEqual([]);
  });

  test("our own names are welcome, from no page or from one of this machine", async () => {
    const shut: string[] = [];
    for (const name of ourHosts()) {
      for (const page of [undefined, ...ourOrigins]) {
        for (const route of await routes()) {
          const { status } = await knock(route, [
            host(name),
            ...(page === undefined ? [] : [origin(page)]),
          ]);
          // A page that opens a socket shows a token too.
          const expected = page !== undefined && route.status === 101 ? 401 : route.status;
          if (status !== expected) shut.push(`${route.name} as ${name} from ${page}: ${status}`);
        }
      }
    }
    expect(shut).toEqual([]);
  });

  test("the whole address in the first line counts as a Host", async () => {
    const site = [host(`127.0.0.1:${door.port}`)];
    for (const route of await routes()) {
      const [method = "", path = ""] = route.line.split(" ");
      const to = (address: string): Route => ({ ...route, line: `${method} ${address}${path}` });
      expect.soft((await knock(to("http://evil.example"), site)).status, route.name).toBe(403);
      expect
        .soft(
          (await knock(to(`http://127.0.0.1@evil.example:${door.port}`), site)).status,
          route.name,
        )
        .toBe(403);
      expect
        .soft((await knock(to(`http://127.0.0.1:${door.port}`), site)).status, route.name)
        .toBe(route.status);
    }
  });

  test("a refused request changes nothing", async () => {
    const session = await greet(door);
    const reply = await door.send({
      method: "DELETE",
      headers: { ...session.headers, host: "evil.example" },
    });
    expect(reply.status).toBe(403);
    expect((await session.send({ jsonrpc: "2.0", id: 1, method: "ping" })).json).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: {},
    });
  });
});

describe("an address that is no address", () => {
  test.each(["//", "///", "http://", "//x:y/ws", "*", "/ws\\..\\x"])(
    "%s with an upgrade is refused, and nothing breaks",
    async (path) => {
      const [upgrade] = (await routes()).filter(({ status }) => status === 101);
      const { status } = await knock({ ...(upgrade as Route), line: `GET ${path}` }, [
        host(`127.0.0.1:${door.port}`),
      ]);
      expect([400, 403, 404]).toContain(status);
      expect((await askModern(door, "server/discover")).status).toBe(200);
    },
  );
});

describe("tokens", () => {
  const challenge = /^Bearer realm="guildhall"/;

  test.each([
    ["another token", "Bearer wrong-wrong-wrong-wrong"],
    ["a longer one", `Bearer ${doorToken}x`],
    ["a shorter one", `Bearer ${doorToken.slice(0, -1)}`],
    ["none after the word", "Bearer"],
    ["two", `Bearer ${doorToken} ${doorToken}`],
    ["another scheme", `Basic ${doorToken}`],
    ["no scheme", doorToken],
  ])("%s is 401 on every route, with the way to do better", async (_what, authorization) => {
    for (const route of await routes()) {
      const { status, answer } = await knock(route, [
        host(`127.0.0.1:${door.port}`),
        `Authorization: ${authorization}`,
      ]);
      expect.soft(status, route.name).toBe(401);
      expect
        .soft(/\r\nwww-authenticate: (.*)\r\n/i.exec(answer)?.[1], route.name)
        .toMatch(/^Bearer realm="guildhall", error="invalid_token"$/);
      expect.soft(answer.includes(doorToken), route.name).toBe(false);
      if (route.isModern) expect.soft(answer, route.name).not.toContain('"id"');
    }
  });

  test("the right one works on every route, and the scheme may be written in any case", async () => {
    for (const scheme of ["Bearer", "bearer"]) {
      for (const route of (await routes()).filter(
        ({ name }) => !/DELETE|GET \/mcp|messages/.test(name),
      )) {
        const { status, answer } = await knock(route, [
          host(`127.0.0.1:${door.port}`),
          `Authorization: ${scheme} ${doorToken}`,
        ]);
        expect.soft(status, route.name).toBe(route.status);
        expect.soft(answer.includes(doorToken), route.name).toBe(false);
      }
    }
  });

  test("a session of one principal is unknown to another: 404", async () => {
    const [local, holder] = [
      await greet(door),
      await greet(door, { headers: { authorization: `Bearer ${doorToken}` } }),
    ];
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    expect((await local.send(list)).status).toBe(200);
    expect((await holder.send(list)).status).toBe(200);
    const nobody = (await local.send(list, { "mcp-session-id": "nobody" })).text;
    for (const headers of [
      { ...local.headers, authorization: `Bearer ${doorToken}` },
      { ...holder.headers, authorization: undefined },
    ]) {
      const replies = [
        await door.send({ body: list, headers }),
        await door.send({ method: "GET", headers }),
        await door.send({ method: "DELETE", headers }),
      ];
      for (const reply of replies) expect([reply.status, reply.text]).toEqual([404, nobody]);
    }
    expect((await local.send(list)).status).toBe(200);
    expect((await holder.send(list)).status).toBe(200);
  });

  test("so it is with the old pair", async () => {
    const pair = await door.open({ method: "GET", path: "/sse" });
    const { data: path = "" } = await pair.events.next();
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    expect(
      (await door.send({ path, body: ping, headers: { authorization: `Bearer ${doorToken}` } }))
        .status,
    ).toBe(404);
    expect((await door.send({ path, body: ping })).status).toBe(202);
    expect(await pair.events.message()).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    pair.cut();
  });

  describe("at the WebSocket", () => {
    const page = { origin: "http://localhost:3000" };

    test("a program needs none, a page does, and it is asked before 101", async () => {
      const client = await connectWebSocket(door);
      expect(await client.result("server/discover", modern())).toMatchObject({
        supportedVersions: [modernVersion],
      });
      client.close();
      await expect(connectWebSocket(door, { headers: page })).rejects.toMatchObject({
        status: 401,
      });
      await expect(
        connectWebSocket(door, { headers: { ...page, authorization: "Bearer wrong-wrong-wrong" } }),
      ).rejects.toMatchObject({ status: 401 });
      await expect(
        connectWebSocket(door, { headers: page, protocols: ["mcp", "bearer.wrong"] }),
      ).rejects.toMatchObject({ status: 401 });
      const [upgrade] = (await routes()).filter(({ status }) => status === 101);
      const { answer } = await knock(upgrade as Route, [
        host(`127.0.0.1:${door.port}`),
        origin("http://localhost"),
      ]);
      expect(/\r\nwww-authenticate: (.*)\r\n/i.exec(answer)?.[1]).toMatch(challenge);
    });

    test("a page shows it in a header, or as a sub-protocol that is not sent back", async () => {
      for (const knocked of [
        { headers: { ...page, authorization: `Bearer ${doorToken}` } },
        { headers: page, protocols: ["mcp", `bearer.${doorToken}`] },
      ]) {
        const client = await connectWebSocket(door, knocked);
        expect(client.socket.protocol).toBe("protocols" in knocked ? "mcp" : "");
        expect(await client.result("server/discover", modern())).toMatchObject({
          supportedVersions: [modernVersion],
        });
        client.close();
      }
      const [upgrade] = (await routes()).filter(({ status }) => status === 101);
      const { status, answer } = await knock(upgrade as Route, [
        host("localhost"),
        origin("http://localhost"),
        `Sec-WebSocket-Protocol: bearer.${doorToken}`,
      ]);
      expect(status).toBe(101);
      expect(answer).not.toContain("bearer.");
    });

    test("in the address it counts for nothing", async () => {
      for (const key of ["token", "access_token", "authorization"]) {
        await expect(
          connectWebSocket(door, { headers: page, path: `/ws?${key}=${doorToken}` }),
        ).rejects.toMatchObject({ status: 401 });
        await expect(
          connectWebSocket(door, { headers: page, path: `/ws?${key}=Bearer%20${doorToken}` }),
        ).rejects.toMatchObject({ status: 401 });
      }
    });

    test("it exists only at /ws and /", async () => {
      for (const path of ["/mcp", "/ws/", "/WS", "/sse"])
        await expect(connectWebSocket(door, { path })).rejects.toMatchObject({ status: 404 });
    });

    test("a refused client is disconnected, even if it keeps the socket open", async () => {
      const dialled = door.dial();
      dialled.write(
        `GET /ws HTTP/1.1\r\nHost: evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      );
      await dialled.until(/^HTTP\/1\.1 403 /);
      const gone = new Promise((resolve) => dialled.socket.on("close", resolve));
      const poke = setInterval(() => dialled.write("x"), 20);
      expect(await happens(gone)).toBe(true);
      clearInterval(poke);
    });
  });
});

describe("a guard for other machines", () => {
  const guard = new AccessGuard({ host: "0.0.0.0", token: doorToken });
  const from = (headers: Readonly<Record<string, string>>, url = "/mcp"): IncomingMessage =>
    ({ url, headers, rawHeaders: Object.entries(headers).flat() }) as unknown as IncomingMessage;

  test("wants the token for everything", () => {
    expect(guard.identify(from({}))).toMatchObject({
      refusal: { status: 401, headers: { "www-authenticate": 'Bearer realm="guildhall"' } },
    });
    expect(guard.identify(from({ authorization: "Bearer wrong" }))).toMatchObject({
      refusal: { status: 401 },
    });
    expect(guard.identify(from({}, `/mcp?token=${doorToken}`))).toMatchObject({
      refusal: { status: 401 },
    });
    expect(guard.identify(from({ cookie: `token=${doorToken}` }))).toMatchObject({
      refusal: { status: 401 },
    });
    expect(guard.identify(from({ authorization: `Bearer ${doorToken}` }))).toEqual({
      principal: "token",
      rights: allRights,
    });
  });

  test("cannot know its names, but knows foreign pages", () => {
    expect(guard.checkSite(from({ host: "hall.example" }))).toBeUndefined();
    expect(
      guard.checkSite(from({ host: "hall.example", origin: "http://evil.example" })),
    ).toMatchObject({ status: 403 });
    expect(guard.checkSite(from({ host: "hall.example", origin: "null" }))).toMatchObject({
      status: 403,
    });
    expect(guard.checkSite(from({}))).toMatchObject({ status: 400 });
  });

  test.each(["127.0.0.1", "localhost", "::1", "127.0.0.2"])(
    "one for %s lets this machine in without, if it is open",
    (name) => {
      const local = new AccessGuard({ host: name, token: doorToken, open: true });
      expect(local.identify(from({}))).toEqual({ principal: "local", rights: rightsWithoutToken });
      expect(
        local.checkSite(from({ host: name.includes(":") ? `[${name}]:80` : `${name}:80` })),
      ).toBeUndefined();
      expect(local.checkSite(from({ host: "evil.example" }))).toMatchObject({ status: 403 });
    },
  );
});

describe("guildhall serve", () => {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-site-"));
  /** A project of its own for each: two halls of one project know of each other. */
  const ownFolder = (): string => mkdtempSync(join(folder, "project-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const addressOf = (line: string): { readonly url: string; readonly mcp: string } =>
    JSON.parse(line) as { url: string; mcp: string };

  test.each(["0.0.0.0", "::", "192.168.7.7", "hall.example"])(
    "--host %s without a token: 78, and the way out is said",
    async (address) => {
      await using hall = spawnServe(["--host", address, "--port", "0"], { folder: ownFolder() });
      expect((await hall.exited).code).toBe(78);
      expect(hall.output.stderr).toContain("--token-file");
      expect(hall.output.stdout).toBe("");
    },
  );

  test.each([
    ["too short", "s3cr3t\n", 77],
    ["two words", "one-long-token-word another-long-token\n", 77],
    ["empty", "\n", 77],
    ["missing", undefined, 66],
  ])(
    "a token file that is %s is refused without showing what is in it",
    async (what, content, code) => {
      const file = join(folder, `token-${what.replace(" ", "-")}`);
      if (content !== undefined) writeFileSync(file, content);
      await using hall = spawnServe(["--port", "0", "--token-file", file], { folder: ownFolder() });
      expect((await hall.exited).code).toBe(code);
      expect(hall.output.stderr).toContain(file);
      if (content?.trim()) expect(hall.output.stderr).not.toContain(content.trim());
    },
  );

  test("creates a token that only this user can read, keeps it, and never shows it", async () => {
    const texts: string[] = [];
    const tokens: string[] = [];
    const project = ownFolder();
    const tokenFile = join(project, "data", "guildhall", "token");
    for (let start = 0; start < 2; start++) {
      await using hall = spawnServe(["--port", "0", "--json", "--log-level", "trace"], {
        folder: project,
      });
      const { url, mcp } = addressOf(await hall.firstLine);
      expect(mcp).toBe(`${url}/mcp`);
      expect(new URL(url).hostname).toBe("127.0.0.1");
      expect(statSync(tokenFile).mode & 0o777).toBe(0o600);
      expect(statSync(join(tokenFile, "..")).mode & 0o077).toBe(0);
      const token = readFileSync(tokenFile, "utf8").trim();
      tokens.push(token);
      const message = { jsonrpc: "2.0", id: 1, method: "tools/list", params: modern() };
      for (const given of [`Bearer ${token}`, `Bearer ${token}x`, `Basic ${token}`, token]) {
        const response = await fetch(mcp, {
          method: "POST",
          headers: {
            ...modernHeaders(message),
            "content-type": "application/json",
            authorization: given,
          },
          body: JSON.stringify(message),
        });
        expect(response.status).toBe(given === `Bearer ${token}` ? 200 : 401);
        texts.push(await response.text(), JSON.stringify([...response.headers]));
      }
      texts.push(
        await (await fetch(`${url}/health?token=${token}`)).text(),
        await (await fetch(`${url}/${token}`)).text(),
      );
      hall.child.kill("SIGTERM");
      expect(await hall.exited).toEqual({ code: 0, signal: null });
      texts.push(hall.output.stdout, hall.output.stderr);
    }
    expect(tokens[0]).toMatch(/^[\w-]{43}$/);
    expect(tokens[1]).toBe(tokens[0]);
    for (const said of texts) expect(said).not.toContain(tokens[0]);
  });

  test("a port that is taken: 69, and another is named", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as { port: number };
    await using hall = spawnServe(["--port", String(port)], { folder: ownFolder() });
    expect((await hall.exited).code).toBe(69);
    expect(hall.output.stderr).toContain(`port ${port} is in use`);
    expect(/--port (\d+)/.exec(hall.output.stderr)?.[1]).not.toBe(String(port));
    await new Promise((resolve) => other.close(resolve));
  });

  test.each(["-1", "65536", "http", "80.5", ""])("--port %s is refused", async (port) => {
    await using hall = spawnServe([`--port=${port}`], { folder: ownFolder() });
    expect(await happens(hall.exited)).toBe(true);
    expect((await hall.exited).code).toBe(2);
  });

  test("without --json it prints how to connect", async () => {
    await using hall = spawnServe(["--port", "0"], { folder: ownFolder() });
    const line = await hall.firstLine;
    expect(line).toMatch(/^Guildhall \d+\.\d+\.\d+ is open at http:\/\/127\.0\.0\.1:\d+ /);
    const url = /http:\S+\d/.exec(line)?.[0] ?? "";
    await expect
      .poll(() => hall.output.stdout)
      .toContain(`claude mcp add --transport http guildhall ${url}/mcp`);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  describe("on SIGTERM", () => {
    let testCli: string;
    beforeAll(async () => {
      testCli = await buildTestCli();
    });

    const slow = (ms: number): JsonObject => ({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: modern({ name: "slow.wait", arguments: { ms } }, {}, { progressToken: "p" }),
    });
    const send = (mcp: string, message: JsonObject): Promise<Response> =>
      fetch(mcp, {
        method: "POST",
        headers: {
          ...modernHeaders(message),
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify(message),
      });

    test("running calls are answered, new ones refused, streams and sockets end, and it exits with 0", async () => {
      await using hall = spawnServe(["--port", "0", "--json"], {
        folder: ownFolder(),
        cli: testCli,
      });
      const { url, mcp } = addressOf(await hall.firstLine);
      const socket = new WebSocket(`${url.replace("http", "ws")}/ws`);
      await new Promise((resolve) => socket.on("open", resolve));
      const closed = new Promise<number>((resolve) => socket.on("close", resolve));
      const pair = await fetch(`${url}/sse`, { headers: { accept: "text/event-stream" } });
      // The progress at its start opens the stream.
      const running = await send(mcp, slow(2_000));
      hall.child.kill("SIGTERM");
      await until(
        () =>
          fetch(`${url}/health`).then(
            ({ status }) => status === 503,
            () => true,
          ),
        "requests are refused",
      );
      const [late, lateSocket] = await Promise.all([
        send(mcp, slow(1)).then(
          ({ status }) => status,
          () => "refused",
        ),
        new Promise<number | string>((resolve) => {
          const knocking = httpRequest(`${url}/ws`, {
            headers: {
              connection: "Upgrade",
              upgrade: "websocket",
              "sec-websocket-version": "13",
              "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
            },
          });
          knocking.on("response", ({ statusCode }) => resolve(statusCode ?? 0));
          knocking.on("upgrade", () => resolve(101));
          knocking.on("error", () => resolve("refused"));
          knocking.end();
        }),
      ]);
      expect([503, "refused"]).toContain(late);
      expect([503, "refused"]).toContain(lateSocket);
      expect(await running.text()).toContain('"waited"');
      expect(await closed).toBe(1001);
      await pair.text().catch(() => "cut");
      expect(await hall.exited).toEqual({ code: 0, signal: null });
    });

    test("a call that never ends is answered with an error at the second signal", async () => {
      await using hall = spawnServe(["--port", "0", "--json"], {
        folder: ownFolder(),
        cli: testCli,
      });
      const { mcp } = addressOf(await hall.firstLine);
      const running = await send(mcp, slow(60_000));
      await until(() => {
        hall.child.kill("SIGTERM");
        return hall.child.exitCode === 0;
      }, "the process ends");
      expect(await running.text()).toContain('"error_type":"unavailable"');
      expect(await happens(hall.exited)).toBe(true);
    });

    test("a socket that does not say goodbye does not keep it", async () => {
      await using hall = spawnServe(["--port", "0", "--json"], {
        folder: ownFolder(),
        cli: testCli,
      });
      const { url } = addressOf(await hall.firstLine);
      const knocking = httpRequest(`${url}/ws`, {
        headers: {
          connection: "Upgrade",
          upgrade: "websocket",
          "sec-websocket-version": "13",
          "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        },
      });
      knocking.end();
      await new Promise((resolve) => knocking.on("upgrade", resolve));
      hall.child.kill("SIGTERM");
      expect(await happens(hall.exited)).toBe(true);
    });
  });
});
