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
  const file = trustedUserFile(env);
  const found = await readConfigFile(file);
  const tree = found && (await parseConfigFile(found)).tree;
  return {
    file,
    isUnattended: fieldAt(tree, ["trust", "unattended"]) === true,
    scope: fieldAt(tree, ["trust", "scope"]),
  };
}

/**
 * The user's config file whose `trust` counts. With the approvals in the usual data folder, it is the
 * file in the user's home, whatever XDG_CONFIG_HOME says: otherwise a program that sets variables
 * could approve with a file of its own. Only an environment with other approvals has another file.
 */
export function trustedUserFile(env: NodeJS.ProcessEnv): string {
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
