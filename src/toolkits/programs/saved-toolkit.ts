import { HallError } from "../../base/errors.ts";
import type { Registry } from "../../registry/registry.ts";
import type { Tool, Toolkit } from "../../tool.ts";
import type { ProgramTools } from "./programs.ts";
import type { SavedFile } from "./saved.ts";

/** The saved programs of a project: those that a person has approved, and the names of those that wait for it. */
export interface SavedPrograms {
  readonly approved: readonly SavedFile[];
  readonly waiting: readonly string[];
}

export const noPrograms: SavedPrograms = { approved: [], waiting: [] };

export interface SavedToolkitOptions extends Pick<ProgramTools, "run"> {
  /** Asked at each call: any process may have taken an approval back. */
  isApproved(file: SavedFile): boolean;
}

const toolkitId = "programs";
/** Longer than the program's own limit, which comes first. */
const timeoutMs = 45_000;

/** Offers saved programs as the toolkit `programs`, and follows changes. */
export function createSavedToolkits(
  registry: Registry,
  options: SavedToolkitOptions,
): { replace(programs: SavedPrograms): Promise<void> } {
  let current = noPrograms;
  const isSame = (next: SavedPrograms): boolean =>
    next.waiting.join() === current.waiting.join() &&
    next.approved.map(({ text }) => text).join("\0") ===
      current.approved.map(({ text }) => text).join("\0");
  return {
    async replace(next) {
      if (isSame(next)) return;
      if (current.approved.length + current.waiting.length > 0) await registry.remove(toolkitId);
      current = next;
      if (next.approved.length + next.waiting.length > 0)
        await registry.add(createSavedToolkit(next, options));
    },
  };
}

function createSavedToolkit(
  { approved, waiting }: SavedPrograms,
  { run, isApproved }: SavedToolkitOptions,
): Toolkit {
  const files = new Map(approved.map((file) => [file.name, file]));
  const tools = approved.map(toTool);
  return {
    id: toolkitId,
    description: "Programs of this project that call other tools.",
    list: async () => tools,
    async call({ name }, args, context) {
      const file = files.get(name);
      if (!file || !isApproved(file)) throw heldProgram(name);
      const { language, text: code, mode } = file;
      const program = { fullName: `${toolkitId}.${name}`, language, code, mode };
      return run(program, args, context);
    },
    refusalOf: (name) => (waiting.includes(name) ? heldProgram(name) : undefined),
    health: async () => ({ state: "available" }),
    close: async () => {},
  };
}

export function heldProgram(name: string): HallError {
  return new HallError("DENIED", `the program ${name} is new or has changed; it is held back`, {
    next: [{ do: "verify" }],
  });
}

/** Each call that it makes is judged by itself, so its own name says nothing about where data goes. */
const flow = {
  bringsIn: false,
  readsPrivate: false,
  sendsOut: false,
  takesAddress: false,
  goesOut: false,
};

function toTool({ name, description, inputSchema, mode }: SavedFile): Tool {
  return {
    name,
    description,
    inputSchema,
    annotations: mode === "act" ? { destructiveHint: true } : { readOnlyHint: true },
    facts: { timeoutMs, isNotReentrant: true, flow: () => flow },
  };
}
