import type { Call } from "../tool.ts";

/**
 * The flow guard. Once a root call has read untrusted content, an injected instruction may steer
 * every later step. From then on destructive and sending tools need approval even if trusted. The
 * state covers the root call with all nested calls and ends with it.
 */
export interface FlowGuard {
  /** Records that the root call has read untrusted content through `tool`. */
  taint(root: Call, tool: string): void;
  /** The first tool that read untrusted content; undefined if none has. */
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
