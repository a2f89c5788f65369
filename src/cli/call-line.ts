import { isObject, type JsonObject } from "../base/json.ts";

/** The command that calls a tool as an agent prepared it, with the values that are only guessed; a second line says which those are. */
export function callLine({ name, call, filled }: JsonObject): string {
  const given = isObject(call) && isObject(call.arguments) ? call.arguments : {};
  const guesses = Array.isArray(filled)
    ? filled.filter(isObject).filter(({ certainty }) => certainty === "guess")
    : [];
  const args = guesses.reduce<JsonObject>(
    (all, { name: place, value }) => put(all, String(place).split("."), value),
    given,
  );
  const line = ["guildhall call", String(name), ...writeArguments(args)].join(" ");
  return guesses.length === 0
    ? line
    : `${line}\n   (only perhaps: ${guesses.map(({ name: place }) => String(place)).join(", ")})`;
}

function put(
  values: JsonObject,
  [step = "", ...rest]: readonly string[],
  value: unknown,
): JsonObject {
  const inner = values[step];
  return {
    ...values,
    [step]: rest.length > 0 ? put(isObject(inner) ? inner : {}, rest, value) : value,
  };
}

/** `key=value` where that is read back as it is, else one JSON object. */
function writeArguments(args: JsonObject): readonly string[] {
  const entries = Object.entries(args);
  const isPlain = entries.every(
    ([key, value]) =>
      /^[\w.-]+$/.test(key) && (typeof value === "string" ? !isJson(value) : !isObject(value)),
  );
  if (!isPlain) return [quoteWord(JSON.stringify(args))];
  return entries.map(([key, value]) =>
    quoteWord(`${key}=${typeof value === "string" ? value : JSON.stringify(value)}`),
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** One word for a shell. */
export function quoteWord(text: string): string {
  return /^[\w.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
