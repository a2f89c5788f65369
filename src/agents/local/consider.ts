import type { JsonObject } from "../../base/json.ts";
import { wordsOf } from "../../ranking/words.ts";
import { findConversion } from "./conversions.ts";
import { type Considered, weighSigns } from "./evidence.ts";
import type { Reading } from "./mention.ts";
import { type Option, optionsFor } from "./options.ts";
import { findObject, findPair } from "./pairs.ts";
import { type Parameter, parametersOf } from "./parameters.ts";
import { findSum } from "./sums.ts";
import { findZone } from "./zones.ts";

export interface FillableTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** Every parameter with all its options and what speaks for each. */
export function consider(
  reading: Reading,
  tool: FillableTool,
  parameters: readonly Parameter[] = parametersOf(tool.inputSchema),
): readonly Considered[] {
  const toolWords = new Set(wordsOf(`${tool.name} ${tool.description}`));
  const pairs = new Map<Parameter, Option>();
  for (const parameter of parameters) {
    const said =
      findPair(parameter, reading) ??
      findConversion(parameter, reading, parameters) ??
      findZone(parameter, reading, parameters) ??
      findSum(parameter, reading, parameters) ??
      findObject(parameter, reading, { tool, parameters });
    if (said) pairs.set(parameter, said);
  }
  const taken = [...pairs.values()];
  const choices = parameters.map((parameter) => {
    const pair = pairs.get(parameter);
    const isFree = ({ start, end }: Option): boolean =>
      !taken.some((other) => other.start < end && start < other.end);
    return { parameter, options: pair ? [pair] : optionsFor(parameter, reading).filter(isFree) };
  });
  return weighSigns(choices, { reading, parameters, toolWords });
}
