import type { Command } from "commander";
import { asJson, examples, refuseUnknown } from "../declaration.ts";

/** Commands for groups, agents and their runs. */
export function addAgentCommands(program: Command): void {
  addGroupCommands(program);

  program
    .command("ask <words...>")
    .usage("[options] [agent] <task>")
    .description("give a task to an agent, or to the one that fits best; shows its steps")
    .option(
      "--planner <kind>",
      "auto, model, sampling or local (default: from the agent's file, else the config)",
    )
    .option("--data <json>", "input of the task")
    .option(...asJson)
    .addHelpText(
      "after",
      examples([
        'guildhall ask "current time in America/Lima"',
        'guildhall ask web_research "find the release notes" --planner model',
      ]),
    )
    .action(async (words, options) => (await import("./ask.ts")).runAsk(words, options));

  const runs = program
    .command("runs")
    .description("show and replay runs of agents")
    .addHelpText(
      "after",
      examples([
        "guildhall runs list",
        "guildhall runs show run_x1",
        "guildhall runs replay run_x1",
      ]),
    );
  runs
    .command("list", { isDefault: true })
    .description("list the runs, newest first")
    .option("--limit <number>", "how many (default: 20)")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall runs list --limit 5 --json"]))
    .action(async (options) => (await import("./runs.ts")).runRunsList(options));
  runs
    .command("show <run>")
    .description("show one run: task, trace, answer")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall runs show run_x1 --json"]))
    .action(async (run, options) => (await import("./runs.ts")).runRunsShow(run, options));
  runs
    .command("replay <run>")
    .description("repeat a run with the recorded answers of models and tools; calls nothing")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall runs replay run_x1"]))
    .action(async (run, options) => (await import("./runs.ts")).runRunsReplay(run, options));
  refuseUnknown(runs);

  program
    .command("models")
    .description("the model that plans for agents")
    .addHelpText("after", examples(["guildhall models test", "guildhall models test ollama/NAME"]))
    .command("test [model]")
    .description("make one tiny request to the model and report problems")
    .option(...asJson)
    .addHelpText(
      "after",
      examples(["guildhall models test", "guildhall models test anthropic/NAME --json"]),
    )
    .action(async (model, options) => (await import("./models.ts")).runModelsTest(model, options));
}

function addGroupCommands(program: Command): void {
  const groups = program
    .command("groups")
    .description("show and change the groups behind agents")
    .addHelpText(
      "after",
      examples([
        "guildhall groups list",
        "guildhall groups move github.create_issue planning",
        "guildhall groups explain take a screenshot",
      ]),
    );
  groups
    .command("list", { isDefault: true })
    .description("list the groups and their tools")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall groups list --json"]))
    .action(async (options) => (await import("./groups.ts")).runGroupsList(options));
  groups
    .command("show <group>")
    .description("show one group: its tools and instructions")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall groups show web_research"]))
    .action(async (group, options) => (await import("./groups.ts")).runGroupsShow(group, options));
  groups
    .command("move <tool> <group>")
    .description("move a tool to another group; builds keep it there")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall groups move github.create_issue planning"]))
    .action(async (tool, group, options) =>
      (await import("./groups.ts")).runGroupsMove(tool, group, options),
    );
  groups
    .command("rename <group> <name>")
    .description("rename a group")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall groups rename code_hosting reviews"]))
    .action(async (group, name, options) =>
      (await import("./groups.ts")).runGroupsRename(group, name, options),
    );
  groups
    .command("explain <task...>")
    .description("show which group a task would go to, and why")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall groups explain take a screenshot of a page"]))
    .action(async (words, options) =>
      (await import("./groups.ts")).runGroupsExplain(words, options),
    );
  refuseUnknown(groups);
}
