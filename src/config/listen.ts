import { resolve } from "node:path";
import type { JsonObject } from "../base/json.ts";
import { kindOfHost } from "../net/host.ts";
import type { Path, Problem } from "./error.ts";
import { isInside, realOf } from "./folders.ts";
import { fieldAt } from "./layer.ts";

const hostPath: Path = ["listen", "host"];
const tokenPath: Path = ["listen", "tokenFile"];

/** A cloned repository must not open this machine to the network, nor choose the token: its author may know it. */
export function findListenProblems(
  tree: JsonObject,
  folder: string,
  isOfProject: (path: Path) => boolean,
): Problem[] {
  const host = fieldAt(tree, hostPath);
  const tokenFile = fieldAt(tree, tokenPath);
  const problems: Problem[] = [];
  if (typeof host === "string" && isOfProject(hostPath) && kindOfHost(host) !== "loopback")
    problems.push({
      path: hostPath,
      text: "opens the hall to other machines; only the user's own config file, GUILDHALL__LISTEN__HOST or --host may set it",
    });
  if (
    typeof tokenFile === "string" &&
    isOfProject(tokenPath) &&
    isInside(realOf(resolve(folder, tokenFile)), realOf(folder))
  )
    problems.push({
      path: tokenPath,
      text: "is inside the project, whose author may know the token; use a file elsewhere, or pass this one with --token-file",
    });
  return problems;
}
