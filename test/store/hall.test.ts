import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { Secrets } from "../../src/base/log.ts";
import { Scope } from "../../src/base/scope.ts";
import { createExporter, type Span } from "../../src/gateway/otlp.ts";
import { findRetries } from "../../src/hall/retries.ts";
import { writeMetrics } from "../../src/server/http/metrics.ts";
import type { Outcome } from "../../src/tool.ts";
import { easingOf } from "../../src/trust/easing.ts";
import { openLedger } from "../../src/trust/ledger.ts";
import { pinOf } from "../../src/trust/pin.ts";
import { reviewServer } from "../../src/trust/review.ts";
import { openDoor } from "../servers/door.ts";
import { startHall } from "../servers/hall.ts";
import { createEchoToolkit, createSlowToolkit, createToolkit, text } from "../servers/toolkits.ts";
import { until } from "../servers/until.ts";
import { type Built, buildStore } from "./built.ts";

/** Recording of calls by a hall: store, resources, metrics and traces. */
let built: Built;
const folder = mkdtempSync(join(tmpdir(), "guildhall-recording-"));

beforeAll(async () => {
  built = await buildStore();
});

afterAll(() => {
  built.remove();
  rmSync(folder, { recursive: true, force: true });
});

const failing = createToolkit("failing", {
  broken: {
    run: () => {
      throw new HallError("EXECUTION", "it broke");
    },
  },
  sorry: { run: () => ({ ...text("sorry"), isError: true }) },
});

describe("a call", () => {
  test("is recorded however it ends, with its caller, sizes and a digest of its arguments", async () => {
    const startedAt = Date.now();
    await using test = await startHall({ toolkits: [createEchoToolkit(), failing] });
    const client = test.connect();
    await client.greet();
    for (const [name, args] of Object.entries({
      "echo.echo": { a: 1, b: "é" },
      "failing.sorry": {},
      "failing.broken": {},
      "no.such": {},
      "echo.typed": {},
    })) {
      await client.request("tools/call", { name, arguments: args });
    }
    const calls = await test.hall.store.calls.list();
    expect(calls.map(({ tool, toolkit, outcome, code }) => [tool, toolkit, outcome, code])).toEqual(
      [
        ["echo.echo", "echo", "ok", null],
        ["failing.sorry", "failing", "error", null],
        ["failing.broken", "failing", "failed", "EXECUTION"],
        ["no.such", null, "failed", "NOT_FOUND"],
        ["echo.typed", "echo", "failed", "VALIDATION"],
      ],
    );
    const [first] = calls;
    expect(first).toMatchObject({
      parent: null,
      root: first?.id,
      bytesIn: Buffer.byteLength('{"a":1,"b":"é"}'),
      arguments: null,
      result: null,
      digest: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(first?.caller).toContain("test");
    expect(first?.bytesOut).toBeGreaterThan(30);
    expect(first?.at).toBeGreaterThanOrEqual(startedAt);
  });

  test("made by another call has it as parent, and the client's call as root", async () => {
    const nesting = createToolkit("nest", {
      call: { run: (_args, context) => context.call?.("echo.echo", {}) ?? text("cannot") },
    });
    await using test = await startHall({ toolkits: [createEchoToolkit(), nesting] });
    const client = test.connect();
    await client.greet();
    await client.result("tools/call", { name: "nest.call", arguments: {} });
    const [inner, outer] = await test.hall.store.calls.list();
    expect(inner).toMatchObject({ tool: "echo.echo", parent: outer?.id, root: outer?.id });
    expect(outer).toMatchObject({ tool: "nest.call", parent: null, root: outer?.id });
  });

  test("that was retried keeps its retries after a restart of the hall, without secrets", async () => {
    const secrets = new Secrets();
    secrets.add("key-of-the-shelf");
    const store = { path: join(folder, "retries.db"), worker: built.worker };
    let failures = 2;
    const shelf = createToolkit(
      "shelf",
      {
        read: {
          annotations: { readOnlyHint: true },
          run() {
            if (failures-- > 0) throw new HallError("UNAVAILABLE", "no door for key-of-the-shelf");
            return text("read");
          },
        },
      },
      { source: "registered" },
    );
    const first = await startHall({ toolkits: [shelf], secrets, store });
    await first.hall.call("shelf.read");
    await first.hall.call("shelf.read");
    await first.hall.close();

    await using second = await startHall({ store });
    const [retried, plain] = await second.hall.store.calls.list();
    expect(await findRetries(second.hall.store.retries, retried?.id ?? "")).toEqual(
      Array.from({ length: 2 }, () => ({
        call: retried?.id,
        at: expect.any(Number),
        delayMs: expect.any(Number),
        reason: expect.stringMatching(/^no door for (?!key-of-the-shelf)/),
      })),
    );
    expect(await findRetries(second.hall.store.retries, plain?.id ?? "")).toEqual([]);
  });

  test("that waits for its row while the hall closes does not run, and its one row says so", async () => {
    const store = { path: join(folder, "closing.db"), worker: built.worker };
    let runs = 0;
    const wipe = (): Outcome => {
      runs++;
      return text("wiped");
    };
    const shelf = createToolkit(
      "shelf",
      { wipe: { annotations: { destructiveHint: true }, run: wipe } },
      { source: "upstream" },
    );
    const [tool] = await shelf.list();
    if (!tool) throw new Error("no tool");
    const ledger = openLedger("/the/project", { folder: join(folder, "trust"), warn() {} });
    const review = { source: "as it is", reached: "shelf", eased: easingOf("shelf", {}) };
    await ledger.change(() => ({
      servers: { shelf: reviewServer({ ...review, tools: [tool] }) },
      grants: { "shelf.wipe": { grantedAt: 0, pin: pinOf(tool) } },
    }));
    const first = await startHall({ toolkits: [shelf], trust: { ledger }, store });
    const client = first.connect();
    await client.greet();
    client.ask("tools/call", { name: "shelf.wipe", arguments: {} });
    await until(() => first.hall.meter.running > 0, "the call to begin");
    await first.hall.close();
    expect(runs).toBe(0);

    await using second = await startHall({ store });
    const calls = await second.hall.store.calls.list();
    expect(calls.map(({ tool, outcome, code }) => [tool, outcome, code])).toEqual([
      ["shelf.wipe", "failed", "UNAVAILABLE"],
    ]);
  });

  test("is not read while the store is full; all calls are answered and recorded", async () => {
    const path = join(folder, "full.db");
    await using test = await startHall({
      toolkits: [createEchoToolkit()],
      store: { path, worker: built.worker, fullAt: 50 },
    });
    const { store } = test.hall;
    let timesFull = 0;
    store.onFull((isFull) => (timesFull += Number(isFull)));
    const client = test.connectStdio();
    await client.greet();
    for (let round = 0; round < 6; round++) {
      const ids = Array.from({ length: 500 }, (_, index) =>
        client.ask("tools/call", { name: "echo.echo", arguments: { index } }),
      );
      for (const id of ids)
        expect((await client.answer(id)).result).toMatchObject({ structuredContent: {} });
    }
    await store.flush();
    expect(timesFull).toBeGreaterThan(0);
    expect((await store.statistics()).total).toMatchObject({ calls: 3_000, errors: 0 });
    expect(store.state()).toMatchObject({ lost: 0, waiting: 0, problem: undefined });
  });
});

test("secrets in names, arguments, results, errors and decisions are never written, even with full recording", async () => {
  const path = join(folder, "secrets.db");
  const secrets = new Secrets();
  const canaries = Array.from({ length: 50 }, (_, index) => `canary-${index}-"quoted"/and+odd`);
  for (const canary of canaries) secrets.add(canary);
  const hidden = "hunter2-nobody-told-us-about";
  const leaky = createToolkit("leaky", {
    say: {
      run: (args) => ({
        ...text(String(args.secret)),
        structuredContent: { api_key: hidden, said: args },
      }),
    },
    fail: {
      run: (args) => {
        throw new HallError("EXECUTION", `cannot open the door with ${args.secret}`);
      },
    },
  });
  const test = await startHall({
    toolkits: [leaky],
    secrets,
    record: "full",
    store: { path, worker: built.worker },
  });
  for (const canary of canaries) {
    const client = test.connect();
    await client.result("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: `client ${canary}`, version: "1" },
    });
    client.notify("notifications/initialized");
    for (const name of ["leaky.say", "leaky.fail", `unknown ${canary}`]) {
      await client.request("tools/call", {
        name,
        arguments: {
          secret: canary,
          deep: { password: hidden, list: [canary, encodeURIComponent(canary)] },
        },
      });
    }
    await test.hall.note({
      kind: "blocked",
      subject: `tool ${canary}`,
      caller: canary,
      reason: `because of ${canary}`,
      details: { why: [canary] },
    });
  }
  const kept = await test.hall.store.calls.list({ limit: 1_000 });
  expect(kept).toHaveLength(150);
  expect(kept[0]).toMatchObject({
    caller: expect.stringContaining("client ***"),
    arguments: expect.stringContaining('"secret":"***"'),
  });
  await test.hall.close();
  const file = readFileSync(path, "latin1");
  const forms = (canary: string): readonly string[] => [
    canary,
    JSON.stringify(canary).slice(1, -1),
    encodeURIComponent(canary),
  ];
  expect(canaries.flatMap(forms).filter((form) => file.includes(form))).toEqual([]);
  expect(file).not.toContain(hidden);
  expect(file).toContain("leaky.say");
});

test("resources of the hall show statistics, health and trust", async () => {
  await using test = await startHall({ toolkits: [createEchoToolkit()], hasOwnResources: true });
  const client = test.connect();
  await client.greet();
  await client.result("tools/call", { name: "echo.echo", arguments: {} });
  const { resources } = await client.result("resources/list");
  expect((resources as JsonObject[]).map(({ uri }) => uri)).toEqual([
    "guildhall://health",
    "guildhall://stats",
    "guildhall://trust",
  ]);
  const read = async (uri: string): Promise<unknown> => {
    const { contents } = await client.result("resources/read", { uri });
    return JSON.parse(String((contents as JsonObject[])[0]?.text));
  };
  expect(await read("guildhall://stats")).toMatchObject({
    total: { calls: 1 },
    tools: [{ tool: "echo.echo", toolkit: "echo", calls: 1, errorRate: 0 }],
  });
  expect(await read("guildhall://health")).toMatchObject({
    store: { kind: "memory" },
    toolkits: [{ toolkit: "echo", state: "available" }],
  });
  expect(await read("guildhall://trust")).toEqual({ isGuarded: false, tools: [] });
  expect(await client.request("resources/read", { uri: "guildhall://other" })).toMatchObject({
    error: { code: -32002 },
  });
});

test("a cancelled call is counted as cancelled, not as an error, in statistics and metrics", async () => {
  const slow = createSlowToolkit();
  await using test = await startHall({ toolkits: [slow], hasOwnResources: true });
  const { meter, store, server } = test.hall;
  const client = test.connect();
  await client.greet();
  const id = client.ask("tools/call", { name: "slow.wait", arguments: {} });
  await expect.poll(() => slow.running).toBe(1);
  client.notify("notifications/cancelled", { requestId: id });
  await expect
    .poll(async () => (await store.statistics()).total)
    .toMatchObject({ calls: 1, errors: 0, cancelled: 1, errorRate: 0 });
  const { contents } = (await client.result("resources/read", { uri: "guildhall://stats" })) as {
    contents: [{ text: string }];
  };
  expect(JSON.parse(contents[0].text)).toMatchObject({
    tools: [{ tool: "slow.wait", errors: 0, cancelled: 1 }],
  });
  const metrics = writeMetrics({
    version: "1.2.3",
    meter,
    store,
    clients: () => server.clientCount,
  });
  expect(metrics).toContain(
    'guildhall_calls_total{toolkit="slow",tool="slow.wait",outcome="cancelled"} 1',
  );
});

test("metrics need the token and are in the Prometheus format", async () => {
  let metrics = (): string => "";
  await using door = await openDoor({
    toolkits: [createEchoToolkit(), failing],
    metrics: () => metrics(),
  });
  const { meter, store, server } = door.hall;
  metrics = () =>
    writeMetrics({ version: "1.2.3", meter, store, clients: () => server.clientCount });
  const context = { scope: new Scope(), progress() {}, log() {}, ask: async () => ({}) };
  const call = async (name: string): Promise<unknown> =>
    door.hall.gateway.call(
      {
        id: name,
        name,
        arguments: {},
        caller: { connection: "c", principal: "local", client: "t" },
      },
      context,
    );
  for (const name of ["echo.echo", "echo.echo", "failing.broken", 'no "such"'])
    await call(name).catch(() => {});
  expect((await door.send({ method: "GET", path: "/metrics" })).status).toBe(401);
  expect(
    (
      await door.send({
        method: "POST",
        path: "/metrics",
        headers: { authorization: `Bearer ${door.token}` },
      })
    ).status,
  ).toBe(405);
  const reply = await door.send({
    method: "GET",
    path: "/metrics",
    headers: { authorization: `Bearer ${door.token}` },
  });
  expect([reply.status, reply.headers["content-type"]]).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8",
  ]);
  const lines = reply.text.trim().split("\n");
  for (const line of lines)
    expect(line).toMatch(
      /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{([a-z]+="([^"\\\n]|\\.)*",?)+\})? [\d.e+-]+)$/,
    );
  expect(lines).toContain('guildhall_calls_total{toolkit="echo",tool="echo.echo",outcome="ok"} 2');
  expect(lines).toContain(
    'guildhall_calls_total{toolkit="failing",tool="failing.broken",outcome="execution"} 1',
  );
  expect(lines).toContain(
    'guildhall_calls_total{toolkit="(unknown)",tool="(unknown)",outcome="not_found"} 1',
  );
  expect(lines).toContain(
    'guildhall_call_duration_seconds_count{toolkit="echo",tool="echo.echo"} 2',
  );
  expect(lines).toContain(
    'guildhall_call_duration_seconds_bucket{toolkit="echo",tool="echo.echo",le="+Inf"} 2',
  );
  expect(lines).toContain("guildhall_store_up 1");
});

describe("traces", () => {
  interface SentSpan {
    readonly traceId: string;
    readonly spanId: string;
    readonly parentSpanId?: string;
    readonly name: string;
    readonly kind: number;
    readonly status?: { readonly code: number };
    readonly attributes: readonly {
      readonly key: string;
      readonly value: { readonly stringValue: string };
    }[];
  }

  /** A collector that answers with these statuses, then with 200. */
  async function openCollector(statuses: readonly number[] = []) {
    const spans: SentSpan[] = [];
    const paths: string[] = [];
    let requests = 0;
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const status = statuses[requests++] ?? 200;
        paths.push(request.url ?? "");
        const body = JSON.parse(Buffer.concat(chunks).toString()) as {
          resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[];
        };
        if (status === 200)
          spans.push(
            ...body.resourceSpans.flatMap(({ scopeSpans }) =>
              scopeSpans.flatMap((scope) => scope.spans),
            ),
          );
        response.writeHead(status, { "content-type": "application/json" }).end("{}");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { spans, paths, url, [Symbol.asyncDispose]: async () => void server.close() };
  }

  const given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  test("have a span for each call and nested call, below the client's span, and pass it on to tools", async () => {
    await using collector = await openCollector();
    const heard: unknown[] = [];
    const inner = createToolkit("inner", {
      listen: {
        run: (_args, { meta }) => {
          heard.push(meta);
          return text("heard");
        },
      },
    });
    const outer = createToolkit("outer", {
      call: { run: (_args, context) => context.call?.("inner.listen", {}) ?? text("cannot") },
    });
    const test = await startHall({
      toolkits: [inner, outer, failing],
      telemetry: { otlpUrl: collector.url },
    });
    const client = test.connect();
    await client.greet();
    await client.result("tools/call", {
      name: "outer.call",
      arguments: { secret: "s3cret" },
      _meta: { traceparent: given, tracestate: "a=b" },
    });
    await client.request("tools/call", {
      name: "failing.broken",
      arguments: {},
      _meta: { traceparent: "nonsense" },
    });
    await client.request("tools/call", { name: "s3cret", arguments: {} });
    await client.result("tools/call", {
      name: "inner.listen",
      arguments: {},
      _meta: { traceparent: given.replace(/01$/, "00") },
    });
    await test.hall.close();
    expect(collector.paths).toEqual(["/v1/traces"]);
    const [nested, root, failed, unknown, ...rest] = collector.spans;
    expect(rest).toEqual([]);
    expect(unknown).toMatchObject({ name: "tools/call (unknown)", status: { code: 2 } });
    expect(root).toMatchObject({
      traceId: given.slice(3, 35),
      parentSpanId: given.slice(36, 52),
      name: "tools/call outer.call",
      kind: 2,
    });
    expect(nested).toMatchObject({
      traceId: given.slice(3, 35),
      parentSpanId: root?.spanId,
      name: "tools/call inner.listen",
      kind: 1,
    });
    expect(failed).toMatchObject({ name: "tools/call failing.broken", status: { code: 2 } });
    expect(failed?.parentSpanId).toBeUndefined();
    expect(failed?.attributes).toContainEqual({
      key: "error.type",
      value: { stringValue: "execution" },
    });
    expect(heard[0]).toEqual({
      traceparent: `00-${nested?.traceId}-${nested?.spanId}-01`,
      tracestate: "a=b",
    });
    // Not sampled, but passed on.
    expect(heard[1]).toMatchObject({
      traceparent: expect.stringMatching(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[\da-f]{16}-00$/),
    });
    expect(JSON.stringify(collector.spans)).not.toContain("s3cret");
  });

  const span: Span = {
    traceId: "a",
    spanId: "b",
    parentSpanId: undefined,
    name: "n",
    isNested: false,
    startedAt: 1,
    endedAt: 2,
    errorType: undefined,
    attributes: {},
  };

  test("are sent again when the collector was unavailable", async () => {
    await using collector = await openCollector([429, 502, 503, 504]);
    const warned: string[] = [];
    const exporter = createExporter({
      url: `${collector.url}/v1/traces`,
      log: { warn: (_: unknown, message: string) => void warned.push(message) } as never,
      everyMs: 5,
    });
    exporter.send(span);
    await until(() => collector.spans.length === 1, "the span");
    await exporter.close();
    expect(collector.paths).toEqual(new Array(5).fill("/v1/traces"));
    expect(warned).toEqual([
      expect.stringContaining("cannot export traces"),
      "trace export works again",
    ]);
  });

  test("are dropped if the collector refuses them", async () => {
    await using collector = await openCollector([400]);
    const exporter = createExporter({
      url: collector.url,
      log: { warn: () => {} } as never,
      everyMs: 5,
    });
    exporter.send(span);
    await until(() => collector.paths.length === 1, "the refusal");
    exporter.send({ ...span, name: "next" });
    await until(() => collector.spans.length > 0, "the next span");
    await exporter.close();
    expect(collector.spans).toMatchObject([{ name: "next" }]);
  });
});
