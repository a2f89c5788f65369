import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject, parseObject } from "../../base/json.ts";
import { createOwnToolkit, type OwnToolkit } from "../../registry/own.ts";
import type { Tool } from "../../tool.ts";
import {
  type AnswerParts,
  answerFinding,
  createToldNotes,
  type FindAnswerOptions,
  isShownTo,
} from "./answer.ts";
import type { Finder } from "./finder.ts";

const findTools: Tool = {
  name: "find_tools",
  title: "Find tools",
  description:
    "Finds the tools that fit a task, best first, each with its signature and why it was found. Say one step in plain words, such as " +
    '"create an issue on GitHub"; for several steps, ask several times. Then run a tool with call_tool.',
  inputSchema: {
    type: "object",
    properties: {
      task: {
        type: "string",
        minLength: 1,
        maxLength: 4_000,
        description: "What you want to do, in plain words.",
      },
      limit: { type: "integer", minimum: 1, maximum: 20, default: 5 },
      detail: {
        type: "string",
        enum: ["signature", "full"],
        default: "signature",
        description: "full: with the whole JSON Schema.",
      },
      signatures: {
        type: "string",
        enum: ["call", "typescript"],
        default: "call",
        description: "typescript: as calls of an evaluate-js program.",
      },
    },
    required: ["task"],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

const callTool: Tool = {
  name: "call_tool",
  title: "Call a tool",
  description:
    "Calls a tool by the name that find_tools or an agent gave. It behaves as if the tool had been called itself.",
  inputSchema: {
    type: "object",
    properties: {
      name: { type: "string", minLength: 1, description: "As find_tools gave it." },
      arguments: { type: "object", default: {}, description: "What its signature asks for." },
    },
    required: ["name"],
    additionalProperties: false,
  },
};

/**
 * `find_tools` and `call_tool`. A client's `call_tool` never arrives here: the server unwraps it
 * (`unwrapCall`), so that the gateway sees the call that is meant. Only a tool that calls
 * `call_tool` for its own caller does.
 */
export function createFindToolkit(finder: Finder, parts: AnswerParts): OwnToolkit {
  const tools = [callTool, findTools];
  const told = createToldNotes();
  return createOwnToolkit("find", {
    tools: () => tools,
    async call(tool, args, context) {
      if (tool === callTool) {
        const { name, args: inner } = readToolCall(args);
        if (!context.call)
          throw new HallError("EXECUTION", "call_tool works inside the gateway only");
        return context.call(name, inner);
      }
      const { task, limit, detail, signatures } = args as unknown as {
        readonly limit: number;
      } & Pick<FindAnswerOptions, "task" | "detail" | "signatures">;
      const isIncomplete = await waitForLists(parts, context.scope.signal);
      const finding = await finder.find(task, { limit, among: isShownTo(parts, context) });
      return answerFinding(finding, {
        ...parts,
        task,
        detail,
        signatures,
        isIncomplete,
        told,
        reader: context,
      });
    },
  });
}

/** How long an answer waits for servers that are seen for the first time. */
const discoveryMsMax = 3_000;

/** Resolves with true if some servers are still being discovered. */
async function waitForLists({ registry }: AnswerParts, signal: AbortSignal): Promise<boolean> {
  const pending = registry.pendingDiscovery();
  if (!pending) return false;
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, discoveryMsMax, true);
    signal.addEventListener("abort", () => resolve(true), { once: true });
  });
  return Promise.race([pending.then(() => false), timeUp]).finally(() => clearTimeout(timer));
}

/** The call inside a `call_tool`. Throws VALIDATION. */
export function readToolCall(args: JsonObject): {
  readonly name: string;
  readonly args: JsonObject;
} {
  const { name, arguments: given = {} } = args;
  if (typeof name !== "string" || name === "") throw unfit("name must be the name of a tool");
  if (name === callTool.name) throw unfit("name must be another tool than call_tool");
  // Some models write the arguments as JSON text.
  const inner = typeof given === "string" ? parseObject(given || "{}") : given;
  if (!isObject(inner)) throw unfit("arguments must be an object");
  return { name, args: inner };
}

function unfit(problem: string): HallError {
  return new HallError("VALIDATION", `invalid arguments for call_tool: ${problem}`, {
    hint: 'Write {"name": "…", "arguments": {…}}; find_tools shows the name and the signature.',
  });
}
