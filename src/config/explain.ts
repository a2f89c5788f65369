import { isObject, type JsonObject } from "../base/json.ts";
import { findNear } from "../base/text.ts";
import type { Issue } from "./check.ts";
import { fieldOf, type Problem, quote } from "./error.ts";
import { fieldAt } from "./layer.ts";
import { type Outline, outline, outlineAt } from "./outline.ts";

/** Fields that do not fit, as problems with a next step. */
export function explainIssues(issues: readonly Issue[], tree: JsonObject): Problem[] {
  const problems = new Map<string, Problem>();
  for (const issue of issues) {
    const problem = explainKind(issue, tree) ?? explain(issue, tree);
    // One per server that is of no kind or of both.
    problems.set(fieldOf(problem.path), problem);
  }
  return [...problems.values()];
}

function explainKind({ path, unknown }: Issue, tree: JsonObject): Problem | undefined {
  const above = path.slice(0, 2);
  const server = fieldAt(tree, above);
  if (path[0] !== "mcpServers" || path.length < 2 || !isObject(server)) return undefined;
  const [hasCommand, hasUrl] = ["command" in server, "url" in server];
  if (hasCommand && hasUrl && path.length === 2 && unknown !== undefined)
    return {
      path,
      text: 'has both command and url; expected one of them; remove "command" for a remote server, "url" for a local program',
    };
  if (hasCommand || hasUrl) return undefined;
  const advice = adviceFor(Object.keys(server));
  return { path: above, text: `has neither command nor url; expected one of them; ${advice}` };
}

function explain({ path, unknown }: Issue, tree: JsonObject): Problem {
  const value = fieldAt(tree, path);
  const field = outlineAt(outline, path, tree);
  if (unknown !== undefined) return explainUnknown(unknown, field, path);
  const advice =
    field?.default === undefined
      ? "change it"
      : `write for example ${JSON.stringify(field.default)}`;
  return { path, text: `${found(value, field)}; expected ${expectation(field, value)}; ${advice}` };
}

function explainUnknown(key: string, field: Outline | undefined, parent: Issue["path"]): Problem {
  const known = Object.keys(field?.properties ?? {});
  const [near] = findNear(key, known);
  const advice = near ? `did you mean "${near}"?` : "remove it";
  return {
    path: [...parent, key],
    text: `unknown key; expected one of ${known.join(", ")}; ${advice}`,
  };
}

function adviceFor(keys: readonly string[]): string {
  for (const key of keys) {
    const [near] = findNear(key, ["command", "url"]);
    if (near) return `write "${near}" instead of ${quote(key)}`;
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
  if (type === "string") {
    if (typeof value !== "string" || value === "") return "text";
    const isShort = value.length < (field.minLength ?? 0);
    return isShort ? `at least ${field.minLength}` : `at most ${field.maxLength}`;
  }
  if (type === "boolean") return "true or false";
  if (type === "array") return `a list of ${field.items?.type === "string" ? "texts" : "values"}`;
  const isOfTexts = field.additionalProperties && field.additionalProperties.type === "string";
  return isOfTexts ? "an object of texts" : "an object";
}
