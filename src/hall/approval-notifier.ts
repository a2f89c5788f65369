import { spawn } from "node:child_process";
import { basename } from "node:path";
import type { Log } from "../base/log.ts";
import { sanitize } from "../base/sanitize.ts";
import { isInside } from "../config/project-limits.ts";
import type { PendingApproval } from "../trust/approvals.ts";
import { realProgram } from "../upstream/program.ts";

export interface NotifierOptions {
  /** The project's. */
  readonly folder: string;
  readonly log: Log;
  readonly env?: NodeJS.ProcessEnv;
  readonly platform?: NodeJS.Platform;
  readonly now?: () => number;
}

/** A burst of calls is one notification; `guildhall approvals` has them all. */
const restMs = 5_000;
const textMax = 200;

/** Tells the person at the desktop that a call waits, without its arguments. Does nothing without a desktop. */
export function createApprovalNotifier({
  folder,
  log,
  env = process.env,
  platform = process.platform,
  now = Date.now,
}: NotifierOptions): (pending: PendingApproval) => void {
  let shownAt = Number.NEGATIVE_INFINITY;
  return ({ target, client }) => {
    if (!hasDesktop(env, platform) || now() - shownAt < restMs) return;
    shownAt = now();
    const line = `${client} wants to call ${target.fullName}. Run guildhall approvals in ${basename(folder)}.`;
    const text = sanitize(line).replace(/\s+/g, " ").slice(0, textMax);
    const [command, args, more] = notification(text, platform);
    const program = realProgram({ command, args: [], env: {}, cwd: "/" });
    // A program of the project is not ours to run.
    if (program === undefined || isInside(program, folder)) return;
    const child = spawn(program, args, {
      stdio: "ignore",
      detached: true,
      env: { ...env, ...more },
    });
    child.on("error", (err) => log.debug({ err }, "could not show a notification"));
    child.unref();
  };
}

function hasDesktop(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): boolean {
  if (env.CI) return false;
  if (platform === "darwin" || platform === "win32") return !env.SSH_CONNECTION;
  return Boolean((env.DISPLAY || env.WAYLAND_DISPLAY) && env.DBUS_SESSION_BUS_ADDRESS);
}

const title = "Guildhall: approval needed";

/** The text is never part of a script: it may quote a name that a client chose. */
function notification(
  text: string,
  platform: NodeJS.Platform,
): readonly [command: string, args: readonly string[], env: NodeJS.ProcessEnv] {
  if (platform === "darwin") {
    const script = [
      "on run argv",
      "display notification (item 2 of argv) with title (item 1 of argv)",
      "end run",
    ];
    return ["osascript", [...script.flatMap((line) => ["-e", line]), title, text], {}];
  }
  if (platform === "win32")
    return [
      "powershell.exe",
      ["-NoProfile", "-NonInteractive", "-Command", balloon],
      { GUILDHALL_TITLE: title, GUILDHALL_TEXT: text },
    ];
  // The body may contain markup.
  const body = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return ["notify-send", ["--app-name=Guildhall", "--", title, body], {}];
}

const balloon = `Add-Type -AssemblyName System.Windows.Forms, System.Drawing
$icon = New-Object System.Windows.Forms.NotifyIcon
$icon.Icon = [System.Drawing.SystemIcons]::Information
$icon.Visible = $true
$icon.ShowBalloonTip(10000, $env:GUILDHALL_TITLE, $env:GUILDHALL_TEXT, 'Info')
Start-Sleep -Seconds 10
$icon.Dispose()`;
