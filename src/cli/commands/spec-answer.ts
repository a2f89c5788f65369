import { isObject, type JsonObject } from "../../base/json.ts";
import { visible, visibleLines } from "../../base/sanitize.ts";
import { type AskLine, askLine } from "../terminal.ts";

/**
 * Answers a question of a step at the terminal. A choice that also takes free text needs one line: a number, a letter,
 * "yes", or the answer itself. Every other question is shown as a form.
 */
export async function answerStep(
  params: JsonObject,
  ask: AskLine = askLine,
  show: (text: string) => void = (text) => void process.stderr.write(`${text}\n`),
): Promise<JsonObject> {
  const { message, requestedSchema } = params;
  const fields = isObject(requestedSchema) ? requestedSchema.properties : undefined;
  const { answer, other } = isObject(fields) ? fields : {};
  if (!isObject(answer) || !Array.isArray(answer.enum) || !isObject(other))
    return (await import("../terminal.ts")).answerForm(params, ask, show);

  const options = answer.enum.map(String);
  const [recommended = ""] = options;
  const titles: readonly unknown[] = Array.isArray(answer.enumNames) ? answer.enumNames : options;
  show(visibleLines(String(message ?? "")));
  for (const [at, title] of titles.entries()) show(`  ${at + 1}. ${visible(String(title))}`);
  try {
    for (;;) {
      const line = (await ask(`A number, or your own answer [${visible(recommended)}]: `)).trim();
      const chosen = chooseOption(line, options);
      if (chosen !== undefined) return accept(chosen, "");
      if (!/^(?:\d+|\p{L})$/u.test(line)) return accept(recommended, line);
      show(`Enter a number from 1 to ${options.length}, or a few words.`);
    }
  } catch {
    // The input has ended.
    return { action: "cancel" };
  }
}

function accept(answer: string, other: string): JsonObject {
  return { action: "accept", content: { answer, other } };
}

function chooseOption(line: string, options: readonly string[]): string | undefined {
  if (/^(?:|y|yes|ok|recommended)$/i.test(line)) return options[0];
  if (/^\d+$/.test(line)) return options[Number(line) - 1];
  if (/^[a-z]$/i.test(line)) return options[line.toUpperCase().charCodeAt(0) - 65];
  return options.find((option) => option.toLowerCase() === line.toLowerCase());
}
