import { isObject, type JsonObject } from "../base/json.ts";
import type { AgentLimits } from "./agent-file.ts";
import type { RunLimits } from "./planner.ts";

const defaults: RunLimits = {
  turns: 8,
  steps: 16,
  tokens: 200_000,
  resultBytes: 4_194_304,
  seconds: 120,
};

/** The limits of the agent's file, else the defaults; a caller can only lower them. */
export function limitsOf(file: AgentLimits = {}, asked: unknown = {}): RunLimits {
  const { bytes: resultBytes, ...rest } = file;
  const allowed: RunLimits = {
    ...defaults,
    ...rest,
    ...(resultBytes === undefined ? {} : { resultBytes }),
  };
  if (!isObject(asked)) return allowed;
  const lower = (key: keyof RunLimits, value: unknown): number =>
    typeof value === "number" && value >= 1 ? Math.min(allowed[key], value) : allowed[key];
  return {
    turns: lower("turns", asked.turns),
    steps: lower("steps", asked.steps),
    tokens: lower("tokens", asked.tokens),
    resultBytes: lower("resultBytes", asked.bytes),
    seconds: lower("seconds", asked.seconds),
  };
}

/** The same keys as in an agent's file. Repeated for every agent, so it is short. */
export const limitsSchema: JsonObject = {
  type: "object",
  description: "turns, steps, tokens, bytes, seconds",
};
