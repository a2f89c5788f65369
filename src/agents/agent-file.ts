import { HallError } from "../base/errors.ts";
import { type FrontMatter, parseFrontMatter, writeText } from "./front-matter.ts";
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
  readonly limits?: AgentLimits;
  /** Planner and model, if different from the config. */
  readonly planner?: PlannerChoice;
  readonly model?: string;
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
    ...readLimits(fields.get("limits")),
    ...readPlanner(read("planner"), fields.get("planner")?.line),
    ...readModel(read("model")),
    instructions: matter.body.trim(),
    matter,
    unknown: [...fields.keys()].filter((key) => !knownFields.includes(key)),
  };
}

type Field = NonNullable<ReturnType<FrontMatter["fields"]["get"]>>;

function readTools(field: Field | undefined): readonly string[] {
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

function readLimits(field: Field | undefined): { limits?: AgentLimits } {
  if (field === undefined) return {};
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
  return {
    limits: Object.fromEntries(Object.entries(limits).map(([key, limit]) => [key, Number(limit)])),
  };
}

function readPlanner(text: string | undefined, line = 0): { planner?: PlannerChoice } {
  if (text === undefined) return {};
  const planner = plannerChoices.find((choice) => choice === text.trim());
  if (planner) return { planner };
  throw new HallError(
    "INVALID_PARAMS",
    `line ${line}: unknown planner "${text.slice(0, 50)}" (expected: ${plannerChoices.join(", ")})`,
  );
}

function readModel(text: string | undefined): { model?: string } {
  return text === undefined || text.trim() === "" ? {} : { model: text.trim() };
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
