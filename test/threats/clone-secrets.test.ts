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
  expect(stderr).toContain("docs has not been approved on this machine");
  expect(stderr).toContain("guildhall verify docs");
});
