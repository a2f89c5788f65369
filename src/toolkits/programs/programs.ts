/** `evaluate-lisp`, `evaluate-js` and their companions as tools of the hall. Models read the descriptions. */
import type { JsonObject } from "../../base/json.ts";
import type { CallContext, Outcome, Tool } from "../../tool.ts";
import type { Evaluator, EvaluatorOptions, SavedProgram } from "./evaluator.ts";
import { createSecretFilter } from "./program-secrets.ts";
import { definitionTypes, type Language, languages } from "./protocol.ts";

const session: JsonObject = {
  type: "string",
  description:
    "Handle from an earlier answer; keeps its definitions. Default: the session of your connection, or a new one if you have none.",
};

const language: JsonObject = {
  type: "string",
  enum: languages,
  default: "lisp",
  description: "Of the session of your connection, where no handle is given.",
};

/** Longer than any evaluation: the program's own limit comes first. */
const factsOf = (of: Language): NonNullable<Tool["facts"]> => ({
  timeoutMs: 610_000,
  hideSecrets: ({ code }) => (typeof code === "string" ? createSecretFilter(code, of) : undefined),
});

const evaluateLisp: Tool = {
  name: "evaluate-lisp",
  title: "Evaluate Common Lisp",
  description: `Runs a Common Lisp program that calls tools. You see only what it prints and returns, so loop, filter and join here.
Tools are functions, one package per toolkit: (search-tool:web-search :query "lisp" :max-results 3); or (call-tool "toolkit__tool" :key value). (find-tools "what you need") finds them, (describe 'files:read-text-file) explains one.
JSON objects are hash tables, arrays vectors, true/false T/NIL, null :NULL. (pmap f list), (in-parallel form…): the first calls of 8 branches at once. A failed call signals TOOL-ERROR with restarts RETRY, USE-VALUE, SKIP.
(loop for r across (jref (search-tool:web-search :query "sbcl") "results") collect (jref r "title"))
(handler-case (files:read-text-file :path "a.txt") (tool-error (e) (princ e)))
Definitions last as long as the session.`,
  inputSchema: {
    type: "object",
    properties: {
      code: {
        type: "string",
        maxLength: 1_000_000,
        description: "Forms; the last one's values are returned",
      },
      package: { type: "string" },
      session: { type: "string", description: "Handle from an earlier answer" },
      timeout: { type: "number", minimum: 0, maximum: 600, description: "Seconds, default 30" },
      mode: {
        type: "string",
        enum: ["explore", "act"],
        default: "explore",
        description: "act: allow tools that may destroy or send",
      },
      verbosity: { type: "string", enum: ["normal", "short"], default: "normal" },
      resume: {
        type: "string",
        description: "Run to continue after an approval; `code` may be empty",
      },
    },
    required: ["code"],
    additionalProperties: false,
  },
  facts: factsOf("lisp"),
};

const {
  package: _inLispOnly,
  code: _forms,
  ...sharedProperties
} = evaluateLisp.inputSchema.properties as JsonObject;

const evaluateJs: Tool = {
  name: "evaluate-js",
  title: "Evaluate JavaScript",
  description: `Runs a JavaScript or TypeScript program that calls tools. You see only what it logs and returns, so loop, filter and join here.
Tools are async functions: await tools.searchTool.webSearch({ query: "lisp", max_results: 3 }), or await callTool("toolkit__tool", { key: value }). await findTools("what you need") finds them, await toolSchema("toolkit__tool") explains one.
Promise.all runs 8 calls at once. A failed call throws a ToolError with code, tool and data. The value of the last expression, or of return, is the result; console.log is the output. No timers, network, files or imports.
(await tools.searchTool.webSearch({ query: "quickjs" })).results.map((r) => r.title)
Definitions last as long as the session.`,
  inputSchema: {
    ...evaluateLisp.inputSchema,
    properties: { code: { type: "string", maxLength: 1_000_000 }, ...sharedProperties },
  },
  facts: factsOf("js"),
};

/** The companions look at a session or change it, and nothing outside of it. */
const companion = (
  text: Pick<Tool, "name" | "title" | "description">,
  properties: JsonObject,
  required: { readonly required?: readonly string[] } = {},
): Tool => ({
  ...text,
  inputSchema: { type: "object", properties, ...required, additionalProperties: false },
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
});

const companions: readonly Tool[] = [
  {
    ...companion(
      {
        name: "list-definitions",
        title: "List definitions",
        description: "Lists the definitions of a session.",
      },
      { session, language, type: { type: "string", enum: definitionTypes, default: "all" } },
    ),
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  companion(
    {
      name: "reset-session",
      title: "Reset a session",
      description: "Removes all definitions of a session; its handle and limits stay.",
    },
    { session, language },
  ),
  companion(
    {
      name: "configure-limits",
      title: "Configure limits",
      description:
        "Sets the limits of a session and returns them; without arguments only returns them.",
    },
    {
      session,
      language,
      timeout: {
        type: "number",
        minimum: 0,
        maximum: 600,
        description: "Seconds per evaluation. 0: no limit but the maximum of 600 s.",
      },
      "max-output": {
        type: "integer",
        minimum: 100,
        maximum: 1_000_000,
        description: "Characters of output, values, warnings and errors.",
      },
      "max-calls": {
        type: "integer",
        minimum: 0,
        maximum: 500,
        description: "Tool calls per evaluation.",
      },
      "max-steps": {
        type: "integer",
        minimum: 1_000,
        maximum: 20_000_000_000,
        description: "Function calls and loop iterations per evaluation.",
      },
    },
  ),
  companion(
    {
      name: "validate-syntax",
      title: "Validate syntax",
      description:
        "Parses code without running it; returns the number of forms or the position of the error, such as an unclosed parenthesis.",
    },
    { code: { type: "string", maxLength: 1_000_000 }, language },
    { required: ["code"] },
  ),
  companion(
    {
      name: "describe-last-error",
      title: "Describe the last error",
      description: "Returns the last error of a session with its full backtrace and restarts.",
    },
    { session, language },
  ),
];

const evaluatorTools: readonly Tool[] = [evaluateLisp, evaluateJs, ...companions];

/** The evaluator is loaded on the first call. */
export interface ProgramTools {
  tools(): readonly Tool[];
  call(tool: Tool, args: JsonObject, context: CallContext): Promise<Outcome>;
  /** Runs a saved program. */
  run(program: SavedProgram, input: JsonObject, context: CallContext): Promise<Outcome>;
  close(): Promise<void>;
}

export function createProgramTools(options: EvaluatorOptions): ProgramTools {
  let loading: Promise<Evaluator> | undefined;
  const load = (): Promise<Evaluator> => {
    loading ??= import("./evaluator.ts").then(({ Evaluator }) => new Evaluator(options));
    return loading;
  };
  return {
    tools: () => evaluatorTools,
    call: async (tool, args, context) => (await load()).call(tool, args, context),
    run: async (program, input, context) => (await load()).run(program, input, context),
    close: async () => (await loading)?.close(),
  };
}
