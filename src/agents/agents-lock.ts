import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import type { AgentFile } from "./agent-file.ts";

/**
 * `.guildhall/agents.lock.json`: the last proposal of `build`. Differences in the files were written by a person and are kept.
 * Committed with the files, so that builds on other machines agree.
 */
export interface AgentsLock {
  readonly lockVersion: 1;
  /** By file name. */
  readonly agents: Readonly<Record<string, LockedAgent>>;
  readonly guide?: string | undefined;
}

export interface LockedAgent extends AgentFile {
  /** Fields a person has edited at any time; `--regroup` keeps them. */
  readonly edited?: readonly ("name" | "tools")[];
}

const emptyAgentsLock: AgentsLock = { lockVersion: 1, agents: {} };

function agentsLockPath(folder: string): string {
  return join(folder, ".guildhall", "agents.lock.json");
}

/** Empty if there is none. With an unreadable lock every file counts as written by hand. */
export async function readAgentsLock(
  folder: string,
  warn: (message: string) => void,
): Promise<AgentsLock> {
  try {
    const value: unknown = JSON.parse(await readFile(agentsLockPath(folder), "utf8"));
    if (
      isObject(value) &&
      value.lockVersion === 1 &&
      isObject(value.agents) &&
      Object.values(value.agents).every(isAgentFile)
    )
      return value as unknown as AgentsLock;
    warn(
      ".guildhall/agents.lock.json has an unknown format: treating every agent as written by hand",
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT")
      warn(
        `.guildhall/agents.lock.json is unreadable (${messageOf(error)}): treating every agent as written by hand`,
      );
  }
  return emptyAgentsLock;
}

function isAgentFile(value: unknown): boolean {
  return (
    isObject(value) &&
    typeof value.name === "string" &&
    typeof value.description === "string" &&
    typeof value.instructions === "string" &&
    Array.isArray(value.tools) &&
    value.tools.every((tool) => typeof tool === "string")
  );
}

export function writeAgentsLock(folder: string, lock: AgentsLock): Promise<void> {
  return replaceFile(agentsLockPath(folder), `${JSON.stringify(lock, null, 2)}\n`);
}

/** Atomic: a reader sees the old file or the new one. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.new`;
  await writeFile(draft, text);
  await rename(draft, path);
}
