import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { errorTable, HallError } from "../../src/base/errors.ts";
import { Scope } from "../../src/base/scope.ts";
import { defaultLimits, type Limits } from "../../src/wire/channel.ts";
import { createMemoryPair } from "../../src/wire/memory.ts";
import type { Id, Notification, Request } from "../../src/wire/message.ts";
import { Peer, type PeerOptions } from "../../src/wire/peer.ts";
import type { Exchange, Reply } from "../../src/wire/requests.ts";
import { FakeChannel } from "./fake-channel.ts";

describe("a request", () => {
  test.each([
    ["a value", () => ({ ok: true })],
    ["a promise", async () => ({ ok: true })],
  ])("is answered once with what its handler returns: %s", async (_, handle) => {
    const { channel } = connect({ handle });
    channel.deliver(request(1));
    await nextTurn();
    expect(answers(channel)).toEqual([{ jsonrpc: "2.0", id: 1, result: { ok: true } }]);
  });

  test("carries its method and params to the handler, and its id to the channel", async () => {
    const seen: Request[] = [];
    const { channel } = connect({ handle: (served) => seen.push(served) });
    channel.deliver('{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"echo"}}');
    expect(seen).toEqual([
      { kind: "request", id: "x", method: "tools/call", params: { name: "echo" } },
    ]);
    expect(channel.about).toEqual(["x"]);
  });

  test.each([
    [
      "throws a HallError",
      () => {
        throw new HallError("NOT_FOUND", "no such tool");
      },
      { code: -32602, message: "no such tool", data: "NOT_FOUND" },
    ],
    [
      "rejects with a HallError",
      () => Promise.reject(new HallError("DENIED", "not allowed")),
      { code: -32000, message: "not allowed", data: "DENIED" },
    ],
    [
      "throws an Error",
      () => {
        throw new Error("boom");
      },
      { code: -32603, message: "Error: boom", data: "INTERNAL" },
    ],
    [
      "rejects with nothing",
      () => Promise.reject(),
      { code: -32603, message: "undefined", data: "INTERNAL" },
    ],
    [
      "throws a string",
      () => {
        throw "boom";
      },
      { code: -32603, message: "boom", data: "INTERNAL" },
    ],
  ])("is answered with the explanation when its handler %s", async (_, handle, error) => {
    const { channel, peer } = connect({ handle });
    channel.deliver(request(1));
    await nextTurn();
    expect(answers(channel)).toEqual([{ jsonrpc: "2.0", id: 1, error }]);
    expect(peer.inFlightCount).toBe(0);
  });

  test.each([
    ["a bigint", () => ({ n: 1n })],
    ["a cycle", () => cycle()],
    ["undefined", () => undefined],
    ["a promise of undefined", async () => undefined],
    ["a function", () => () => 1],
    [
      "an object whose toJSON throws",
      () => ({
        toJSON() {
          throw new Error("no");
        },
      }),
    ],
    ["a hundred thousand lists in each other", () => nest(100_000)],
  ])("is answered with SERIALIZATION when its handler returns %s", async (_, handle) => {
    const { channel } = connect({ handle });
    channel.deliver(request(1));
    await nextTurn();
    expect(answers(channel)).toMatchObject([
      { id: 1, error: { code: -32603, data: "SERIALIZATION" } },
    ]);
  });

  test("whose answer is exactly as long as a message may be gets it, and TOO_LARGE for one byte more", async () => {
    const overhead = '{"jsonrpc":"2.0","id":1,"result":""}'.length;
    const { channel } = connect({
      limits: { messageBytesMax: 1_000 },
      handle: ({ params }) => "x".repeat(Number(params?.length)),
    });
    channel.deliver(request(1, { length: 1_000 - overhead }));
    channel.deliver(request(1, { length: 1_001 - overhead }));
    expect(channel.sent[0]).toHaveLength(1_000);
    expect(answers(channel)[1]).toMatchObject({
      id: 1,
      error: { code: -32603, data: "TOO_LARGE" },
    });
  });

  test("whose answer is too long only in bytes gets TOO_LARGE as well", () => {
    const { channel } = connect({
      limits: { messageBytesMax: 1_000 },
      handle: () => "€".repeat(400),
    });
    channel.deliver(request(1));
    expect(answers(channel)).toMatchObject([{ id: 1, error: { data: "TOO_LARGE" } }]);
  });

  test.each([
    ["cannot be written as JSON", { error: { code: -32000, message: "m", data: 1n } }],
    ["is itself too long", { error: { code: -32000, message: "x".repeat(2_000) } }],
    ["is a result that is a cycle", { result: cycle() }],
    ["is a result of undefined", { result: undefined }],
  ] satisfies [string, Reply][])(
    "is answered with a plain error when the explanation %s",
    (_, explanation) => {
      const { channel } = connect({
        limits: { messageBytesMax: 1_000 },
        handle: fail,
        explain: () => explanation,
      });
      channel.deliver(request(1));
      expect(answers(channel)).toEqual([
        { jsonrpc: "2.0", id: 1, error: { code: -32603, message: expect.any(String) } },
      ]);
    },
  );

  test("is answered with a plain error when explaining its failure throws", () => {
    const { channel } = connect({
      handle: fail,
      explain: () => {
        throw new Error("cannot explain");
      },
    });
    expect(() => channel.deliver(request(1))).not.toThrow();
    expect(answers(channel)).toEqual([
      { jsonrpc: "2.0", id: 1, error: { code: -32603, message: expect.any(String) } },
    ]);
  });

  test("is answered with a result when that is how failures are explained", () => {
    const { channel } = connect({ handle: fail, explain: () => ({ result: { isError: true } }) });
    channel.deliver(request(1));
    expect(answers(channel)).toEqual([{ jsonrpc: "2.0", id: 1, result: { isError: true } }]);
  });

  test("with the id of one that runs is refused, and the first is unharmed", async () => {
    const first = deferred();
    const { channel } = connect({ handle: () => first.promise });
    channel.deliver(request(1));
    channel.deliver(request(1));
    expect(answers(channel)).toMatchObject([
      { id: 1, error: { code: -32600, message: "a request with the id 1 is still running" } },
    ]);
    first.resolve("first");
    await nextTurn();
    expect(answers(channel).slice(1)).toEqual([{ jsonrpc: "2.0", id: 1, result: "first" }]);
  });

  test("may use the id of one that was answered", async () => {
    const { channel } = connect({ handle: async ({ params }) => params?.n });
    channel.deliver(request(1, { n: 1 }));
    await nextTurn();
    channel.deliver(request(1, { n: 2 }));
    await nextTurn();
    expect(answers(channel)).toMatchObject([{ result: 1 }, { result: 2 }]);
  });

  test('with id "1" and one with id 1 are two, and each answer keeps its type', async () => {
    const { channel } = connect({ handle: async ({ params }) => params?.n });
    channel.deliver(request(1, { n: "number" }));
    channel.deliver(request("1", { n: "string" }));
    await nextTurn();
    expect(answers(channel)).toEqual([
      { jsonrpc: "2.0", id: 1, result: "number" },
      { jsonrpc: "2.0", id: "1", result: "string" },
    ]);
  });

  test("number 1,001 at once is refused as OVERLOADED, and served once another has ended", async () => {
    const open = new Map<Id, () => void>();
    const { channel, peer } = connect({
      handle: ({ id }) => new Promise((resolve) => open.set(id, () => resolve(id))),
    });
    for (let id = 1; id <= 1_000; id++) channel.deliver(request(id));
    expect(channel.sent).toEqual([]);
    expect(peer.inFlightCount).toBe(1_000);
    channel.deliver(request(1_001));
    expect(answers(channel)).toMatchObject([
      { id: 1_001, error: { code: -32603, data: "OVERLOADED" } },
    ]);
    open.get(7)?.();
    await nextTurn();
    channel.deliver(request(1_001));
    open.get(1_001)?.();
    await nextTurn();
    expect(answers(channel).slice(1)).toEqual([
      { jsonrpc: "2.0", id: 7, result: 7 },
      { jsonrpc: "2.0", id: 1_001, result: 1_001 },
    ]);
  });

  test("may be answered with notifications on the way, addressed to the same request", () => {
    const { channel } = connect({
      handle: (_, exchange) => {
        exchange.notify("progress", { done: 1 });
        return "end";
      },
    });
    channel.deliver(request("x"));
    expect(answers(channel)).toEqual([
      { jsonrpc: "2.0", method: "progress", params: { done: 1 } },
      { jsonrpc: "2.0", id: "x", result: "end" },
    ]);
    expect(channel.about).toEqual(["x", "x"]);
  });
});

describe("input that is not a request", () => {
  test.each([
    ["text that is no JSON", "{oops", null, -32700],
    ["bytes that are no UTF-8", Buffer.from([0xff]), null, -32700],
    ["a request without method", '{"jsonrpc":"2.0","id":5}', 5, -32600],
    ["a request with an unreadable id", '{"jsonrpc":"2.0","id":1.5,"method":"m"}', null, -32600],
    ["a message that is too deep", "[".repeat(100), null, -32600],
    ["a batch where there are none", `[${request(1)}]`, null, -32600],
    ["an empty batch", "[]", null, -32600],
  ])("is refused once, and the line lives on: %s", (_, frame, id, code) => {
    const { channel } = connect({ handle: () => "served" });
    channel.deliver(frame);
    expect(answers(channel)).toMatchObject([{ id, error: { code } }]);
    channel.deliver(request(2));
    expect(answers(channel)[1]).toEqual({ jsonrpc: "2.0", id: 2, result: "served" });
  });

  test("is counted", () => {
    const { channel, peer } = connect({});
    channel.deliver("{oops");
    channel.deliver("{}");
    expect(peer.junkCount).toBe(2);
  });

  test("a request over the size limit is refused under its own id, and the line lives on", () => {
    const { channel } = connect({ limits: { messageBytesMax: 200 }, handle: () => "served" });
    const filler = `"params":{"x":"${"x".repeat(200)}`;
    const frames = [
      `{"jsonrpc":"2.0","id":1,"method":"m",${filler}"}}`,
      `{"method":"m",${filler}","id":9,"method":"no"},"jsonrpc":"2.0","id":"two"}`,
      `{ "jsonrpc": "2.0", "method": "m", "id": -3, ${filler}"} }`,
      `{"jsonrpc":"2.0","method":"m",${filler}"}}`,
      `{"jsonrpc":"2.0","id":4,"method":"${"m".repeat(600)}"}`,
      `[${filler}]`,
    ];
    for (const frame of frames) channel.deliver(frame);
    channel.deliverOversize('{"jsonrpc":"2.0","id":5,"method":"m","params":{ ..."}}');
    channel.deliver(request(2));
    const error = { code: -32600, message: "message exceeds the limit of 200 B" };
    expect(answers(channel)).toMatchObject([
      ...[1, "two", -3, null, 4, null, 5].map((id) => ({ id, error })),
      { id: 2, result: "served" },
    ]);
  });

  test("a peer of the newer era gets no id at all where none could be read", () => {
    const { channel, peer } = connect({});
    peer.unreadableId = "omit";
    channel.deliver("{oops");
    expect(answers(channel)[0]).not.toHaveProperty("id");
  });

  test("a notification goes to its receiver and is not answered", () => {
    const seen: Notification[] = [];
    const { channel } = connect({
      notified: (notification) => seen.push(notification),
      isNotification: (method) => method === "n",
    });
    channel.deliver('{"jsonrpc":"2.0","method":"n","params":{"a":1}}');
    channel.deliver('{"jsonrpc":"2.0","id":null,"method":"n"}');
    expect(seen).toMatchObject([{ method: "n", params: { a: 1 } }, { method: "n" }]);
    expect(channel.sent).toEqual([]);
  });

  test.each([
    ["with id null", '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}'],
    ["without id", '{"jsonrpc":"2.0","error":{"code":-32700,"message":"what?"}}'],
    ["with a result and an unreadable id", '{"jsonrpc":"2.0","id":1.5,"result":{}}'],
    ["without jsonrpc", '{"id":1,"error":{"code":-32700,"message":"what?"}}'],
  ])("an answer that belongs to nothing is never answered: %s", (_, frame) => {
    const { channel } = connect({});
    channel.deliver(frame);
    expect(channel.sent).toEqual([]);
  });

  test("junk between two peers is refused once and does not start an endless exchange of errors", () => {
    const left = connect({}).channel;
    const right = connect({}).channel;
    right.deliver("{oops");
    let carried = 0;
    for (let turn = 0; turn < 20; turn++) {
      for (const frame of right.sent.splice(0)) {
        carried++;
        left.deliver(frame);
      }
      for (const frame of left.sent.splice(0)) {
        carried++;
        right.deliver(frame);
      }
    }
    expect(carried).toBe(1);
  });

  test("junk of any kind gets at most one answer, always readable, and the next request is served", () => {
    const wellFormed = [
      '{"jsonrpc":"2.0"',
      ',"id":',
      "1",
      '"a"',
      "null",
      ',"method":"m"',
      ',"params":{}',
      "}",
      "{",
      "[",
      "]",
      ",",
    ];
    const junk = fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
      fc.json().map((text) => Buffer.from(text)),
      fc
        .array(fc.constantFrom(...wellFormed), { maxLength: 10 })
        .map((parts) => Buffer.from(parts.join(""))),
    );
    fc.assert(
      fc.property(junk, fc.boolean(), (bytes, acceptsBatches) => {
        const { channel, peer } = connect({ handle: () => "served" });
        peer.acceptsBatches = acceptsBatches;
        channel.deliver(bytes);
        expect(channel.sent.length).toBeLessThanOrEqual(1);
        for (const frame of channel.sent.splice(0)) expect(JSON.parse(frame)).toBeTypeOf("object");
        channel.deliver(request("after"));
        expect(answers(channel)).toEqual([{ jsonrpc: "2.0", id: "after", result: "served" }]);
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("a request the peer withdraws", () => {
  const withdrawn = new HallError("CANCELLED", "the user pressed stop");

  test("is not answered, and its handler is cancelled", async () => {
    const work = deferred();
    const seen: Exchange[] = [];
    const { channel, peer } = connect({
      handle: (_, exchange) => {
        seen.push(exchange);
        return work.promise;
      },
    });
    channel.deliver(request(1));
    peer.cancel(1, withdrawn);
    expect(seen[0]?.scope.cancelReason).toBe(withdrawn);
    work.resolve("too late");
    await nextTurn();
    expect(channel.sent).toEqual([]);
    expect(peer.inFlightCount).toBe(0);
  });

  test("is answered once with the given answer, and the result of the handler is dropped", async () => {
    const work = deferred();
    const { channel, peer } = connect({ handle: () => work.promise });
    channel.deliver(request("x"));
    peer.cancel("x", withdrawn, { code: -32800, message: "withdrawn" });
    peer.cancel("x", withdrawn, { code: -32800, message: "withdrawn" });
    work.reject(new Error("too late"));
    await nextTurn();
    expect(answers(channel)).toEqual([
      { jsonrpc: "2.0", id: "x", error: { code: -32800, message: "withdrawn" } },
    ]);
  });

  test("gives its id free at once, and the old handler cannot answer for the new request", async () => {
    const [first, second] = [deferred(), deferred()];
    const { channel, peer } = connect({
      handle: ({ params }) => (params?.n === 1 ? first.promise : second.promise),
    });
    channel.deliver(request(1, { n: 1 }));
    peer.cancel(1, withdrawn);
    channel.deliver(request(1, { n: 2 }));
    first.resolve("first");
    await nextTurn();
    expect(channel.sent).toEqual([]);
    second.resolve("second");
    await nextTurn();
    expect(answers(channel)).toEqual([{ jsonrpc: "2.0", id: 1, result: "second" }]);
  });

  test("by its own handler is not answered either", () => {
    const { channel, peer } = connect({
      handle: ({ id }) => {
        peer.cancel(id, withdrawn);
        return "returned all the same";
      },
    });
    channel.deliver(request(1));
    expect(channel.sent).toEqual([]);
  });

  test("must be one that runs: unknown, answered and differently typed ids are ignored", async () => {
    const work = deferred();
    const { channel, peer } = connect({ handle: ({ id }) => (id === 1 ? work.promise : "done") });
    channel.deliver(request(1));
    channel.deliver(request(2));
    for (const id of [2, 3, "1", ""])
      peer.cancel(id, withdrawn, { code: 1, message: "never sent" });
    work.resolve("alive");
    await nextTurn();
    expect(answers(channel)).toMatchObject([
      { id: 2, result: "done" },
      { id: 1, result: "alive" },
    ]);
  });
});

describe("a batch", () => {
  const withdrawn = new HallError("CANCELLED", "stop");

  test("is answered with one list when its last request has ended", async () => {
    const slow = deferred();
    const { channel, peer } = connect({ handle: ({ id }) => (id === 1 ? slow.promise : "quick") });
    peer.acceptsBatches = true;
    channel.deliver(`[${request(1)},${request(2)},{"jsonrpc":"2.0","method":"n"}]`);
    expect(channel.sent).toEqual([]);
    slow.resolve("slow");
    await nextTurn();
    expect(answers(channel)).toEqual([
      [
        { jsonrpc: "2.0", id: 2, result: "quick" },
        { jsonrpc: "2.0", id: 1, result: "slow" },
      ],
    ]);
  });

  test("has room for an answer that fills the message to its last byte, and for none longer", () => {
    const answer = JSON.stringify({ jsonrpc: "2.0", id: 1, result: "x".repeat(2_000) });
    const reserved = 512;
    const result = (messageBytesMax: number): unknown => {
      const { channel, peer } = connect({
        limits: { messageBytesMax },
        handle: () => "x".repeat(2_000),
      });
      peer.acceptsBatches = true;
      channel.deliver(`[${request(1)}]`);
      return answers(channel);
    };
    expect(result(answer.length + reserved)).toEqual([[JSON.parse(answer)]]);
    expect(result(answer.length + reserved - 1)).toMatchObject([[{ id: 1, error: {} }]]);
  });

  test("is refused as a whole where batches are not spoken, and none of it runs", () => {
    const handle = vi.fn();
    const { channel } = connect({ handle });
    channel.deliver(`[${request(1)},${request(2)}]`);
    expect(answers(channel)).toMatchObject([{ id: null, error: { code: -32600 } }]);
    expect(handle).not.toHaveBeenCalled();
  });

  test("that is empty is refused with one error, not a list", () => {
    const { channel, peer } = connect({});
    peer.acceptsBatches = true;
    channel.deliver("[]");
    expect(answers(channel)).toMatchObject([
      { id: null, error: { code: -32600, message: "an empty batch" } },
    ]);
  });

  test("of notifications and answers only is not answered", () => {
    const { channel, peer } = connect({});
    peer.acceptsBatches = true;
    channel.deliver('[{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":9,"result":1}]');
    expect(channel.sent).toEqual([]);
    expect(peer.junkCount).toBe(1);
  });

  test("of which everything was withdrawn is not answered at all", () => {
    const { channel, peer } = connect({ handle: never });
    peer.acceptsBatches = true;
    channel.deliver(`[${request(1)},${request(2)}]`);
    peer.cancel(1, withdrawn);
    peer.cancel(2, withdrawn);
    expect(channel.sent).toEqual([]);
    expect(peer.inFlightCount).toBe(0);
  });

  test("of which a part was withdrawn is answered with the rest", async () => {
    const work = deferred();
    const { channel, peer } = connect({ handle: () => work.promise });
    peer.acceptsBatches = true;
    channel.deliver(`[${request(1)},${request(2)},${request(3)}]`);
    peer.cancel(1, withdrawn);
    peer.cancel(3, withdrawn, { code: -32800, message: "withdrawn" });
    work.resolve("done");
    await nextTurn();
    expect(answers(channel)).toEqual([
      [
        { jsonrpc: "2.0", id: 3, error: { code: -32800, message: "withdrawn" } },
        { jsonrpc: "2.0", id: 2, result: "done" },
      ],
    ]);
  });

  test("with the same id twice answers both in its list, the second with a refusal", async () => {
    const work = deferred();
    const { channel, peer } = connect({ handle: () => work.promise });
    peer.acceptsBatches = true;
    channel.deliver(`[${request(1)},${request(1)}]`);
    work.resolve("first");
    await nextTurn();
    expect(answers(channel)).toMatchObject([
      [
        { id: 1, error: { code: -32600 } },
        { id: 1, result: "first" },
      ],
    ]);
  });

  test("with junk in it answers the junk in its place and serves the rest", () => {
    const { channel, peer } = connect({ handle: () => "served" });
    peer.acceptsBatches = true;
    channel.deliver(`[1,${request(2)},{"jsonrpc":"2.0","id":3}]`);
    expect(answers(channel)).toMatchObject([
      [
        { id: null, error: { code: -32600 } },
        { id: 2, result: "served" },
        { id: 3, error: { code: -32600 } },
      ],
    ]);
  });

  test("is never answered with a message over the size limit, and each of its requests still gets one answer", () => {
    const { channel, peer } = connect({
      limits: { messageBytesMax: 4_000 },
      handle: () => "x".repeat(1_500),
    });
    peer.acceptsBatches = true;
    channel.deliver(`[${request(1)},${request(2)},${request(3)}]`);
    for (const frame of channel.sent) expect(frame.length).toBeLessThanOrEqual(4_000);
    const each = answers(channel).flat() as { id: Id; error?: { data: string } }[];
    expect(each.map(({ id }) => id).sort()).toEqual([1, 2, 3]);
    expect(each.filter(({ error }) => error?.data === "TOO_LARGE").length).toBeGreaterThan(0);
  });

  test("of a million pieces of junk is not answered with more than a message may have", () => {
    const { channel, peer } = connect({});
    peer.acceptsBatches = true;
    channel.deliver(`[${Array(999_999).fill("0").join(",")}]`);
    expect(channel.sent).toHaveLength(1);
    expect(channel.sent[0]?.length).toBeLessThanOrEqual(defaultLimits.messageBytesMax);
  });

  test("still open at close is answered with the rest as refused", async () => {
    const { channel, peer } = connect({ handle: ({ id }) => (id === 1 ? "done" : never()) });
    peer.acceptsBatches = true;
    channel.deliver(`[${request(1)},${request(2)}]`);
    await peer.close();
    expect(answers(channel)).toMatchObject([
      [
        { id: 1, result: "done" },
        { id: 2, error: { data: "UNAVAILABLE" } },
      ],
    ]);
  });
});

describe("a request of ours", () => {
  test("resolves with the result of the answer with its id", async () => {
    const { channel, peer } = connect({});
    const first = peer.request("m", { n: 1 });
    const second = peer.request("m", { n: 2 }, { about: "theirs" });
    expect(answers(channel)).toEqual([
      { jsonrpc: "2.0", id: 1, method: "m", params: { n: 1 } },
      { jsonrpc: "2.0", id: 2, method: "m", params: { n: 2 } },
    ]);
    expect(channel.about).toEqual([undefined, "theirs"]);
    channel.deliver('{"jsonrpc":"2.0","id":2,"result":"second"}');
    channel.deliver('{"jsonrpc":"2.0","id":1,"result":null}');
    expect(await second).toBe("second");
    expect(await first).toBeNull();
  });

  test("rejects with the peer's error, kept as it is", async () => {
    const { channel, peer } = connect({});
    const asked = peer.request("m", {});
    channel.deliver(
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"no","data":{"x":1}}}',
    );
    await expect(asked).rejects.toMatchObject({
      name: "HallError",
      code: "EXECUTION",
      message: "no",
      relayed: { code: -32042, data: { x: 1 } },
    });
  });

  test.each([
    [
      "both result and error",
      '{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"m"}}',
    ],
    ["an error without code", '{"jsonrpc":"2.0","id":1,"error":{"message":"m"}}'],
    ["no jsonrpc", '{"id":1,"result":1}'],
  ])("rejects with BAD_ANSWER at once when the answer has %s", async (_, answer) => {
    const { channel, peer } = connect({});
    const asked = peer.request("m", {}, { timeoutMs: 500 });
    channel.deliver(answer);
    await expect(asked).rejects.toMatchObject({ code: "BAD_ANSWER" });
    expect(channel.sent).toHaveLength(1);
  });

  test('is not answered by the id "1" when its id is 1', async () => {
    const { channel, peer } = connect({});
    const asked = peer.request("m", {});
    channel.deliver('{"jsonrpc":"2.0","id":"1","result":"wrong"}');
    expect(peer.junkCount).toBe(1);
    channel.deliver('{"jsonrpc":"2.0","id":1,"result":"right"}');
    expect(await asked).toBe("right");
  });

  test("counts answers to unknown requests, and repeated ones", async () => {
    const { channel, peer } = connect({});
    const asked = peer.request("m", {});
    channel.deliver('{"jsonrpc":"2.0","id":1,"result":"first"}');
    channel.deliver('{"jsonrpc":"2.0","id":1,"result":"again"}');
    channel.deliver('{"jsonrpc":"2.0","id":77,"result":"unknown"}');
    expect(await asked).toBe("first");
    expect(peer.junkCount).toBe(2);
    expect(channel.sent).toHaveLength(1);
  });

  test("is withdrawn when its scope is cancelled, and not when it was answered before", async () => {
    const { channel, peer } = connect({ withdrawal });
    const scope = new Scope();
    const cancelled = peer.request("slow", {}, { scope });
    const answered = peer.request("quick", {}, { scope });
    channel.deliver('{"jsonrpc":"2.0","id":2,"result":"quick"}');
    expect(await answered).toBe("quick");
    scope.cancel(new HallError("CANCELLED", "no longer wanted"));
    await expect(cancelled).rejects.toMatchObject({ code: "CANCELLED" });
    expect(answers(channel).slice(2)).toEqual([
      { jsonrpc: "2.0", method: "withdraw", params: { id: 1, reason: "no longer wanted" } },
    ]);
  });

  test("rejects at once when its scope was cancelled before", async () => {
    const { peer } = connect({ withdrawal });
    const scope = new Scope();
    scope.cancel(new HallError("CANCELLED", "too late"));
    await expect(peer.request("m", {}, { scope, timeoutMs: 60_000 })).rejects.toMatchObject({
      code: "CANCELLED",
    });
  });

  test("rejects as UNAVAILABLE when the line closes first", async () => {
    const { channel, peer } = connect({ withdrawal });
    const asked = peer.request("m", {});
    channel.lose();
    await expect(asked).rejects.toMatchObject({
      name: "TransportError",
      code: "UNAVAILABLE",
      message: "the connection was closed",
    });
    expect(channel.sent).toHaveLength(1);
  });

  test("rejects as UNAVAILABLE on a line that is closed, without sending", async () => {
    const { channel, peer } = connect({});
    await peer.close();
    await expect(peer.request("m", {})).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(channel.sent).toEqual([]);
  });

  test("rejects with a HallError, and leaves nothing behind, when its params cannot be written as JSON", async () => {
    const { channel, peer } = connect({ withdrawal });
    await expect(peer.request("m", { n: 1n })).rejects.toMatchObject({
      name: "SerializationError",
      code: "SERIALIZATION",
    });
    expect(channel.sent).toEqual([]);
  });

  test("that is longer than a message may be is not sent", async () => {
    const { channel, peer } = connect({ limits: { messageBytesMax: 1_000 } });
    const asked = peer.request("m", { filler: "x".repeat(1_000) }, { timeoutMs: 50 });
    await expect(asked).rejects.toMatchObject({ name: "TransportError", code: "TOO_LARGE" });
    expect(channel.sent).toEqual([]);
  });

  test("asked on behalf of a request of theirs goes to the same place as its answer", async () => {
    const { channel } = connect({ handle: (_, exchange) => exchange.ask("roots/list", {}, {}) });
    channel.deliver(request("x"));
    channel.deliver('{"jsonrpc":"2.0","id":1,"result":"roots"}');
    await nextTurn();
    expect(channel.about).toEqual(["x", "x"]);
    expect(answers(channel)[1]).toEqual({ jsonrpc: "2.0", id: "x", result: "roots" });
  });
});

describe("with the clock in hand", () => {
  /** Files share modules, so a deadline that another one left may keep the clock of all deadlines. */
  let foreignTimers = 0;

  beforeEach(() => {
    vi.useFakeTimers();
    new Scope(undefined, 1_000).close();
    vi.advanceTimersByTime(100);
    foreignTimers = vi.getTimerCount();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("a handler that never returns is answered with TIMEOUT and cancelled, and its id is free again", async () => {
    const scopes: Scope[] = [];
    const { channel, peer } = connect({
      limits: { answerMsMax: 3_000 },
      handle: (_, exchange) => {
        scopes.push(exchange.scope);
        return never();
      },
    });
    channel.deliver(request(1));
    vi.advanceTimersByTime(2_900);
    expect(channel.sent).toEqual([]);
    vi.advanceTimersByTime(1_200);
    expect(answers(channel)).toMatchObject([{ id: 1, error: { code: -32603, data: "TIMEOUT" } }]);
    expect(scopes[0]?.cancelReason).toMatchObject({ code: "TIMEOUT" });
    expect(peer.inFlightCount).toBe(0);
    vi.advanceTimersByTime(2_000);
    expect(vi.getTimerCount()).toBeLessThanOrEqual(foreignTimers);
  });

  test("a request that came later than another has its own deadline", () => {
    const { channel } = connect({ limits: { answerMsMax: 3_000 }, handle: never });
    channel.deliver(request(1));
    vi.advanceTimersByTime(2_000);
    channel.deliver(request(2));
    vi.advanceTimersByTime(2_000);
    expect(answers(channel)).toMatchObject([{ id: 1 }]);
    vi.advanceTimersByTime(2_000);
    expect(answers(channel)).toMatchObject([{ id: 1 }, { id: 2 }]);
  });

  test("a result after the deadline is dropped", async () => {
    const work = deferred();
    const { channel } = connect({ limits: { answerMsMax: 1_000 }, handle: () => work.promise });
    channel.deliver(request(1));
    vi.advanceTimersByTime(3_000);
    work.resolve("late");
    await vi.advanceTimersByTimeAsync(1);
    expect(answers(channel)).toMatchObject([{ id: 1, error: { data: "TIMEOUT" } }]);
  });

  test("a request kept open has no deadline", () => {
    const { channel, peer } = connect({
      limits: { answerMsMax: 1_000 },
      handle: (_, exchange) => {
        exchange.keepOpen();
        return never();
      },
    });
    channel.deliver(request(1));
    vi.advanceTimersByTime(3_600_000);
    expect(channel.sent).toEqual([]);
    expect(peer.inFlightCount).toBe(1);
    peer.cancel(1, new HallError("CANCELLED", "end"));
  });

  test("a request of ours that times out is withdrawn, and its late answer counted as stray", async () => {
    const { channel, peer } = connect({ withdrawal });
    const asked = peer.request("slow", {}, { timeoutMs: 500, about: 9 });
    const rejected = expect(asked).rejects.toMatchObject({ code: "TIMEOUT" });
    await vi.advanceTimersByTimeAsync(499);
    expect(channel.sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    await rejected;
    expect(answers(channel)[1]).toMatchObject({ method: "withdraw", params: { id: 1 } });
    expect(channel.about).toEqual([9, 9]);
    channel.deliver('{"jsonrpc":"2.0","id":1,"result":"late"}');
    expect(peer.junkCount).toBe(1);
    expect(vi.getTimerCount()).toBeLessThanOrEqual(foreignTimers);
  });

  test("a request of ours that is answered leaves no timer", async () => {
    const { channel, peer } = connect({ withdrawal });
    const asked = peer.request("quick", {}, { timeoutMs: 500 });
    channel.deliver('{"jsonrpc":"2.0","id":1,"result":"here"}');
    expect(await asked).toBe("here");
    // The clock of all deadlines stops at its next tick.
    vi.advanceTimersByTime(100);
    expect(vi.getTimerCount()).toBeLessThanOrEqual(foreignTimers);
  });

  test("a slow reader is not read from past the limit, and read from again when it has caught up", () => {
    const { channel, peer } = connect({
      limits: { writeQueueBytesMax: 1_000, stalledMsMax: 10_000 },
      handle: () => "x".repeat(600),
    });
    channel.isStuck = true;
    channel.deliver(request(1));
    expect(channel.isPaused).toBe(false);
    expect(peer.isFull).toBe(false);
    channel.deliver(request(2));
    expect(channel.isPaused).toBe(true);
    expect(peer.isFull).toBe(true);
    vi.advanceTimersByTime(9_999);
    channel.read();
    expect(channel.isPaused).toBe(false);
    vi.advanceTimersByTime(60_000);
    expect(channel.closeCalls).toEqual([]);
  });

  test("a reader is read again once it has caught up, also after it was held back and released", () => {
    const { channel, peer } = connect({
      limits: { writeQueueBytesMax: 1_000 },
      handle: () => "x".repeat(1_200),
    });
    peer.hold();
    expect(channel.isPaused).toBe(true);
    peer.release();
    expect(channel.isPaused).toBe(false);
    channel.isStuck = true;
    channel.deliver(request(1));
    expect(channel.isPaused).toBe(true);
    channel.read();
    expect(channel.isPaused).toBe(false);
  });

  test("a reader that stays slow is disconnected, once, without waiting for the queue", () => {
    const closed = vi.fn();
    const { channel } = connect({
      limits: { writeQueueBytesMax: 1_000, stalledMsMax: 10_000 },
      handle: () => "x".repeat(600),
      closed,
    });
    channel.isStuck = true;
    for (let id = 1; id <= 5; id++) channel.deliver(request(id));
    vi.advanceTimersByTime(9_999);
    expect(channel.closeCalls).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(channel.closeCalls).toEqual(["now"]);
    expect(closed).toHaveBeenCalledOnce();
    vi.advanceTimersByTime(60_000);
    expect(channel.closeCalls).toEqual(["now"]);
  });

  test("notifications for a reader that is behind are left out and counted, answers are not", () => {
    const { channel, peer } = connect({
      limits: { writeQueueBytesMax: 1_000 },
      handle: () => "x".repeat(1_200),
    });
    channel.isStuck = true;
    peer.notify("heard", {});
    channel.deliver(request(1));
    peer.notify("left out", {});
    channel.deliver(request(2));
    channel.read();
    peer.notify("heard again", {});
    expect(answers(channel)).toMatchObject([
      { method: "heard" },
      { id: 1 },
      { id: 2 },
      { method: "heard again" },
    ]);
  });

  test("a reader that is slow twice gets the whole time twice", () => {
    const { channel } = connect({
      limits: { writeQueueBytesMax: 1_000, stalledMsMax: 10_000 },
      handle: () => "x".repeat(1_200),
    });
    channel.isStuck = true;
    channel.deliver(request(1));
    vi.advanceTimersByTime(8_000);
    channel.read();
    channel.deliver(request(2));
    expect(channel.isPaused).toBe(true);
    vi.advanceTimersByTime(9_999);
    expect(channel.closeCalls).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(channel.closeCalls).toEqual(["now"]);
  });

  test("a reader whose queue is below the limit again after the time is read from, not cut, though it has not read everything", () => {
    const { channel } = connect({
      limits: { writeQueueBytesMax: 1_000, stalledMsMax: 10_000 },
      handle: () => "x".repeat(1_200),
    });
    channel.isStuck = true;
    channel.deliver(request(1));
    vi.advanceTimersByTime(5_000);
    channel.read(400);
    vi.advanceTimersByTime(10_000);
    expect(channel.closeCalls).toEqual([]);
    expect(channel.isPaused).toBe(false);
  });

  test("a lost connection leaves no timer in any state", async () => {
    const { channel, peer } = connect({
      limits: { writeQueueBytesMax: 1_000 },
      handle: ({ id }) => (id === 1 ? never() : "x".repeat(1_200)),
    });
    channel.isStuck = true;
    channel.deliver(request(1));
    channel.deliver(request(2));
    const asked = peer.request("m", {}, { timeoutMs: 5_000 });
    const rejected = expect(asked).rejects.toBeInstanceOf(HallError);
    channel.lose();
    await rejected;
    vi.advanceTimersByTime(100);
    expect(vi.getTimerCount()).toBeLessThanOrEqual(foreignTimers);
  });

  test("a frame after the connection was lost is not served and starts no timer", () => {
    const handle = vi.fn(never);
    const { channel, peer } = connect({ handle });
    channel.lose();
    channel.deliver(request(1));
    expect(handle).not.toHaveBeenCalled();
    expect(peer.inFlightCount).toBe(0);
    expect(vi.getTimerCount()).toBeLessThanOrEqual(foreignTimers);
  });
});

describe("a line that is lost", () => {
  test("in the middle of work cancels every handler, sends nothing more, and leaves no rejection unhandled", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", note);
    onTestFinished(() => void process.off("unhandledRejection", note));
    const work = [deferred(), deferred(), deferred()];
    const scopes: Scope[] = [];
    const closed = vi.fn();
    const { channel, peer } = connect({
      handle: ({ id }, exchange) => {
        scopes.push(exchange.scope);
        return work[Number(id)]?.promise;
      },
      closed,
    });
    for (const id of [0, 1, 2]) channel.deliver(request(id));
    channel.lose();
    expect(scopes.map((scope) => scope.cancelReason?.code)).toEqual([
      "UNAVAILABLE",
      "UNAVAILABLE",
      "UNAVAILABLE",
    ]);
    expect(scopes[0]?.signal.aborted).toBe(true);
    work[0]?.resolve("late");
    work[1]?.reject(new Error("late"));
    peer.notify("late", {});
    await nextTurn();
    await nextTurn();
    expect(channel.sent).toEqual([]);
    expect(peer.inFlightCount).toBe(0);
    expect(closed).toHaveBeenCalledOnce();
    expect(unhandled).toEqual([]);
  });

  test("while handlers wait for their scope sends no answer", async () => {
    const { channel } = connect({ handle: (_, exchange) => exchange.scope.race(never()) });
    channel.deliver(request(1));
    channel.lose();
    await nextTurn();
    expect(channel.sent).toEqual([]);
  });

  test("ended is passed on, and running requests are still answered", async () => {
    const work = deferred();
    const ended = vi.fn();
    const { channel } = connect({ handle: () => work.promise, ended });
    channel.deliver(request(1));
    channel.end();
    expect(ended).toHaveBeenCalledOnce();
    work.resolve("answered");
    await nextTurn();
    expect(answers(channel)).toEqual([{ jsonrpc: "2.0", id: 1, result: "answered" }]);
  });
});

describe("drain", () => {
  const leaving = new HallError("UNAVAILABLE", "shutting down");

  test("resolves at once when nothing runs", async () => {
    const { peer } = connect({});
    await peer.drain(leaving);
    expect(peer.inFlightCount).toBe(0);
  });

  test("waits for running requests and refuses new ones", async () => {
    const work = deferred();
    const { channel, peer } = connect({ handle: () => work.promise });
    channel.deliver(request(1));
    let isDrained = false;
    const drained = peer.drain(leaving).then(() => {
      isDrained = true;
    });
    channel.deliver(request(2));
    await nextTurn();
    expect(isDrained).toBe(false);
    expect(answers(channel)).toMatchObject([
      { id: 2, error: { data: "UNAVAILABLE", message: "shutting down" } },
    ]);
    work.resolve("done");
    await drained;
    expect(answers(channel)[1]).toEqual({ jsonrpc: "2.0", id: 1, result: "done" });
  });

  test("cancels long-lived requests, and only those", async () => {
    const work = deferred();
    const scopes: Scope[] = [];
    const { channel, peer } = connect({
      handle: ({ id }, exchange) => {
        scopes.push(exchange.scope);
        if (id !== "standing") return work.promise;
        exchange.keepOpen();
        return exchange.scope.race(never());
      },
    });
    channel.deliver(request("standing"));
    channel.deliver(request("plain"));
    const drained = peer.drain(leaving);
    expect(scopes.map((scope) => scope.cancelReason)).toEqual([leaving, undefined]);
    work.resolve("done");
    await drained;
    expect(answers(channel)).toHaveLength(2);
  });

  test("resolves for every caller, also when the connection is lost", async () => {
    const { channel, peer } = connect({ handle: never });
    channel.deliver(request(1));
    const waiting = [peer.drain(leaving), peer.drain(leaving)];
    channel.lose();
    await Promise.all(waiting);
    expect(peer.inFlightCount).toBe(0);
  });
});

describe("close", () => {
  test("answers running requests with its reason, cancels handlers, then closes the channel", async () => {
    const reason = new HallError("UNAVAILABLE", "going down");
    const scopes: Scope[] = [];
    const closed = vi.fn();
    const { channel, peer } = connect({
      handle: (_, exchange) => {
        scopes.push(exchange.scope);
        return never();
      },
      closed,
    });
    channel.deliver(request(1));
    channel.deliver(request("2"));
    await peer.close(reason);
    expect(answers(channel)).toMatchObject([
      { id: 1, error: { message: "going down" } },
      { id: "2", error: { message: "going down" } },
    ]);
    expect(scopes.map((scope) => scope.cancelReason)).toEqual([reason, reason]);
    expect(channel.closeCalls).toEqual(["flushed"]);
    expect(closed).toHaveBeenCalledOnce();
  });

  test("may be called again", async () => {
    const closed = vi.fn();
    const { channel, peer } = connect({ handle: never, closed });
    channel.deliver(request(1));
    await Promise.all([peer.close(), peer.close()]);
    await peer.close();
    expect(answers(channel)).toHaveLength(1);
    expect(closed).toHaveBeenCalledOnce();
  });

  test("rejects pending requests", async () => {
    const { peer } = connect({});
    const asked = peer.request("m", {});
    const rejected = expect(asked).rejects.toBeInstanceOf(HallError);
    await peer.close();
    await rejected;
  });
});

describe("two peers on a memory pair", () => {
  test("ask each other at the same time with the same ids, and each gets its own answers", async () => {
    const [left, right] = createMemoryPair();
    const alice = new Peer(
      left,
      options({ handle: async ({ params }) => `alice heard ${params?.n}` }),
    );
    const bob = new Peer(
      right,
      options({ handle: async ({ params }) => `bob heard ${params?.n}` }),
    );
    const numbers = [1, 2, 3];
    const [fromBob, fromAlice] = await Promise.all([
      Promise.all(numbers.map((n) => alice.request("say", { n }))),
      Promise.all(numbers.map((n) => bob.request("say", { n }))),
    ]);
    expect(fromBob).toEqual(["bob heard 1", "bob heard 2", "bob heard 3"]);
    expect(fromAlice).toEqual(["alice heard 1", "alice heard 2", "alice heard 3"]);
    await alice.close();
  });

  test("one that closes answers the other's open request before the line goes", async () => {
    const [left, right] = createMemoryPair();
    const alice = new Peer(left, options({}));
    const bob = new Peer(right, options({ handle: never }));
    const asked = alice.request("wait", {});
    const rejected = expect(asked).rejects.toMatchObject({
      code: "EXECUTION",
      message: "going home",
    });
    await nextTurn();
    await bob.close(new HallError("UNAVAILABLE", "going home"));
    await rejected;
  });
});

type Setup = Partial<Omit<PeerOptions, "limits">> & { readonly limits?: Partial<Limits> };

function connect(setup: Setup): { readonly channel: FakeChannel; readonly peer: Peer } {
  const channel = new FakeChannel();
  return { channel, peer: new Peer(channel, options(setup)) };
}

function options({ limits, ...rest }: Setup): PeerOptions {
  return {
    handle: () => null,
    notified: () => {},
    explain,
    ...rest,
    limits: { ...defaultLimits, ...limits },
  };
}

/** Like the server's edge: the table's number, and our own code as data. */
function explain(failure: unknown): Reply {
  const error = failure instanceof HallError ? failure : new HallError("INTERNAL", String(failure));
  return {
    error: { code: errorTable[error.code].request, message: error.message, data: error.code },
  };
}

function withdrawal(id: Id, reason: string) {
  return { method: "withdraw", params: { id, reason } };
}

function request(id: Id, params: object = {}): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method: "m", params });
}

function answers(channel: FakeChannel): unknown[] {
  return channel.sent.map((frame) => JSON.parse(frame) as unknown);
}

function deferred() {
  let resolve: (value: unknown) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<unknown>((onValue, onReason) => {
    resolve = onValue;
    reject = onReason;
  });
  return { promise, resolve, reject };
}

function never(): Promise<unknown> {
  return new Promise(() => {});
}

function fail(): never {
  throw new HallError("EXECUTION", "it failed");
}

function cycle(): object {
  const loop: { self?: object } = {};
  loop.self = loop;
  return loop;
}

function nest(levels: number): unknown {
  let list: unknown[] = [];
  for (let level = 0; level < levels; level++) list = [list];
  return list;
}
