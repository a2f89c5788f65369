import { type CommandGroups, collect, wholeNumber } from "./declaration.ts";
import { mcpFlags } from "./mcp-flags.ts";

export const clientIds =
  "claude-code, claude-desktop, cursor, vscode, codex, gemini-cli, windsurf, zed, continue, opencode";
const project = "edit the client's file in this project (default, if it has one)";
const asking = {
  "-y, --yes": "do not ask",
  "--dry-run": "show the changes without writing anything",
};
const ofUser = "the hall of your own config file, without a project";
const port = [
  "the port to listen on; 0 for any free one (default: the config's, else 8080)",
  wholeNumber("port", 0, 65_535),
] as const;

/** The commands that set up and run a hall, in the order a newcomer needs them. */
export const hallCommands: CommandGroups = {
  "Halls:": {
    mcp: {
      does: "serve MCP over stdin and stdout; MCP clients start this command",
      options: mcpFlags,
      hasJson: false,
      examples: ["mcp", "mcp --expose tools --static", "claude mcp add guildhall -- guildhall mcp"],
      load: async () => (await import("./commands/mcp.ts")).runMcp,
    },

    serve: {
      does: "serve MCP over HTTP, WebSocket and SSE, and print how to connect",
      options: {
        "--host <address>":
          "the address to listen on; any but loopback needs --token-file (default: the config's, else 127.0.0.1)",
        "--port <number>": port,
        "--token-file <file>":
          "a file with the token every caller must send (default: the config's)",
        "--expose <faces>": mcpFlags["--expose <faces>"],
        "--static": mcpFlags["--static"],
        "--log-level <level>":
          "level of the log on stderr: trace, debug, info, warn, error, silent (default: the config's, else info)",
        "--user": "serve your own config file, without a project",
        "--log-file <file>":
          "write the log to this file and FILE.1, at most 1 MB each, not to stderr",
        "--background": "as `start` runs it: fail if a hall of this project is running",
        "--json": "print the address as JSON, and the log as JSON even in a terminal",
      },
      examples: [
        "serve",
        "serve --port 9000 --json",
        "serve --host 0.0.0.0 --token-file /etc/guildhall/token",
      ],
      load: async () => (await import("./commands/serve.ts")).runServe,
    },

    start: {
      does: "run `serve` for this project in the background, and print how to connect",
      options: { "--user": ofUser, "--port <number>": port },
      examples: ["start", "start --port 9000", "start --user"],
      load: async () => (await import("./commands/serve.ts")).runStart,
    },

    stop: {
      does: "end the running hall of this project; running calls get a moment to finish",
      options: { "--user": ofUser },
      examples: ["stop", "stop --user"],
      load: async () => (await import("./commands/serve.ts")).runStop,
    },

    open: {
      does: "open the page of the running hall in your browser, and print its address",
      options: { "--user": ofUser },
      examples: ["open", "open --json"],
      load: async () => (await import("./commands/serve.ts")).runOpen,
    },

    service: {
      does: "let your own hall start when you log in (systemd, launchd)",
      examples: ["service install --dry-run", "service remove"],
      subcommands: {
        install: {
          does: "write the service, which runs `serve --user`, and start it; shows it and asks first",
          options: asking,
          examples: ["service install", "service install --dry-run"],
          load: async () => (await import("./commands/serve.ts")).runServiceInstall,
        },
        remove: {
          does: "stop the service and remove it",
          options: asking,
          examples: ["service remove"],
          load: async () => (await import("./commands/serve.ts")).runServiceRemove,
        },
      },
    },

    "tui [args...]": {
      does: "open the terminal client of this project's hall, or of another server",
      options: {
        "--config <file>": "a config file with an [mcp] section (default: the project's)",
        "--command <program>": "connect to this program over stdio; its arguments follow --",
        "--endpoint <url>": "connect to this server: http, https, ws or wss",
        "--timeout <seconds>":
          "how long a call may be silent, 1 to 600 (default: mcp.timeout of the config, else 60)",
        "--log-level <level>":
          "level of .guildhall/logs/tui.log: trace, debug, info, warn, error, silent (default: the config's, else warn)",
      },
      hasJson: false,
      examples: [
        "tui",
        "tui --command claude -- --mcp",
        "tui --endpoint http://127.0.0.1:8080/mcp",
      ],
      load: async () => (await import("./commands/tui.ts")).runTui,
    },
  },
  "Setup:": {
    init: {
      does: "find the servers of other clients and add those you choose to guildhall.json",
      options: {
        "-y, --yes": "do not ask: take all servers of this project",
        "--from <client...>": `read only these clients (${clientIds})`,
        "--all": "include servers of other projects",
        "--force": "write the file from scratch; the old one is backed up",
        "--no-secrets": "do not copy keys from the clients' files to the secrets of this project",
        "--dry-run": "show the changes without writing anything",
      },
      examples: ["init", "init --yes", "init --from cursor vscode --dry-run", "init --yes --json"],
      load: async () => (await import("./commands/init.ts")).runInit,
    },

    "install <client>": {
      does: `connect a client to the hall: ${clientIds}`,
      options: {
        "--project": project,
        "--user": "edit the user's file, for all projects",
        "--move": "also move the servers of that file to the hall",
        "--local-path": "start the hall by its path on this machine, also in a project's file",
        ...asking,
      },
      examples: ["install claude-code", "install cursor --user --dry-run", "install codex --move"],
      load: async () => (await import("./commands/install.ts")).runInstall,
    },

    "completion <shell>": {
      does: "print a script that completes commands, servers and tools: bash, zsh, fish",
      hasJson: false,
      examples: ["completion bash >> ~/.bashrc", "completion fish | source"],
      load: async () => (await import("./commands/completion.ts")).runCompletion,
    },

    "uninstall <client>": {
      does: "remove the hall from a client's file; if nothing else changed it, restore it byte for byte",
      options: { "--project": project, "--user": "edit the user's file", ...asking },
      examples: ["uninstall claude-code", "uninstall cursor --user"],
      load: async () => (await import("./commands/install.ts")).runUninstall,
    },
  },
  "Servers:": {
    "add [name] [command...]": {
      usage: "[options] [name] [-- command args...]",
      does: "add a server to the config, then start, record and review it; also takes the JSON of other clients or a `claude mcp add` line, as an argument or from stdin",
      options: {
        "--url <url>": "the address of a remote server",
        "-H, --header <header>": ["a header to send, such as 'X-Team: blue'; repeatable", collect],
        "-e, --env <variable>": [
          "a variable for its command, such as MODE=test; NAME alone passes yours; repeatable",
          collect,
        ],
        "--openapi <document>": "a file or URL: each operation of the API becomes a tool",
        "--base-url <url>": "the address of that API (default: the document's first server)",
        "--auth <scheme>": [
          "its credentials, as SCHEME=value, or SCHEME alone to set the value as a secret; repeatable",
          collect,
        ],
        "--include <glob>": [
          "only these operations, by tool name, 'GET /path*' or tag; repeatable",
          collect,
        ],
        "-t, --transport <type>": "how to reach a url: http (default), sse or ws",
        "-s, --scope <scope>": "accepted from `claude mcp add` lines, without effect",
        "-y, --yes":
          "do not ask about the server: approve it as it is marked, with one confirmation",
      },
      examples: [
        "add files -- npx -y @modelcontextprotocol/server-filesystem .",
        "add docs --url https://example.com/mcp --header 'X-Team: blue'",
        "add github --env GITHUB_TOKEN -- npx -y github-mcp",
        `add '{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}'`,
        "add 'claude mcp add --transport http docs https://example.com/mcp'",
        "add petstore --openapi ./petstore.yaml --auth api_key",
        "add time_tool",
      ],
      load: async () => (await import("./commands/add.ts")).runAdd,
    },

    "remove <server>": {
      does: "remove a server from the config",
      examples: ["remove files"],
      load: async () => (await import("./commands/servers.ts")).runRemove,
    },

    "enable <server>": {
      does: "use a disabled server again",
      examples: ["enable files"],
      load: async () => (await import("./commands/servers.ts")).runEnable,
    },

    "disable <server>": {
      does: "keep a server in the config without using it",
      examples: ["disable files"],
      load: async () => (await import("./commands/servers.ts")).runDisable,
    },

    list: {
      does: "list the configured servers: state, tools, what they run; starts none",
      examples: ["list", "list --json"],
      load: async () => (await import("./commands/servers.ts")).runList,
    },

    "build [server...]": {
      does: "start every configured server once, or those named, write what they offer to .guildhall/tools.lock.json, review changes, and group the tools into agents",
      options: {
        "-y, --yes":
          "do not ask about each server: approve everything as it is marked, with one confirmation",
        "--regroup": "group all tools again, except those moved by hand",
        "--planner <kind>":
          "model: let the configured model name and group (default: local, no model)",
        "--strict": "fail if there are too few, too many, too small or too large groups",
        "--dry-run": "show the changes to the groups without writing anything",
      },
      examples: ["build", "build github", "build --dry-run", "build --yes --json"],
      load: async () => (await import("./commands/build.ts")).runBuild,
    },

    status: {
      does: "show the running hall and the state of each server",
      examples: ["status", "status --json"],
      load: async () => (await import("./commands/status.ts")).runStatus,
    },

    "logs [server]": {
      does: "show what servers wrote to stderr and why they failed, also without a running hall",
      options: { "-f, --follow": "wait for more, until stopped" },
      examples: ["logs", "logs github", "logs -f github"],
      load: async () => (await import("./commands/servers.ts")).runLogs,
    },

    "restart <server>": {
      does: "stop a server; it starts again at its next call",
      examples: ["restart github"],
      load: async () => (await import("./commands/status.ts")).runRestart,
    },

    "login <server>": {
      does: "log in to a remote server: prints the page to open and waits for the login",
      options: { "--person <user>": "for this person's calls only, where each person logs in" },
      examples: ["login github", "login github --json"],
      load: async () => (await import("./commands/credentials.ts")).runLogin,
    },

    "logout <server>": {
      does: "delete the stored tokens of a server",
      options: { "--person <user>": "of this person" },
      examples: ["logout github"],
      load: async () => (await import("./commands/credentials.ts")).runLogout,
    },

    secret: {
      does: "values for variables of the config, kept in the system keyring or an encrypted file",
      examples: ["secret set GITHUB_TOKEN", "secret list"],
      subcommands: {
        "set <name>": {
          does: "store a secret of this project; the value comes from a hidden prompt or from stdin",
          options: {
            "--user": "for all your projects",
            "--person <user>": "for this person's calls only, where perPerson names it",
          },
          examples: ["secret set GITHUB_TOKEN", "secret set OPENAI_API_KEY --user < key.txt"],
          load: async () => (await import("./commands/credentials.ts")).runSecretSet,
        },
        list: {
          does: "list the names of your secrets, never their values",
          examples: ["secret list", "secret list --json"],
          load: async () => (await import("./commands/credentials.ts")).runSecretList,
        },
        "remove <name>": {
          does: "remove a secret of this project",
          options: {
            "--user": "remove it from those for all your projects",
            "--person <user>": "remove the value of this person",
          },
          examples: ["secret remove GITHUB_TOKEN"],
          load: async () => (await import("./commands/credentials.ts")).runSecretRemove,
        },
      },
    },

    "doctor [server...]": {
      does: "check each configured server, or those named, and show how to fix it",
      options: { "--fix": "remove npx folders that an interrupted installation damaged" },
      examples: ["doctor", "doctor github", "doctor --fix", "doctor --json"],
      load: async () => (await import("./commands/status.ts")).runDoctor,
    },
  },
};
