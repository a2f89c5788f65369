import type { JsonObject } from "../base/json.ts";
import { defaultConfig } from "./defaults.ts";
import { configVariables } from "./environment.ts";
import { projectFilesOf, readConfigFiles, userFileOf } from "./files.ts";
import { mergeTrees } from "./layer.ts";
import type { Config, PartialConfig } from "./schema.ts";
import type { UnusableServer } from "./unusable.ts";

export interface LoadOptions {
  /** The folder of the project file. */
  readonly folder: string;
  readonly env?: NodeJS.ProcessEnv;
  /** From the command line, already checked. */
  readonly flags?: PartialConfig;
  /** Default: `guildhall/config.json` under XDG_CONFIG_HOME or ~/.config. */
  readonly userFile?: string;
  /** Read instead of the project file. */
  readonly projectFile?: string | undefined;
}

export interface LoadedConfig {
  /** Deeply frozen, with the usable servers only. */
  readonly config: Config;
  /** Servers with an invalid entry: the rest works without them. */
  readonly unusable: Readonly<Record<string, UnusableServer>>;
  /** The files read, in the order of layers. */
  readonly files: readonly string[];
  /** Every file that is read if it exists. */
  readonly places: readonly string[];
  /** Settings that were accepted but have no effect. */
  readonly warnings: readonly string[];
  /** Values to redact in the log. */
  readonly secrets: readonly string[];
}

/**
 * The config of a hall. Later layers win: defaults, user file, project file (guildhall.json or
 * guildhall.toml), `GUILDHALL__` variables, flags. Throws ConfigError with all problems, unless each of
 * them concerns a single server only.
 */
export async function loadConfig({
  folder,
  env = process.env,
  flags = {},
  userFile = userFileOf(env),
  projectFile,
}: LoadOptions): Promise<LoadedConfig> {
  const projectFiles = projectFile === undefined ? projectFilesOf(folder) : [projectFile];
  const files = await readConfigFiles(userFile, projectFiles);
  const hasVariables = configVariables(env).length > 0;
  const isUntouched = files.length === 0 && !hasVariables;
  const found = isUntouched
    ? untouched(flags)
    : await (await import("./assemble.ts")).assembleConfig({
        folder,
        files,
        env,
        flags,
        hasVariables,
      });
  return {
    config: freeze(found.config),
    unusable: freeze(found.unusable),
    files: files.map(({ file }) => file),
    places: [userFile, ...projectFiles],
    warnings: found.warnings,
    secrets: found.secrets,
  };
}

/** The result without any config: nothing to check. */
function untouched(
  flags: PartialConfig,
): Pick<LoadedConfig, "config" | "unusable" | "warnings" | "secrets"> {
  const config = mergeTrees(
    defaultConfig as unknown as JsonObject,
    flags as JsonObject,
  ) as unknown as Config;
  return { config, unusable: {}, warnings: [], secrets: [] };
}

function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
}
