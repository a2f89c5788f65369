import { isObject, type JsonObject } from "../base/json.ts";
import type { Path, Problem } from "./error.ts";
import { fieldAt } from "./layer.ts";

/** A project's config can require more approvals, never fewer: a cloned repository brings no trust. */
export function findTrustProblems(
  tree: JsonObject,
  isOfProject: (path: Path) => boolean,
  users: JsonObject,
): Problem[] {
  const text = "requires fewer approvals; only the user's own config file may do that";
  const tools = fieldAt(tree, ["trust", "tools"]);
  const loosened = Object.entries(isObject(tools) ? tools : {})
    .filter(([name, mark]) => mark === "safe" && isOfProject(["trust", "tools", name]))
    .map(([name]): Problem => ({ path: ["trust", "tools", name], text }));
  // If the user's policy is stricter, the project cannot exempt a single server either.
  const isStrict = (path: Path): boolean =>
    (fieldAt(users, path) ?? fieldAt(users, policyPath)) === "all" ||
    (fieldAt(tree, policyPath) === "all" && !isOfProject(policyPath));
  const lowered = policiesOf(tree).filter(
    (path) => fieldAt(tree, path) !== "all" && isOfProject(path) && isStrict(path),
  );
  const unguarded: Path = ["trust", "unguarded"];
  const list = fieldAt(tree, unguarded);
  return [
    ...loosened,
    ...lowered.map((path) => ({ path, text })),
    ...(Array.isArray(list) && list.length > 0 && isOfProject(unguarded)
      ? [{ path: unguarded, text }]
      : []),
  ];
}

const policyPath: Path = ["trust", "policy"];

function policiesOf(tree: JsonObject): Path[] {
  const servers = fieldAt(tree, ["trust", "servers"]);
  return [
    policyPath,
    ...Object.keys(isObject(servers) ? servers : {}).map(
      (name): Path => ["trust", "servers", name],
    ),
  ];
}
