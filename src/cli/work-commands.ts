import { type CommandGroups, parseExportFormat, parseSince, wholeNumber } from "./declaration.ts";

const force = "replace files with hand edits; continue although checklists are open";
const connection = {
  "--url <address>": "the hall's address (default: the hall running in this folder)",
  "--token-file <file>": "a file with the hall's token (default: GUILDHALL_TOKEN, else your own)",
};

const programOptions = {
  "--act": "also bind tools that destroy or send; their calls still require approval",
  "--save <name>": "if it works, save it as a tool of this project, held back until you approve it",
  "--description <text>": "what the saved tool does, for models",
};

/** The commands that use a hall: its tools, agents, workflow and records. */
export const workCommands: CommandGroups = {
  "Tools:": {
    "tools [words...]": {
      does: "list the tools, or those that fit a task, best first",
      examples: ["tools", "tools create issue", "tools show github.create_issue"],
      load: async () => (await import("./commands/tools.ts")).runTools,
      subcommands: {
        "show <tool>": {
          does: "show one tool with its schema",
          examples: ["tools show time_tool.current_time"],
          load: async () => (await import("./commands/tools.ts")).runToolShow,
        },
        "disable <pattern>": {
          does: "leave tools of a server out: not listed, found, grouped or callable; written to the config",
          examples: ["tools disable github.delete_repository", "tools disable 'github.delete_*'"],
          load: async () => (await import("./commands/tools.ts")).runToolsDisable,
        },
        "enable <pattern>": {
          does: "offer disabled tools of a server again",
          examples: ["tools enable 'github.delete_*'"],
          load: async () => (await import("./commands/tools.ts")).runToolsEnable,
        },
      },
    },

    "expose [faces]": {
      does: "set what clients see (tools, search, agents, code, or several with commas; default: what fits), and show it: tools, bytes, tokens",
      examples: ["expose", "expose search", "expose tools,agents", "expose default"],
      load: async () => (await import("./commands/tools.ts")).runExpose,
    },

    resources: {
      does: "list the resources",
      examples: ["resources --json"],
      load: async () => (await import("./commands/tools.ts")).runResources,
    },

    prompts: {
      does: "list the prompts",
      examples: ["prompts --json"],
      load: async () => (await import("./commands/tools.ts")).runPrompts,
    },

    "lisp [file]": {
      does: "run a Lisp program that calls tools, from a file or a pipe; in a terminal, a session",
      options: programOptions,
      examples: ["lisp", "lisp report.lisp", "echo '(+ 1 2)' | guildhall lisp --json"],
      load: async () => (await import("./commands/lisp.ts")).runLisp,
    },

    "js [file]": {
      does: "run a JavaScript or TypeScript program that calls tools, from a file or a pipe",
      options: programOptions,
      examples: ["js report.ts", "js report.js --save weekly-report"],
      load: async () => (await import("./commands/lisp.ts")).runJs,
    },

    "call <tool> [arguments...]": {
      does: "call a tool with key=value pairs or one JSON object",
      examples: [
        "call time_tool.current_time timezone=Europe/Berlin",
        'call github.create_issue \'{"title":"It works"}\'',
      ],
      load: async () => (await import("./commands/call.ts")).runCall,
    },

    "register <file>": {
      does: "register a toolkit with a running hall: a JSON file with its endpoint, or a module served by this process",
      options: { ...connection, "--replace": "replace a different toolkit with the same name" },
      examples: [
        "register weather.json",
        "register examples/tools/greeter.mjs --url http://127.0.0.1:8080",
      ],
      load: async () => (await import("./commands/register.ts")).runRegister,
    },

    "unregister <name>": {
      does: "remove a registered toolkit from a running hall",
      options: connection,
      examples: ["unregister weather"],
      load: async () => (await import("./commands/register.ts")).runUnregister,
    },
  },
  "Agents:": {
    groups: {
      does: "show and change the groups behind agents",
      examples: [
        "groups list",
        "groups move github.create_issue planning",
        "groups explain take a screenshot",
      ],
      subcommands: {
        list: {
          does: "list the groups and their tools",
          examples: ["groups list --json"],
          isDefault: true,
          load: async () => (await import("./commands/agents.ts")).runGroupsList,
        },
        "show <group>": {
          does: "show one group: its tools and instructions",
          examples: ["groups show web_research"],
          load: async () => (await import("./commands/agents.ts")).runGroupsShow,
        },
        "create <group> <tools...>": {
          does: "make a group of tools; they leave the groups they were in, and builds keep it",
          examples: ["groups create planning github.create_issue github.list_issues"],
          load: async () => (await import("./commands/agents.ts")).runGroupsCreate,
        },
        "move <tool> <group>": {
          does: "move a tool to another group; builds keep it there",
          examples: ["groups move github.create_issue planning"],
          load: async () => (await import("./commands/agents.ts")).runGroupsMove,
        },
        "rename <group> <name>": {
          does: "rename a group",
          examples: ["groups rename code_hosting reviews"],
          load: async () => (await import("./commands/agents.ts")).runGroupsRename,
        },
        "explain <task...>": {
          does: "show which group a task would go to, and why",
          examples: ["groups explain take a screenshot of a page"],
          load: async () => (await import("./commands/agents.ts")).runGroupsExplain,
        },
      },
    },

    "ask <words...>": {
      usage: "[options] [agent] <task>",
      does: "give a task to an agent, or to the one that fits best; shows its steps",
      options: {
        "--planner <kind>":
          "auto, model, sampling or local (default: from the agent's file, else the config)",
        "--data <json>": "input of the task",
      },
      examples: [
        'ask "current time in America/Lima"',
        'ask web_research "find the release notes" --planner model',
      ],
      load: async () => (await import("./commands/ask.ts")).runAsk,
    },

    runs: {
      does: "show and replay runs of agents",
      examples: ["runs list", "runs show run_x1", "runs replay run_x1"],
      subcommands: {
        list: {
          does: "list the runs, newest first",
          options: {
            "--limit <number>": ["how many (default: 20)", wholeNumber("limit", 1, 100_000)],
          },
          examples: ["runs list --limit 5 --json"],
          isDefault: true,
          load: async () => (await import("./commands/agents.ts")).runRunsList,
        },
        "show <run>": {
          does: "show one run: task, trace, answer",
          examples: ["runs show run_x1 --json"],
          load: async () => (await import("./commands/agents.ts")).runRunsShow,
        },
        "replay <run>": {
          does: "repeat a run with the recorded answers of models and tools; calls nothing",
          examples: ["runs replay run_x1"],
          load: async () => (await import("./commands/agents.ts")).runRunsReplay,
        },
      },
    },

    models: {
      does: "the model that plans for agents",
      examples: ["models test", "models test ollama/NAME"],
      subcommands: {
        "test [model]": {
          does: "make one tiny request to the model and report problems",
          examples: ["models test", "models test anthropic/NAME --json"],
          load: async () => (await import("./commands/ask.ts")).runModelsTest,
        },
      },
    },
  },
  "Workflow:": {
    spec: {
      does: "spec-driven development: a specification, a plan and tasks from a description",
      examples: [
        'spec new "Users can upload photos"',
        "spec run",
        "spec run implement --filter US1",
      ],
      subcommands: {
        list: {
          does: "list the features and their phases",
          examples: ["spec list --json"],
          isDefault: true,
          load: async () => (await import("./commands/spec.ts")).runSpecList,
        },
        "new <description...>": {
          does: "write the specification of a new feature",
          options: {
            "--name <words>": "words for the folder name (default: from the description)",
            "--number <number>": [
              "number of the feature (default: the next one)",
              wholeNumber("number", 1, 999_999),
            ],
          },
          examples: ['spec new "Users can upload photos and organize them into albums"'],
          load: async () => (await import("./commands/spec.ts")).runSpecNew,
        },
        "update <description...>": {
          does: "write the specification of a feature again, from a new description; your edits are kept",
          options: {
            "--feature <name>": "the feature, by name, number or folder (default: the active one)",
            "--force": force,
          },
          examples: ['spec update "Users can upload photos and videos" --feature 1'],
          load: async () => (await import("./commands/spec.ts")).runSpecUpdate,
        },
        "run [steps...]": {
          does: "run the next steps up to the tasks, or the named ones: constitution, clarify, plan, tasks, checklist, analyze, implement, converge, taskstoissues",
          options: {
            "--feature <name>": "the feature, by name, number or folder (default: the active one)",
            "--principle <text...>": 'principles for the constitution, each as "Name: rule"',
            "--question <text...>": "questions for clarify (default: the open ones of the spec)",
            "--answer <text...>": "answers to the questions, in order",
            "--recommended": "take the recommended answer to each question",
            "--technology <text>": "technology for the plan, such as: TypeScript with Fastify",
            "--tests": "add test tasks",
            "--filter <tasks>": "only these tasks: T003,T007-T010, US1, phase:2, next, unchecked",
            "--completed <id...>": "tasks you have done",
            "--agent <name>": "the agent that does the tasks",
            "--domain <name>":
              "the domain of a checklist, such as security, ux, api or performance",
            "--gap <text...>": "missing work for converge, one sentence each",
            "--tool <name>": "the tool that creates issues, such as github.create_issue",
            "--repository <owner/name>": "where issues are created (default: the GitHub remote)",
            "--force": force,
          },
          examples: [
            "spec run",
            "spec run --recommended --json",
            "spec run implement --filter US1",
          ],
          load: async () => (await import("./commands/spec.ts")).runSpecRun,
        },
        "status [feature]": {
          does: "show one feature: phase, files, next step",
          examples: ["spec status", "spec status 3 --json"],
          load: async () => (await import("./commands/spec.ts")).runSpecStatus,
        },
        "resume [feature]": {
          does: "continue an interrupted step, or the tasks that are left",
          options: { "--force": force },
          examples: ["spec resume", "spec resume 3 --json"],
          load: async () => (await import("./commands/spec.ts")).runSpecResume,
        },
      },
    },
  },
  "Records:": {
    stats: {
      does: "show calls, error rates and durations per tool and toolkit",
      options: {
        "--since <time>": ["30m, 24h, 7d or a date (default: all)", parseSince],
        "--person <user>": "only calls of this person or token",
      },
      examples: ["stats", "stats --since 24h --json"],
      load: async () => (await import("./commands/records.ts")).runStats,
    },

    audit: {
      does: "show calls and decisions",
      options: {
        "--since <time>": ["30m, 24h, 7d or a date", parseSince],
        "--tool <name>": "only this tool or toolkit",
        "--person <user>": "only this person or token",
        "--outcome <word>":
          "ok, error, failed, running, lost, denied, an error code such as TIMEOUT, or a decision such as blocked",
        "--limit <number>": [
          "show at most this many, newest first (default: 50)",
          wholeNumber("limit", 1, 100_000),
        ],
        "--export <format>": ["print everything that matches: jsonl", parseExportFormat],
      },
      examples: [
        "audit --since 1h",
        "audit --outcome blocked",
        "audit --export jsonl > audit.jsonl",
        "audit verify",
      ],
      load: async () => (await import("./commands/records.ts")).runAudit,
      subcommands: {
        verify: {
          does: "check that no row of the audit was changed, moved or removed",
          examples: ["audit verify"],
          load: async () => (await import("./commands/records.ts")).runAuditVerify,
        },
        accept: {
          does: "begin a new audit after the store was removed, replaced or set back",
          examples: ["audit accept"],
          load: async () => (await import("./commands/records.ts")).runAuditAccept,
        },
      },
    },

    migrate: {
      does: "move the records of this project from their file to PostgreSQL, and verify them",
      options: {
        "--to <url>":
          "an empty database, or ?schema= of it (default: store.url of your own config file)",
      },
      examples: ["migrate --to postgres://guild@db.example.com/guild", "migrate --json"],
      load: async () => (await import("./commands/records.ts")).runMigrate,
    },
  },
};
