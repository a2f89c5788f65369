import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { HallError } from "../base/errors.ts";
import { dataFolder, placePrivate, removeIfStill } from "../base/files.ts";
import { isObject, type JsonObject, parseObject } from "../base/json.ts";
import { findBirth } from "../base/processes.ts";
import { formatTime } from "../base/text.ts";
import { explainDisk } from "./artefacts.ts";
import { type StepName, stepNames } from "./tool-list.ts";

/**
 * A lock on a feature while a step runs, and after a crash the record of what was interrupted.
 * Claims are in the user's data folder: a claim that came with a repository could block a feature,
 * or resume a step with arguments of its choice.
 */
export interface Claim {
  readonly run: string;
  readonly step: StepName;
  readonly directory: string;
  readonly startedAt: string;
  readonly arguments: JsonObject;
  readonly pid: number;
  /** When the process started: process ids are reused. */
  readonly birth: string;
}

export type NewClaim = Omit<Claim, "pid" | "birth">;

export const defaultClaims = (): string => join(dataFolder(), "workflow");

/** Active runs of this process. A claim with our process id but not in here is stale. */
const activeRuns = new Set<string>();

/**
 * Returns the function that releases the claim. Throws EXECUTION while another run is active; a
 * stale claim is replaced.
 */
export async function takeClaim(folder: string, wanted: NewClaim): Promise<() => Promise<void>> {
  const file = fileOf(folder, wanted.directory);
  const claim: Claim = {
    ...wanted,
    pid: process.pid,
    birth: (await findBirth(process.pid)) ?? "unknown",
  };
  const name = basename(claim.directory);
  try {
    for (let attempt = 0; attempt < 3; attempt++) {
      // Private, because arguments may be confidential.
      if (await placePrivate(file, JSON.stringify(claim))) {
        activeRuns.add(claim.run);
        return async () => {
          await rm(file, { force: true });
          activeRuns.delete(claim.run);
        };
      }
      const text = await readFile(file, "utf8").catch(() => undefined);
      if (text === undefined) continue;
      const found = parseClaim(text, claim.directory);
      if (found && (await isAtWork(found))) {
        throw new HallError(
          "EXECUTION",
          `${name} is busy: ${found.step} has been running since ${formatTime(found.startedAt)}`,
          {
            hint: "Wait until it ends, or cancel it.",
            details: { run: found.run, step: found.step },
          },
        );
      }
      await removeIfStill(file, text);
    }
  } catch (error) {
    throw explainDisk(error, file);
  }
  throw new HallError("EXECUTION", `${name} is busy with another run`, {
    hint: "Wait until it ends.",
  });
}

/** The active run of a feature, or the one that was interrupted. */
export async function findClaim(
  directory: string,
  folder = defaultClaims(),
): Promise<(Claim & { readonly isAtWork: boolean }) | undefined> {
  const text = await readFile(fileOf(folder, directory), "utf8").catch(() => undefined);
  const claim = text === undefined ? undefined : parseClaim(text, directory);
  return claim && { ...claim, isAtWork: await isAtWork(claim) };
}

function fileOf(folder: string, directory: string): string {
  const hash = createHash("sha256").update(directory).digest("hex").slice(0, 32);
  return join(folder, `${hash}.run.json`);
}

async function isAtWork({ pid, birth, run }: Claim): Promise<boolean> {
  if ((await findBirth(pid)) !== birth) return false;
  return pid !== process.pid || activeRuns.has(run);
}

/** Undefined if no run of ours wrote it. */
function parseClaim(text: string, directory: string): Claim | undefined {
  const value = parseObject(text);
  const step = stepNames.find((name) => name === value?.step);
  const isWhole =
    value !== undefined &&
    step !== undefined &&
    [value.run, value.startedAt, value.birth].every((part) => typeof part === "string") &&
    typeof value.pid === "number" &&
    value.directory === directory &&
    isObject(value.arguments);
  return isWhole ? ({ ...value, step } as unknown as Claim) : undefined;
}
