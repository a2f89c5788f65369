import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { HallError } from "../../base/errors.ts";
import { factsOf, type ModelName } from "./model-name.ts";

/** Where a key comes from. It is never written anywhere: neither to a file, nor to a log, nor to the store. */
export interface KeySource {
  /** The variable that holds it. Default: the provider's usual ones. */
  readonly apiKeyEnv?: string | undefined;
  /** A program that prints it, with its arguments; no shell is involved. */
  readonly apiKeyCommand?: readonly string[] | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/** Whether there is a key, as far as one can tell without running anything. */
export function hasKey({ provider }: ModelName, source: KeySource): boolean {
  if (source.apiKeyCommand) return true;
  const { needsKey } = factsOf(provider);
  if (provider === "bedrock")
    return (
      findVariable(provider, source) !== undefined ||
      (isSet(source.env.AWS_ACCESS_KEY_ID) && isSet(source.env.AWS_REGION))
    );
  return !needsKey || findVariable(provider, source) !== undefined;
}

/** Undefined where none is needed. Throws UNAVAILABLE with what to set. */
export async function readKey(model: ModelName, source: KeySource): Promise<string | undefined> {
  const { provider } = model;
  if (source.apiKeyCommand) return runKeyCommand(source.apiKeyCommand);
  const variable = findVariable(provider, source);
  if (variable !== undefined) return source.env[variable];
  const wanted = variablesOf(provider, source);
  if (!factsOf(provider).needsKey && source.apiKeyEnv === undefined) return undefined;
  throw new HallError(
    "UNAVAILABLE",
    `there is no key for ${provider}: ${wanted.join(" and ")} ${wanted.length > 1 ? "are" : "is"} not set`,
    {
      hint: `Set ${wanted[0]} before the hall starts, or planner.apiKeyCommand to a program that prints the key.`,
    },
  );
}

function variablesOf(provider: ModelName["provider"], { apiKeyEnv }: KeySource): readonly string[] {
  return apiKeyEnv === undefined ? factsOf(provider).keyVariables : [apiKeyEnv];
}

function findVariable(provider: ModelName["provider"], source: KeySource): string | undefined {
  return variablesOf(provider, source).find((name) => isSet(source.env[name]));
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "";
}

const commandMsMax = 20_000;

async function runKeyCommand([file = "", ...args]: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(file, args, {
    timeout: commandMsMax,
    maxBuffer: 65_536,
  }).catch((error: NodeJS.ErrnoException) => {
    // Its output may hold the key, so nothing of it is repeated.
    const why = error.code === "ENOENT" ? "is not there" : "failed";
    throw new HallError("UNAVAILABLE", `planner.apiKeyCommand: ${file} ${why}`, {
      hint: "Run it in a terminal: it must print the key and nothing else.",
    });
  });
  const key = stdout.trim();
  if (key !== "" && !/\s/.test(key)) return key;
  throw new HallError("UNAVAILABLE", `planner.apiKeyCommand: ${file} did not print one word`, {
    hint: "It must print the key and nothing else.",
  });
}
