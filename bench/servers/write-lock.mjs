// Writes a project's config and lock as `guildhall build` would, without starting a hundred
// servers. Bundled before it runs.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hashOf } from "../../src/base/json.ts";
import { lockServer, writeLock } from "../../src/upstream/lock.ts";
import { echoTool } from "./echo-tool.mjs";

const [folder, upstreams, toolsEach, command, ...args] = process.argv.slice(2);
const handshake = {
  era: "legacy",
  version: "2025-06-18",
  info: { name: "upstream", version: "1.0.0" },
  capabilities: { tools: {} },
  instructions: undefined,
};

const mcpServers = {};
const servers = {};
for (let i = 0; i < Number(upstreams); i++) {
  const name = `upstream-${i}`;
  mcpServers[name] = { command, args };
  const tools = Array.from({ length: Number(toolsEach) }, (_, j) => ({
    ...echoTool,
    name: `echo_${j}`,
    description: `Says a message back, the way number ${j} of ${name} does it. Give it something short to say, and how often.`,
  }));
  servers[name] = lockServer(hashOf([command, args, [], null]), handshake, {
    tools,
    resources: [],
    templates: [],
    prompts: [],
  });
}
await writeFile(join(folder, "guildhall.json"), JSON.stringify({ expose: "tools", mcpServers }));
await writeLock(folder, { lockVersion: 1, servers });
