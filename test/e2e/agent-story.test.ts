import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { allowUnattended } from "../servers/home.ts";
import type { Reply } from "../servers/model-script.ts";
import { startOpenAi } from "../servers/openai-endpoint.ts";
import { binOf } from "../servers/real.ts";
import { watchProcess } from "../servers/serve-process.ts";
import { until } from "../servers/until.ts";

/**
 * One story across the whole product, with the built command, two real servers, a service that
 * joins, and a scripted model.
 */
const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const service = fileURLToPath(new URL("../../examples/notes-service.mjs", import.meta.url));

interface Place {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  json(...args: string[]): Promise<JsonObject>;
}

/** A project whose servers are those of another client's file. */
function openPlace(planner: JsonObject): Place {
  const root = mkdtempSync(join(tmpdir(), "guildhall-story-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, "project");
  for (const path of ["project", "run", "data", "config", "home", "files"])
    mkdirSync(join(root, path), { mode: 0o700 });
  allowUnattended(join(root, "config"), { planner });
  const node = (name: string, ...args: string[]) => ({
    command: process.execPath,
    args: [binOf(`@modelcontextprotocol/${name}`), ...args],
  });
  const memory = { ...node("server-memory"), env: { MEMORY_FILE_PATH: join(root, "memory.json") } };
  writeFileSync(
    join(folder, ".mcp.json"),
    JSON.stringify({
      mcpServers: { files: node("server-filesystem", join(root, "files")), memory },
    }),
  );
  const more = { expose: "agents,search", builtin: "all" };
  writeFileSync(join(folder, "guildhall.json"), JSON.stringify(more));
  writeFileSync(join(root, "files", "plan.txt"), "Buy milk.");
  const env = {
    ...process.env,
    NO_COLOR: "1",
    HOME: join(root, "home"),
    XDG_RUNTIME_DIR: join(root, "run"),
    XDG_DATA_HOME: join(root, "data"),
    XDG_CONFIG_HOME: join(root, "config"),
  };
  return {
    folder,
    env,
    json: (...args) =>
      new Promise((resolve, reject) => {
        execFile(
          process.execPath,
          [cli, ...args, "--json"],
          { cwd: folder, env, timeout: 100_000 },
          (error, stdout, stderr) =>
            error
              ? reject(new Error(`${args.join(" ")}: ${stderr}`))
              : resolve(JSON.parse(stdout) as JsonObject),
        );
      }),
  };
}

test("servers are imported, reviewed and grouped, a service joins, agents work within their approvals, and the audit records it", {
  timeout: 120_000,
}, async () => {
  let next: Reply[] = [];
  await using model = await startOpenAi(() => next.shift() ?? { say: "Done." });
  const place = openPlace({ model: model.model, baseUrl: model.url });
  const file = join(dirname(place.folder), "files", "plan.txt");

  await place.json("init", "--yes");
  const built = (await place.json("build", "--yes")) as {
    servers: { name: string }[];
    waiting: string[];
    groups: { agents: { name: string }[] };
  };
  expect(built.servers.map(({ name }) => name).sort()).toEqual(["files", "memory"]);
  expect(built.waiting).toEqual([]);
  expect(built.groups.agents.length).toBeGreaterThanOrEqual(2);

  await using hall = watchProcess([cli, "serve", "--port", "0", "--json", "--log-level", "error"], {
    cwd: place.folder,
    env: place.env,
  });
  const { url } = JSON.parse(await hall.firstLine) as { url: string };
  const joined = watchProcess([service, url], { env: place.env });
  expect(await joined.firstLine).toBe("registered as notes_v1");

  const answers = ["no", "once"];
  const converse = async (): Promise<Client> => {
    const about = { name: "story", version: "1" };
    const opened = new Client(about, { capabilities: { elicitation: {} } });
    opened.setRequestHandler(ElicitRequestSchema, () => ({
      action: "accept",
      content: { decision: answers.shift() ?? "no" },
    }));
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`));
    // The SDK's transports are not typed for exactOptionalPropertyTypes.
    await opened.connect(transport as Parameters<Client["connect"]>[0]);
    onTestFinished(() => opened.close());
    return opened;
  };
  let client = await converse();
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["call_tool", "evaluate-lisp", "find_tools"]));
  const ask = async (agent: string, task: string, turns: readonly Reply[]) => {
    next = [...turns];
    return (await client.callTool({ name: agent, arguments: { task } }))
      .structuredContent as JsonObject;
  };
  const { groups } = (await place.json("groups", "list")) as {
    groups: { name: string; tools: string[] }[];
  };
  const agent = groups.find(({ tools }) => tools.includes("files.read_text_file"))?.name ?? "";

  // An agent reads with a real server; a destructive call is refused and listed for approval.
  const read = await ask(agent, "What is the plan?", [
    {
      calls: [
        { name: "files__read_text_file", arguments: { path: file } },
        { name: "files__write_file", arguments: { path: file, content: "" } },
      ],
    },
    { say: "To buy milk." },
  ]);
  expect(read).toMatchObject({
    answer: "To buy milk.",
    planner: "model",
    steps: [
      { tool: "files__read_text_file", outcome: "ok" },
      { tool: "files__write_file", outcome: "approval_needed" },
    ],
    approvals_needed: [{ tool: "files__write_file" }],
  });
  expect(readFileSync(file, "utf8")).toBe("Buy milk.");

  // Called directly, the same tool asks for approval: refused, then allowed once, then trusted.
  const write = {
    name: "call_tool",
    arguments: { name: "files.write_file", arguments: { path: file, content: "Buy bread." } },
  };
  expect((await client.callTool(write)).isError).toBe(true);
  expect((await client.callTool(write)).isError ?? false).toBe(false);
  expect(readFileSync(file, "utf8")).toBe("Buy bread.");
  await place.json("trust", "files.write_file");
  const trusted = await ask(agent, "Change the plan", [
    { calls: [{ name: "files__write_file", arguments: { path: file, content: "Buy tea." } }] },
    { say: "Tea it is." },
  ]);
  expect(trusted).toMatchObject({
    steps: [{ tool: "files__write_file", outcome: "ok" }],
    approvals_needed: [],
  });
  expect(readFileSync(file, "utf8")).toBe("Buy tea.");

  // One program composes tools of several toolkits and returns only its answer.
  const code = `(let ((text (jref (files:read-text-file :path ${JSON.stringify(file)}) "content")))
    (list text (jref (calculator:calculate :expression (format nil "~d*2" (length text))) "result")))`;
  const program = await client.callTool({ name: "evaluate-lisp", arguments: { code } });
  expect((program.content as { text: string }[])[0]?.text).toContain('=> ("Buy tea." "16")');

  // A feature from a description to tasks, in a folder that spec-kit knows.
  const spec_directory = join(place.folder, "specs", "001-shopping-list");
  const steps = [
    {
      name: "speckit.specify",
      arguments: {
        feature_description: "Users keep a shopping list and share it with their family",
        spec_directory,
      },
    },
    {
      name: "speckit.clarify",
      arguments: { spec_directory, questions: ["Who may share a list?"], answers: ["Its owner"] },
    },
    { name: "speckit.clarify", arguments: { spec_directory, answers: ["yes", "yes", "yes"] } },
    { name: "speckit.plan", arguments: { spec_directory } },
    { name: "speckit.tasks", arguments: { spec_directory } },
  ];
  for (const step of steps) {
    const done = await client.callTool(step);
    expect([step.name, done.isError ?? false, JSON.stringify(done.content)]).toEqual([
      step.name,
      false,
      expect.any(String),
    ]);
  }
  for (const [document, line] of [
    ["spec.md", /^# Feature Specification: /],
    ["plan.md", /^## Technical Context$/m],
    ["tasks.md", /^- \[ \] T001 /m],
  ] as const)
    expect(readFileSync(join(spec_directory, document), "utf8")).toMatch(line);

  // Its tool does not say whether it changes anything: an agent may call it once it is trusted, in a
  // conversation that has read no files.
  await place.json("trust", "notes.add");
  client = await converse();
  // An agent can call the service at once. After it is killed its calls fail at once, and the agent reports it.
  const note: Reply = { calls: [{ name: "notes__add", arguments: { text: "tea" } }] };
  const kept: [agent: string, outcome: unknown][] = [];
  for (const each of names.filter((name) => name.endsWith("_agent"))) {
    const { steps: taken } = await ask(each, "Keep a note", [note, { say: "Kept." }]);
    const [step] = taken as { outcome: string }[];
    if (step?.outcome !== "not_found") kept.push([each, step?.outcome]);
  }
  const [[notes = ""] = []] = kept;
  expect(kept).toEqual([[notes, "ok"]]);
  await joined[Symbol.asyncDispose]();
  const missing = await until(async () => {
    const answer = await ask(notes, "Keep a note", [note, { say: "I could not keep it." }]);
    const [step] = answer.steps as { outcome: string }[];
    return step?.outcome === "unavailable" ? answer : undefined;
  }, "the note is refused");
  expect(missing).toMatchObject({
    answer: "I could not keep it.",
    limitations: [expect.stringMatching(/^notes__add /)],
  });
  const post = { method: "POST", headers: { "content-type": "application/json" } };
  const call = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { tool_name: "notes", function_name: "add", arguments: { text: "x" }, call_id: "c" },
  };
  const refused = (await (
    await fetch(`${url}/mcp`, { ...post, body: JSON.stringify(call) })
  ).json()) as JsonObject;
  expect(refused).toMatchObject({ error: { code: -32006 } });

  const { events } = (await place.json("audit", "--limit", "500")) as { events: JsonObject[] };
  const kinds = new Set(events.map(({ kind }) => kind));
  for (const kind of ["blocked", "refused", "approved", "registered"])
    expect(kinds).toContain(kind);
  expect(
    events.find(({ tool, planner }) => tool === "files.read_text_file" && planner === "model"),
  ).toMatchObject({ outcome: "ok" });
  const { runs } = (await place.json("runs", "list")) as { runs: JsonObject[] };
  expect(runs.map(({ planner }) => planner)).toContain("model");
});
