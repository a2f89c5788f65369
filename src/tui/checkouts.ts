import { HallError } from "../base/errors.ts";
import type { Confirmation, TuiState } from "./state.ts";
import { openWorktree, refuseDelete } from "./worktrees.ts";

/** What a person wants of worktrees, as far as the state can tell: where a feature is worked on, and what is asked before one is deleted. */

/** The folder of the feature's branch, made where there is none; the project's own without a feature. Throws NOT_FOUND, EXECUTION. */
export async function openCheckout(
  { target, features }: TuiState,
  name: string | undefined,
): Promise<string> {
  if (name === undefined) return target.folder;
  const feature = features.items.find((item) => item.name === name);
  if (!feature) throw new HallError("NOT_FOUND", `there is no feature ${name}`);
  return openWorktree(target.folder, feature.branch ?? feature.name, feature.name);
}

/** Throws EXECUTION where it must not be deleted, whatever a person says. */
export function confirmDelete({ worktrees }: TuiState, path: string): Confirmation {
  const found = worktrees.items.find((worktree) => worktree.path === path);
  const reason = found ? refuseDelete(found) : "it is not there";
  if (reason !== undefined)
    throw new HallError("EXECUTION", `${path} cannot be deleted: ${reason}`, {
      hint: "Nothing was changed.",
    });
  return {
    message: `Delete the worktree ${path}? Its branch ${found?.branch ?? ""} stays.`,
    intention: { kind: "delete worktree", path },
  };
}
