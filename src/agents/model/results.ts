import type { JsonObject } from "../../base/json.ts";
import type { Outcome } from "../../tool.ts";
import type { StepResult } from "../planner.ts";

/** What tools gave, each under a handle: a model is shown the beginning, reads on where it wants, and hands on what it does not have to repeat. */
export interface Results {
  /** Keeps it and says what a model is shown of it. */
  keep(result: StepResult): string;
  keepText(handle: string, text: string): string;
  /** Characters `from` to `to` of a result, as a model asks for them. */
  read(handle: string, range: string | undefined): string;
  /** Parts that belong into an answer: what it names as `[[r1]]`, or else every picture and link there is. */
  carried(answer: string): Carried;
}

export interface Carried {
  readonly content: readonly JsonObject[];
  /** Structured results the answer names, by handle. */
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
    return `${text.slice(0, shownMax)}\n[cut at ${shownMax} of ${text.length} characters; read_result {"handle":"${handle}","range":"${shownMax}-${Math.min(text.length, shownMax + readMax)}"} reads on]`;
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
        return `there is no result "${handle}"; there is: ${[...texts.keys()].join(", ") || "none yet"}`;
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

/** What comes first, as far as there is room. */
function limit(parts: readonly JsonObject[]): readonly JsonObject[] {
  let bytes = 0;
  return parts.slice(0, carriedMax).filter((part) => {
    bytes += JSON.stringify(part).length;
    return bytes <= carriedBytesMax;
  });
}

/** Everything of a result that can be read as text; structured content where it says more than the text does. */
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
      return `[${part.type}, ${String(part.mimeType)}, ${Math.round((String(part.data ?? "").length * 3) / 4 / 1024)} KB: handed on with your answer]`;
    case "resource_link":
      return `[link to ${String(part.uri)}: handed on with your answer]`;
    default:
      return JSON.stringify(part);
  }
}

function sameJson(text: string, data: string): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === data;
  } catch {
    // Not JSON, so it is not the same.
    return false;
  }
}

/** What a tool gives cannot end its own quotation. */
function guard(text: string): string {
  return text.replaceAll("</result", "<\\/result").replaceAll("</data", "<\\/data");
}
