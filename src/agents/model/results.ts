import type { JsonObject } from "../../base/json.ts";
import type { Outcome } from "../../tool.ts";
import type { StepResult } from "../planner.ts";

/** Tool results by handle: a model sees the beginning, reads on if it wants, and passes a whole result on without repeating it. */
export interface Results {
  /** Keeps a result and returns the text that a model sees. */
  keep(result: StepResult): string;
  keepText(handle: string, text: string): string;
  /** A range of characters of a result, such as `4000-12000`. */
  read(handle: string, range: string | undefined): string;
  /** Parts that go with an answer: the results it names as `[[r1]]`, else every image and link. */
  carried(answer: string): Carried;
}

export interface Carried {
  readonly content: readonly JsonObject[];
  /** Structured content of the named results, by handle. */
  readonly structured: JsonObject;
}

const shownMax = 4_000;
const readMax = 12_000;
const carriedMax = 8;
const carriedBytesMax = 2_097_152;

export function createResults(): Results {
  const texts = new Map<string, string>();
  const outcomes = new Map<string, Outcome>();

  function show(handle: string, text: string): string {
    if (text.length <= shownMax) return text;
    return `${text.slice(0, shownMax)}\n[cut at ${shownMax} of ${text.length} characters; read_result {"handle":"${handle}","range":"${shownMax}-${Math.min(text.length, shownMax + readMax)}"} continues]`;
  }

  return {
    keep({ step, outcome }) {
      const handle = `r${outcomes.size + 1}`;
      const text = textOf(outcome);
      outcomes.set(handle, outcome);
      texts.set(handle, text);
      return `<result handle="${handle}" tool="${step.tool}" outcome="${step.outcome}">\n${guard(show(handle, text))}\n</result>`;
    },
    keepText(handle, text) {
      texts.set(handle, text);
      return guard(show(handle, text));
    },
    read(handle, range) {
      const text = texts.get(handle);
      if (text === undefined)
        return `unknown result "${handle}" (known: ${[...texts.keys()].join(", ") || "none yet"})`;
      const [, from = "0", to] = /^\s*(\d+)\s*-\s*(\d*)\s*$/.exec(range ?? "0-") ?? [];
      const start = Math.min(Number(from), text.length);
      const end = Math.min(to ? Number(to) : text.length, start + readMax, text.length);
      const rest =
        end < text.length ? `\n[${text.length - end} characters follow, from ${end} on]` : "";
      return `<result handle="${handle}" range="${start}-${end}">\n${guard(text.slice(start, end))}\n</result>${rest}`;
    },
    carried(answer) {
      const named = [
        ...new Set([...answer.matchAll(/\[\[(r\d+)\]\]/g)].map(([, handle = ""]) => handle)),
      ].filter((handle) => outcomes.has(handle));
      const all = named.length > 0 ? named : [...outcomes.keys()];
      const parts = all.flatMap((handle) => {
        const { content = [], isError = false } = outcomes.get(handle) ?? { content: [] };
        return isError ? [] : content.filter(({ type }) => type !== "text" || named.length > 0);
      });
      const structured = named.flatMap((handle) => {
        const value = outcomes.get(handle)?.structuredContent;
        return value === undefined ? [] : [[handle, value] as const];
      });
      return { content: limit(parts), structured: Object.fromEntries(structured) };
    },
  };
}

/** The first parts that fit. */
function limit(parts: readonly JsonObject[]): readonly JsonObject[] {
  let bytes = 0;
  return parts.slice(0, carriedMax).filter((part) => {
    bytes += JSON.stringify(part).length;
    return bytes <= carriedBytesMax;
  });
}

/** A result as text, with its structured content unless the text is the same. */
function textOf({ content, structuredContent }: Outcome): string {
  const texts = content.map(describePart);
  const data = structuredContent === undefined ? "" : JSON.stringify(structuredContent);
  const isRepeated = texts.some((text) => sameJson(text, data));
  return [...texts, ...(data === "" || isRepeated ? [] : [data])].join("\n");
}

function describePart(part: JsonObject): string {
  switch (part.type) {
    case "text":
      return String(part.text ?? "");
    case "image":
    case "audio":
      return `[${part.type}, ${String(part.mimeType)}, ${Math.round((String(part.data ?? "").length * 3) / 4 / 1024)} KB: passed on with your answer]`;
    case "resource_link":
      return `[link to ${String(part.uri)}: passed on with your answer]`;
    default:
      return JSON.stringify(part);
  }
}

function sameJson(text: string, data: string): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === data;
  } catch {
    // Not JSON, so not the same.
    return false;
  }
}

/** A result must not be able to close its own tag. */
function guard(text: string): string {
  return text.replaceAll("</result", "<\\/result").replaceAll("</data", "<\\/data");
}
