import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { median, row, short } from "./figures.mjs";
import { inTurns } from "./processes.mjs";
import { createProject, upstreamCommand } from "./projects.mjs";

/** Waiting times at the terminal: read-only commands beside a running hall, and `init`. */
export default { name: "commands", run };

const commands = [
  "status",
  "list",
  "tools",
  "health",
  "trust list",
  "approvals",
  "groups list",
  "stats",
  "audit",
];

async function run({ rounds = 11 } = {}) {
  return [...(await readOnlyRows(rounds)), await initRow(rounds)];
}

async function readOnlyRows(rounds) {
  const [command, ...args] = upstreamCommand;
  const project = createProject({ one: { command, args }, two: { command, args } });
  const times = Object.fromEntries(["bare", ...commands].map((name) => [name, []]));
  try {
    project.command("build", "--yes");
    const hall = project.start();
    await hall.initialize();
    // The first run of each command fills the compile cache.
    for (const name of commands) project.command(...name.split(" "));
    await inTurns(rounds, Object.keys(times), (name) => {
      times[name].push(
        timeOf(() => (name === "bare" ? bareNode() : project.command(...name.split(" ")))),
      );
    });
    await hall.stop();
  } finally {
    project.remove();
  }
  return commands.map((name) =>
    aboveRow(`${name}, above a bare Node`, times[name], times.bare, 250),
  );
}

async function initRow(rounds) {
  const project = createProject();
  const times = { bare: [], init: [] };
  try {
    const home = join(project.folder, "..", "home");
    writeClients(home, project.env.XDG_CONFIG_HOME, project.folder);
    project.env.HOME = home;
    const init = () => project.command("init", "--yes", "--dry-run");
    init();
    await inTurns(rounds, Object.keys(times), (name) => {
      times[name].push(timeOf(name === "bare" ? bareNode : init));
    });
  } finally {
    project.remove();
  }
  return aboveRow(
    "init with the files of ten clients, above a bare Node",
    times.init,
    times.bare,
    1_000,
  );
}

/** Files of ten clients with two servers each. */
function writeClients(home, config, project) {
  const servers = (client) =>
    Object.fromEntries(
      ["notes", "files"].map((name) => [`${client}-${name}`, { command: name, args: [client] }]),
    );
  const files = {
    [`${project}/.mcp.json`]: { mcpServers: servers("claude-code") },
    [`${config}/Claude/claude_desktop_config.json`]: {
      mcpServers: servers("claude-desktop"),
    },
    [`${home}/.cursor/mcp.json`]: { mcpServers: servers("cursor") },
    [`${project}/.vscode/mcp.json`]: { servers: servers("vscode") },
    [`${home}/.gemini/settings.json`]: { mcpServers: servers("gemini") },
    [`${home}/.codeium/windsurf/mcp_config.json`]: { mcpServers: servers("windsurf") },
    [`${config}/zed/settings.json`]: { context_servers: servers("zed") },
    [`${project}/opencode.json`]: {
      mcp: { notes: { type: "local", command: ["notes", "opencode"] } },
    },
  };
  for (const [file, content] of Object.entries(files)) put(file, JSON.stringify(content));
  put(`${home}/.codex/config.toml`, '[mcp_servers.codex-notes]\ncommand = "notes"\n');
  put(
    `${home}/.continue/config.yaml`,
    "mcpServers:\n  - name: continue-notes\n    command: notes\n",
  );
}

function put(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function bareNode() {
  execFileSync(process.execPath, ["-e", "0"], { stdio: "ignore" });
}

function timeOf(work) {
  const started = performance.now();
  work();
  return performance.now() - started;
}

function aboveRow(figure, ours, bare, atMost) {
  const differences = ours.map((value, round) => value - bare[round]);
  const range = `${short(Math.min(...differences))}–${short(Math.max(...differences))} over ${differences.length} rounds`;
  return row(
    figure,
    median(differences),
    "ms",
    { atMost },
    `${range}; medians ${short(median(ours))} and ${short(median(bare))} ms`,
  );
}
