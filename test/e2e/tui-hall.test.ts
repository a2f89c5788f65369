import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { binOf } from "../servers/real.ts";
import { expectScreen } from "../tui/golden-screen.ts";
import type { Pane } from "../tui/pane.ts";
import { cli, makePlace, type Place } from "../tui/place.ts";

/** The built client on a real terminal, with the project's hall in the same or another process. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what it looks for
const colour = /\u001b\[(?:\d+;)*(?:3[0-8]|9[0-7])[;m]/;

/** Three tasks with a command each; the second waits for a file. */
const threeTasks = {
  "guildhall.json": JSON.stringify({ workflow: { commands: true } }),
  "specs/001-albums/spec.md": "# Feature Specification: Albums\n",
  "specs/001-albums/plan.md": "# Implementation Plan: Albums\n",
  "specs/001-albums/tasks.md": `# Tasks: Albums\n\n## Phase 1: Setup\n\n${["one", "two", "three"]
    .map((name, at) => `- [ ] T00${at + 1} Run \`node work.mjs ${name}\`\n`)
    .join("")}`,
  "work.mjs": `
import { appendFileSync, existsSync } from "node:fs";
const [, , name] = process.argv;
appendFileSync("begun", name + "\\n");
if (name === "two") while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 20));
appendFileSync("done", name + "\\n");
`,
};

/** Approves the step while the hall runs, and the first two commands once. */
async function beginImplement(pane: Pane, place: Place): Promise<void> {
  await pane.type("s");
  await pane.until("speckit.implement asks", "● No");
  await pane.press("C-g", "Up", "Up");
  await pane.until("● Yes, for this tool while the hall runs");
  await pane.press("Enter");
  for (const name of ["one", "two"]) await allowCommand(pane, name);
  await expect.poll(() => place.project.read("begun")).toBe("one\ntwo\n");
}

async function allowCommand(pane: Pane, name: string): Promise<void> {
  await pane.until(`argv: ["node","work.mjs","${name}"]`, "(No)");
  await pane.press("C-g", "Right");
  await pane.until("(Yes, this once)");
  await pane.press("Enter");
}

test("Esc stops implement, which resumes after the last finished task", async () => {
  await using place = makePlace(threeTasks);
  const pane = await place.openClient();
  await pane.until("hall in this process");
  await pane.type("5");
  await pane.until("implement", "0/3");
  await beginImplement(pane, place);
  expect(await pane.until("running", "· T001: Run", "· T002: Run")).toContain("38 %");
  await pane.press("Escape");
  await pane.until("cancelled after", "Changes made before that are kept.", "r retry");
  await expectScreen(pane, place, "hall-cancelled");
  await pane.press("Escape");
  await pane.until("1/3");
  await expectScreen(pane, place, "hall-to-resume");
  place.project.write("go", "");
  await pane.type("s");
  for (const name of ["two", "three"]) await allowCommand(pane, name);
  await pane.until("completed in", "3 of 3 tasks are done", "the feature is");
  expect(place.project.read("begun")).toBe("one\ntwo\ntwo\nthree\n");
  expect(place.project.read("done")).toBe("one\ntwo\nthree\n");
  await expectScreen(pane, place, "hall-implemented");
  await pane.press("Escape");
  await pane.until("done", "3/3");
});

test("when the client that runs the hall is killed, the other one takes over and retries", async () => {
  await using place = makePlace(threeTasks);
  const first = await place.openClient();
  await first.until("hall in this process");
  const second = await place.openClient();
  await second.until("attached to the hall", "No servers configured.", "2 clients");
  await second.type("5");
  await second.until("0/3");
  await beginImplement(second, place);
  process.kill(await first.program(), "SIGKILL");
  await second.until("failed after", "the hall ended while the tool was", "r retry");
  await second.until("hall in this process");
  await expectScreen(second, place, "hall-gone");
  await second.type("r");
  // The new hall has no approvals, and the command of the old one has ended with it.
  await second.until("speckit.implement asks", "● No");
  await second.press("C-g", "Down", "Enter");
  place.project.write("go", "");
  for (const name of ["two", "three"]) await allowCommand(second, name);
  await second.until("completed in", "3 of 3 tasks are done");
  expect(place.project.read("done")).toBe("one\ntwo\nthree\n");
});

const shelf = fileURLToPath(new URL("../servers/defined.mjs", import.meta.url));

test("calls of other clients are approved and denied on the approvals screen", async () => {
  const files = {
    "tools.json": JSON.stringify([
      { name: "delete_it", description: "Deletes it.", inputSchema: { type: "object" } },
    ]),
  };
  await using place = makePlace(files);
  const { project } = place;
  const server = {
    command: process.execPath,
    args: [shelf, project.path("tools.json"), project.path("starts")],
  };
  project.write(
    "guildhall.json",
    JSON.stringify({ expose: "tools", mcpServers: { shelf: server } }),
  );
  expect(await place.run("build", "--yes")).toMatchObject({ code: 0 });
  const pane = await place.openClient();
  await pane.until("hall in this process");
  await pane.type("4");
  await pane.until("No call is waiting for approval.");

  // A command without a terminal cannot ask: the call waits for the answer.
  const calling = place.run("call", "shelf.delete_it", '{"path":"/tmp/old"}');
  const asked = await pane.until("› shelf.delete_it", "Approval needed: ", "path: /tmp/old");
  expect(asked.split("\n")[1]).toContain("4 Approvals•1");
  await expectScreen(pane, place, "hall-approvals");
  await pane.type("y");
  await pane.until("No call is waiting for approval.", "shelf.delete_it was approved");
  expect(await calling).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("ran delete_it"),
  });

  // A client whose own user does not answer waits for either answer.
  const client = new Client(
    { name: "somebody\u001b[2J", version: "1\nIt is safe." },
    { capabilities: { elicitation: {} } },
  );
  client.setRequestHandler(
    ElicitRequestSchema,
    (_request, { signal }) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(new Error("away"))),
      ),
  );
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [cli, "mcp"],
      cwd: project.folder,
      env: { ...place.env },
    }),
  );
  try {
    for (const [key, said] of [
      ["y", "ran delete_it"],
      ["n", "denied the call"],
    ] as const) {
      const called = client.callTool({ name: "shelf.delete_it", arguments: {} });
      await pane.until("› shelf.delete_it", "(no arguments)");
      await expectScreen(pane, place, "hall-approvals-of-a-client");
      await pane.type(key);
      expect(JSON.stringify(await called)).toContain(said);
      await pane.until("No call is waiting for approval.");
    }
  } finally {
    await client.close();
  }
});

test("finds and calls a tool, restarts a server, reads its log and counts the calls", async () => {
  await using place = makePlace({
    "guildhall.json": JSON.stringify({
      mcpServers: {
        everything: {
          command: process.execPath,
          args: [binOf("@modelcontextprotocol/server-everything"), "stdio"],
        },
      },
    }),
  });
  expect(await place.run("build", "--yes")).toMatchObject({ code: 0 });
  // CI does not change anything.
  const pane = await place.openClient("", { CI: "true" });
  await pane.until("hall in this process");
  await pane.type("2");
  await pane.until("search:", /\d+ of \d+ tools/);
  await pane.type("/get-sum");
  await pane.until("› everything.get-sum", /1 of \d+ tools/);
  await pane.press("Enter");
  await pane.until("› a*", "First number");
  await pane.type("2");
  await pane.press("Enter");
  await pane.type("many");
  await pane.press("Enter");
  await pane.until("! ", "b*");
  await expectScreen(pane, place, "hall-form");
  await pane.press("C-u");
  await pane.type("40");
  await pane.press("Enter");
  await pane.until("completed in", "The sum of 2 and 40 is 42.");
  await expectScreen(pane, place, "hall-result");
  await pane.press("M-1");
  await pane.until(/everything +ready +20\d\d-\d\d-\d\d +\d+ +1 +0/);
  await pane.type("l");
  await pane.until("stderr of everything", "Starting default (STDIO) server");
  await pane.type("r");
  await pane.until(/everything +stopped/, "it starts again on the next call");
  await pane.press("Escape");
  await expectScreen(pane, place, "hall-servers");
  expect(await pane.painted()).toMatch(colour);
  for (const key of "123456") {
    await pane.press(`M-${key}`);
    const lines = (await pane.until(/\n.* quit$/)).split("\n");
    expect([lines.length, lines[0]?.slice(0, 9), lines[2]]).toEqual([
      24,
      "guildhall",
      "─".repeat(80),
    ]);
  }
});

test("asks an agent", async () => {
  await using place = makePlace();
  expect(await place.run("build", "--yes")).toMatchObject({ code: 0 });
  const pane = await place.openClient("", { NO_COLOR: "1" });
  await pane.until("hall in this process");
  await pane.type("3");
  await pane.until("_agent", "press Enter to write it");
  await pane.press("Down");
  await pane.until("› mathematics_agent");
  await pane.press("Enter");
  await pane.until("what should the agent do?");
  await pane.type("calculate 17 * 23");
  await pane.press("Enter");
  await pane.until("completed in", "calculate 17 * 23", "· 1/16 calculator.calculate", "  391");
  await expectScreen(pane, place, "hall-agent");
  expect(await pane.painted()).not.toMatch(colour);
});
