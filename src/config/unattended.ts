import { statSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { dataFolder } from "../base/files.ts";
import { readConfigFile, userFileOf } from "./files.ts";
import { fieldAt, parseConfigFile } from "./layer.ts";
import { realOf } from "./project-limits.ts";

export interface UserTrust {
  /** The only file that counts. */
  readonly file: string;
  /** Approvals need no person. */
  readonly isUnattended: boolean;
  /** `user`: a review counts in all folders of the user. */
  readonly scope: unknown;
}

/**
 * The settings that only the user's own file can make (`trust.unattended`, `trust.scope`). Only that file is read: a
 * project's file, a variable or a flag has no effect. Throws ConfigError.
 */
export async function readUserTrust(env: NodeJS.ProcessEnv = process.env): Promise<UserTrust> {
  const file = decidingFile(env);
  const found = await readConfigFile(file);
  const tree = found && (await parseConfigFile(found)).tree;
  return {
    file,
    isUnattended: fieldAt(tree, ["trust", "unattended"]) === true,
    scope: fieldAt(tree, ["trust", "scope"]),
  };
}

/**
 * A variable such as XDG_CONFIG_HOME would let anyone name a file of their own. So variables move this
 * file only together with the user's data, which holds the approvals.
 */
export function decidingFile(env: NodeJS.ProcessEnv): string {
  const home = homeOfUser();
  const usual = home && join(home, ".local", "share", "guildhall");
  return usual && sharesTrust(dataFolder(env), usual)
    ? userFileOf({ HOME: home })
    : userFileOf(env);
}

/** True if both lead to the same data or the same approvals, by whatever links or mounts. */
function sharesTrust(folder: string, other: string): boolean {
  return ["", "trust"].some((part) => isSame(join(folder, part), join(other, part)));
}

function isSame(path: string, other: string): boolean {
  if (realOf(path) === realOf(other)) return true;
  const [a, b] = [path, other].map((each) => statSync(each, { throwIfNoEntry: false }));
  return a !== undefined && a.dev === b?.dev && a.ino === b.ino;
}

/** As the system knows it, whatever HOME says. Undefined for a user without an entry. */
function homeOfUser(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}
