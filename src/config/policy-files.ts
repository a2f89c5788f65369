import { readdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { HallError } from "../base/errors.ts";
import { listProjectFolder } from "../base/project-files.ts";
import { ConfigError } from "./error.ts";
import { readConfigFile } from "./files.ts";
import { decidingFile } from "./unattended.ts";

/** A file with policies in Cedar, parsed by the hall that uses it. */
export interface PolicyText {
  readonly file: string;
  readonly text: string;
  /** It may only forbid. */
  readonly isProject: boolean;
  /** Why it cannot be read. */
  readonly problem?: string | undefined;
}

export interface PolicyFolders {
  readonly user: string;
  readonly project: string;
}

export function policyFoldersOf(
  folder: string,
  { env, userFile }: { readonly env: NodeJS.ProcessEnv; readonly userFile?: string | undefined },
): PolicyFolders {
  return {
    user: join(dirname(userFile ?? decidingFile(env)), "policies"),
    project: join(folder, ".guildhall", "policies"),
  };
}

/** The policy files of the user, then of the project, each in the order of their names. */
export async function readPolicyFiles(
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
