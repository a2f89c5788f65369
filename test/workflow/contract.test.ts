import { expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { createToolkit } from "../servers/toolkits.ts";
import { startBench } from "./bench.ts";
import { makeProject } from "./projects.ts";

/** The server's side of document 002, line by line on byte streams. */
test("a session as document 002 writes it: initialize, tools/list, speckit.specify with progress", async () => {
  using project = makeProject();
  await using bench = await startBench({ folder: project.folder });
  const client = bench.hall.connectStdio();
  client.send({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "spec-tui", version: "0.1.0" },
    },
  });
  expect(await client.answer(1)).toMatchObject({
    jsonrpc: "2.0",
    result: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: "guildhall", version: expect.any(String) },
    },
  });
  client.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  client.send({ jsonrpc: "2.0", id: 2, method: "tools/list" });
  const { tools } = (await client.answer(2)).result as { tools: JsonObject[] };
  const described = (name: string) => tools.find((tool) => tool.name === name)?.description;
  expect(described("speckit.specify")).toContain("Create or update feature specification");
  expect(described("speckit.plan")).toContain("Generate implementation plan");

  const directory = project.path("specs/001-feature");
  const call = (id: number, meta: JsonObject): void =>
    client.send({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: {
        name: "speckit.specify",
        arguments: { feature_description: "Users upload photos", spec_directory: directory },
        ...meta,
      },
    });
  call(3, { _meta: { progressToken: "tool-3" } });
  expect((await client.answer(3)).result).toMatchObject({
    content: [
      {
        type: "text",
        text: expect.stringMatching(
          new RegExp(`^Specification created successfully at ${directory}/spec\\.md`),
        ),
      },
      {},
    ],
    isError: false,
  });
  const progress = client.received.filter(({ method }) => method === "notifications/progress");
  expect(progress[0]).toEqual({
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: {
      progressToken: "tool-3",
      progress: 10,
      total: 100,
      message: "Reading the description",
    },
  });

  call(4, {});
  await client.answer(4);
  expect(client.received.filter(({ method }) => method === "notifications/progress")).toHaveLength(
    progress.length,
  );

  client.send({ jsonrpc: "2.0", id: 99, method: "shutdown" });
  expect(await client.answer(99)).toEqual({ jsonrpc: "2.0", id: 99, result: null });
  client.send({ jsonrpc: "2.0", id: 100, method: "tools/list" });
  expect(await client.answer(100)).toMatchObject({ error: { code: -32600 } });
  client.send({ jsonrpc: "2.0", method: "exit" });
  await client.closed;
});

test("errors have the codes of document 002", async () => {
  using project = makeProject();
  const broken = createToolkit("broken", {
    bug: {
      run: () => {
        throw new TypeError("bug");
      },
    },
    fails: {
      run: () => {
        throw new HallError("EXECUTION", "the disk is full");
      },
    },
  });
  await using bench = await startBench({ folder: project.folder }, { toolkits: [broken] });
  const client = bench.hall.connectStdio();
  await client.greet();
  const lines: readonly (readonly [string, number])[] = [
    ["{broken", -32700],
    ['{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":8,"method":"no/such"}', -32601],
    ['{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"arguments":{}}}', -32602],
    ['{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"broken.bug"}}', -32603],
  ];
  for (const [line, code] of lines) {
    client.sendBytes(`${line}\n`);
    const answer = await client.take(({ error }) => error !== undefined, line);
    expect(answer, line).toMatchObject({ error: { code } });
  }
  // A tool that fails answers with isError, as MCP says; document 002 has -32000 for it.
  expect(await client.result("tools/call", { name: "broken.fails" })).toMatchObject({
    isError: true,
    structuredContent: { error_type: "execution", message: "the disk is full" },
  });
});
