import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import { HallError } from "../base/errors.ts";
import { replacePrivate } from "../base/files.ts";

/** The service that runs the user's own hall from login on: a systemd user unit, or a launchd plist. */
export interface Service {
  readonly file: string;
  readonly text: string;
  /** The file as it is now; undefined if there is none. */
  readonly current: string | undefined;
  /** Command lines that start it, and that stop it before it is removed. */
  readonly enable: readonly Command[];
  readonly disable: readonly Command[];
}

type Command = readonly [string, ...string[]];

export interface ServiceOptions {
  /** The program and its first arguments. */
  readonly program: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly platform?: NodeJS.Platform;
}

const marker = "Written by guildhall service install";

/** Throws UNAVAILABLE on other systems, CONFLICT for a file that we did not write. */
export function planService({
  program,
  env = process.env,
  platform = process.platform,
}: ServiceOptions): Service {
  if (platform !== "darwin" && platform !== "linux")
    throw new HallError("UNAVAILABLE", "services are written for systemd and launchd only", {
      next: [{ do: "run-command", command: "start --user" }],
    });
  const plan = platform === "darwin" ? planLaunchd(program, env) : planSystemd(program, env);
  const current = existsSync(plan.file) ? readFileSync(plan.file, "utf8") : undefined;
  if (current !== undefined && !current.includes(marker))
    throw new HallError("CONFLICT", `"${plan.file}" was not written by guildhall`, {
      hint: "Move it away first.",
    });
  return { ...plan, current };
}

type Plan = Omit<Service, "current">;

function planSystemd(program: readonly string[], env: NodeJS.ProcessEnv): Plan {
  const { XDG_CONFIG_HOME: config } = env;
  const base = config && isAbsolute(config) ? config : join(env.HOME ?? homedir(), ".config");
  const unit = "guildhall.service";
  const systemctl = (...args: string[]): Command => ["systemctl", "--user", ...args];
  return {
    file: join(base, "systemd", "user", unit),
    text: `# ${marker}; remove it with: guildhall service remove
[Unit]
Description=Guildhall: one hall for your MCP servers

[Service]
ExecStart=${[...program, "serve", "--user"].map((word) => quoteUnit(word).replaceAll("$", "$$$$")).join(" ")}
${variables(env)
  .map(([name, value]) => `Environment=${quoteUnit(`${name}=${value}`)}\n`)
  .join("")}Restart=on-failure
RestartSec=5

[Install]
WantedBy=default.target
`,
    enable: [systemctl("daemon-reload"), systemctl("enable", "--now", unit)],
    disable: [systemctl("disable", "--now", unit)],
  };
}

/** systemd expands % even inside quotes, and $ only in ExecStart. */
function quoteUnit(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&").replaceAll("%", "%%")}"`;
}

/** Where the hall finds programs and its files; a service does not have the variables of the shell. */
function variables(env: NodeJS.ProcessEnv): readonly (readonly [string, string])[] {
  const names = ["PATH", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"];
  return names.flatMap((name) => (env[name] ? [[name, env[name]] as const] : []));
}

function planLaunchd(program: readonly string[], env: NodeJS.ProcessEnv): Plan {
  const label = "guildhall";
  const file = join(env.HOME ?? homedir(), "Library", "LaunchAgents", `${label}.plist`);
  const words = [...program, "serve", "--user"];
  return {
    file,
    text: `<?xml version="1.0" encoding="UTF-8"?>
<!-- ${marker}; remove it with: guildhall service remove -->
<plist version="1.0">
<dict>
  <key>Label</key><string>${label}</string>
  <key>ProgramArguments</key>
  <array>
${words.map((word) => `    <string>${escapeXml(word)}</string>`).join("\n")}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${variables(env)
  .map(([name, value]) => `    <key>${name}</key><string>${escapeXml(value)}</string>`)
  .join("\n")}
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
</dict>
</plist>
`,
    enable: [["launchctl", "load", "-w", file]],
    disable: [["launchctl", "unload", "-w", file]],
  };
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Writes the file and starts the service. False if it has to be started by hand. */
export async function installService({ file, text, enable }: Service): Promise<boolean> {
  await replacePrivate(file, text);
  return runAll(enable);
}

/** Stops the service and removes the file. False if the service has to be stopped by hand. */
export async function removeService({ file, disable }: Service): Promise<boolean> {
  const isStopped = await runAll(disable);
  await rm(file, { force: true });
  return isStopped;
}

const runMsMax = 20_000;

async function runAll(commands: readonly Command[]): Promise<boolean> {
  try {
    for (const [program, ...args] of commands)
      await promisify(execFile)(program, args, { timeout: runMsMax });
    return true;
  } catch {
    // No manager of services for this user, such as in a container: the caller shows the lines.
    return false;
  }
}
