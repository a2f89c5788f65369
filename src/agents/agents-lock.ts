import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import type { AgentFile } from "./agent-file.ts";

/**
 * `.guildhall/agents.lock.json`: what `build` proposed the last time. What a file has that this has not was written by a person,
 * and stays. It is committed beside the files, so that a build on another machine knows the same.
 */
export interface AgentsLock {
  readonly lockVersion: 1;
  /** By file name. */
  readonly agents: Readonly<Record<string, LockedAgent>>;
  readonly guide?: string | undefined;
}

export interface LockedAgent extends AgentFile {
  /** What a person has decided about it at some time: it stays even when all others are grouped anew. */
  readonly edited?: readonly ("name" | "tools")[];
}

const emptyAgentsLock: AgentsLock = { lockVersion: 1, agents: {} };

function agentsLockPath(folder: string): string {
  return join(folder, ".guildhall", "agents.lock.json");
}

/** Empty where there is none. An unreadable one is reported: then all that is in the files counts as written by a person. */
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
      ".guildhall/agents.lock.json is not one of this version: every agent is taken as written by hand",
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT")
      warn(
        `.guildhall/agents.lock.json cannot be used (${messageOf(error)}): every agent is taken as written by hand`,
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

/** In one step: a reader sees the old file or the new one. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.new`;
  await writeFile(draft, text);
  await rename(draft, path);
}
