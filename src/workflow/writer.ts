import { HallError, messageOf } from "../base/errors.ts";
import type { Scope } from "../base/scope.ts";

/** A model that writes: a prompt in, text out. Rejects when it cannot. */
export type Writer = (prompt: string, signal: AbortSignal) => Promise<string>;

/** A part of a document a model may write. Its draft, made by rule, is what it starts from, and what stands when it fails. */
export interface Section {
  readonly name: string;
  /** What to write, in what form. */
  readonly ask: string;
  readonly draft: string;
  /** What is wrong with a text; nothing when it fits. */
  check(text: string): readonly string[];
}

export interface Writing {
  readonly writer: Writer;
  /** What the model should know: the description, facts of the repository, other documents. */
  readonly background: string;
  readonly scope: Scope;
  note(message: string): void;
}

export interface WrittenSection {
  readonly text: string;
  readonly by: "model" | "rule";
  readonly faults: readonly string[];
}

const repairsMax = 3;
const charactersMax = 64 * 1024;

/** Writes it, and repairs it up to three times; what still does not fit is left to the draft. */
export async function writeSection(
  section: Section,
  { writer, background, scope, note }: Writing,
): Promise<WrittenSection> {
  const first = `You write one section of a feature's documents, in Markdown.\n\n${background}\n\n# The section: ${section.name}\n\n${section.ask}\n\n# A draft made by rule, to start from\n\n${section.draft}\n\nAnswer with the section alone: no introduction, no code fence around it, no heading of its own.`;
  let prompt = first;
  let faults: readonly string[] = [];
  for (let attempt = 0; attempt <= repairsMax; attempt++) {
    const text = cleanText(await askWriter(writer, prompt, scope));
    faults = text === "" ? ["it is empty"] : section.check(text);
    if (faults.length === 0) return { text, by: "model", faults: [] };
    note(`${section.name}: the model's answer does not fit (${faults.join("; ")})`);
    prompt = `${first}\n\n# Your last answer\n\n${text}\n\n# What is wrong with it\n\n${faults.map((fault) => `- ${fault}`).join("\n")}\n\nAnswer with the whole section again, mended.`;
  }
  return { text: section.draft, by: "rule", faults };
}

async function askWriter(writer: Writer, prompt: string, scope: Scope): Promise<string> {
  try {
    return await scope.race(writer(prompt, scope.signal));
  } catch (error) {
    if (scope.cancelled) throw scope.cancelled;
    if (error instanceof HallError) throw error;
    throw new HallError("EXECUTION", `the model could not write: ${messageOf(error)}`, {
      cause: error,
      hint: "Try again, or set planner.kind to local in the config for a draft without a model.",
    });
  }
}

/** Models like to put a fence around everything. */
function cleanText(text: string): string {
  const inner = /^\s*```(?:markdown|md)?\n([\s\S]*?)\n```\s*$/.exec(text)?.[1] ?? text;
  return inner.slice(0, charactersMax).replaceAll("\r\n", "\n").trim();
}
