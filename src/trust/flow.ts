/**
 * The flow guard. Once a piece of work has read through a tool that brings in what strangers wrote, every word the model says may be
 * theirs. From then on what sends out or destroys needs a person's yes, also where the tool is trusted. A piece of work is a root call with all
 * calls made for it.
 */
export interface FlowGuard {
  /** Remembers that the work of this root has read through a tool. */
  taint(root: string, tool: string): void;
  /** The tool that brought something in, or undefined while nothing has. */
  taintedBy(root: string): string | undefined;
}

/** Roots end without telling us; so many at once nobody has. */
const rootsMax = 10_000;

export function createFlowGuard(): FlowGuard {
  const tainted = new Map<string, string>();
  return {
    taint(root, tool) {
      if (tainted.has(root)) return;
      tainted.set(root, tool);
      const [oldest] = tainted.keys();
      if (tainted.size > rootsMax && oldest !== undefined) tainted.delete(oldest);
    },
    taintedBy: (root) => tainted.get(root),
  };
}
