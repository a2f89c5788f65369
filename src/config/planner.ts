import type { JsonObject } from "../base/json.ts";
import type { Path, Problem } from "./error.ts";
import { kindOfHost } from "./host.ts";
import { fieldAt } from "./layer.ts";

/**
 * A repository somebody cloned runs no program and sends no key and no task to an address of its choice: a project's file may name
 * a model, and an address on this machine.
 */
export function findPlannerProblems(tree: JsonObject, isOfProject: (path: Path) => boolean): Problem[] {
  const command: Path = ["planner", "apiKeyCommand"];
  const variable: Path = ["planner", "apiKeyEnv"];
  const address: Path = ["planner", "baseUrl"];
  const url = fieldAt(tree, address);
  const isElsewhere = typeof url === "string" && !isLoopbackUrl(url);
  return [
    ...(fieldAt(tree, command) !== undefined && isOfProject(command) ? [{ path: command, text: `runs a program; ${allowed}` }] : []),
    ...(fieldAt(tree, variable) !== undefined && isOfProject(variable) ? [{ path: variable, text: `names any variable as the key; ${allowed}` }] : []),
    ...(isElsewhere && isOfProject(address) ? [{ path: address, text: `is not on this machine; ${allowed}` }] : []),
  ];
}

const allowed = "only the user's own config file, or a GUILDHALL__PLANNER__ variable, may say that";

function isLoopbackUrl(url: string): boolean {
  return URL.canParse(url) && kindOfHost(new URL(url).hostname) === "loopback";
}
