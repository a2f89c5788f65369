import { HallError } from "../base/errors.ts";
import { type PlannerChoice, plannerChoices, type RunLimits } from "./planner.ts";

/**
 * An agent as the Markdown file that people edit: name, description and tools in the front matter,
 * instructions in the body.
 */
export interface AgentFile {
  /** Ends in `_agent`. */
  readonly name: string;
  readonly description: string;
  /** Full names; `server.*` means all tools of a server. */
  readonly tools: readonly string[];
  /** The others have defaults. */
  readonly limits?: Partial<RunLimits> | undefined;
  /** Planner and model, if different from the config. */
  readonly planner?: PlannerChoice | undefined;
  readonly model?: string | undefined;
  readonly instructions: string;
}

const limitNames: readonly (keyof RunLimits)[] = ["turns", "steps", "tokens", "bytes", "seconds"];

export const agentFields = ["name", "description", "tools", "limits", "planner", "model"];

export interface ParsedAgentFile extends AgentFile {
  readonly matter: FrontMatter;
  /** Unknown fields. */
  readonly unknown: readonly string[];
}

/** Reads a file. `stem` is its name without `.md`. Throws INVALID_PARAMS with the line. */
export function parseAgentFile(text: string, stem: string): ParsedAgentFile {
  const matter = parseFrontMatter(text);
  const { fields } = matter;
  const read = (key: string): string | undefined => {
    const field = fields.get(key);
    if (field === undefined) return undefined;
    if (typeof field.value === "string") return field.value;
    throw fault(`${key} must be text`, field.line);
  };
  const description = read("description")?.trim();
  if (!description) throw fault("missing description: models choose agents by it");
  return {
    name: agentName(read("name") ?? stem),
    description,
    tools: readTools(fields.get("tools")),
    limits: readLimits(fields.get("limits")),
    planner: readPlanner(read("planner"), fields.get("planner")?.line),
    model: read("model")?.trim() || undefined,
    instructions: matter.body.trim(),
    matter,
    unknown: [...fields.keys()].filter((key) => !agentFields.includes(key)),
  };
}

function readTools(field: MatterField | undefined): readonly string[] {
  if (!field) throw fault("missing tools: list them under `tools:`, one `- name` per line");
  const { value, line } = field;
  const names = typeof value === "string" ? value.split(",") : value;
  if (!Array.isArray(names)) throw fault("tools must be a list", line);
  return [...new Set(names.map((name) => name.trim()).filter(Boolean))];
}

function readLimits(field: MatterField | undefined): AgentFile["limits"] {
  if (field === undefined) return undefined;
  const { value, line } = field;
  const known = limitNames.join(", ");
  if (typeof value === "string" || Array.isArray(value))
    throw fault(`limits must be a map (keys: ${known})`, line);
  const limits = Object.entries(value as Readonly<Record<string, string>>);
  for (const [key, limit] of limits) {
    if (!limitNames.some((name) => name === key))
      throw fault(`unknown limit "${key}" (expected: ${known})`, line);
    if (!/^[1-9]\d{0,8}$/.test(limit))
      throw fault(`${key} must be a whole number from 1 to 999999999`, line);
  }
  return Object.fromEntries(limits.map(([key, limit]) => [key, Number(limit)]));
}

function readPlanner(text: string | undefined, line?: number): PlannerChoice | undefined {
  if (text === undefined) return undefined;
  const planner = plannerChoices.find((choice) => choice === text.trim());
  if (planner) return planner;
  const expected = plannerChoices.join(", ");
  throw fault(`unknown planner "${text.slice(0, 50)}" (expected: ${expected})`, line);
}

/** `Web research` and `web-research` become `web_research_agent`. Throws INVALID_PARAMS without a letter. */
export function agentName(text: string): string {
  const words = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^[_\d]+|_+$/g, "")
    .replace(/(^|_)agent$/, "")
    .slice(0, 50);
  if (words === "")
    throw fault(`invalid agent name "${text.slice(0, 50)}": it must contain a letter from a to z`);
  return `${words}_agent`;
}

/** The default file name of an agent. */
export function fileNameOf(name: string): string {
  return `${name.replace(/_agent$/, "").replaceAll("_", "-")}.md`;
}

/** The file as `build` writes it. Deterministic. */
export function writeAgentFile(agent: AgentFile): string {
  const { name, description, tools, limits, planner, model, instructions } = agent;
  const lines = ["---", `name: ${name}`, `description: ${writeText(description)}`];
  lines.push(...writeTools(tools));
  if (planner !== undefined) lines.push(`planner: ${planner}`);
  if (model !== undefined) lines.push(`model: ${writeText(model)}`);
  if (limits) lines.push("limits:");
  for (const [key, value] of Object.entries(limits ?? {})) lines.push(`  ${key}: ${value}`);
  return [...lines, "---", "", instructions, ""].join("\n");
}

export function writeTools(tools: readonly string[]): readonly string[] {
  return tools.length === 0
    ? ["tools: []"]
    : ["tools:", ...tools.map((tool) => `  - ${writeText(tool)}`)];
}

/**
 * The YAML subset of front matter: `key: text`, lists, one level of nested keys, folded text.
 * Parsed by hand because agents are listed before a YAML library is loaded, and because edits must
 * not touch other lines.
 */
export interface FrontMatter {
  readonly fields: ReadonlyMap<string, MatterField>;
  readonly body: string;
  /** All lines of the file; the body begins at `bodyLine`. */
  readonly lines: readonly string[];
  readonly bodyLine: number;
}

export interface MatterField {
  readonly value: string | readonly string[] | Readonly<Record<string, string>>;
  /** Counted from 1. */
  readonly line: number;
  /** The line after its last one. */
  readonly end: number;
}

const charactersMax = 1_048_576;

/** Throws INVALID_PARAMS with the line. */
function parseFrontMatter(text: string): FrontMatter {
  if (text.length > charactersMax) throw fault("file exceeds the limit of 1 MiB");
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  if (lines[0]?.trim() !== "---")
    throw fault(
      "missing front matter (expected a line `---`, then name, description and tools)",
      1,
    );
  const close = lines.findIndex((line, at) => at > 0 && line.trim() === "---");
  if (close === -1) throw fault("the front matter is not closed by a line `---`");

  const fields = new Map<string, MatterField>();
  for (let at = 1; at < close; at++) {
    const head = lines[at] ?? "";
    if (isEmpty(head)) continue;
    const [key, rest] = splitKey(head, at + 1);
    if (fields.has(key)) throw fault(`duplicate key "${key}"`, at + 1);
    let end = at + 1;
    while (end < close && isBelow(lines[end] ?? "")) end++;
    while (end > at + 1 && isEmpty(lines[end - 1] ?? "")) end--;
    const value = readValue(rest, lines.slice(at + 1, end), at + 1);
    fields.set(key, { value, line: at + 1, end });
    at = end - 1;
  }
  return { fields, body: lines.slice(close + 1).join("\n"), lines, bodyLine: close + 1 };
}

/** The file with changed fields and body; every other line is unchanged. */
export function replaceFields(
  { fields, lines, bodyLine }: FrontMatter,
  changed: Readonly<Record<string, readonly string[]>>,
  body?: string,
): string {
  const kept = lines.slice(0, bodyLine);
  // From the last to the first, so that the lines of the others keep their numbers.
  const last = [...fields].reverse();
  for (const [key, { line, end }] of last)
    if (changed[key]) kept.splice(line - 1, end - line + 1, ...changed[key]);
  for (const [key, written] of Object.entries(changed))
    if (!fields.has(key)) kept.splice(kept.length - 1, 0, ...written);
  return [...kept, ...(body === undefined ? lines.slice(bodyLine) : ["", body, ""])].join("\n");
}

/** Text as one line of YAML. */
export function writeText(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  const isPlain =
    /^\p{L}[\p{L}\p{N} ,.;()'/_*-]*$/u.test(line) &&
    !/^(true|false|null|yes|no|on|off)$/i.test(line);
  return isPlain ? line : JSON.stringify(line);
}

function isEmpty(line: string): boolean {
  return /^\s*(#.*)?$/.test(line);
}

/** True if a line belongs to the key above: indented, a list item, or empty. */
function isBelow(line: string): boolean {
  return /^(\s|- |-$|$)/.test(line);
}

function splitKey(text: string, line: number): readonly [key: string, rest: string] {
  const match = /^([A-Za-z][\w-]*):(?:\s+(.*))?$/s.exec(text.trimEnd());
  if (!match) throw fault(`"${text.trim().slice(0, 60)}" is not \`key: value\``, line);
  return [match[1] ?? "", (match[2] ?? "").trim()];
}

function readValue(rest: string, below: readonly string[], line: number): MatterField["value"] {
  const filled = below.filter((text) => !isEmpty(text)).map((text) => text.trim());
  if (/^[>|][+-]?$/.test(rest)) return filled.join(rest.startsWith(">") ? " " : "\n");
  if (rest.startsWith("[")) return readFlow(rest, line);
  if (rest !== "" && !rest.startsWith("#")) return [readScalar(rest, line), ...filled].join(" ");
  if (filled.length === 0) return "";
  if (filled.every((text) => /^-(\s|$)/.test(text)))
    return filled.map((text) => readScalar(text.slice(1).trim(), line));
  const pairs = filled.map((text) => splitKey(text, line));
  return Object.fromEntries(pairs.map(([key, value]) => [key, readScalar(value, line)]));
}

function readFlow(text: string, line: number): readonly string[] {
  if (!text.endsWith("]"))
    throw fault("a list that begins with [ must end with ] on the same line", line);
  const inside = text.slice(1, -1).trim();
  return inside === "" ? [] : inside.split(",").map((item) => readScalar(item.trim(), line));
}

function readScalar(text: string, line: number): string {
  if (text.startsWith('"')) {
    try {
      return String(JSON.parse(text));
    } catch {
      throw fault("unterminated double quotes", line);
    }
  }
  if (!text.startsWith("'")) {
    const comment = text.search(/\s#/);
    return comment === -1 ? text : text.slice(0, comment).trimEnd();
  }
  if (text.length < 2 || !text.endsWith("'")) throw fault("unterminated single quotes", line);
  return text.slice(1, -1).replaceAll("''", "'");
}

function fault(problem: string, line?: number): HallError {
  const place = line === undefined ? "" : `line ${line}: `;
  return new HallError("INVALID_PARAMS", `${place}${problem}`);
}
