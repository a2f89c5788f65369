import { basename } from "node:path";
import type { ServerConfig } from "../config/schema.ts";

/** How long a server may take to start. */
export interface StartLimits {
  /** Handshake and first list included. */
  readonly startMs: number;
  /** For a package that the hall installs first; the start is timed after it. */
  readonly installMs: number;
  /** The program installs by itself, unseen, before it starts the server. */
  readonly mayInstall: boolean;
}

const usualMs = 20_000;
export const installMsUsual = 180_000;

/** Programs that fetch what they run, with the words that make them do it. */
const fetching: Readonly<Record<string, readonly string[]>> = {
  uvx: [],
  uv: ["tool", "run"],
  pipx: ["run"],
  docker: ["run"],
  podman: ["run"],
};

export function startLimits(config: ServerConfig): StartLimits {
  const mayInstall = config.type === "stdio" && isFetching(config.command, config.args);
  const { startTimeoutSeconds } = config;
  if (startTimeoutSeconds !== undefined) {
    const startMs = startTimeoutSeconds * 1000;
    return { startMs, installMs: startMs, mayInstall };
  }
  return { startMs: mayInstall ? installMsUsual : usualMs, installMs: installMsUsual, mayInstall };
}

function isFetching(command: string, args: readonly string[]): boolean {
  const name = basename(command);
  if (!Object.hasOwn(fetching, name)) return false;
  const words = args.filter((word) => !word.startsWith("-"));
  return (fetching[name] ?? []).every((word, at) => words[at] === word);
}
