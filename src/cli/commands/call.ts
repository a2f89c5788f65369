import { writeFile } from "node:fs/promises";
import { isForPeople, readAdvice } from "../../base/advice.ts";
import { HallError, messageOf } from "../../base/errors.ts";
import { isObject, type JsonObject, parseJson } from "../../base/json.ts";
import { visible, visibleLines } from "../../base/sanitize.ts";
import { findNear } from "../../base/text.ts";
import { readErrorCode, readNextStep } from "../../client/hall-error.ts";
import type { HallClient } from "../../hall/hall-client.ts";
import { adviceForShell, adviceWithoutHall } from "../advice.ts";
import type { JsonOption } from "../declaration.ts";
import { getTool, withHall } from "../hall.ts";
import { below, createLive, quiet } from "../live.ts";
import { print } from "../print.ts";
import { answerForm, isAttended } from "../terminal.ts";

export async function runCall(
  name: string,
  words: readonly string[],
  options: JsonOption,
): Promise<void> {
  const live = options.json ? quiet : createLive();
  const answer = isAttended(options) ? below(live, answerForm) : undefined;
  await withHall(
    async (client, settings) => {
      const tool = await getTool(name, client, settings);
      const args = parseArguments(words, tool.inputSchema);
      const result = await client
        .request("tools/call", { name: String(tool.name), arguments: args }, live)
        .finally(live.clear);
      if (result.isError)
        throw adviseCaller(toolError(result), { tool, args, isEphemeral: client.isEphemeral });
      const next = options.json ? "" : await formatNext(String(tool.name), result, client);
      await showResult(result, { name, next }, options);
    },
    { answer, tool: name },
  );
}

/** The advice of one of our own tools. A server's `structuredContent.next` is only data. */
async function formatNext(name: string, result: JsonObject, client: HallClient): Promise<string> {
  const { structuredContent } = result;
  const next = isObject(structuredContent) ? readAdvice(structuredContent.next) : [];
  if (next.length === 0 || !(await isOwnTool(name, client))) return "";
  return adviceForShell(next);
}

/** Reads the hall's own list: a server cannot choose its source. */
async function isOwnTool(name: string, client: HallClient): Promise<boolean> {
  const { contents } = await client.request("resources/read", { uri: "guildhall://trust" });
  const [first] = Array.isArray(contents) ? contents : [];
  const { tools = [] } = JSON.parse(isObject(first) ? String(first.text) : "{}") as {
    readonly tools?: readonly { readonly name: string; readonly source?: string }[];
  };
  if (tools.length === 0) return false;
  // Tools of the hall itself, such as agents, are not in the list.
  const { source = "hall" } = tools.find((tool) => tool.name === name) ?? {};
  return source === "built-in" || source === "hall";
}

async function showResult(
  result: JsonObject,
  { name, next }: { readonly name: string; readonly next: string },
  options: JsonOption,
): Promise<void> {
  const content = contentOf(result);
  const files: readonly JsonObject[] = content.filter(isSaved);
  const stemOf = (item: JsonObject): string =>
    files.length > 1 ? `${name}-${files.indexOf(item) + 1}` : name;
  const shown = await Promise.all(content.map((item) => showContent(item, stemOf(item))));
  print(result, [...shown, next].join("\n"), options);
}

interface FailedCall {
  readonly tool: JsonObject;
  readonly args: JsonObject;
  readonly isEphemeral: boolean;
}

/** Replaces advice for a model by advice for a person at a shell. */
function adviseCaller(error: HallError, { tool, args, isEphemeral }: FailedCall): HallError {
  const { code, message, details } = error;
  // The model may not read its schema, so nothing is known of its arguments.
  if (code === "DENIED") return error;
  if (code === "APPROVAL_NEEDED" && isEphemeral)
    return new HallError(code, message, { hint: adviceWithoutHall(error.next).join("\n  ") });
  const hint = describeUnknownFields(args, tool.inputSchema);
  if (hint !== undefined) return new HallError(code, message, { hint, details });
  if (code !== "VALIDATION") return error;
  return new HallError(code, message, {
    next: [{ do: "run-command", command: `tools show ${tool.name}` }],
    details,
  });
}

/** Arguments the schema does not name, which servers often reject without saying so. */
function describeUnknownFields(args: JsonObject, schema: unknown): string | undefined {
  const known =
    isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties) : [];
  const unknown = Object.keys(args).filter((key) => !known.includes(key));
  if (unknown.length === 0) return undefined;
  const problems = unknown.map((key) => {
    const near = findNear(key, known).map(visible).join(", ");
    return `Unknown argument "${visible(key)}"${near === "" ? "." : `; did you mean ${near}?`}`;
  });
  return `${problems.join(" ")} Known arguments: ${known.map(visible).join(", ") || "none"}.`;
}

/** One JSON object, or `key=value` pairs read by the types of the tool's schema. */
export function parseArguments(words: readonly string[], schema: unknown): JsonObject {
  const [first] = words;
  if (words.length === 1 && first?.trimStart().startsWith("{")) return parseObject(first);
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf("=");
      if (at < 1)
        throw new HallError("INVALID_PARAMS", `invalid argument "${word}" (expected: key=value)`, {
          hint: 'Write key=value, or one JSON object: guildhall call NAME \'{"key":"value"}\'',
        });
      const key = word.slice(0, at);
      return [key, parseValue(word.slice(at + 1), properties[key])];
    }),
  );
}

function parseObject(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject;
  } catch (error) {
    throw new HallError("INVALID_PARAMS", `the arguments are invalid JSON: ${messageOf(error)}`, {
      hint: "Correct it, or write key=value pairs.",
    });
  }
}

function parseValue(text: string, schema: unknown): unknown {
  if (isObject(schema) && schema.type === "string") return text;
  const value = parseJson(text);
  // Not JSON, so it is plain text.
  return value === undefined ? text : value;
}

/** The content items meant for people. */
export function contentOf(result: JsonObject): readonly JsonObject[] {
  const content = Array.isArray(result.content) ? result.content.filter(isObject) : [];
  return content.filter(isForPeople);
}

/** An item as text; images and audio are saved to a file whose name begins with `stem`. */
export async function showContent(item: JsonObject, stem: string): Promise<string> {
  if (item.type === "text") return visibleLines(String(item.text));
  if (isSaved(item)) {
    const subtype = String(item.mimeType).split("/")[1] ?? "";
    const extension = subtype.replace(/[^a-z0-9]/gi, "") || "bin";
    const file = `${stem.replace(/[^\w.-]/g, "_")}.${extension}`;
    await writeFile(file, Buffer.from(item.data, "base64"));
    return `${item.type} saved to ${file}`;
  }
  return visibleLines(JSON.stringify(item, null, 2));
}

function isSaved(item: JsonObject): item is JsonObject & { readonly data: string } {
  return (item.type === "image" || item.type === "audio") && typeof item.data === "string";
}

/** The failure with the hall's own error code, which sets the exit code. */
export function toolError(result: JsonObject): HallError {
  const details = isObject(result._meta) ? result._meta["guildhall/error"] : undefined;
  const code = (isObject(details) && readErrorCode(details.error_type)) || "EXECUTION";
  const text = contentOf(result)
    .map((item) => String(item.text ?? ""))
    .join("\n");
  return isObject(details)
    ? new HallError(code, String(details.message), {
        ...readNextStep(details.suggestion, details.next),
        ...(isObject(details.details) ? { details: details.details } : {}),
      })
    : new HallError(code, visibleLines(text) || "the tool failed");
}
