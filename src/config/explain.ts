import type { z } from "zod/mini";
import { isObject, type JsonObject } from "../base/json.ts";
import { findNear } from "../base/text.ts";
import { type Path, type Problem, quote } from "./error.ts";
import { fieldAt } from "./layer.ts";
import { createOutline, kindIndexOf, type Outline, outlineAt } from "./outline.ts";

/** Schema errors as problems with a next step. */
export function explainIssues(issues: readonly Issue[], tree: JsonObject): Problem[] {
  const outline = createOutline();
  return issues.flatMap((issue) => explain(issue, [], tree, outline));
}

type Issue = z.core.$ZodIssue;

function explain(issue: Issue, above: Path, tree: JsonObject, outline: Outline): Problem[] {
  const path = [...above, ...issue.path];
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => explainUnknown(key, path, tree, outline));
  if (issue.code === "invalid_union")
    return path[0] === "mcpServers"
      ? explainServer(issue.errors, path, tree, outline)
      : (issue.errors[0] ?? []).flatMap((inner) => explain(inner, path, tree, outline));
  // Server names: findServerProblems explains them better.
  if (issue.code === "invalid_key") return [];
  const value = fieldAt(tree, path);
  const field = outlineAt(outline, path, tree);
  const advice =
    field?.default === undefined
      ? "change it"
      : `write for example ${JSON.stringify(field.default)}`;
  const text = `${found(value, field)}; expected ${expectation(field, value)}; ${advice}`;
  return [{ path, text }];
}

function explainUnknown(key: string, parent: Path, tree: JsonObject, outline: Outline): Problem {
  const server = fieldAt(tree, parent);
  const isServer = parent[0] === "mcpServers" && parent.length === 2;
  if (isServer && isObject(server) && "command" in server && "url" in server)
    return {
      path: parent,
      text: 'has both command and url; expected one of them; remove "command" for a remote server, "url" for a local program',
    };
  const known = Object.keys(outlineAt(outline, parent, tree)?.properties ?? {});
  const [near] = findNear(key, known);
  const advice = near ? `did you mean "${near}"?` : "remove it";
  return {
    path: [...parent, key],
    text: `unknown key; expected one of ${known.join(", ")}; ${advice}`,
  };
}

/** The union tried both kinds; keep only the errors of the intended one. */
function explainServer(
  errors: readonly (readonly Issue[])[],
  path: Path,
  tree: JsonObject,
  outline: Outline,
): Problem[] {
  const server = fieldAt(tree, path);
  if (isObject(server) && !("command" in server) && !("url" in server)) {
    const advice = adviceFor(Object.keys(server));
    return [{ path, text: `has neither command nor url; expected one of them; ${advice}` }];
  }
  return (errors[kindIndexOf(server)] ?? []).flatMap((issue) =>
    explain(issue, path, tree, outline),
  );
}

function adviceFor(keys: readonly string[]): string {
  for (const key of keys) {
    const [near] = findNear(key, ["command", "url"]);
    if (near) return `did you mean "${near}" by ${quote(key)}?`;
  }
  return 'add "command" for a local program, or "url" for a remote server';
}

function found(value: unknown, field: Outline | undefined): string {
  if (value === undefined) return "is missing";
  if (field?.type === "string" && value === "") return "is empty";
  if (field?.enum && typeof value === "string") return `is ${quote(value)}`;
  if (field?.type === "string" && typeof value === "string")
    return field.pattern ? "does not match" : `has ${value.length} characters`;
  if (typeof value === "number") return `is ${value}`;
  return `is ${kindName(value)}`;
}

function kindName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (value instanceof Date) return "a date";
  const names: Partial<Record<string, string>> = {
    string: "text",
    boolean: "true or false",
    object: "an object",
    bigint: "a number",
  };
  return names[typeof value] ?? typeof value;
}

function expectation(field: Outline = {}, value: unknown): string {
  const { type, pattern } = field;
  if (field.enum) return field.enum.map((choice) => JSON.stringify(choice)).join(" or ");
  if (field.const !== undefined) return JSON.stringify(field.const);
  if (type === "integer") return `a whole number from ${field.minimum} to ${field.maximum}`;
  if (type === "string" && pattern) return `text like ${pattern}`;
  if (type === "string")
    return value && typeof value === "string" ? `at most ${field.maxLength}` : "text";
  if (type === "boolean") return "true or false";
  if (type === "array") return `a list of ${field.items?.type === "string" ? "texts" : "values"}`;
  const isOfTexts = field.additionalProperties && field.additionalProperties.type === "string";
  return isOfTexts ? "an object of texts" : "an object";
}
