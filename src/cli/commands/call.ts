import { writeFile } from "node:fs/promises";
import { isForPeople, readAdvice } from "../../base/advice.ts";
import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { findNear } from "../../base/near.ts";
import { visible, visibleLines } from "../../base/text.ts";
import { readErrorCode } from "../../client/hall-error.ts";
import { adviceWithoutHall } from "../advice.ts";
import { below, createLive, quiet } from "../live.ts";
import { print } from "../print.ts";
import { isAttended } from "../terminal.ts";
import { getTool, withHall } from "./tools.ts";

export interface CallOptions {
  readonly json?: boolean;
}

/** Calls a tool with a JSON object or `key=value` pairs; shows progress, saves images. */
export async function runCall(
  name: string,
  words: readonly string[],
  options: CallOptions,
): Promise<void> {
  const live = options.json ? quiet : createLive();
  const answer = isAttended(options) ? (await import("../form.ts")).answerForm : undefined;
  await withHall(async (client, settings) => {
    const tool = await getTool(name, client, settings);
    const args = parseArguments(words, tool.inputSchema);
    const result = await client
      .request("tools/call", { name: String(tool.name), arguments: args }, live)
      .finally(live.clear);
    if (result.isError)
      throw adviseCaller(toolError(result), { tool, args, isEphemeral: client.isEphemeral });
    // Before the servers are ended, which may take them seconds.
    await showResult(result, name, options);
  }, answer && below(live, answer));
}

async function showResult(result: JsonObject, name: string, options: CallOptions): Promise<void> {
  const content = contentOf(result);
  const files: readonly JsonObject[] = content.filter(isSaved);
  const stemOf = (item: JsonObject): string =>
    files.length > 1 ? `${name}-${files.indexOf(item) + 1}` : name;
  const shown = await Promise.all(content.map((item) => showContent(item, stemOf(item))));
  print(result, { json: options.json, text: () => shown.join("\n") });
}

interface FailedCall {
  readonly tool: JsonObject;
  readonly args: JsonObject;
  readonly isEphemeral: boolean;
}

/** The next move of a person at a shell, where it is another than a model's. */
function adviseCaller(error: HallError, { tool, args, isEphemeral }: FailedCall): HallError {
  if (error.code === "APPROVAL_NEEDED" && isEphemeral)
    return new HallError(error.code, error.message, {
      hint: adviceWithoutHall(error.next).join("\n  "),
    });
  const unknown = describeUnknown(args, tool.inputSchema);
  if (unknown !== undefined) return withHint(error, unknown);
  return error.code === "VALIDATION"
    ? withHint(error, `See its fields: guildhall tools show ${tool.name}`)
    : error;
}

function withHint({ code, message, details }: HallError, hint: string): HallError {
  return new HallError(code, message, { hint, ...(details === undefined ? {} : { details }) });
}

/** Fields the tool does not say it knows: often why it failed, and rarely what it says. */
function describeUnknown(args: JsonObject, schema: unknown): string | undefined {
  const known =
    isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties) : [];
  const unknown = Object.keys(args).filter((key) => !known.includes(key));
  if (unknown.length === 0) return undefined;
  const told = unknown.map((key) => {
    const near = findNear(key, known);
    return `"${visible(key)}" is not a field of it${near.length > 0 ? `; did you mean ${near.map(visible).join(", ")}?` : "."}`;
  });
  return `${told.join(" ")} It knows: ${known.map(visible).join(", ") || "none"}.`;
}

/** `{"a":1}` as it is; `a=1 b=x` by the types of the tool's schema. */
export function parseArguments(words: readonly string[], schema: unknown): JsonObject {
  const [first] = words;
  if (words.length === 1 && first?.trimStart().startsWith("{")) {
    try {
      return JSON.parse(first) as JsonObject;
    } catch (error) {
      throw new HallError(
        "INVALID_PARAMS",
        `the arguments are not valid JSON (${error instanceof Error ? error.message : error})`,
        {
          hint: "Correct it, or write key=value pairs.",
        },
      );
    }
  }
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf("=");
      if (at < 1)
        throw new HallError("INVALID_PARAMS", `"${word}" is not key=value`, {
          hint: 'Write key=value, or one JSON object: guildhall call NAME \'{"key":"value"}\'',
        });
      const key = word.slice(0, at);
      return [key, parseValue(word.slice(at + 1), properties[key])];
    }),
  );
}

function parseValue(text: string, schema: unknown): unknown {
  if (isObject(schema) && schema.type === "string") return text;
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: then it is text.
    return text;
  }
}

/** The items meant for people. */
export function contentOf(result: JsonObject): readonly JsonObject[] {
  const content = Array.isArray(result.content) ? result.content.filter(isObject) : [];
  return content.filter(isForPeople);
}

/** As text; pictures and sounds are saved under a name that begins with `stem`. */
export async function showContent(item: JsonObject, stem: string): Promise<string> {
  if (item.type === "text") return visibleLines(String(item.text));
  if (isSaved(item)) {
    const kind =
      String(item.mimeType)
        .split("/")[1]
        ?.replace(/[^a-z0-9]/gi, "") || "bin";
    const file = `${stem.replace(/[^\w.-]/g, "_")}.${kind}`;
    await writeFile(file, Buffer.from(item.data, "base64"));
    return `${item.type} saved to ${file}`;
  }
  return visibleLines(JSON.stringify(item, null, 2));
}

function isSaved(item: JsonObject): item is JsonObject & { readonly data: string } {
  return (item.type === "image" || item.type === "audio") && typeof item.data === "string";
}

/** The failure as the hall means it, so that the exit code says what happened. */
export function toolError(result: JsonObject): HallError {
  const details = isObject(result._meta) ? result._meta["guildhall/error"] : undefined;
  const code = (isObject(details) && readErrorCode(details.error_type)) || "EXECUTION";
  const text = contentOf(result)
    .map((item) => String(item.text ?? ""))
    .join("\n");
  return isObject(details)
    ? new HallError(code, String(details.message), {
        hint: String(details.suggestion),
        next: readAdvice(details.next),
        ...(isObject(details.details) ? { details: details.details } : {}),
      })
    : new HallError(code, visibleLines(text) || "the tool failed");
}
