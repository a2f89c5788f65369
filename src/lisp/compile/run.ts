// The closures that nodes become, and how they are asked; see `emit.ts`.
import type { Frame } from "../function.ts";
import type { Value } from "../values.ts";

export type Run = (frame: Frame) => Value;
export type Test = (frame: Frame) => boolean;
export type Mode = "single" | "values" | "tail";

/** For a body that something has to be done after: it cannot be anybody's tail. */
export const notTail = (mode: Mode): Mode => (mode === "tail" ? "values" : mode);
