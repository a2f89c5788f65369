import { isObject } from "../base/json.ts";
import { wordsOf } from "./words.ts";

/** The text a tool is found by. */
export interface ToolText {
  readonly name: string;
  readonly description?: string | undefined;
  /** A JSON Schema; names, descriptions and enums of its parameters are read. */
  readonly inputSchema?: unknown;
  /** Other words for it and questions it answers, given by the user. */
  readonly aliases?: readonly string[] | undefined;
}

/** Tools that are added and removed together. Of two tools with one name the last counts. */
export interface ToolkitText {
  readonly id: string;
  readonly description?: string | undefined;
  readonly tools: readonly ToolText[];
}

/**
 * The weights of each field: of a word in the word scores, of a word in the tool's vector (the training
 * uses the same), and of a match when words are compared one by one. Names are chosen with care; a
 * toolkit's description applies to all its tools, so it counts less.
 */
export const fieldWeights = {
  name: { word: 2, vector: 1, match: 1 },
  description: { word: 1, vector: 1, match: 1 },
  toolkit: { word: 1, vector: 0.5, match: 1 },
  toolkitDescription: { word: 0.3, vector: 0.3, match: 0.8 },
  parameters: { word: 0.5, vector: 0.5, match: 0.9 },
  parameterDescriptions: { word: 0.4, vector: 0.4, match: 0.8 },
  choices: { word: 0.3, vector: 0.3, match: 0.8 },
  aliases: { word: 1.5, vector: 1, match: 1 },
};
export type Field = keyof typeof fieldWeights;
export const fields = Object.keys(fieldWeights) as readonly Field[];

/** A tool as words, by field. */
export type Document = Readonly<Record<Field, readonly string[]>>;

/** True if the author says that another tool replaces it. */
export const isDeprecated = (description = ""): boolean =>
  /\bDEPRECATED\b|(?:^|[.!([]\s*)deprecated\b|\b(?:tool|function|method) is deprecated\b/i.test(
    description,
  );

/** One document for each tool, in the order of the tools. */
export function documentsOf(toolkit: ToolkitText): Document[] {
  return [...readDocuments(toolkit)];
}

/** One by one: a large toolkit takes long. */
export function* readDocuments({
  id,
  description = "",
  tools,
}: ToolkitText): Generator<Document, void> {
  const toolkit = wordsOf(id, charactersMax.name);
  const toolkitDescription = wordsOf(description, charactersMax.description);
  for (const tool of tools) {
    const parameters = readParameters(tool.inputSchema);
    yield {
      name: wordsOf(tool.name, charactersMax.name),
      description: wordsOf(tool.description ?? "", charactersMax.description),
      toolkit,
      toolkitDescription,
      parameters: wordsOf(parameters.names.join(" "), charactersMax.description),
      parameterDescriptions: wordsOf(parameters.descriptions.join("\n"), charactersMax.description),
      choices: wordsOf(parameters.choices.join(" "), charactersMax.choices),
      aliases: wordsOf((tool.aliases ?? []).join("\n"), charactersMax.description),
    };
  }
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
