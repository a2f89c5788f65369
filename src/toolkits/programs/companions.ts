/** The companions of the evaluating tools: definitions, limits and the last error of a session. */
import type { JsonObject } from "../../base/json.ts";
import type { Scope } from "../../base/scope.ts";
import type { Outcome } from "../../tool.ts";
import { formatCondition, formatText } from "./answer.ts";
import type { DefinitionType, EvaluationLimits } from "./protocol.ts";
import { type ProgramSession, refuseCalls } from "./sessions.ts";

export async function listSessionDefinitions(
  { thread, handle }: ProgramSession,
  type: DefinitionType,
  scope: Scope,
): Promise<Outcome> {
  const work = { scope, serve: refuseCalls };
  const { definitions, package: name } = await thread.run(
    { kind: "definitions", type },
    "definitions",
    work,
  );
  const lines = definitions.map((definition) => {
    const documentation = definition.documentation ? ` - ${definition.documentation}` : "";
    return `${definition.type} ${definition.name}${documentation}`;
  });
  return formatText(lines.join("\n") || "Nothing is defined.", {
    definitions,
    package: name,
    session: handle,
  });
}

export function readLimits(args: JsonObject, limits: EvaluationLimits): EvaluationLimits {
  const given = args as Readonly<Record<string, number | undefined>>;
  return {
    timeoutMs: given.timeout === undefined ? limits.timeoutMs : given.timeout * 1_000,
    outputCharacters: given["max-output"] ?? limits.outputCharacters,
    calls: given["max-calls"] ?? limits.calls,
    steps: given["max-steps"] ?? limits.steps,
  };
}

export function formatLimits({ limits, handle }: ProgramSession): Outcome {
  const { timeoutMs, outputCharacters, calls, steps } = limits;
  const timeout = timeoutMs === 0 ? "none" : `${timeoutMs / 1_000} s`;
  const warning =
    timeoutMs === 0 ? " Without a timeout, an endless loop runs for the maximum of 600 s." : "";
  return formatText(
    `timeout ${timeout}, max-output ${outputCharacters} characters, max-calls ${calls}, max-steps ${steps}.${warning}`,
    {
      timeout: timeoutMs / 1_000,
      "max-output": outputCharacters,
      "max-calls": calls,
      "max-steps": steps,
      session: handle,
    },
  );
}

export function formatLastError({ lastError, handle }: ProgramSession): Outcome {
  if (!lastError) return formatText("No error in this session.", { session: handle });
  const restarts =
    lastError.restarts.length > 0 ? `\n\n[Restarts]\n${lastError.restarts.join("\n")}` : "";
  const condition = formatCondition(lastError, lastError.backtrace.length);
  return formatText(`${condition}${restarts}`, { condition: lastError, session: handle });
}
