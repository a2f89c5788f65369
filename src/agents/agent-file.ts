import { HallError } from "../base/errors.ts";
import { type PlannerChoice, plannerChoices } from "./planner.ts";

/**
 * An agent as the Markdown file that people edit: name, description and tools in the front matter, instructions in the body.
 */
export interface AgentFile {
  /** Ends in `_agent`. */
  readonly name: string;
  readonly description: string;
  /** Full names; `server.*` means all tools of a server. */
  readonly tools: readonly string[];
  readonly limits?: AgentLimits | undefined;
  /** Planner and model, if different from the config. */
  readonly planner?: PlannerChoice | undefined;
  readonly model?: string | undefined;
  readonly instructions: string;
}

/** Limits of one run; the others have defaults. */
export interface AgentLimits {
  readonly turns?: number;
  /** Tool calls. */
  readonly steps?: number;
  readonly tokens?: number;
  readonly bytes?: number;
  readonly seconds?: number;
}

const limitNames: readonly (keyof AgentLimits)[] = ["turns", "steps", "tokens", "bytes", "seconds"];

const knownFields = ["name", "description", "tools", "limits", "planner", "model"];

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
    throw new HallError("INVALID_PARAMS", `line ${field.line}: ${key} must be text`);
  };
  const description = read("description")?.trim();
  if (!description)
    throw new HallError("INVALID_PARAMS", "missing description: models choose agents by it");
  return {
    name: agentName(read("name") ?? stem),
    description,
    tools: readTools(fields.get("tools")),
    limits: readLimits(fields.get("limits")),
    planner: readPlanner(read("planner"), fields.get("planner")?.line),
    model: read("model")?.trim() || undefined,
    instructions: matter.body.trim(),
    matter,
    unknown: [...fields.keys()].filter((key) => !knownFields.includes(key)),
  };
}

function readTools(field: MatterField | undefined): readonly string[] {
  if (field === undefined)
    throw new HallError(
      "INVALID_PARAMS",
      "missing tools: list them under `tools:`, one `- name` per line",
    );
  const { value, line } = field;
  const names = typeof value === "string" ? value.split(",") : value;
  if (!Array.isArray(names))
    throw new HallError("INVALID_PARAMS", `line ${line}: tools must be a list`);
  return [...new Set(names.map((name) => name.trim()).filter(Boolean))];
}

function readLimits(field: MatterField | undefined): AgentLimits | undefined {
  if (field === undefined) return undefined;
  const { value, line } = field;
  if (typeof value === "string" || Array.isArray(value))
    throw new HallError(
      "INVALID_PARAMS",
      `line ${line}: limits must be a map (keys: ${limitNames.join(", ")})`,
    );
  const limits = value as Readonly<Record<string, string>>;
  const isName = (key: string): boolean => limitNames.some((name) => name === key);
  for (const [key, limit] of Object.entries(limits)) {
    if (!isName(key))
      throw new HallError(
        "INVALID_PARAMS",
        `line ${line}: unknown limit "${key}" (expected: ${limitNames.join(", ")})`,
      );
    if (!/^[1-9]\d{0,8}$/.test(limit))
      throw new HallError(
        "INVALID_PARAMS",
        `line ${line}: ${key} must be a whole number from 1 to 999999999`,
      );
  }
  return Object.fromEntries(Object.entries(limits).map(([key, limit]) => [key, Number(limit)]));
}

function readPlanner(text: string | undefined, line = 0): PlannerChoice | undefined {
  if (text === undefined) return undefined;
  const planner = plannerChoices.find((choice) => choice === text.trim());
  if (planner) return planner;
  throw new HallError(
    "INVALID_PARAMS",
    `line ${line}: unknown planner "${text.slice(0, 50)}" (expected: ${plannerChoices.join(", ")})`,
  );
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
    throw new HallError(
      "INVALID_PARAMS",
      `invalid agent name "${text.slice(0, 50)}": it must contain a letter from a to z`,
    );
  return `${words}_agent`;
}

/** The default file name of an agent. */
export function fileNameOf(name: string): string {
  return `${name.replace(/_agent$/, "").replaceAll("_", "-")}.md`;
}

/** The file as `build` writes it. Deterministic. */
export function writeAgentFile({
  name,
  description,
  tools,
  limits,
  planner,
  model,
  instructions,
}: AgentFile): string {
  return [
    "---",
    `name: ${name}`,
    `description: ${writeText(description)}`,
    ...writeTools(tools),
    ...(planner === undefined ? [] : [`planner: ${planner}`]),
    ...(model === undefined ? [] : [`model: ${writeText(model)}`]),
    ...(limits
      ? ["limits:", ...Object.entries(limits).map(([key, value]) => `  ${key}: ${value}`)]
      : []),
    "---",
    "",
    instructions,
    "",
  ].join("\n");
}

export function writeTools(tools: readonly string[]): readonly string[] {
  return tools.length === 0
    ? ["tools: []"]
    : ["tools:", ...tools.map((tool) => `  - ${writeText(tool)}`)];
}

/**
 * The YAML subset of front matter: `key: text`, lists, one level of nested keys, folded text. Parsed by hand because agents are
 * listed before a YAML library is loaded, and because edits must not touch other lines.
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
  if (text.length > charactersMax)
    throw new HallError("INVALID_PARAMS", "file exceeds the limit of 1 MiB");
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  if (lines[0]?.trim() !== "---")
    throw new HallError(
      "INVALID_PARAMS",
      "line 1: missing front matter (expected a line `---`, then name, description and tools)",
    );
  const close = lines.findIndex((line, at) => at > 0 && line.trim() === "---");
  if (close === -1)
    throw new HallError("INVALID_PARAMS", "the front matter is not closed by a line `---`");
  const fields = new Map<string, MatterField>();
  let at = 1;
  while (at < close) {
    if (isEmpty(lines[at])) {
      at++;
      continue;
    }
    const [key, rest] = splitKey(lines[at] ?? "", at);
    if (fields.has(key)) throw fault(at, `duplicate key "${key}"`);
    let end = at + 1;
    while (end < close && isBelow(lines[end] ?? "")) end++;
    while (end > at + 1 && isEmpty(lines[end - 1])) end--;
    fields.set(key, { value: readValue(rest, lines.slice(at + 1, end), at), line: at + 1, end });
    at = end;
  }
  return { fields, body: lines.slice(close + 1).join("\n"), lines, bodyLine: close + 1 };
}

/** The file with changed fields and body; every other line is unchanged. */
export function replaceFields(
  { fields, lines, bodyLine }: FrontMatter,
  changed: Readonly<Record<string, readonly string[]>>,
  body?: string,
): string {
  const kept = [...lines.slice(0, bodyLine)];
  const places = Object.entries(changed).map(([key, written]) => ({
    field: fields.get(key),
    written,
  }));
  for (const { field, written } of places.sort(
    (a, b) => (b.field?.line ?? 0) - (a.field?.line ?? 0),
  )) {
    if (field) kept.splice(field.line - 1, field.end - field.line + 1, ...written);
    else kept.splice(kept.length - 1, 0, ...written);
  }
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

function isEmpty(line: string | undefined): boolean {
  return /^\s*(#.*)?$/.test(line ?? "");
}

/** True if a line belongs to the key above: indented, a list item, or empty. */
function isBelow(line: string): boolean {
  return /^(\s|- |-$)/.test(line) || line === "";
}

function splitKey(line: string, at: number): readonly [key: string, rest: string] {
  const match = /^([A-Za-z][\w-]*):(?:\s+(.*))?$/.exec(line.trimEnd());
  if (!match) throw fault(at, `"${line.trim().slice(0, 60)}" is not \`key: value\``);
  return [match[1] ?? "", (match[2] ?? "").trim()];
}

function readValue(rest: string, below: readonly string[], at: number): MatterField["value"] {
  const filled = below.filter((line) => !isEmpty(line));
  if (/^[>|][+-]?$/.test(rest))
    return filled.map((line) => line.trim()).join(rest.startsWith(">") ? " " : "\n");
  if (rest.startsWith("[")) return readFlow(rest, at);
  if (rest !== "" && !rest.startsWith("#"))
    return [readScalar(rest, at), ...filled.map((line) => line.trim())].join(" ");
  if (filled.length === 0) return "";
  const isList = filled.every((line) => /^\s*-(\s|$)/.test(line));
  if (isList) return filled.map((line) => readScalar(line.trim().slice(1).trim(), at));
  return Object.fromEntries(
    filled.map((line) => {
      const [key, value] = splitKey(line.trim(), at);
      return [key, readScalar(value, at)];
    }),
  );
}

function readFlow(text: string, at: number): readonly string[] {
  if (!text.endsWith("]"))
    throw fault(at, "a list that begins with [ must end with ] on the same line");
  const inside = text.slice(1, -1).trim();
  return inside === "" ? [] : inside.split(",").map((item) => readScalar(item.trim(), at));
}

function readScalar(text: string, at: number): string {
  if (text.startsWith('"')) {
    try {
      return String(JSON.parse(text));
    } catch {
      throw fault(at, "unterminated double quotes");
    }
  }
  if (text.startsWith("'")) {
    if (text.length < 2 || !text.endsWith("'")) throw fault(at, "unterminated single quotes");
    return text.slice(1, -1).replaceAll("''", "'");
  }
  return text.replace(/\s+#.*$/, "");
}

function fault(at: number, problem: string): HallError {
  return new HallError("INVALID_PARAMS", `line ${at + 1}: ${problem}`);
}
