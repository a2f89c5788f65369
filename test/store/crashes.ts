import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "../../src/store/store.ts";
import type { Built } from "./built.ts";
import { openAt } from "./open-at.ts";

/** The result of killing processes that write to one file or database: every row they had acknowledged must exist. */
export interface Crashes {
  readonly kills: number;
  readonly acknowledged: number;
  readonly missing: readonly string[];
  readonly broken: unknown;
  readonly warnings: readonly string[];
  readonly alive: number;
  /** Calls that are still recorded as running, and those recorded as lost. */
  readonly running: number;
  readonly lost: number;
}

/** Kills no process before it has printed `promises` acknowledged rows. */
export async function crash(
  built: Built,
  place: string,
  kills: number,
  promises = 1,
): Promise<Crashes> {
  const acknowledged = new Set<string>();
  const warnings: string[] = [];
  const pids: number[] = [];
  // Two at a time, so that one is killed while the other writes.
  for (let round = 0; round < kills; round += 2) {
    const children = [round, round + 1]
      .slice(0, kills - round)
      .map((number) => startWriting(built, place, `p${number}`));
    await Promise.all(
      children.map((child) => killLater(child, { acknowledged, warnings, promises })),
    );
    pids.push(...children.flatMap(({ pid }) => (pid === undefined ? [] : [pid])));
  }
  const store = openAt(place, built.worker, (message) => void warnings.push(message));
  await store.flush();
  const [running, lost] = await Promise.all(
    ["running", "lost"].map(async (outcome) => (await store.calls.list({ outcome })).length),
  );
  const missing = await findMissing(store, acknowledged);
  const { broken } = await store.audit.verify();
  await store.close();
  return {
    kills: pids.length,
    acknowledged: acknowledged.size,
    missing,
    broken,
    warnings,
    alive: pids.filter(isAlive).length,
    running: running ?? 0,
    lost: lost ?? 0,
  };
}

/** Writes until it is killed, or for a number of rounds. */
export function startWriting(
  built: Built,
  place: string,
  name: string,
  rounds?: number,
): ChildProcess {
  const args = [
    place,
    String(built.worker),
    name,
    ...(rounds === undefined ? [] : [String(rounds)]),
  ];
  return spawn(process.execPath, [built.file("writing"), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

interface KillOptions {
  readonly acknowledged: Set<string>;
  readonly warnings: string[];
  readonly promises: number;
}

/** Kills it at a random moment after it has started to write. */
async function killLater(
  child: ChildProcess,
  { acknowledged, warnings, promises }: KillOptions,
): Promise<void> {
  let rest = "";
  let printed = 0;
  child.stdout?.on("data", (chunk: Buffer) => {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() ?? "";
    printed += lines.length;
    for (const line of lines) line.startsWith("! ") ? warnings.push(line) : acknowledged.add(line);
  });
  const closed = once(child, "close");
  while (child.stdout && printed < promises) await once(child.stdout, "data");
  await sleep(Math.random() * 60);
  child.kill("SIGKILL");
  await closed;
}

async function findMissing(
  store: Store,
  acknowledged: ReadonlySet<string>,
): Promise<readonly string[]> {
  const found = new Set<string>();
  for (
    let after = 0, page = await store.calls.list({ after, limit: 10_000 });
    page.length > 0;
    page = await store.calls.list({ after, limit: 10_000 })
  ) {
    for (const { id } of page) found.add(`call ${id}`);
    after = page.at(-1)?.seq ?? after;
  }
  for (
    let after = 0, page = await store.audit.list({ after, limit: 10_000 });
    page.length > 0;
    page = await store.audit.list({ after, limit: 10_000 })
  ) {
    for (const { subject } of page) found.add(`audit ${subject}`);
    after = page.at(-1)?.seq ?? after;
  }
  return [...acknowledged].filter((line) => !found.has(line));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
