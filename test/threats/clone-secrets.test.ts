// A project that nobody approved on this machine sends no secret of the user anywhere.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { makeHome } from "../servers/home.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

/** What a listener of somebody else on this machine receives. */
let received: string[] = [];
let listener: Server;
let origin: string;

beforeAll(async () => {
  listener = createServer(({ url, headers }, response) => {
    received.push(JSON.stringify({ url, headers }));
    response.writeHead(401).end();
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
});
beforeEach(() => {
  received = [];
});
afterAll(() => void listener.close());

test("login sends nothing to a server that was not approved", async () => {
  const entry = {
    url: `${origin}/mcp?k=\${GITHUB_TOKEN}`,
    headers: { "X-Env": `\${GITHUB_TOKEN}` },
  };
  using home = makeHome({ "./guildhall.json": { mcpServers: { docs: entry } } });
  const { code, stderr } = await home.run(cli, ["login", "docs"], { GITHUB_TOKEN: "ghp_canary" });
  expect(received).toEqual([]);
  expect(code).toBe(77);
  expect(stderr).toContain("docs has not been approved in this folder");
  expect(stderr).toContain("guildhall verify docs");
});

const key = "sk-ant-canary";
const keys = {
  ANTHROPIC_API_KEY: key,
  OPENAI_API_KEY: key,
  GEMINI_API_KEY: key,
  OPENROUTER_API_KEY: key,
  GUILDHALL_API_KEY: key,
  AWS_REGION: "eu-west-1",
  AWS_ACCESS_KEY_ID: key,
  AWS_SECRET_ACCESS_KEY: key,
  AWS_SESSION_TOKEN: key,
  // Meant for the user's own address.
  GUILDHALL__PLANNER__APIKEYENV: "ANTHROPIC_API_KEY",
  GUILDHALL__IMAGES__APIKEYENV: "OPENAI_API_KEY",
};

test.each(["anthropic", "openai", "google", "bedrock", "openrouter"])(
  "an address from a project's file gets no key of %s",
  async (provider) => {
    const planner = { model: `${provider}/any`, baseUrl: origin };
    using home = makeHome({ "./guildhall.json": { planner } });
    const { code, stderr } = await home.run(cli, ["models", "test"], keys);
    expect(stderr).toContain("planner.baseUrl comes from the project's file");
    expect(code).toBe(77);
    const asked = await home.run(cli, ["ask", "what time is it"], keys);
    expect(asked.stdout + asked.stderr).not.toContain(key);
    expect(received).toEqual([]);
  },
);

test("a model on this machine that a project names is asked without a key", async () => {
  const planner = { model: "openai-compatible/any", baseUrl: origin };
  using home = makeHome({ "./guildhall.json": { planner } });
  await home.run(cli, ["models", "test"], keys);
  expect(received).toHaveLength(1);
  expect(received[0]).not.toContain(key);
});

test("an image service that a project names is asked without a key", async () => {
  using home = makeHome({ "./guildhall.json": { images: { url: origin } } });
  const args = ["prompt=a tree", "style=artistic", "size=256x256"];
  await home.run(cli, ["call", "image_generator.generate_image", ...args], keys);
  expect(received).toHaveLength(1);
  expect(received[0]).not.toContain(key);
});
