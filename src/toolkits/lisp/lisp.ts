import type { JsonObject } from "../../base/json.ts";
import type { CallContext, Outcome, Tool } from "../../tool.ts";
import { evaluatorTools } from "./definitions.ts";
import type { Evaluator, EvaluatorOptions } from "./evaluator.ts";

/** `evaluate-lisp` and its companions, as tools of the hall. The evaluator is loaded when one of them is first called. */
export interface LispTools {
  tools(): readonly Tool[];
  call(tool: Tool, args: JsonObject, context: CallContext): Promise<Outcome>;
  mayBe(name: string): boolean;
  close(): Promise<void>;
}

export function createLispTools(options: EvaluatorOptions): LispTools {
  let loading: Promise<Evaluator> | undefined;
  const load = async (): Promise<Evaluator> =>
    (await import("./evaluator.ts")).createEvaluator(options);
  const names: ReadonlySet<string> = new Set(evaluatorTools.map(({ name }) => name));
  return {
    tools: () => evaluatorTools,
    async call(tool, args, context) {
      loading ??= load();
      return (await loading).call(tool, args, context);
    },
    mayBe: (name) => names.has(name),
    close: async () => (await loading)?.close(),
  };
}
