import { readForm } from "./form.ts";
import type { RunRequest } from "./runner.ts";
import { findRun, type TuiState } from "./state.ts";

/** What a person has filled in and typed, as calls. Undefined where there is nothing to call yet. */

export function toolRequest({ tools: { selected, form } }: TuiState): RunRequest | undefined {
  const read = form && readForm(form);
  if (selected === undefined || !read || "problems" in read) return undefined;
  return { kind: "tool", tool: selected, arguments: read.values, about: "" };
}

export function agentRequest({ agents: { selected, task } }: TuiState): RunRequest | undefined {
  if (selected === undefined || task.trim() === "") return undefined;
  return { kind: "agent", tool: selected, arguments: { task }, about: task };
}

export function lispRequest({ lisp: { input, session, mode } }: TuiState): RunRequest | undefined {
  if (input.trim() === "") return undefined;
  return {
    kind: "lisp",
    tool: "evaluate-lisp",
    arguments: { code: input, mode, ...(session === undefined ? {} : { session }) },
    about: input,
  };
}

/** The same once more; what still runs is not run twice. */
export function repeatedRequest(state: TuiState, id: string): RunRequest | undefined {
  const run = findRun(state, id);
  if (!run || run.state.kind === "running" || run.state.kind === "cancelling") return undefined;
  return { kind: run.kind, tool: run.tool, arguments: run.arguments, about: run.about };
}
