import { type CommandGroups, collect, parseUntil } from "./declaration.ts";

const until = { "--until <time>": ["only for this long: 90s, 30m, 2h, 7d", parseUntil] } as const;
const yes = { "-y, --yes": "do not ask" };

/** The commands that say what may run, and who may call. */
export const trustCommands: CommandGroups = {
  "Trust:": {
    "verify [server]": {
      does: "review a server, or all: its command or URL, its tools' descriptions, and which calls require approval",
      options: {
        "-y, --yes":
          "do not ask about each server: approve everything as it is marked, with one confirmation",
      },
      examples: ["verify", "verify github", "verify --yes --json"],
      load: async () => (await import("./commands/trust.ts")).runVerify,
    },

    "diff [server]": {
      does: "show what changed since the last review",
      examples: ["diff", "diff github --json"],
      load: async () => (await import("./commands/trust.ts")).runDiff,
    },

    "trust <name>": {
      does: "allow calls of a tool, or of all tools of a server, without approval while their definitions stay the same",
      options: until,
      examples: [
        "trust github.create_issue",
        "trust github --until 2h",
        "trust all",
        "trust list",
        "trust reset",
      ],
      load: async () => (await import("./commands/trust.ts")).runTrust,
      subcommands: {
        all: {
          does: "allow calls of every reviewed tool without approval; shows the tools and asks first",
          options: { ...until, ...yes },
          examples: ["trust all", "trust all --until 2h --yes"],
          load: async () => (await import("./commands/trust.ts")).runTrustAll,
        },
        "list [server]": {
          does: "show the trust level of each tool, or of those of a server, and why its calls require approval",
          examples: ["trust list", "trust list github --json"],
          load: async () => (await import("./commands/trust.ts")).runTrustList,
        },
        "reset [server]": {
          does: "forget all reviews and trust of this project, or of one server",
          options: yes,
          examples: ["trust reset", "trust reset github --yes"],
          load: async () => (await import("./commands/trust.ts")).runTrustReset,
        },
      },
    },

    sandbox: {
      does: "what confines each server, and what it may use",
      examples: ["sandbox list", "sandbox explain github", "sandbox learn github"],
      subcommands: {
        list: {
          does: "show how each server runs, and how much its sandbox has denied",
          examples: ["sandbox list", "sandbox list --json"],
          load: async () => (await import("./commands/sandbox.ts")).runSandboxList,
        },
        "explain <server>": {
          does: "say what a server can read, write and reach, and what it was denied",
          examples: ["sandbox explain github", "sandbox explain github --json"],
          load: async () => (await import("./commands/sandbox.ts")).runSandboxExplain,
        },
        "learn <server>": {
          does: "propose rights from what was denied in use, or while you try its reading tools; asks before it allows any",
          options: {
            "--call <tool>": ["try this tool, as TOOL or TOOL=JSON; can be repeated", collect],
            "-y, --yes": "allow all of it but what looks like a key",
          },
          examples: [
            "sandbox learn files",
            'sandbox learn files --call \'files.read_file={"path":"/etc/motd"}\'',
          ],
          load: async () => (await import("./commands/sandbox.ts")).runSandboxLearn,
        },
      },
    },

    "revoke <name>": {
      does: "revoke the trust in a tool, or in all tools of a server",
      examples: ["revoke github.create_issue", "revoke github"],
      load: async () => (await import("./commands/trust.ts")).runRevoke,
    },

    approvals: {
      does: "show the calls that wait for approval; in a terminal, answer them",
      examples: ["approvals", "approvals --json"],
      load: async () => (await import("./commands/trust.ts")).runApprovals,
    },

    "approve <token>": {
      does: "allow a waiting call, once by default",
      options: {
        "--always": "also allow every later call of this tool",
        "--hall": "also allow later calls of this tool while this hall runs",
        "--no": "deny it",
      },
      examples: ["approve 3f9c0b7ad1e24c55a8b6d012", "approve 3f9c0b7ad1e24c55a8b6d012 --always"],
      load: async () => (await import("./commands/trust.ts")).runApprove,
    },

    policy: {
      does: "policies in Cedar: who may call, list, read, approve, register and administer",
      examples: [
        "policy check",
        "policy explain ann github.create_issue",
        "policy test cases.yaml",
      ],
      subcommands: {
        list: {
          does: "list the policies in force",
          examples: ["policy list --json"],
          load: async () => (await import("./commands/policy.ts")).runPolicyList,
        },
        check: {
          does: "check the policy files of this user and this project",
          examples: ["policy check"],
          load: async () => (await import("./commands/policy.ts")).runPolicyCheck,
        },
        "explain <principal> <tool>": {
          does: "say whether a person may call a tool, and which policy decides it",
          options: { "--group <group...>": "the groups that the person is in" },
          examples: [
            "policy explain ann github.create_issue",
            "policy explain ann github.create_issue --group developers --json",
            "policy explain local find_tools",
          ],
          load: async () => (await import("./commands/policy.ts")).runPolicyExplain,
        },
        "test <file>": {
          does: "run the cases of a JSON or YAML file: principal, action, resource, context, expected",
          examples: ["policy test cases.yaml", "policy test cases.json --json"],
          load: async () => (await import("./commands/policy.ts")).runPolicyTest,
        },
        publish: {
          does: "put the policy files of this user in force in all halls that share store.url",
          options: { "--withdraw": "take back what was published" },
          examples: ["policy publish", "policy publish --withdraw"],
          load: async () => (await import("./commands/policy.ts")).runPolicyPublish,
        },
      },
    },

    token: {
      does: "tokens for others who call your halls over HTTP",
      examples: ["token create ci", "token list"],
      subcommands: {
        "create <name>": {
          does: "create a token and show it once",
          options: {
            "--scope <scope...>":
              "what it allows: call, read, register:NAME, admin (default: call)",
            "--tools <tool...>":
              "the only tools it may call, such as github.create_issue or github.*",
            ...until,
          },
          examples: ["token create ci", "token create ci --tools github.* --until 7d"],
          load: async () => (await import("./commands/credentials.ts")).runTokenCreate,
        },
        show: {
          does: "print the token of your own halls, for use in other commands",
          examples: ["token show"],
          load: async () => (await import("./commands/credentials.ts")).runTokenShow,
        },
        list: {
          does: "list the names of the tokens",
          examples: ["token list --json"],
          load: async () => (await import("./commands/credentials.ts")).runTokenList,
        },
        "revoke <name>": {
          does: "revoke a token; it is invalid from the next request on",
          examples: ["token revoke ci"],
          load: async () => (await import("./commands/credentials.ts")).runTokenRevoke,
        },
      },
    },
  },
};
