// No silent failures: every command that lists things also names what cannot be used, and why.
import { beforeAll, expect, test } from "vitest";
import { type Home, makeHome } from "../servers/home.ts";
import { buildTestCli } from "../servers/process.ts";

let cli: string;
beforeAll(async () => {
  cli = await buildTestCli();
});

const kit = (id: string, tool: object): string =>
  `export const kit = { id: "${id}", list: async () => [${JSON.stringify(tool)}], call: async () => ({ content: [] }) };`;
const ok = { name: "look", description: "Looks around", inputSchema: { type: "object" } };

/** A server that lists one tool with a schema, one without, and one twice. */
const server = `import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  const ok = ${JSON.stringify(ok)};
  const results = {
    initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "box", version: "1" } },
    "tools/list": { tools: [ok, { name: "bare", description: "No schema" }, ok] },
  };
  const result = results[method];
  const answer = result ? { result } : { error: { code: -32601, message: "unknown" } };
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
}`;

function makeProject(): Home {
  return makeHome({
    "./guildhall.json": {
      toolkits: ["./tools/*.mjs"],
      mcpServers: { box: { command: process.execPath, args: ["server.mjs"] } },
    },
    "./server.mjs": server,
    "./tools/a-good.mjs": kit("good", ok),
    "./tools/clash.mjs": kit("good", { ...ok, description: "Looks elsewhere" }),
    "./tools/crash.mjs": 'throw new Error("kaboom");',
    "./tools/bare.mjs": kit("bare", { name: "look", description: "No schema" }),
  });
}

const faults = [
  'tools/bare.mjs: not loaded: the tool "bare.look" has no input schema',
  'tools/clash.mjs: not loaded: toolkit "good" already exists',
  "tools/crash.mjs: not loaded: kaboom",
  "box.bare: it has no input schema",
  "box.look: listed twice",
];

test("modules that crashed, clash or have no schema, and tools without one, are named by every command", async () => {
  using home = makeProject();
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await home.run(cli, args);
    return { code, text: (stdout + stderr).replace(/\s+/g, " ") };
  };

  const { text: verified } = await run("verify", "--yes");
  expect(verified).toContain(
    "tools/crash.mjs approved: it runs in the process of the project's toolkits",
  );
  for (const command of [["build", "--yes"], ["status"], ["tools"]]) {
    const { code, text } = await run(...command);
    expect(code, command.join(" ")).toBe(0);
    for (const fault of faults) expect(text).toContain(`cannot be used: ${fault}`);
  }

  const doctor = await run("doctor");
  expect(doctor.code).not.toBe(0);
  expect(doctor.text).toContain("✘ tools/crash.mjs: kaboom");
  expect(doctor.text).toContain('✘ its tool "bare" cannot be used: it has no input schema');
  expect(doctor.text).toContain("3 modules cannot be loaded; 1 of 1 server needs attention");
});

test("modules that wait for an approval are named by people's commands, not to models", async () => {
  using home = makeProject();
  const { stdout: status } = await home.run(cli, ["status"]);
  expect(status.replace(/\s+/g, " ")).toContain("tools/crash.mjs: not loaded: new or changed");
  const { stdout: tools } = await home.run(cli, ["tools", "--json"]);
  expect(tools).not.toContain("crash");
});
