// One call of a tool by a program: it is sent at once, waited for when its value is wanted, and a failure offers ways on.
import { isObject, type JsonObject } from "../../base/json.ts";
import { named } from "../../lisp/define.ts";
import type { Pending } from "../../lisp/function.ts";
import type { Machine } from "../../lisp/machine.ts";
import { type RestartSpec, transferOut, withRestarts } from "../../lisp/restarts.ts";
import { keyword, NIL } from "../../lisp/symbol.ts";
import { Cons, Opaque, Table, type Value, Vec } from "../../lisp/values.ts";
import type { HallLine, Ticket } from "./hall-line.ts";
import { pairsOf, toJson, toLisp } from "./json.ts";
import type { Answer, Failure, HallRequest } from "./protocol.ts";
import { toCondition } from "./tool-errors.ts";

export interface ToolCallOptions {
  readonly name: string;
  readonly args: readonly Value[];
  readonly schema: JsonObject | undefined;
}

export interface ToolCall extends Pending {
  /** Waits for the answer, then takes it. */
  finish(m: Machine): Value;
}

/** `schema` is the tool's, where the hall knows it: it says what the keywords mean. */
export function startTool(
  m: Machine,
  line: HallLine,
  { name, args, schema }: ToolCallOptions,
): ToolCall {
  const request: HallRequest = { kind: "call", name, arguments: argumentsOf(m, args, schema) };
  const ticket = line.start(request);
  const settle = (inner: Machine, answer: Answer): Value =>
    "failure" in answer
      ? offerRestarts(inner, line, request, answer.failure)
      : answerOf(inner, line, request, answer.value);
  return {
    get done() {
      return ticket.done;
    },
    take: (inner) => settle(inner, ticket.take()),
    finish: (inner) => settle(inner, receive(inner, line, ticket)),
    cancel: () => ticket.withdraw(),
  };
}

/** Blocks until the answer is there; the program's time runs on. */
export function receive(m: Machine, line: HallLine, ticket: Ticket): Answer {
  try {
    while (!ticket.done) {
      line.wait([ticket], m.deadline - m.host.now());
      // Stopped, or out of time: says so itself.
      if (!ticket.done) m.refuel();
    }
    return ticket.take();
  } finally {
    ticket.withdraw();
  }
}

/** Something only the hall knows. A failure is a TOOL-ERROR, without restarts. */
export function ask(m: Machine, line: HallLine, request: HallRequest): unknown {
  const answer = receive(m, line, line.start(request));
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
    m.programError("arguments are :name value; there is a name without a value");
  const properties = isObject(schema?.properties) ? schema.properties : {};
  const given = pairsOf(m, args, schema).map(
    ([name, value]) => [name, toJson(m, value, properties[name])] as const,
  );
  // NIL for what is neither a boolean nor a list means: not given.
  return Object.fromEntries(
    given.filter(([, value]) => value !== null || args.includes(keyword("NULL"))),
  );
}

/** Structured results as data, a text as a string, several parts as a vector; what cannot be read as a handle. */
function answerOf(m: Machine, line: HallLine, request: HallRequest, value: unknown): Value {
  if (!isObject(value) || !Array.isArray(value.content)) return toLisp(m, value);
  if (value.isError === true)
    return offerRestarts(m, line, request, {
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

function offerRestarts(m: Machine, line: HallLine, request: HallRequest, failure: Failure): Value {
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
        report: () => `Use a value instead of what ${name} would have answered.`,
        invoke: (_, args) => leave(args[0] ?? NIL),
      },
      {
        name: named("GUILDHALL:SKIP"),
        report: () => `Go on without ${name}: its answer is NIL.`,
        invoke: () => leave(NIL),
      },
    ];
    return withRestarts(m, restarts, () => m.raise(toCondition(m, request, failure)));
  });
  if (chosen !== again) return chosen;
  const answer = receive(m, line, line.start(request));
  return "failure" in answer
    ? offerRestarts(m, line, request, answer.failure)
    : answerOf(m, line, request, answer.value);
}
