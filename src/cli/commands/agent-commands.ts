import type { Command } from "commander";
import { addCommand, refuseUnknown, wholeNumber } from "../declaration.ts";

/** Commands for groups, agents and their runs. */
export function addAgentCommands(program: Command): void {
  addGroupCommands(program);

  addCommand(program, "ask <words...>", {
    usage: "[options] [agent] <task>",
    does: "give a task to an agent, or to the one that fits best; shows its steps",
    options: {
      "--planner <kind>":
        "auto, model, sampling or local (default: from the agent's file, else the config)",
      "--data <json>": "input of the task",
    },
    examples: [
      'guildhall ask "current time in America/Lima"',
      'guildhall ask web_research "find the release notes" --planner model',
    ],
    load: async () => (await import("./ask.ts")).runAsk,
  });

  const runs = addCommand(program, "runs", {
    does: "show and replay runs of agents",
    examples: ["guildhall runs list", "guildhall runs show run_x1", "guildhall runs replay run_x1"],
  });
  addCommand(runs, "list", {
    does: "list the runs, newest first",
    options: {
      "--limit <number>": ["how many (default: 20)", wholeNumber("limit", 1, 100_000)],
    },
    examples: ["guildhall runs list --limit 5 --json"],
    isDefault: true,
    load: async () => (await import("./runs.ts")).runRunsList,
  });
  addCommand(runs, "show <run>", {
    does: "show one run: task, trace, answer",
    examples: ["guildhall runs show run_x1 --json"],
    load: async () => (await import("./runs.ts")).runRunsShow,
  });
  addCommand(runs, "replay <run>", {
    does: "repeat a run with the recorded answers of models and tools; calls nothing",
    examples: ["guildhall runs replay run_x1"],
    load: async () => (await import("./runs.ts")).runRunsReplay,
  });
  refuseUnknown(runs);

  const models = addCommand(program, "models", {
    does: "the model that plans for agents",
    examples: ["guildhall models test", "guildhall models test ollama/NAME"],
  });
  addCommand(models, "test [model]", {
    does: "make one tiny request to the model and report problems",
    examples: ["guildhall models test", "guildhall models test anthropic/NAME --json"],
    load: async () => (await import("./models.ts")).runModelsTest,
  });
}

function addGroupCommands(program: Command): void {
  const groups = addCommand(program, "groups", {
    does: "show and change the groups behind agents",
    examples: [
      "guildhall groups list",
      "guildhall groups move github.create_issue planning",
      "guildhall groups explain take a screenshot",
    ],
  });
  addCommand(groups, "list", {
    does: "list the groups and their tools",
    examples: ["guildhall groups list --json"],
    isDefault: true,
    load: async () => (await import("./groups.ts")).runGroupsList,
  });
  addCommand(groups, "show <group>", {
    does: "show one group: its tools and instructions",
    examples: ["guildhall groups show web_research"],
    load: async () => (await import("./groups.ts")).runGroupsShow,
  });
  addCommand(groups, "move <tool> <group>", {
    does: "move a tool to another group; builds keep it there",
    examples: ["guildhall groups move github.create_issue planning"],
    load: async () => (await import("./groups.ts")).runGroupsMove,
  });
  addCommand(groups, "rename <group> <name>", {
    does: "rename a group",
    examples: ["guildhall groups rename code_hosting reviews"],
    load: async () => (await import("./groups.ts")).runGroupsRename,
  });
  addCommand(groups, "explain <task...>", {
    does: "show which group a task would go to, and why",
    examples: ["guildhall groups explain take a screenshot of a page"],
    load: async () => (await import("./groups.ts")).runGroupsExplain,
  });
  refuseUnknown(groups);
}
