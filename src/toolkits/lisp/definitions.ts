/** The tools of the evaluator, as clients see them. */
import type { JsonObject } from "../../base/json.ts";
import type { Tool } from "../../tool.ts";
import { createHiding } from "./program-secrets.ts";
import { definitionTypes } from "./protocol.ts";

const session: JsonObject = {
  type: "string",
  description:
    "The handle an earlier answer gave: definitions are still there. Leave out for a new session.",
};

/** A call may take as long as the longest evaluation may be given; the program's own limit ends it before. */
const facts = {
  timeoutMs: 610_000,
  hideSecrets: ({ code }: JsonObject) =>
    typeof code === "string" ? createHiding(code) : undefined,
};

export const evaluateLisp: Tool = {
  name: "evaluate-lisp",
  title: "Evaluate Common Lisp",
  description: `Runs a Common Lisp program that calls tools. Only what it prints and returns reaches you, so loop, filter and join here.
Tools are functions, a package per toolkit: (search-tool:web-search :query "lisp" :max-results 3); or (call-tool "toolkit.tool" :key value). (find-tools "what you need") finds them, (describe 'files:read-text-file) says more.
JSON objects are hash tables, arrays vectors, true/false T/NIL, null :NULL. (pmap f list), (in-parallel form…): 8 calls at once. A tool's failure is a TOOL-ERROR with restarts RETRY, USE-VALUE, SKIP.
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
      session: { type: "string", description: "The handle an earlier answer gave" },
      timeout: { type: "number", minimum: 0, maximum: 600, description: "Seconds, else 30" },
      mode: {
        type: "string",
        enum: ["explore", "act"],
        default: "explore",
        description: "act: also tools that may destroy or send",
      },
      verbosity: { type: "string", enum: ["normal", "short"], default: "normal" },
      resume: {
        type: "string",
        description: "A run that waited for an approval: it goes on, `code` may be empty",
      },
    },
    required: ["code"],
    additionalProperties: false,
  },
  facts,
};

export const listDefinitions: Tool = {
  name: "list-definitions",
  title: "List definitions",
  description: "What has been defined in a Lisp session so far.",
  inputSchema: {
    type: "object",
    properties: { session, type: { type: "string", enum: definitionTypes, default: "all" } },
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

export const resetSession: Tool = {
  name: "reset-session",
  title: "Reset a session",
  description: "Forgets everything defined in a Lisp session; its handle and limits stay.",
  inputSchema: { type: "object", properties: { session }, additionalProperties: false },
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
};

export const configureLimits: Tool = {
  name: "configure-limits",
  title: "Configure limits",
  description:
    "Sets the limits of a Lisp session, and says what they are; without arguments it only says.",
  inputSchema: {
    type: "object",
    properties: {
      session,
      timeout: {
        type: "number",
        minimum: 0,
        maximum: 600,
        description: "Seconds an evaluation may take. 0: only the 600 s no evaluation may exceed.",
      },
      "max-output": {
        type: "integer",
        minimum: 100,
        maximum: 1_000_000,
        description: "Characters a program may print and return, warnings and errors included.",
      },
      "max-calls": {
        type: "integer",
        minimum: 0,
        maximum: 500,
        description: "Tool calls of one evaluation.",
      },
    },
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
};

export const validateSyntax: Tool = {
  name: "validate-syntax",
  title: "Validate syntax",
  description:
    "Reads Lisp code without running it: how many forms it has, or where it cannot be read, such as the place of the parenthesis that is never closed.",
  inputSchema: {
    type: "object",
    properties: { code: { type: "string", maxLength: 1_000_000 } },
    required: ["code"],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
};

export const describeLastError: Tool = {
  name: "describe-last-error",
  title: "Describe the last error",
  description:
    "The last error of a Lisp session with its whole backtrace and the restarts there were.",
  inputSchema: { type: "object", properties: { session }, additionalProperties: false },
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
};

/** The first is the one that matters; the others are for those who work in a session. */
export const evaluatorTools: readonly Tool[] = [
  evaluateLisp,
  listDefinitions,
  resetSession,
  configureLimits,
  validateSyntax,
  describeLastError,
];
