import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject } from "../base/json.ts";
import { findNear } from "../base/near.ts";

/** What a hall is told before it starts. */
export interface Config {
  /** The faces clients are shown, comma-separated. */
  readonly expose: string;
}

export const defaultConfig: Config = { expose: "tools" };

/** A config that cannot be used. The message names file, field and what was expected; commands exit with 78. */
export class ConfigError extends Error {}

/** Reads `guildhall.json` in a folder, if there is one, over the defaults. Throws ConfigError. */
export async function loadConfig(folder: string): Promise<Config> {
  const file = join(folder, "guildhall.json");
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new ConfigError(`${file}: cannot be read (${error.message})`);
  });
  return text === undefined ? defaultConfig : parseConfig(text, file);
}

function parseConfig(text: string, file: string): Config {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ConfigError(`${file}: not valid JSON (${error instanceof Error ? error.message : error})`);
  }
  if (!isObject(value)) throw new ConfigError(`${file}: must be an object`);
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(defaultConfig, key)) continue;
    const [near] = findNear(key, Object.keys(defaultConfig));
    throw new ConfigError(`${file}: unknown field "${key}"${near ? `; did you mean "${near}"?` : ""}`);
  }
  const { expose = defaultConfig.expose } = value;
  if (typeof expose !== "string") throw new ConfigError(`${file}: expose must be a string such as "tools"`);
  return { expose };
}
