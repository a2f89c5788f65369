import { Command } from "commander";
import { version } from "../base/version.ts";
import { mcpFlags } from "./mcp-flags.ts";

/** All commands. Each one's work is loaded when it is run, so that `mcp` starts as fast as it can. */
export function createProgram(): Command {
  const program = new Command("guildhall")
    .description("One hall for all your MCP servers: gathers their tools, guards every call, shows a model only what it needs.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .showHelpAfterError("(run with --help for usage and examples)")
    .exitOverride()
    .addHelpText("after", examples(["guildhall serve", "guildhall mcp", "guildhall mcp --help"]));

  const mcp = program
    .command("mcp")
    .description("serve MCP over stdin and stdout; this is what an MCP client starts")
    .addHelpText("after", examples(["guildhall mcp", "guildhall mcp --expose tools --static", "claude mcp add guildhall -- guildhall mcp"]))
    .action(async (options) => (await import("./mcp.ts")).runMcp(options));
  for (const [flags, description] of mcpFlags) mcp.option(flags, description);

  program
    .command("serve")
    .description("serve MCP over HTTP, WebSocket and SSE, and print how to connect to it")
    .option("--host <address>", "the address to listen on; any but loopback needs --token-file (default: the config's, else 127.0.0.1)")
    .option("--port <number>", "the port to listen on; 0 for any free one (default: the config's, else 8080)")
    .option("--token-file <file>", "a file with the token every caller must send (default: the config's)")
    .option("--expose <faces>", "what clients are shown, comma-separated (default: the config's, else what fits the number of tools)")
    .option("--static", "freeze the lists and say so")
    .option("--log-level <level>", "what is written to stderr: trace, debug, info, warn, error, silent (default: the config's, else info)")
    .option("--json", "print the address as JSON instead of text")
    .addHelpText(
      "after",
      examples(["guildhall serve", "guildhall serve --port 9000 --json", "guildhall serve --host 0.0.0.0 --token-file /etc/guildhall/token"]),
    )
    .action(async (options) => (await import("./serve.ts")).runServe(options));

  addSetupCommands(program);
  addServerCommands(program);
  addTrustCommands(program);
  addToolCommands(program);
  addAgentCommands(program);
  addSpecCommands(program);
  addRecordCommands(program);
  return program;
}

const asJson = ["--json", "print JSON instead of text"] as const;

const clientIds = "claude-code, claude-desktop, cursor, vscode, codex, gemini-cli, windsurf, zed, continue, opencode";

function addSetupCommands(program: Command): void {
  program
    .command("init")
    .description("find the servers other clients have, and write those you want into guildhall.json")
    .option("-y, --yes", "ask nothing: take all that are for this project")
    .option("--from <client...>", `read only these clients (${clientIds})`)
    .option("--all", "take servers of other projects too")
    .option("--force", "write the file anew instead of adding to it; the old one is kept as a backup")
    .option("--dry-run", "show what would be written, and write nothing")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall init", "guildhall init --yes", "guildhall init --from cursor vscode --dry-run", "guildhall init --yes --json"]))
    .action(async (options) => (await import("./init.ts")).runInit(options));

  program
    .command("install <client>")
    .description(`point a client at the hall: ${clientIds}`)
    .option("--project", "in the client's file of this project (default, where it has one)")
    .option("--user", "in the user's file, for all projects")
    .option("--move", "also put the servers of that file behind the hall")
    .option("-y, --yes", "ask nothing")
    .option("--dry-run", "show what would be changed, and change nothing")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall install claude-code", "guildhall install cursor --user --dry-run", "guildhall install codex --move"]))
    .action(async (client, options) => (await import("./install.ts")).runInstall(client, options));

  program
    .command("uninstall <client>")
    .description("take the hall out of a client's file again: byte for byte as it was, if nobody else has changed it since")
    .option("--project", "out of the client's file of this project (default, where it has one)")
    .option("--user", "out of the user's file")
    .option("-y, --yes", "ask nothing")
    .option("--dry-run", "show what would be changed, and change nothing")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall uninstall claude-code", "guildhall uninstall cursor --user"]))
    .action(async (client, options) => (await import("./install.ts")).runUninstall(client, options));
}

function addServerCommands(program: Command): void {
  program
    .command("build")
    .description("start every configured server once, write what they offer to .guildhall/tools.lock.json, review it, and group the tools into agents")
    .option("-y, --yes", "ask nothing: approve everything as it is marked")
    .option("--regroup", "group all tools anew, but for what was moved by hand")
    .option("--planner <kind>", "let a model name, describe and regroup: model, or sampling for that of a connected client (default: local, without one)")
    .option("--strict", "fail when the groups are too few, too many, too small or too large")
    .option("--dry-run", "show what would become of the groups, and write nothing")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall build", "guildhall build --dry-run", "guildhall build --yes --json"]))
    .action(async (options) => (await import("./build.ts")).runBuild(options));

  program
    .command("status")
    .description("show the running hall and the state of each server")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall status", "guildhall status --json"]))
    .action(async (options) => (await import("./status.ts")).runStatus(options));

  program
    .command("logs <server>")
    .description("show the last lines a server wrote to stderr")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall logs github"]))
    .action(async (server, options) => (await import("./status.ts")).runLogs(server, options));

  program
    .command("restart <server>")
    .description("stop a server; it starts again at its next call")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall restart github"]))
    .action(async (server, options) => (await import("./status.ts")).runRestart(server, options));

  program
    .command("login <server>")
    .description("log in to a server elsewhere: prints the page to open, and waits for the answer")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall login github", "guildhall login github --json"]))
    .action(async (server, options) => (await import("./login.ts")).runLogin(server, options));

  program
    .command("logout <server>")
    .description("forget the tokens of a server")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall logout github"]))
    .action(async (server, options) => (await import("./login.ts")).runLogout(server, options));

  program
    .command("doctor")
    .description("check each configured server, and say what to do")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall doctor", "guildhall doctor --json"]))
    .action(async (options) => (await import("./doctor.ts")).runDoctor(options));
}

function addTrustCommands(program: Command): void {
  program
    .command("verify [server]")
    .description("review what a server offers, or all: how it is reached, what its tools say, which of them ask first")
    .option("-y, --yes", "ask nothing: approve everything as it is marked")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall verify", "guildhall verify github", "guildhall verify --yes --json"]))
    .action(async (server, options) => (await import("./verify.ts")).runVerify(server, options));

  program
    .command("diff [server]")
    .description("show what has changed since it was reviewed")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall diff", "guildhall diff github --json"]))
    .action(async (server, options) => (await import("./diff.ts")).runDiff(server, options));

  const trust = program
    .command("trust <name>")
    .description("let a tool, or all tools of a server, be called without asking, as long as they stay what they are")
    .option("--until <time>", "for this long only: 90s, 30m, 2h, 7d")
    .option(...asJson)
    .addHelpText(
      "after",
      examples(["guildhall trust github.create_issue", "guildhall trust github --until 2h", "guildhall trust list", "guildhall trust reset"]),
    )
    .action(async (name, options) => (await import("./trust.ts")).runTrust(name, options));
  trust
    .command("list")
    .description("show how each tool stands, and why it asks")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall trust list --json"]))
    .action(async (_options, command) => (await import("./trust.ts")).runTrustList(command.optsWithGlobals()));
  trust
    .command("reset [server]")
    .description("forget every review and all trust of this project, or of one server")
    .option("-y, --yes", "ask nothing")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall trust reset", "guildhall trust reset github --yes"]))
    .action(async (server, _options, command) => (await import("./trust.ts")).runTrustReset(server, command.optsWithGlobals()));

  program
    .command("revoke <name>")
    .description("take back the trust in a tool, or in all tools of a server")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall revoke github.create_issue", "guildhall revoke github"]))
    .action(async (name, options) => (await import("./trust.ts")).runRevoke(name, options));

  program
    .command("approvals")
    .description("show the calls that wait for a yes; on a terminal, answer them")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall approvals", "guildhall approvals --json"]))
    .action(async (options) => (await import("./approvals.ts")).runApprovals(options));

  program
    .command("approve <token>")
    .description("let a call that waits run, this once unless told otherwise")
    .option("--always", "and every later call of this tool")
    .option("--hall", "and later calls of this tool while this hall runs")
    .option("--no", "refuse it")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall approve 3f9c0b7ad1e24c55a8b6d012", "guildhall approve 3f9c0b7ad1e24c55a8b6d012 --always"]))
    .action(async (token, options) => (await import("./approvals.ts")).runApprove(token, options));

  const token = program.command("token").description("tokens for others who call this user's halls over HTTP");
  token
    .command("create <name>")
    .description("make a token and show it once")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall token create ci"]))
    .action(async (name, options) => (await import("./token.ts")).runTokenCreate(name, options));
  token
    .command("list")
    .description("show the names")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall token list --json"]))
    .action(async (options) => (await import("./token.ts")).runTokenList(options));
  token
    .command("revoke <name>")
    .description("take a token back; from the next request on it opens nothing")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall token revoke ci"]))
    .action(async (name, options) => (await import("./token.ts")).runTokenRevoke(name, options));
}

function addGroupCommands(program: Command): void {
  const groups = program
    .command("groups")
    .description("show and change the groups that agents are made of")
    .addHelpText(
      "after",
      examples(["guildhall groups list", "guildhall groups move github.create_issue planning", "guildhall groups explain take a screenshot"]),
    );
  groups
    .command("list", { isDefault: true })
    .description("list the groups and what they have")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall groups list --json"]))
    .action(async (options) => (await import("./groups.ts")).runGroupsList(options));
  groups
    .command("show <group>")
    .description("show one group: its tools and what it goes by")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall groups show web_research"]))
    .action(async (group, options) => (await import("./groups.ts")).runGroupsShow(group, options));
  groups
    .command("move <tool> <group>")
    .description("move a tool to another group; a build leaves it there")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall groups move github.create_issue planning"]))
    .action(async (tool, group, options) => (await import("./groups.ts")).runGroupsMove(tool, group, options));
  groups
    .command("rename <group> <name>")
    .description("give a group another name")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall groups rename code_hosting reviews"]))
    .action(async (group, name, options) => (await import("./groups.ts")).runGroupsRename(group, name, options));
  groups
    .command("explain <task...>")
    .description("show which group a task would go to, and why")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall groups explain take a screenshot of a page"]))
    .action(async (words, options) => (await import("./groups.ts")).runGroupsExplain(words, options));
}

function addAgentCommands(program: Command): void {
  program
    .command("ask <words...>")
    .usage("[options] [agent] <task>")
    .description("give a task to an agent, or to the one that fits best; shows the steps it takes")
    .option("--planner <kind>", "who plans: auto, model, sampling, local (default: the agent's own, else the config's)")
    .option("--data <json>", "what the task is about")
    .option(...asJson)
    .addHelpText("after", examples(['guildhall ask "current time in America/Lima"', 'guildhall ask web_research "find the release notes" --planner model']))
    .action(async (words, options) => (await import("./ask.ts")).runAsk(words, options));

  const runs = program
    .command("runs")
    .description("show what agents have done, and go through it again")
    .addHelpText("after", examples(["guildhall runs list", "guildhall runs show run_x1", "guildhall runs replay run_x1"]));
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
    .description("go through a run again with what models said and tools gave then; nobody is called")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall runs replay run_x1"]))
    .action(async (run, options) => (await import("./runs.ts")).runRunsReplay(run, options));

  program
    .command("models")
    .description("the model that plans for agents")
    .addHelpText("after", examples(["guildhall models test", "guildhall models test ollama/NAME"]))
    .command("test [model]")
    .description("make one tiny call of the model, and say what is wrong")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall models test", "guildhall models test anthropic/NAME --json"]))
    .action(async (model, options) => (await import("./models.ts")).runModelsTest(model, options));
}

function addSpecCommands(program: Command): void {
  program
    .command("tui [args...]")
    .description("the terminal client: features, runs, tools, agents, servers, approvals; of this project's hall, or of another server")
    .option("--config <file>", "a config file with an [mcp] section, read instead of the project's")
    .option("--command <program>", "speak to this program over its stdin and stdout; its arguments come after --")
    .option("--endpoint <url>", "speak to the server at this address: http, https, ws or wss")
    .option("--timeout <seconds>", "how long a call may be silent, 1 to 600 (default: the config's mcp.timeout, else 60)")
    .option("--log-level <level>", "what is written to .guildhall/logs/tui.log: trace, debug, info, warn, error, silent (default: the config's, else warn)")
    .addHelpText("after", examples(["guildhall tui", "guildhall tui --command claude -- --mcp", "guildhall tui --endpoint http://127.0.0.1:8080/mcp"]))
    .action(async (args, options) => (await import("./tui.ts")).runTui(args, options));

  const spec = program
    .command("spec")
    .description("spec-driven work: from a description to a specification, a plan and tasks, in files you own")
    .addHelpText("after", examples(['guildhall spec new "Users can upload photos"', "guildhall spec run", "guildhall spec run implement --filter US1"]));
  spec
    .command("list", { isDefault: true })
    .description("list the features and how far each is")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall spec list --json"]))
    .action(async (options) => (await import("./spec.ts")).runSpecList(options));
  spec
    .command("new <description...>")
    .description("write the specification of a new feature")
    .option("--name <words>", "words for the folder's name (default: from the description)")
    .option("--number <number>", "the folder's number (default: the next one)")
    .option(...asJson)
    .addHelpText("after", examples(['guildhall spec new "Users can upload photos and organize them into albums"']))
    .action(async (words, options) => (await import("./spec.ts")).runSpecNew(words, options));
  spec
    .command("run [steps...]")
    .description("run the next steps up to the tasks, or those you name: constitution, clarify, plan, tasks, checklist, analyze, implement")
    .option("--feature <name>", "the feature, by name, number or folder (default: the active one)")
    .option("--answer <text...>", "answers to the questions of clarify, in their order")
    .option("--recommended", "take the recommended answer to each question")
    .option("--technology <text>", "what to plan with, such as: TypeScript with Fastify")
    .option("--tests", "with test tasks")
    .option("--filter <tasks>", "which tasks: T003,T007-T010, US1, phase:2, next, unchecked")
    .option("--completed <id...>", "tasks you have done")
    .option("--agent <name>", "the agent that does the tasks")
    .option("--force", "replace files that were edited by hand; go on although checklists are open")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall spec run", "guildhall spec run --recommended --json", "guildhall spec run implement --filter US1"]))
    .action(async (steps, options) => (await import("./spec.ts")).runSpecRun(steps, options));
  spec
    .command("status [feature]")
    .description("show one feature: its state, its files, what comes next")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall spec status", "guildhall spec status 3 --json"]))
    .action(async (feature, options) => (await import("./spec.ts")).runSpecStatus(feature, options));
  spec
    .command("resume [feature]")
    .description("go on with a step that was interrupted, or with the tasks that are left")
    .option("--force", "replace files that were edited by hand; go on although checklists are open")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall spec resume", "guildhall spec resume 3 --json"]))
    .action(async (feature, options) => (await import("./spec.ts")).runSpecResume(feature, options));
}

function addRecordCommands(program: Command): void {
  program
    .command("stats")
    .description("show calls, error rates and durations of each tool and toolkit")
    .option("--since <time>", "30m, 24h, 7d or a date (default: everything that is kept)")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall stats", "guildhall stats --since 24h --json"]))
    .action(async (options) => (await import("./stats.ts")).runStats(options));

  const audit = program
    .command("audit")
    .description("show what was called and what was decided")
    .option("--since <time>", "30m, 24h, 7d or a date")
    .option("--tool <name>", "a tool or a toolkit")
    .option("--outcome <word>", "ok, error, failed, running, an error code such as TIMEOUT, or what was decided, such as blocked")
    .option("--limit <number>", "how many, the newest (default: 50)")
    .option("--export <format>", "print everything that matches: jsonl")
    .option(...asJson)
    .addHelpText(
      "after",
      examples(["guildhall audit --since 1h", "guildhall audit --outcome blocked", "guildhall audit --export jsonl > audit.jsonl", "guildhall audit verify"]),
    )
    .action(async (options) => (await import("./audit.ts")).runAudit(options));
  audit
    .command("verify")
    .description("check that no row of the audit was changed, moved or removed")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall audit verify"]))
    .action(async (_options, command) => (await import("./audit.ts")).runAuditVerify(command.optsWithGlobals()));
}

function addToolCommands(program: Command): void {
  const tools = program
    .command("tools [words...]")
    .description("list the tools, or those that fit a task, best first")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall tools", "guildhall tools create issue", "guildhall tools show github.create_issue"]))
    .action(async (words, options) => (await import("./tools.ts")).runTools(words, options));
  tools
    .command("show <name>")
    .description("show one tool with its schema")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall tools show time_tool.current_time"]))
    .action(async (name, _options, command) => (await import("./tools.ts")).runToolShow(name, command.optsWithGlobals()));

  addGroupCommands(program);

  program
    .command("lisp [file]")
    .description("run a Lisp program that calls tools, from a file or a pipe; at a terminal, a conversation")
    .option("--act", "bind tools that may destroy or send, too; they still ask")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall lisp", "guildhall lisp report.lisp", "echo '(+ 1 2)' | guildhall lisp --json"]))
    .action(async (file, options) => (await import("./lisp.ts")).runLisp(file, options));

  program
    .command("call <name> [arguments...]")
    .description("call a tool with key=value pairs or one JSON object")
    .option(...asJson)
    .addHelpText(
      "after",
      examples(["guildhall call time_tool.current_time timezone=Europe/Berlin", 'guildhall call github.create_issue \'{"title":"It works"}\'']),
    )
    .action(async (name, words, options) => (await import("./call.ts")).runCall(name, words, options));

  program
    .command("register <file>")
    .description("register a toolkit with a running hall: a JSON file with its endpoint, or a module that is served from here")
    .option("--url <address>", "the hall's address (default: the hall that runs in this folder)")
    .option("--token-file <file>", "a file with the hall's token (default: GUILDHALL_TOKEN, else your own)")
    .option("--replace", "take the place of a different toolkit with the same name")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall register weather.json", "guildhall register examples/tools/greeter.mjs --url http://127.0.0.1:8080"]))
    .action(async (file, options) => (await import("./register.ts")).runRegister(file, options));

  program
    .command("unregister <name>")
    .description("take a registered toolkit out of a running hall")
    .option("--url <address>", "the hall's address (default: the hall that runs in this folder)")
    .option("--token-file <file>", "a file with the hall's token (default: GUILDHALL_TOKEN, else your own)")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall unregister weather"]))
    .action(async (name, options) => (await import("./register.ts")).runUnregister(name, options));

  program
    .command("resources")
    .description("list the resources")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall resources --json"]))
    .action(async (options) => (await import("./tools.ts")).runResources(options));

  program
    .command("prompts")
    .description("list the prompts")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall prompts --json"]))
    .action(async (options) => (await import("./tools.ts")).runPrompts(options));
}

function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}\n`;
}
