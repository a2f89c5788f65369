import { isForPeople } from "../base/advice.ts";
import { makeHarmless, wordOf } from "../base/harmless.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { TuiEvent } from "./events.ts";
import { keepHead } from "./output.ts";

const answerCharactersMax = 100_000;

/** What `evaluate-lisp` said, as it stands under the form in the conversation. */
export function readLispAnswer(
  run: string,
  result: JsonObject,
): Extract<TuiEvent, { kind: "evaluated" }> {
  const { session, package: current } = isObject(result.structuredContent)
    ? result.structuredContent
    : {};
  const parts = (Array.isArray(result.content) ? result.content : [])
    .filter(isObject)
    .filter(isForPeople);
  const text = parts
    .map((part) => (typeof part.text === "string" ? part.text : `[${wordOf(part.type, "?")}]`))
    .join("\n");
  return {
    kind: "evaluated",
    run,
    text: makeHarmless(keepHead(text, answerCharactersMax)),
    isError: result.isError === true,
    ...(typeof session === "string" ? { session } : {}),
    ...(typeof current === "string" ? { package: current } : {}),
  };
}
