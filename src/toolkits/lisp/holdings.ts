import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { Outcome } from "../../tool.ts";

/** What a program cannot read, such as an image: it stays with the hall, and the program has a handle of it. */
export interface Holdings {
  /** A tool's answer with handles in place of what is held. */
  hold(outcome: Outcome): Outcome;
  /** Throws NOT_FOUND where nothing is behind it any more. */
  get(handle: string): JsonObject;
}

/** Content the program wants in the answer, each part once. */
export interface Shown {
  readonly parts: readonly JsonObject[];
  /** Throws BUDGET past what an answer may carry. */
  add(part: JsonObject): void;
}

/** Of one evaluation. Past it the oldest go. */
const heldCharactersMax = 32 * 1024 * 1024;
/** What a client takes in one answer, and a model can look at. */
const shownPartsMax = 20;
const shownCharactersMax = 4 * 1024 * 1024;

export function createHoldings(): Holdings {
  const held = new Map<string, JsonObject>();
  let last = 0;
  let characters = 0;

  function keep(part: JsonObject): string {
    const handle = `content-${++last}`;
    held.set(handle, part);
    characters += sizeOf(part);
    for (const [oldest, content] of held) {
      if (characters <= heldCharactersMax || oldest === handle) break;
      held.delete(oldest);
      characters -= sizeOf(content);
    }
    return handle;
  }

  return {
    hold(outcome) {
      const content = outcome.content.map((part) =>
        bytesOf(part) === undefined
          ? part
          : {
              type: part.type,
              ...(part.mimeType === undefined ? {} : { mimeType: part.mimeType }),
              handle: keep(part),
            },
      );
      return {
        content,
        ...("structuredContent" in outcome ? { structuredContent: outcome.structuredContent } : {}),
        isError: outcome.isError === true,
      };
    },
    get(handle) {
      const found = held.get(handle);
      if (!found)
        throw new HallError("NOT_FOUND", `nothing is behind the handle "${handle}" any more`, {
          hint: "Call the tool again, and show what it gives at once.",
        });
      return found;
    },
  };
}

export function createShown(): Shown {
  const parts: JsonObject[] = [];
  let characters = 0;
  return {
    parts,
    add(part) {
      if (parts.includes(part)) return;
      const size = sizeOf(part);
      if (parts.length >= shownPartsMax || characters + size > shownCharactersMax) {
        throw new HallError(
          "BUDGET",
          `an answer carries ${shownPartsMax} parts and ${shownCharactersMax / 1024 / 1024} MiB of what is shown`,
          {
            hint: "Show less in one evaluation.",
          },
        );
      }
      characters += size;
      parts.push(part);
    },
  };
}

/** In base64, as it came. */
function bytesOf(part: JsonObject): string | undefined {
  const bytes = isObject(part.resource) ? part.resource.blob : part.data;
  return typeof bytes === "string" ? bytes : undefined;
}

function sizeOf(part: JsonObject): number {
  return bytesOf(part)?.length ?? 0;
}
