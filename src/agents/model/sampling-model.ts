import { randomUUID } from "node:crypto";
import type {
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3ToolResultOutput,
} from "@ai-sdk/provider";
import { isObject, type JsonObject } from "../../base/json.ts";
import { findObject, type Turn, type WholeModel } from "./turn.ts";

/**
 * The client's own model as one more provider: each turn is a `sampling/createMessage`. Clients without
 * `sampling.tools` (before 2025-11-25) get the tools described in the prompt, and their model answers in JSON.
 */
export interface SamplingModelOptions {
  /** True if the client declared `sampling.tools`. */
  readonly hasTools: boolean;
  /** Sends the request and returns its result. Throws HallError. */
  sample(params: JsonObject): Promise<JsonObject>;
}

export function createSamplingModel({ hasTools, sample }: SamplingModelOptions): WholeModel {
  return {
    modelId: "the client's model",
    async answer(call) {
      const params = hasTools ? writeWithTools(call) : writePlain(call);
      const result = await sample(params);
      const content = hasTools ? readParts(result) : readPlain(result);
      const hasCalls = content.some(({ type }) => type === "tool-call");
      const finish = result.stopReason === "maxTokens" ? "length" : "stop";
      return {
        content,
        finish: hasCalls ? "tool-calls" : finish,
        usage: estimate(params, result),
      };
    },
  };
}

const tokensUsual = 4_096;

function writeWithTools({
  prompt,
  tools = [],
  maxOutputTokens = tokensUsual,
}: LanguageModelV3CallOptions): JsonObject {
  const described = tools
    .filter((tool) => tool.type === "function")
    .map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  return {
    systemPrompt: systemOf(prompt),
    messages: joinRoles(prompt.flatMap(writeMessage)),
    maxTokens: maxOutputTokens,
    ...(described.length > 0 ? { tools: described, toolChoice: { mode: "auto" } } : {}),
  };
}

interface SamplingMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly JsonObject[];
}

function writeMessage(message: LanguageModelV3Message): SamplingMessage[] {
  if (message.role === "system") return [];
  const role = message.role === "assistant" ? "assistant" : "user";
  return [{ role, content: message.content.flatMap(writePart) }];
}

type MessagePart = Exclude<LanguageModelV3Message, { role: "system" }>["content"][number];

function writePart(part: MessagePart): JsonObject[] {
  switch (part.type) {
    case "text":
      return [text(part.text)];
    case "tool-call":
      return [{ type: "tool_use", id: part.toolCallId, name: part.toolName, input: part.input }];
    case "tool-result":
      return [
        {
          type: "tool_result",
          toolUseId: part.toolCallId,
          content: [text(textOf(part.output))],
          isError: part.output.type === "error-text",
        },
      ];
    default:
      return [];
  }
}

/** A message with tool results may contain nothing else, so text after them joins the last result. */
function joinRoles(messages: readonly SamplingMessage[]): SamplingMessage[] {
  const joined: SamplingMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (!last || last.role !== message.role) {
      joined.push(message);
      continue;
    }
    const end = last.content.at(-1);
    const content =
      end?.type === "tool_result"
        ? [
            ...last.content.slice(0, -1),
            { ...end, content: [...(end.content as JsonObject[]), ...message.content] },
          ]
        : [...last.content, ...message.content];
    joined[joined.length - 1] = { role: last.role, content };
  }
  return joined;
}

function text(words: string): JsonObject {
  return { type: "text", text: words };
}

function textOf(output: LanguageModelV3ToolResultOutput): string {
  return output.type === "text" || output.type === "error-text"
    ? output.value
    : JSON.stringify(output);
}

function systemOf(prompt: readonly LanguageModelV3Message[]): string {
  return prompt
    .flatMap((message) => (message.role === "system" ? [message.content] : []))
    .join("\n\n");
}

function readParts({ content }: JsonObject): LanguageModelV3Content[] {
  const parts = (Array.isArray(content) ? content : [content]).filter(isObject);
  return parts.flatMap((part): LanguageModelV3Content[] => {
    if (part.type === "text") return [{ type: "text", text: String(part.text ?? "") }];
    if (part.type !== "tool_use") return [];
    return [toolCall(String(part.name ?? ""), part.input, String(part.id ?? randomUUID()))];
  });
}

function toolCall(name: string, input: unknown, id: string): LanguageModelV3Content {
  return { type: "tool-call", toolCallId: id, toolName: name, input: JSON.stringify(input ?? {}) };
}

/** For clients without tools: plain text messages, and a JSON protocol for the answer. */
function writePlain({
  prompt,
  tools = [],
  maxOutputTokens = tokensUsual,
}: LanguageModelV3CallOptions): JsonObject {
  const functions = tools.filter((tool) => tool.type === "function");
  return {
    systemPrompt: [systemOf(prompt), describeProtocol(functions)].filter(Boolean).join("\n\n"),
    // One part per message: older clients know no lists.
    messages: joinRoles(prompt.flatMap(writePlainMessage)).map(({ role, content }) => ({
      role,
      content: text(content.map((part) => part.text).join("\n\n")),
    })),
    maxTokens: maxOutputTokens,
  };
}

function describeProtocol(tools: readonly LanguageModelV3FunctionTool[]): string {
  if (tools.length === 0) return "";
  const described = tools.map(
    ({ name, description = "", inputSchema }) =>
      `${name}: ${description}\n  arguments: ${JSON.stringify(inputSchema)}`,
  );
  return [
    "Your tools:",
    described.join("\n"),
    'Answer with one JSON object and nothing else. To call tools: {"calls": [{"name": "…", "arguments": {…}}]}. When you are done: {"answer": "…"}.',
  ].join("\n\n");
}

function writePlainMessage(message: LanguageModelV3Message): SamplingMessage[] {
  if (message.role === "assistant") {
    const calls = message.content
      .filter((part) => part.type === "tool-call")
      .map((part) => ({ name: part.toolName, arguments: part.input }));
    const texts = message.content.filter((part) => part.type === "text");
    const said =
      calls.length > 0 ? { calls } : { answer: texts.map((part) => part.text).join("\n") };
    return [{ role: "assistant", content: [text(JSON.stringify(said))] }];
  }
  if (message.role !== "tool") return writeMessage(message);
  const content = message.content
    .filter((part) => part.type === "tool-result")
    .map(({ output, toolName }) => {
      const failed = output.type === "error-text" ? `${toolName} failed:\n` : "";
      return text(`${failed}${textOf(output)}`);
    });
  return [{ role: "user", content }];
}

/** Text that does not follow the protocol is the answer itself. */
function readPlain(result: JsonObject): LanguageModelV3Content[] {
  const words = readParts(result)
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n");
  const parsed = findObject(words);
  const listed = Array.isArray(parsed?.calls) ? parsed.calls : [parsed?.call];
  const calls = listed.filter(isObject);
  if (calls.length > 0)
    return calls.map(({ name, arguments: args }) =>
      toolCall(String(name ?? ""), args, randomUUID()),
    );
  return [{ type: "text", text: typeof parsed?.answer === "string" ? parsed.answer : words }];
}

/** Clients do not report usage. Four characters are about a token. */
function estimate(params: JsonObject, result: JsonObject): Turn["usage"] {
  const input = Math.ceil(JSON.stringify(params).length / 4);
  const output = Math.ceil(JSON.stringify(result.content ?? "").length / 4);
  return {
    inputTokens: { total: input, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: undefined, reasoning: undefined },
    raw: { estimated: true },
  };
}
