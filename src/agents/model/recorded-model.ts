import type { LanguageModelV3 } from "@ai-sdk/provider";
import { HallError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { streamOf, type Turn } from "./turn.ts";

/** A model that says again what it said in an earlier run. */
export function createRecordedModel(said: readonly JsonObject[]): LanguageModelV3 {
  let next = 0;
  return {
    specificationVersion: "v3",
    provider: "record",
    modelId: "record",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new HallError("EXECUTION", "a recorded model only streams")),
    async doStream() {
      const turn = said[next++];
      if (!turn) throw new HallError("EXECUTION", "the record has no further turn");
      return { stream: streamOf(turn as unknown as Turn) };
    },
  };
}
