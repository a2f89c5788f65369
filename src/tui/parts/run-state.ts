import type { Failure } from "../failure.ts";
import type { Load, RunView } from "../state.ts";
import type { Line, Role } from "./line.ts";
import { wrap } from "./width.ts";

/** How a run stands, in a word and its time. */
export function runStateLine({ state, startedAt }: RunView, now: number): Line {
  switch (state.kind) {
    case "running":
      return [{ text: `running ${elapsed(now - startedAt)}`, role: "accent" }];
    case "cancelling":
      return [{ text: "cancelling: the server has been told", role: "warning" }];
    case "completed":
      return [{ text: `completed in ${elapsed(state.endedAt - startedAt)}`, role: "good" }];
    case "failed":
    case "timed out":
    case "cancelled":
      return [
        {
          text: `${state.kind} after ${elapsed(state.endedAt - startedAt)}`,
          role: state.kind === "cancelled" ? "warning" : "bad",
        },
      ];
  }
}

/** What went wrong, what to do about it, what was saved. */
export function runEndLines({ state }: RunView, columns: number): readonly Line[] {
  switch (state.kind) {
    case "running":
    case "cancelling":
      return [];
    case "completed":
      return state.saved.map((path) => [{ text: "saved: " }, { text: path, role: "accent" }]);
    default:
      return failureLines(state.failure, columns);
  }
}

export function failureLines({ kind, message, hint }: Failure, columns: number): readonly Line[] {
  const role: Role = kind === "cancelled" ? "warning" : "bad";
  return [
    ...wrap(message, columns)
      .slice(0, 4)
      .map((text): Line => [{ text, role }]),
    ...wrap(hint, columns)
      .slice(0, 2)
      .map((text): Line => [{ text }]),
  ];
}

/** What is said while a list is being read, or could not be. */
export function loadLines(load: Load, columns: number): readonly Line[] {
  switch (load.kind) {
    case "idle":
    case "loaded":
      return [];
    case "loading":
      return [[{ text: "reading …", role: "quiet" }]];
    case "failed":
      return failureLines(load.failure, columns);
  }
}

export function isAtWork({ state: { kind } }: RunView): boolean {
  return kind === "running" || kind === "cancelling";
}

export function elapsed(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${Math.floor(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
