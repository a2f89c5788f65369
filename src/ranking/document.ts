import { isObject } from "../base/json.ts";
import { wordsOf } from "./words.ts";

/** The text a tool is found by. */
export interface ToolText {
  readonly name: string;
  readonly description?: string | undefined;
  /** A JSON Schema; names, descriptions and enums of its parameters are read. */
  readonly inputSchema?: unknown;
  /** Other words for it, given by the user. */
  readonly aliases?: readonly string[] | undefined;
  /** Questions it answers, given by the user. */
  readonly examples?: readonly string[] | undefined;
}

/** Tools that are added and removed together. Of two tools with one name the last counts. */
export interface ToolkitText {
  readonly id: string;
  readonly description?: string | undefined;
  readonly tools: readonly ToolText[];
}

export const fields = [
  "name",
  "description",
  "toolkit",
  "toolkitDescription",
  "parameters",
  "parameterDescriptions",
  "choices",
  "aliases",
] as const;
export type Field = (typeof fields)[number];

/** A tool as words, by field. */
export type Document = Readonly<Record<Field, readonly string[]>>;

/** One document for each tool, in the order of the tools. */
export function documentsOf({ id, description = "", tools }: ToolkitText): Document[] {
  const toolkit = wordsOf(id, charactersMax.name);
  const toolkitDescription = wordsOf(description, charactersMax.description);
  return tools.map((tool) => {
    const parameters = readParameters(tool.inputSchema);
    return {
      name: wordsOf(tool.name, charactersMax.name),
      description: wordsOf(tool.description ?? "", charactersMax.description),
      toolkit,
      toolkitDescription,
      parameters: wordsOf(parameters.names.join(" "), charactersMax.description),
      parameterDescriptions: wordsOf(parameters.descriptions.join("\n"), charactersMax.description),
      choices: wordsOf(parameters.choices.join(" "), charactersMax.choices),
      aliases: wordsOf(
        [...(tool.aliases ?? []), ...(tool.examples ?? [])].join("\n"),
        charactersMax.description,
      ),
    };
  });
}

/** Longer texts are not found better, and a very long one must not slow down every search. */
const charactersMax = { name: 200, description: 4_000, choices: 1_000 };
const parametersMax = 200;
const depthMax = 4;

interface Parameters {
  readonly names: string[];
  readonly descriptions: string[];
  readonly choices: string[];
}

function readParameters(schema: unknown): Parameters {
  const found: Parameters = { names: [], descriptions: [], choices: [] };
  collect(schema, found, 0);
  return found;
}

function collect(schema: unknown, found: Parameters, depth: number): void {
  if (!isObject(schema) || depth > depthMax) return;
  if (isObject(schema.properties)) {
    for (const [name, property] of Object.entries(schema.properties)) {
      if (found.names.length === parametersMax) return;
      found.names.push(name);
      if (!isObject(property)) continue;
      if (typeof property.description === "string") found.descriptions.push(property.description);
      if (Array.isArray(property.enum))
        found.choices.push(
          ...property.enum.slice(0, parametersMax).filter((choice) => typeof choice === "string"),
        );
      collect(property, found, depth + 1);
    }
  }
  collect(schema.items, found, depth + 1);
  for (const part of [schema.anyOf, schema.oneOf, schema.allOf])
    if (Array.isArray(part)) for (const option of part) collect(option, found, depth + 1);
}
