import type { Call } from "../tool.ts";

/**
 * The flow guard. Once a piece of work has read through a tool that brings in what strangers wrote, every word the model says may be
 * theirs. From then on what sends out or destroys needs a person's yes, also where the tool is trusted. A piece of work is a root call with all
 * calls made for it, and is forgotten with it.
 */
export interface FlowGuard {
  /** Remembers that the work of this root has read through a tool. */
  taint(root: Call, tool: string): void;
  /** The tool that brought something in, or undefined while nothing has. */
  taintedBy(root: Call): string | undefined;
}

export function createFlowGuard(): FlowGuard {
  const tainted = new WeakMap<Call, string>();
  return {
    taint(root, tool) {
      if (!tainted.has(root)) tainted.set(root, tool);
    },
    taintedBy: (root) => tainted.get(root),
  };
}
