import { readdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { listProjectFolder } from "../base/project-files.ts";
import { openSecretStore, type SecretStore, secretFolder } from "../base/secret-store.ts";
import { check } from "./check.ts";
import type { UnusableServer } from "./configured-servers.ts";
import { configVariables } from "./environment.ts";
import { ConfigError } from "./error.ts";
import { projectFilesOf, readConfigFile, readConfigFiles, userFileOf } from "./files.ts";
import { mergeTrees } from "./layer.ts";
import { outline } from "./outline.ts";
import type { FieldToApprove } from "./project-limits.ts";
import type { Config, PartialConfig } from "./schema.ts";
import { trustedUserFile } from "./user-trust.ts";

export interface LoadOptions {
  /** The folder of the project file. */
  readonly folder: string;
  readonly env?: NodeJS.ProcessEnv;
  /** From the command line, already checked. */
  readonly flags?: PartialConfig;
  /** Default: `guildhall/config.json` under XDG_CONFIG_HOME or ~/.config. */
  readonly userFile?: string;
  /** Read instead of the project file, and trusted like the user's. */
  readonly projectFile?: string | undefined;
  /** Default: the user's. */
  readonly store?: SecretStore;
}

export interface LoadedConfig {
  /** Deeply frozen, with the usable servers only. */
  readonly config: Config;
  /** Servers with an invalid entry: the rest works without them. */
  readonly unusable: Readonly<Record<string, UnusableServer>>;
  /** The files read, in the order of layers. */
  readonly files: readonly string[];
  /** Every file that is read if it exists; `*.cedar` stands for all such files of a folder. */
  readonly places: readonly string[];
  /** The policy files of the user and of the project. */
  readonly policies: readonly PolicyText[];
  /** Fields of the project's file that count after approval. */
  readonly toApprove: readonly FieldToApprove[];
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
  userFile: givenFile,
  projectFile,
  store = openSecretStore(secretFolder(env)),
}: LoadOptions): Promise<LoadedConfig> {
  const userFile = givenFile ?? userFileOf(env);
  const projectFiles = projectFile === undefined ? projectFilesOf(folder) : [projectFile];
  const policyFolders = policyFoldersOf(folder, { env, userFile: givenFile });
  const [files, policies] = await Promise.all([
    readConfigFiles(userFile, projectFiles),
    readPolicyFiles(policyFolders, folder),
  ]);
  const isUntouched = files.length === 0 && configVariables(env).length === 0;
  const found = isUntouched
    ? {
        config: defaultsWith(flags),
        unusable: {},
        toApprove: [],
        warnings: [],
        secrets: [],
        envFiles: [],
      }
    : await (await import("./assemble.ts")).assembleConfig({
        folder,
        files,
        env,
        flags,
        store,
        userFile,
      });
  const { envFiles, ...rest } = found;
  return {
    ...rest,
    config: freeze(found.config),
    unusable: freeze(found.unusable),
    files: files.map(({ file }) => file),
    policies,
    places: [
      userFile,
      ...projectFiles,
      store.index,
      ...envFiles,
      ...Object.values(policyFolders).map((path) => join(path, "*.cedar")),
    ],
  };
}

function defaultsWith(flags: PartialConfig): Config {
  const defaults = defaultConfig as unknown as JsonObject;
  return mergeTrees(defaults, flags as JsonObject) as unknown as Config;
}

export const defaultConfig = check(outline, {}, [], []) as Config;

function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
}

/** A file with policies in Cedar, parsed by the hall that uses it. */
interface PolicyText {
  readonly file: string;
  readonly text: string;
  /** It may only forbid. */
  readonly isProject: boolean;
  /** Why it cannot be read. */
  readonly problem?: string | undefined;
}

interface PolicyFolders {
  readonly user: string;
  readonly project: string;
}

export function policyFoldersOf(
  folder: string,
  { env, userFile }: { readonly env: NodeJS.ProcessEnv; readonly userFile?: string | undefined },
): PolicyFolders {
  return {
    user: join(dirname(userFile ?? trustedUserFile(env)), "policies"),
    project: join(folder, ".guildhall", "policies"),
  };
}

/** The policy files of the user, then of the project, each in the order of their names. */
async function readPolicyFiles(
  { user, project }: PolicyFolders,
  folder: string,
): Promise<readonly PolicyText[]> {
  const found = await Promise.all([readFolder(user), readFolder(project, folder)]);
  return found.flat();
}

async function readFolder(folder: string, project?: string): Promise<readonly PolicyText[]> {
  const isProject = project !== undefined;
  try {
    const all = await (isProject
      ? listProjectFolder(project, relative(project, folder))
      : readdir(folder).catch(noneIfMissing));
    const names = all.filter((name) => name.endsWith(".cedar")).sort();
    return await Promise.all(
      names.map(async (name) => {
        const file = join(folder, name);
        const text = (await readConfigFile(file, project))?.text ?? "";
        return { file, text, isProject };
      }),
    );
  } catch (error) {
    // All or none: a policy that cannot be read closes the hall, so it must not be skipped.
    const isExplained = error instanceof ConfigError || error instanceof HallError;
    const { code, message } = error as NodeJS.ErrnoException;
    const problem = isExplained
      ? message
      : `${folder}: cannot be read (${code}); check its permissions`;
    return [{ file: folder, text: "", isProject, problem }];
  }
}

function noneIfMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === "ENOENT") return [];
  throw error;
}
