import { execFile, spawn } from "node:child_process";
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  statSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { HallError } from "../base/errors.ts";
import {
  dataFolder,
  isRunning,
  makePrivateFolder,
  placePrivate,
  replacePrivate,
} from "../base/files.ts";
import { askHall } from "./admin-client.ts";
import type { HallStatus } from "./admin-contract.ts";
import { logFolder } from "./server-logs.ts";

/** Halls that run in the background: one per project, and one for the user's own config. */

/** The project of the user's own hall. Its config is empty, so the user's own file is all that counts. */
export async function openUserFolder(): Promise<string> {
  const folder = makePrivateFolder(join(dataFolder(), "user"));
  const file = join(folder, "guildhall.json");
  if (!existsSync(file)) await placePrivate(file, "{}\n");
  return folder;
}

interface StartedHall {
  readonly isNew: boolean;
  readonly status: HallStatus & { readonly url: string };
  readonly logFile: string;
}

interface StartOptions {
  readonly folder: string;
  readonly isUser: boolean;
  readonly port?: number | undefined;
}

const startMsMax = 60_000;
const pollMs = 100;

/** Runs `serve` in a process of its own. Throws UNAVAILABLE with its reason if it does not start. */
export async function startInBackground(options: StartOptions): Promise<StartedHall> {
  const { folder } = options;
  const logFile = join(makePrivateFolder(await logFolder(folder)), "hall.log");
  const running = await askHall(folder, "status", {});
  if (running) return { isNew: false, status: requireUrl(running), logFile };

  const before = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  const child = spawnServe(options, logFile);
  let hasEnded = false;
  child.once("exit", () => {
    hasEnded = true;
  });
  const giveUpAt = performance.now() + startMsMax;
  while (performance.now() < giveUpAt) {
    await sleep(pollMs);
    // Read before asking: it may have ended because another `start` was faster, whose hall answers.
    const isOver = hasEnded;
    // While it starts, it may not answer in time.
    const status = await askHall(folder, "status", {}).catch(() => "silent" as const);
    if (status === undefined && isOver) break;
    if (status === undefined || status === "silent" || status.url === undefined) continue;
    const isNew = status.pid === child.pid;
    if (isNew || isOver) return { isNew, status: { ...status, url: status.url }, logFile };
  }
  child.kill();
  const [reason = `no answer within ${startMsMax / 1000} s`, ...advice] = readLastWords(
    logFile,
    before,
  );
  throw new HallError("UNAVAILABLE", `the hall did not start: ${reason}`, {
    hint: [...advice, `Its log is ${logFile}.`].join("\n  "),
  });
}

function requireUrl(status: HallStatus): StartedHall["status"] {
  const { url, pid } = status;
  if (url !== undefined) return { ...status, url };
  throw new HallError(
    "CONFLICT",
    `the hall of this project runs in the process of a client (${pid}) and ends with it`,
    { hint: "Close that client first; afterwards it connects to the hall in the background." },
  );
}

function spawnServe({ folder, isUser, port }: StartOptions, logFile: string) {
  const stderr = openSync(logFile, "a", 0o600);
  const flags = [
    ...(isUser ? ["--user"] : []),
    ...(port === undefined ? [] : ["--port", String(port)]),
  ];
  const args = [
    process.argv[1] ?? "",
    "serve",
    "--background",
    "--folder",
    folder,
    "--log-file",
    logFile,
    ...flags,
  ];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    detached: true,
    stdio: ["ignore", "ignore", stderr],
  });
  closeSync(stderr);
  child.unref();
  return child;
}

/** The reason and the advice that it wrote to stderr, which are not lines of the log. */
function readLastWords(logFile: string, from: number): readonly string[] {
  const lines = readFileSync(logFile).subarray(from).toString("utf8").split("\n");
  return lines
    .filter((line) => line !== "" && !line.startsWith("{"))
    .map((line) => line.replace(/^guildhall: /, "").trim());
}

const stopMsMax = 30_000;

/** Ends the running hall. Undefined if there is none. Throws TIMEOUT if it does not end. */
export async function stopRunning(folder: string): Promise<HallStatus | undefined> {
  const ended = await askHall(folder, "stop", {});
  if (!ended) return undefined;
  const giveUpAt = performance.now() + stopMsMax;
  while (isRunning(ended.pid)) {
    if (performance.now() > giveUpAt)
      throw new HallError("TIMEOUT", `the hall (process ${ended.pid}) has not ended yet`);
    await sleep(pollMs);
  }
  return ended;
}

type CommandLine = readonly [string, ...string[]];

/** The command that starts this program as an MCP server, on any machine that has it. */
const sharedCommand: CommandLine = ["guildhall", "mcp"];

/**
 * The same for this machine only: this Node and this file, because programs of the desktop do not have the PATH
 * of a shell. A file in the npx cache does not last.
 */
export function localCommand(): CommandLine {
  const script = process.argv[1];
  if (script === undefined || /[\\/]_npx[\\/]/.test(script)) return sharedCommand;
  return [process.execPath, script, "mcp"];
}

interface CommandOptions {
  readonly scope: "project" | "user";
  readonly env: NodeJS.ProcessEnv;
  /** Write paths of this machine into a project's file. */
  readonly localPath?: boolean | undefined;
}

/** A project's file is committed, so it gets no paths of this machine. */
export function chooseCommand({ scope, env, localPath = false }: CommandOptions): {
  readonly command: CommandLine;
  readonly warnings: readonly string[];
} {
  const command = scope === "user" || localPath ? localCommand() : sharedCommand;
  const isMissing = command === sharedCommand && !isOnPath("guildhall", env);
  const offer = scope === "project" && !localPath ? ", or add --local-path" : "";
  const warning = `the command "guildhall" is not on the PATH: run \`npm i -g\` in the folder of Guildhall${offer}`;
  return { command, warnings: isMissing ? [warning] : [] };
}

function isOnPath(program: string, { PATH = "", PATHEXT = "" }: NodeJS.ProcessEnv): boolean {
  const names = ["", ...PATHEXT.split(";")].map((ending) => `${program}${ending}`);
  return PATH.split(delimiter)
    .filter((folder) => folder !== "")
    .some((folder) => names.some((name) => isProgram(join(folder, name))));
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Not there, or not ours to run.
    return false;
  }
}

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

interface ServiceOptions {
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
