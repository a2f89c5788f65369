import { randomUUID } from "node:crypto";
import type {
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3Message,
  LanguageModelV3ToolResultOutput,
} from "@ai-sdk/provider";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { Turn, WholeModel } from "./turn.ts";

/**
 * The client's own model as one more provider: each turn is a `sampling/createMessage` with tools. `sample` sends the
 * request and returns its result; it throws HallError.
 */
export function createSamplingModel(
  sample: (params: JsonObject) => Promise<JsonObject>,
): WholeModel {
  return {
    modelId: "the client's model",
    async answer(call) {
      const params = writeParams(call);
      const result = await sample(params);
      const content = readParts(result);
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

function writeParams({
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
    return [
      {
        type: "tool-call",
        toolCallId: String(part.id ?? randomUUID()),
        toolName: String(part.name ?? ""),
        input: JSON.stringify(part.input ?? {}),
      },
    ];
  });
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
