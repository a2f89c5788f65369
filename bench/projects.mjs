import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startClient } from "./line-client.mjs";
import { pathOf, processes } from "./processes.mjs";

export const upstreamCommand = [process.execPath, pathOf("servers/upstream-echo.mjs")];

/** A folder for a hall, with its servers, and with nothing of this machine's user in reach. */
export function createProject(servers, settings = {}) {
  const root = mkdtempSync(join(tmpdir(), "guildhall-bench-"));
  const env = { ...process.env };
  for (const kind of ["RUNTIME_DIR", "DATA_HOME", "CONFIG_HOME"]) {
    env[`XDG_${kind}`] = join(root, kind.toLowerCase());
    mkdirSync(env[`XDG_${kind}`], { mode: 0o700 });
  }
  // The user's own config: a benchmark has no person to approve its servers.
  mkdirSync(join(env.XDG_CONFIG_HOME, "guildhall"));
  writeFileSync(
    join(env.XDG_CONFIG_HOME, "guildhall", "config.json"),
    JSON.stringify({ trust: { unattended: true } }),
  );
  const folder = join(root, "project");
  mkdirSync(folder);
  if (servers)
    writeFileSync(
      join(folder, "guildhall.json"),
      JSON.stringify({ expose: "tools", ...settings, mcpServers: servers }),
    );
  const [cli] = processes.cli;
  return {
    folder,
    env,
    /** Runs a command of the hall to its end. */
    command: (...args) =>
      execFileSync(process.execPath, [cli, ...args], {
        cwd: folder,
        env,
        stdio: ["ignore", "ignore", "pipe"],
      }),
    /** Starts `guildhall mcp` and speaks to it. */
    start: (...args) => startClient(process.execPath, [cli, "mcp", ...args], { cwd: folder, env }),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Processes that a process has started and that still live. */
export function childrenOf(pid) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === pid);
}

function parentOf(pid) {
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);
  } catch {
    // It ended while we looked.
    return undefined;
  }
}
