import { isObject, type JsonObject } from "../base/json.ts";
import type { Outcome } from "../tool.ts";
import type { Version } from "./versions.ts";

/** Content kinds newer than a client's version, said as text, so that an old client still gets something it can read. */
export function fitOutcome(outcome: Outcome, version: Version): Outcome {
  const content = fitContent(outcome.content, version);
  return content === outcome.content ? outcome : { ...outcome, content };
}

export function fitPrompt(result: JsonObject, version: Version): JsonObject {
  const unknown = unknownKinds[version];
  if (!unknown || !Array.isArray(result.messages)) return result;
  const messages = result.messages.map((message) =>
    isObject(message) && isObject(message.content) ? { ...message, content: fitContent([message.content], version)[0] } : message,
  );
  return { ...result, messages };
}

const unknownKinds: Partial<Record<Version, ReadonlySet<unknown>>> = {
  "2024-11-05": new Set(["audio", "resource_link"]),
  "2025-03-26": new Set(["resource_link"]),
};

function fitContent(content: readonly JsonObject[], version: Version): readonly JsonObject[] {
  const unknown = unknownKinds[version];
  if (!unknown || !content.some(({ type }) => unknown.has(type))) return content;
  return content.map((item) => (unknown.has(item.type) ? { type: "text", text: describe(item) } : item));
}

function describe(item: JsonObject): string {
  return item.type === "audio" ? `[audio, ${item.mimeType}: this client cannot play it]` : `[resource] ${item.uri}`;
}
