// A tool call of a program, with restarts if it fails.
import { isObject, type JsonObject } from "../../../base/json.ts";
import { plainSlot, sharedClass } from "../../../lisp/classes.ts";
import { conditionSlot, makeCondition, slotName } from "../../../lisp/conditions.ts";
import { defineFunction, named } from "../../../lisp/define.ts";
import type { Machine } from "../../../lisp/machine.ts";
import { type RestartSpec, transferOut, withRestarts } from "../../../lisp/restarts.ts";
import { Str } from "../../../lisp/string.ts";
import { keyword, NIL } from "../../../lisp/symbol.ts";
import { Cons, type Instance, Opaque, Table, type Value, Vec } from "../../../lisp/values.ts";
import type { HallPending, HallPort } from "../hall-port.ts";
import type { HallAnswer, HallRequest, ToolFailure } from "../protocol.ts";
import { pairsOf, toJson, toLisp } from "./json.ts";

export interface ToolCallOptions {
  readonly name: string;
  readonly args: readonly Value[];
  readonly schema: JsonObject | undefined;
}

/** `schema` is the tool's input schema, if known; it decides what the keywords mean. */
export function callTool(
  m: Machine,
  hall: HallPort,
  { name, args, schema }: ToolCallOptions,
): Value {
  return send(m, hall, { kind: "call", name, arguments: argumentsOf(m, args, schema) });
}

function send(m: Machine, hall: HallPort, request: HallRequest): Value {
  const pending = hall.send(request);
  try {
    m.waitFor(pending);
    const answer = pending.take();
    return "failure" in answer
      ? offerRestarts(m, hall, request, answer.failure)
      : answerOf(m, hall, request, answer.value);
  } finally {
    pending.withdraw();
  }
}

/** Blocks until the answer arrives, within the program's time. */
export function receive(m: Machine, hall: HallPort, pending: HallPending): HallAnswer {
  try {
    while (!pending.done) {
      hall.wait(pending, m.deadline - m.host.now());
      // Signals the condition if the program was stopped or is out of time.
      if (!pending.done) m.refuel();
    }
    return pending.take();
  } finally {
    pending.withdraw();
  }
}

/** Asks the hall. A failure is a TOOL-ERROR without restarts. */
export function askHall(m: Machine, hall: HallPort, request: HallRequest): unknown {
  const answer = receive(m, hall, hall.send(request));
  return "failure" in answer ? m.raise(toCondition(m, request, answer.failure)) : answer.value;
}

/** `:name value …`, or one hash table or alist. */
function argumentsOf(
  m: Machine,
  args: readonly Value[],
  schema: JsonObject | undefined,
): JsonObject {
  const [only] = args;
  if (args.length === 1 && (only instanceof Table || only instanceof Cons))
    return toJson(m, only, schema ?? { type: "object" }) as JsonObject;
  if (args.length % 2 === 1)
    m.programError("arguments must be :name value pairs; the last name has no value");
  const properties = isObject(schema?.properties) ? schema.properties : {};
  const given = pairsOf(m, args, schema).map(
    ([name, value]) => [name, toJson(m, value, properties[name])] as const,
  );
  // NIL for a property that is neither a boolean nor a list means: not given.
  return Object.fromEntries(
    given.filter(([, value]) => value !== null || args.includes(keyword("NULL"))),
  );
}

/** Structured results become data, a text a string, several parts a vector, binary content a handle. */
function answerOf(m: Machine, hall: HallPort, request: HallRequest, value: unknown): Value {
  if (!isObject(value) || !Array.isArray(value.content)) return toLisp(m, value);
  if (value.isError === true)
    return offerRestarts(m, hall, request, {
      code: "EXECUTION",
      message: textOfContent(value.content) || "the tool failed",
      details: { result: value },
    });
  if (value.structuredContent !== undefined) return toLisp(m, value.structuredContent);
  const parts = value.content.map((content: unknown) =>
    isObject(content) && content.type === "text"
      ? m.string(`${content.text ?? ""}`)
      : toLisp(m, content),
  );
  return parts.length === 1 ? (parts[0] as Value) : new Vec(parts);
}

function textOfContent(content: readonly unknown[]): string {
  return content
    .map((item) => (isObject(item) && typeof item.text === "string" ? item.text : ""))
    .join("\n")
    .trim();
}

const again = new Opaque("AGAIN", null);

function offerRestarts(
  m: Machine,
  hall: HallPort,
  request: HallRequest,
  failure: ToolFailure,
): Value {
  const name = request.kind === "call" ? request.name : request.kind;
  const chosen = transferOut(m, (leave) => {
    const restarts: RestartSpec[] = [
      {
        name: named("GUILDHALL:RETRY"),
        report: () => `Call ${name} again.`,
        invoke: () => leave(again),
      },
      {
        name: named("USE-VALUE"),
        report: () => `Use a value instead of the result of ${name}.`,
        invoke: (_, args) => leave(args[0] ?? NIL),
      },
      {
        name: named("GUILDHALL:SKIP"),
        report: () => `Continue without ${name}: its result is NIL.`,
        invoke: () => leave(NIL),
      },
    ];
    return withRestarts(m, restarts, () => m.raise(toCondition(m, request, failure)));
  });
  return chosen === again ? send(m, hall, request) : chosen;
}

// A tool's failure as a condition: a subclass of TOOL-ERROR for each kind.

const conditionNames: Partial<Record<ToolFailure["code"], string>> = {
  NOT_FOUND: "TOOL-NOT-FOUND",
  TOOLKIT_NOT_FOUND: "TOOL-NOT-FOUND",
  VALIDATION: "TOOL-VALIDATION-ERROR",
  INVALID_PARAMS: "TOOL-VALIDATION-ERROR",
  DENIED: "TOOL-DENIED",
  APPROVAL_NEEDED: "APPROVAL-NEEDED",
  TIMEOUT: "TOOL-TIMEOUT",
  UNAVAILABLE: "TOOL-UNAVAILABLE",
  RATE_LIMITED: "TOOL-RATE-LIMITED",
  OVERLOADED: "TOOL-RATE-LIMITED",
  EXECUTION: "TOOL-EXECUTION-ERROR",
  BUDGET: "CALL-BUDGET-EXCEEDED",
};

const errorSlots = ["NAME", "CODE", "TEXT", "DATA"] as const;

export function defineToolErrors(): void {
  const slots = errorSlots.map((slot) => plainSlot(slotName(slot)));
  sharedClass("GUILDHALL:TOOL-ERROR", "condition", ["ERROR"], slots).report = (m, condition) => {
    const text = conditionSlot(condition, "TEXT");
    return text instanceof Str
      ? text.toString()
      : `${m.show(conditionSlot(condition, "NAME") ?? NIL)} failed`;
  };
  for (const name of new Set(Object.values(conditionNames)))
    sharedClass(`GUILDHALL:${name}`, "condition", ["GUILDHALL:TOOL-ERROR"]);
  for (const slot of errorSlots) {
    defineFunction(
      `GUILDHALL:TOOL-ERROR-${slot === "TEXT" ? "MESSAGE" : slot} condition`,
      (m, condition) => {
        const value = conditionSlot(condition as Instance, slot);
        return value ?? m.typeError(condition, named("GUILDHALL:TOOL-ERROR"));
      },
    );
  }
}

function toCondition(
  m: Machine,
  request: HallRequest,
  { code, message, hint, details }: ToolFailure,
): Instance {
  const name = request.kind === "call" || request.kind === "schema" ? request.name : request.kind;
  return makeCondition(`GUILDHALL:${conditionNames[code] ?? "TOOL-ERROR"}`, {
    NAME: m.string(name),
    CODE: m.string(code),
    TEXT: m.string(hint === undefined || message.includes(hint) ? message : `${message} (${hint})`),
    DATA: details === undefined ? NIL : toLisp(m, details),
  });
}
