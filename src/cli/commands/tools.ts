import type { Command } from "commander";
import { HallError } from "../../base/errors.ts";
import { visible, visibleLines } from "../../base/sanitize.ts";
import { plural, shortenLine } from "../../base/text.ts";
import type { ToldTool } from "../../toolkits/find/answer.ts";
import { asJson, examples, type JsonOption } from "../declaration.ts";
import { getTool, withHall } from "../hall.ts";
import { print, table } from "../print.ts";

/** `tools`, `resources` and `prompts`: what can be called and read. */
export function addToolCommands(program: Command): void {
  const tools = program
    .command("tools [words...]")
    .description("list the tools, or those that fit a task, best first")
    .option(...asJson)
    .addHelpText(
      "after",
      examples([
        "guildhall tools",
        "guildhall tools create issue",
        "guildhall tools show github.create_issue",
      ]),
    )
    .action(runTools);
  tools
    .command("show <name>")
    .description("show one tool with its schema")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall tools show time_tool.current_time"]))
    .action((name, _options, command) => runToolShow(name, command.optsWithGlobals()));

  program
    .command("resources")
    .description("list the resources")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall resources --json"]))
    .action(runResources);

  program
    .command("prompts")
    .description("list the prompts")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall prompts --json"]))
    .action(runPrompts);
}

async function runTools(query: readonly string[], options: JsonOption): Promise<void> {
  if (query.length === 0) await listAll(options);
  else await findFor(query.join(" "), options);
}

const descriptionMax = 120;
const foundMax = 10;

async function listAll({ json }: JsonOption): Promise<void> {
  await withHall(async (client) => {
    const tools = await client.list("tools/list", "tools");
    const rows = tools.map(({ name, description }) => [
      String(name),
      shortenLine(String(description ?? ""), descriptionMax),
    ]);
    const text = rows.length > 0 ? table(["tool", "description"], rows) : "no tools";
    print(tools, { json, text: () => text });
  });
}

/** The answer `find_tools` gives a model. */
async function findFor(task: string, { json }: JsonOption): Promise<void> {
  await withHall(async (client) => {
    const { isError, structuredContent } = await client.request("tools/call", {
      name: "find_tools",
      arguments: { task, limit: foundMax },
    });
    if (isError)
      throw new HallError("VALIDATION", "cannot search for this", {
        hint: "Describe in a few words what the tool should do.",
      });
    print(structuredContent, {
      json,
      text: () => formatFound(structuredContent as unknown as FoundTools),
    });
  });
}

interface FoundTools {
  readonly fits: boolean;
  readonly total: number;
  readonly tools: readonly ToldTool[];
  readonly notes?: readonly string[];
}

function formatFound({ fits, total, tools, notes = [] }: FoundTools): string {
  if (tools.length === 0)
    return [`no match among ${plural(total, "tool")}`, ...notes.map(visible)].join("\n");
  const rows = tools.map((tool) => [
    tool.name,
    stateOf(tool),
    tool.matched.join(", "),
    shortenLine(tool.description, descriptionMax),
  ]);
  const head = fits
    ? `best matches of ${plural(total, "tool")}:`
    : `no good match; nearest of ${plural(total, "tool")}:`;
  return [
    `${head}\n`,
    table(["tool", "", "matched", "description"], rows),
    ...notes.map(visible),
  ].join("\n");
}

function stateOf({ asks, unavailable }: ToldTool): string {
  if (unavailable !== undefined) return "down";
  return asks === undefined ? "" : "asks";
}

async function runToolShow(name: string, { json }: JsonOption): Promise<void> {
  await withHall(async (client, settings) => {
    const tool = await getTool(name, client, settings);
    const text = [
      visible(String(tool.name)),
      visibleLines(String(tool.description ?? "")),
      `input: ${JSON.stringify(tool.inputSchema, null, 2)}`,
    ];
    print(tool, { json, text: () => text.join("\n\n") });
  });
}

async function runResources({ json }: JsonOption): Promise<void> {
  await withHall(async (client) => {
    const [resources, templates] = await Promise.all([
      client.list("resources/list", "resources"),
      client.list("resources/templates/list", "resourceTemplates"),
    ]);
    const rows = [
      ...resources.map(({ uri, name }) => [String(uri), String(name ?? "")]),
      ...templates.map(({ uriTemplate, name }) => [String(uriTemplate), String(name ?? "")]),
    ];
    const text = rows.length > 0 ? table(["resource", "name"], rows) : "no resources";
    print({ resources, templates }, { json, text: () => text });
  });
}

async function runPrompts({ json }: JsonOption): Promise<void> {
  await withHall(async (client) => {
    const prompts = await client.list("prompts/list", "prompts");
    const rows = prompts.map(({ name, description }) => [String(name), String(description ?? "")]);
    const text = rows.length > 0 ? table(["prompt", "description"], rows) : "no prompts";
    print(prompts, { json, text: () => text });
  });
}
