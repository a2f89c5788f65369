// Whoever gets hold of the hall's socket is not believed, in either direction, without a key that
// only the user can read.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { loadUserKey } from "../../src/base/user-key.ts";
import { version } from "../../src/base/version.ts";
import { connectAdmin, greetHall } from "../../src/hall/admin-client.ts";
import { type Control, openControl } from "../../src/hall/control.ts";
import { createNonce, helloFolder, prove, socketPath } from "../../src/hall/socket.ts";
import { createLineReader } from "../../src/wire/stdio.ts";
import { until } from "../servers/until.ts";
import { usePlaces } from "../servers/upstreams.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "guildhall-hello-"));
const path = join(folder, "hall.sock");
beforeEach(() => vi.stubEnv("XDG_DATA_HOME", join(folder, "data")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A process that holds the socket. Returns what it was told after the first line. */
async function pretend(at: string, answer: (hello: JsonObject) => unknown) {
  const told: string[] = [];
  const server = createServer((socket) => {
    let isGreeted = false;
    const line = (bytes: Buffer): void => {
      if (isGreeted) told.push(bytes.toString());
      else socket.write(`${JSON.stringify(answer(JSON.parse(bytes.toString())))}\n`);
      isGreeted = true;
    };
    socket.on("data", createLineReader(100_000, { line, oversize() {} })).on("error", () => {});
  });
  await new Promise<void>((resolve) => void server.listen(at, resolve));
  return {
    told,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}

/** The lines of a socket, as far as they have come. */
function listen(socket: Socket): readonly JsonObject[] {
  const lines: JsonObject[] = [];
  const line = (bytes: Buffer): void => void lines.push(JSON.parse(bytes.toString()));
  socket.on("data", createLineReader(100_000, { line, oversize() {} }));
  return lines;
}

describe("a process that does not know the key", () => {
  const nonce = createNonce();
  const otherKey = Buffer.alloc(32, 7);
  test.each<[string, (hello: JsonObject) => unknown]>([
    ["as halls of older versions do", () => ({ ok: true, pid: 1 })],
    ["with no proof", () => ({ ok: true, pid: 1, nonce })],
    [
      "with a proof by another key",
      (hello) => {
        const said = { hello: "mcp", nonce: String(hello.nonce), hallNonce: nonce, path } as const;
        return { ok: true, pid: 1, nonce, proof: prove("hall", said, otherKey) };
      },
    ],
    ["with what it was told", (hello) => ({ ...hello, ok: true, proof: hello.nonce })],
    ["with something else", () => []],
  ])("is not taken for a hall that answers %s", async (_how, answer) => {
    await loadUserKey(helloFolder());
    await using fake = await pretend(path, answer);
    await expect(greetHall(path, "mcp")).rejects.toMatchObject({
      code: "DENIED",
      next: [{ do: "run-command", command: "serve" }],
    });
    expect(fake.told).toEqual([]);
  });

  test("is not taken for a hall where the user has no key yet", async () => {
    vi.stubEnv("XDG_DATA_HOME", join(folder, "empty"));
    await using fake = await pretend(path, () => ({ ok: true, pid: 1, nonce, proof: "" }));
    await expect(connectAdmin(path)).rejects.toMatchObject({ code: "DENIED" });
    expect(fake.told).toEqual([]);
  });

  test("cannot use the proof of another project's hall, or one that it has seen", async () => {
    const key = await loadUserKey(helloFolder());
    const genuine = (hello: JsonObject, at: string) => {
      const said = {
        hello: "mcp",
        nonce: String(hello.nonce),
        hallNonce: nonce,
        path: at,
      } as const;
      return { ok: true, pid: 1, nonce, proof: prove("hall", said, key) };
    };
    let seen: unknown;
    {
      await using hall = await pretend(path, (hello) => (seen = genuine(hello, path)));
      (await greetHall(path, "mcp"))?.end();
      await until(() => hall.told.length === 1, "the hall has received a message");
    }
    for (const answer of [() => seen, (hello: JsonObject) => genuine(hello, "/other.sock")]) {
      await using _fake = await pretend(path, answer);
      await expect(greetHall(path, "mcp")).rejects.toMatchObject({ code: "DENIED" });
    }
  });

  test("gets nothing from commands, and `guildhall mcp` opens a hall of its own", async () => {
    const places = usePlaces();
    try {
      const project = await places.newProject({});
      vi.stubEnv("XDG_RUNTIME_DIR", places.runtime);
      mkdirSync(join(places.runtime, "guildhall"), { mode: 0o700 });
      await using fake = await pretend(await socketPath(project), () => ({ ok: true, pid: 1 }));
      await using client = places.spawn(cli, ["mcp"], project);
      const result = await client.greet();
      expect(JSON.stringify(result)).toContain('"guildhall"');
      await using command = places.spawn(cli, ["status"], project);
      expect(await command.exited).toBe(77);
      expect(command.output.stderr).toContain("does not know your key");
      expect(command.output.stderr).toContain("End the running hall");
      expect(fake.told).toEqual([]);
    } finally {
      places.remove();
    }
  });
});

describe("a client that does not know the key", () => {
  let control: Control | undefined;
  let accepted = 0;
  let asked = 0;
  const at = join(folder, "real.sock");
  beforeAll(async () => {
    const status = async () => {
      asked++;
      return {} as never;
    };
    const server = { accept: () => ({ closed: new Promise(() => accepted++) }) };
    control = await openControl(at, Promise.resolve({ server, handlers: { status } } as never));
    return () => control?.close();
  });

  const request = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "status" });

  test.each<[string, (answer: JsonObject) => string]>([
    ["goes on without one", () => request],
    ["sends the hall's proof back", ({ proof }) => String(proof)],
    ["sends something else", () => "x".repeat(5_000)],
  ])("is not served when it %s", async (_how, second) => {
    for (const purpose of ["admin", "mcp"]) {
      const socket = connect(at);
      const lines = listen(socket);
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.on("error", () => {});
      socket.write(`${JSON.stringify({ hello: purpose, version, nonce: createNonce() })}\n`);
      await until(() => lines.length === 1, "a line has arrived");
      const [answer = {}] = lines;
      expect(isObject(answer) && answer.ok).toBe(true);
      socket.write(`${second(answer)}\n${request}\n`);
      await closed;
      expect(lines).toHaveLength(1);
    }
    expect([accepted, asked]).toEqual([0, 0]);
  });

  test("is named in a warning if its version is older, and the user's own hall is used", async () => {
    const old = connect(at);
    const lines = listen(old);
    old.write(`${JSON.stringify({ hello: "admin", version })}\n${request}\n`);
    await new Promise((resolve) => old.once("close", resolve));
    expect(lines).toEqual([{ ok: false, reason: expect.stringContaining(version) }]);
    expect(asked).toBe(0);
    const admin = await connectAdmin(at);
    expect(await admin?.ask("status", {})).toEqual({});
    await admin?.close();
    expect(asked).toBe(1);
  });
});

test("a hall of another version is named, with the next step", async () => {
  await using _old = await pretend(path, () => ({ ok: false, reason: "\u001b[31mthis is 0.0.1" }));
  await expect(greetHall(path, "admin")).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: "this project's hall is of another version",
    hint: "End the running hall; the next client starts a new one.",
  });
});
