import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { connect, serve, tool, toolkit } from "../../src/index.ts";

const everything = {
  command: process.execPath,
  args: [
    fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js")),
  ],
};

const shout = toolkit({
  name: "speech",
  description: "Ways to say it",
  category: "TEXT",
  tools: [
    tool(
      {
        name: "shout",
        description: "Says it louder.",
        input: z.object({ words: z.string() }),
        readOnly: true,
      },
      ({ words }) => ({ said: words.toUpperCase() }),
    ),
  ],
});

test("connects to a program over stdio, lists and calls its tools, and ends it", async () => {
  await using client = await connect(everything);
  const names = (await client.listTools()).map(({ name }) => name);
  expect(names).toContain("echo");
  const result = await client.callTool("echo", { message: "hello" });
  expect(JSON.stringify(result.content)).toContain("hello");
  const [resource] = await client.listResources();
  const { contents } = await client.readResource(String(resource?.uri));
  expect(contents).toHaveLength(1);
});

test("connects over HTTP, and a tool's failure is a result", async () => {
  const serving = await serve(shout, { port: 0 });
  onTestFinished(() => serving.close());
  await using client = await connect({ url: String(serving.url) });
  const said = await client.callTool("shout", { words: "hi" });
  expect(said.structuredContent).toEqual({ said: "HI" });
  expect(await client.callTool("shout", {})).toMatchObject({ isError: true });
});

test("a message of a hall has no facts for programs at its end", async () => {
  const serving = await serve(shout, { port: 0 });
  onTestFinished(() => serving.close());
  await using client = await connect({ url: String(serving.url) });
  await expect(client.callTool("shot", {})).rejects.toMatchObject({
    code: "NOT_FOUND",
    message: expect.stringMatching(/did you mean shout\?$/),
    details: { near: ["shout"] },
  });
});

test("a server that does not answer is reported as unavailable", async () => {
  await expect(connect({ command: process.execPath, args: ["-e", ""] })).rejects.toMatchObject({
    code: "UNAVAILABLE",
  });
});

test("a request that is silent for too long fails with a timeout", async () => {
  const program = `process.stdin.on("data", (data) => {
    for (const line of String(data).trim().split("\\n")) {
      const { id, method } = JSON.parse(line);
      if (method === "initialize") console.log(JSON.stringify({ jsonrpc: "2.0", id, result: {
        protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "mute", version: "1" } } }));
      else if (method === "server/discover") console.log(JSON.stringify({ jsonrpc: "2.0", id,
        error: { code: -32601, message: "unknown" } }));
    }
  });`;
  await using client = await connect(
    { command: process.execPath, args: ["-e", program] },
    { silentMsMax: 50 },
  );
  await expect(client.listTools()).rejects.toMatchObject({
    code: "TIMEOUT",
    message: "tools/list: no message for 0.05 s",
  });
});
