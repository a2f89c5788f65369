import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { dataFolder } from "../base/data-folder.ts";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { placePrivate, removeIfStill } from "../base/private-file.ts";
import { findBirth } from "../base/process-birth.ts";
import { explainDisk } from "./artefacts.ts";
import { type StepName, stepNames } from "./tool-list.ts";

/**
 * The mark of a run at work on a feature: nobody else works on it meanwhile, and after a crash it says what was interrupted. It lies in the user's data
 * folder, not beside the feature: a repository that brought one could stop all work on a feature, or have a step go on with arguments of its choice.
 */
export interface Claim {
  readonly run: string;
  readonly step: StepName;
  readonly directory: string;
  readonly startedAt: string;
  readonly arguments: JsonObject;
  readonly pid: number;
  /** A number is given again to another process; its birth is not. */
  readonly birth: string;
}

export type NewClaim = Omit<Claim, "pid" | "birth">;

export const usualClaims = (): string => join(dataFolder(), "workflow");

/** Runs of this process: its own claim is no proof that somebody is at work. */
const here = new Set<string>();

/** Returns how to give it back. Throws EXECUTION while another run is at work on the feature; the claim of one that was killed is taken over. */
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
      // The arguments are nobody else's to read.
      if (await placePrivate(file, JSON.stringify(claim))) {
        here.add(claim.run);
        return async () => {
          await rm(file, { force: true });
          here.delete(claim.run);
        };
      }
      const text = await readFile(file, "utf8").catch(() => undefined);
      if (text === undefined) continue;
      const found = parseClaim(text, claim.directory);
      if (found && (await isAtWork(found))) {
        throw new HallError(
          "EXECUTION",
          `${name} is being worked on: ${found.step} runs since ${found.startedAt} (${found.run})`,
          {
            hint: "Wait until it ends, or cancel it; then call again.",
            details: { run: found.run, step: found.step },
          },
        );
      }
      await removeIfStill(file, text);
    }
  } catch (error) {
    throw explainDisk(error, file);
  }
  throw new HallError("EXECUTION", `${name} is being worked on by another run`, {
    hint: "Wait until it ends, then call again.",
  });
}

/** The run that is at work on a feature, or was when its process ended. */
export async function findClaim(
  directory: string,
  folder = usualClaims(),
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
  return pid !== process.pid || here.has(run);
}

/** Undefined for what no run of ours has written. */
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

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
