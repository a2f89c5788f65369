import { writeFile } from "node:fs/promises";
import { type ErrorCode, errorTable, HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Progress } from "../tool.ts";
import { print, visible, visibleLines } from "./print.ts";
import { isAttended } from "./terminal.ts";
import { getTool, withHall } from "./tools.ts";

export interface CallOptions {
  readonly json?: boolean;
}

/** Calls a tool with a JSON object or `key=value` pairs; shows progress, saves images. */
export async function runCall(name: string, words: readonly string[], options: CallOptions): Promise<void> {
  const result = await withHall(
    async (client) => {
      const tool = await getTool(client, name);
      const args = parseArguments(words, tool.inputSchema);
      return client.request("tools/call", { name: String(tool.name), arguments: args }, { progress: showProgress });
    },
    isAttended(options) ? (await import("./form.ts")).answerForm : undefined,
  );
  clearProgress();
  if (result.isError) throw toolError(result);
  const shown = await Promise.all(contentOf(result).map((item, index) => showContent(item, `${name}-${index + 1}`)));
  print(result, { json: options.json, text: () => shown.join("\n") });
}

/** `{"a":1}` as it is; `a=1 b=x` by the types of the tool's schema. */
export function parseArguments(words: readonly string[], schema: unknown): JsonObject {
  const [first] = words;
  if (words.length === 1 && first?.trimStart().startsWith("{")) {
    try {
      return JSON.parse(first) as JsonObject;
    } catch (error) {
      throw new HallError("INVALID_PARAMS", `the arguments are not valid JSON (${error instanceof Error ? error.message : error})`);
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

export function showProgress({ progress, total, message }: Progress): void {
  if (!process.stderr.isTTY) return;
  const share = total === undefined ? undefined : Math.max(0, Math.min(1, progress / total));
  const bar = share === undefined ? `${progress}` : `[${"█".repeat(Math.round(share * 20)).padEnd(20, "░")}] ${Math.round(share * 100)} %`;
  process.stderr.write(`\r\x1b[K${bar} ${visible(message ?? "")}`);
}

export function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
}

export function contentOf(result: JsonObject): readonly JsonObject[] {
  return Array.isArray(result.content) ? result.content.filter(isObject) : [];
}

/** As text; pictures and sounds are saved under a name that begins with `stem`. */
export async function showContent(item: JsonObject, stem: string): Promise<string> {
  if (item.type === "text") return visibleLines(String(item.text));
  if ((item.type === "image" || item.type === "audio") && typeof item.data === "string") {
    const kind =
      String(item.mimeType)
        .split("/")[1]
        ?.replace(/[^a-z0-9]/gi, "") || "bin";
    const file = `${stem.replace(/[^\w.-]/g, "_")}.${kind}`;
    await writeFile(file, Buffer.from(item.data, "base64"));
    return `${item.type} saved to ${file}`;
  }
  return JSON.stringify(item, null, 2);
}

/** The failure as the hall means it, so that the exit code says what happened. */
export function toolError(result: JsonObject): HallError {
  const details = isObject(result._meta) ? result._meta["guildhall/error"] : undefined;
  const type = isObject(details) ? String(details.error_type).toUpperCase() : "EXECUTION";
  const code = (Object.hasOwn(errorTable, type) ? type : "EXECUTION") as ErrorCode;
  const text = contentOf(result)
    .map((item) => String(item.text ?? ""))
    .join("\n");
  return isObject(details)
    ? new HallError(code, String(details.message), { hint: String(details.suggestion) })
    : new HallError(code, visibleLines(text) || "the tool failed");
}
