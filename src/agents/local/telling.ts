import { isObject, type JsonObject } from "../../base/json.ts";
import { signatureOf } from "../../toolkits/find/signature.ts";
import type { Chosen } from "./decision.ts";
import type { Filled } from "./fill.ts";

/** A tool as the answer tells of it, for a program. */
export function tellTool({ tool, filling, likelihood }: Chosen): JsonObject {
  const { name, description, inputSchema, score, asks, unavailable } = tool;
  return {
    name,
    description: shorten(description, 240),
    signature: signatureOf(name, inputSchema),
    score,
    likelihood: Math.round(likelihood * 1_000) / 1_000,
    filled: filling.filled.map(({ name: parameter, value, certainty, from }) => ({
      name: parameter,
      value,
      certainty,
      from: isObject(from) ? from.text : from,
    })),
    missing: filling.missing,
    call: callOf({ tool, filling }),
    ...(asks === undefined ? {} : { asks }),
    ...(unavailable === undefined ? {} : { unavailable }),
  };
}

/** What `call_tool` would be given: what is certain and likely. A guess is left for whoever reads to put in. */
function callOf({ tool, filling }: Pick<Chosen, "tool" | "filling">): JsonObject {
  const unsure = filling.filled
    .filter(({ certainty }) => certainty === "guess")
    .map(({ name }) => name.split("."));
  return { name: tool.name, arguments: unsure.reduce<JsonObject>(without, filling.values) };
}

function without(values: JsonObject, [step, ...rest]: readonly string[]): JsonObject {
  if (step === undefined) return values;
  const { [step]: inner, ...others } = values;
  return rest.length > 0 && isObject(inner) ? { ...others, [step]: without(inner, rest) } : others;
}

/** The same for a person and a model. */
export function sayTool(choice: Chosen, place: number): string {
  const { tool, filling } = choice;
  const { filled, missing } = filling;
  const shown = filled.filter(({ certainty }) => certainty !== "guess");
  const guesses = filled.filter(({ certainty }) => certainty === "guess");
  const open = [
    ...missing,
    ...guesses.filter(({ isRequired }) => isRequired).map(({ name }) => name),
  ];
  const lines = [
    `${place}. ${signatureOf(tool.name, tool.inputSchema)}`,
    shorten(tool.description, 240),
    shown.length > 0 ? `filled: ${shown.map(sayFilled).join(", ")}` : "",
    guesses.length > 0 ? `perhaps: ${guesses.map(sayFilled).join(", ")}` : "",
    open.length > 0
      ? `to add: ${open.map((name) => sayMissing(name, tool.inputSchema)).join("; ")}`
      : "",
    tool.asks === undefined ? "" : `asks a person first: ${tool.asks}`,
    tool.unavailable === undefined ? "" : `not available right now: ${tool.unavailable}`,
    `call_tool ${JSON.stringify(callOf(choice))}`,
  ];
  return lines.filter(Boolean).join("\n   ");
}

function sayFilled({ name, value, certainty, from }: Filled): string {
  const source = typeof from === "string" ? `from ${from}` : `from "${shorten(from.text, 40)}"`;
  return `${name} = ${shorten(JSON.stringify(value), 200)} (${certainty === "guess" ? "" : `${certainty}, `}${source})`;
}

function sayMissing(name: string, schema: JsonObject): string {
  let property: unknown = schema;
  for (const step of name.split("."))
    property =
      isObject(property) && isObject(property.properties) ? property.properties[step] : undefined;
  const description =
    isObject(property) && typeof property.description === "string"
      ? shorten(property.description, 100)
      : "";
  return description === "" ? name : `${name} (${description})`;
}

export function shorten(text: string, charactersMax: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= charactersMax ? line : `${line.slice(0, charactersMax - 2)} …`;
}
