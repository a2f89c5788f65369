// Tools that do not say what they do: they run for a client, and never unseen inside a program.
import { describe, expect, test } from "vitest";
import type { Outcome, Tool, Toolkit } from "../../src/tool.ts";
import { createBuiltinToolkits } from "../../src/toolkits/builtin.ts";
import { markTool } from "../../src/trust/marks.ts";
import { listWorkflowTools } from "../../src/workflow/tool-list.ts";
import { openDoor } from "../servers/door.ts";
import { createMemoryClient } from "../servers/memory-client.ts";
import { text } from "../servers/toolkits.ts";
import { workers } from "../toolkits/lisp-hall.ts";
import { openWorld } from "../trust/world.ts";

const taking = (name: string, ...parameters: readonly string[]): Tool => ({
  name,
  inputSchema: {
    type: "object",
    properties: Object.fromEntries(parameters.map((key) => [key, { type: "string" }])),
  },
});

describe("a tool without annotations", () => {
  test.each([
    taking("bash", "cmd"),
    taking("rm", "target"),
    taking("query", "sql"),
    { ...taking("query", "query"), description: "Runs a SQL query" },
    taking("terminal", "command"),
    taking("get_result", "python_code"),
    taking("notebook", "code"),
    taking("make_payment", "amount"),
    taking("withdraw_funds", "amount"),
    taking("get_pods", "shell_command"),
  ])("is not taken for a harmless one: $name", (tool) => {
    expect(markTool(tool).effect).toBe("changes");
  });

  test.each([
    "start_process",
    "browser_evaluate",
    "browser_click",
    "call_api",
    "http_request",
    "create_gist",
    "create_repository",
    "save_file",
    "copy_file",
    "deletefile",
    "archive_project",
    "checkout",
    "check_out",
    "get_or_create_user",
    "status_create",
    "frobnicate",
  ])("is unknown unless its name says that it reads: %s", (name) => {
    expect(markTool(taking(name)).effect).toBe("unknown");
  });

  test.each([
    taking("get_country", "code"),
    taking("list_open_issues", "country_code"),
    taking("search_code", "query"),
    taking("weather", "city"),
  ])("reads if its name says so: $name", (tool) => {
    expect(markTool(tool).effect).toBe("reads");
  });
});

test("built-in tools state what they do", async () => {
  const builtin = await Promise.all(createBuiltinToolkits().map((toolkit) => toolkit.list()));
  for (const { annotations } of [...builtin.flat(), ...listWorkflowTools({ commands: true })])
    expect(
      annotations?.readOnlyHint === true || typeof annotations?.destructiveHint === "boolean",
    ).toBe(true);
});

const danger = ["bash", "rm", "query", "create_gist", "make_payment", "deletefile"];

function createTools(ran: string[]): Toolkit {
  return {
    id: "n",
    source: "module",
    list: async () => danger.map((name) => taking(name, "cmd")),
    async call({ name }): Promise<Outcome> {
      ran.push(name);
      return text("done");
    },
    health: async () => ({ state: "available" }),
    close: async () => {},
  };
}

test("explore programs call only tools that are known to read", async () => {
  const ran: string[] = [];
  await using door = await openDoor({ toolkits: [createTools(ran)], workers });
  const client = createMemoryClient(door.hall);
  await client.greet();
  for (const name of danger) {
    const code = `(call-tool "n.${name}" :cmd "rm -rf x")`;
    const { result } = await client.request("tools/call", {
      name: "evaluate-lisp",
      arguments: { code, mode: "explore" },
    });
    expect(JSON.stringify(result)).toContain("explore mode");
  }
  expect(ran).toEqual([]);
});

test("a tool of unknown effect runs for a client and needs approval inside another call", async () => {
  await using world = await openWorld();
  world.files.tools.push({ name: "frobnicate", inputSchema: { type: "object" } });
  await world.reviewAgain();
  const client = await world.connect();

  const direct = await client.request("tools/call", { name: "files.frobnicate", arguments: {} });
  expect(direct.result).toMatchObject({ content: [{ text: "done" }] });

  const nested = await client.request("tools/call", {
    name: "relay.steps",
    arguments: { steps: [{ tool: "files.frobnicate" }] },
  });
  expect(JSON.stringify(nested.result)).toContain("guildhall/approvals");
  expect(world.ran).toEqual(["files.frobnicate"]);
});
