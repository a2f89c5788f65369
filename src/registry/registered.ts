import { type ErrorCode, errorType, HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Scope } from "../base/scope.ts";
import { createIds } from "../base/text.ts";
import type { Health, Outcome, ReportedHealth, Toolkit } from "../tool.ts";
import { markDeprecated } from "./metadata.ts";
import type { Registration } from "./registration.ts";

/** The service behind a registered toolkit: the connection that registered it, or an endpoint. */
export interface Runner {
  readonly kind: "connection" | "endpoint";
  /** Equal for the same connection, so that registering twice keeps one runner. */
  readonly id: string;
  /** One request in the registry dialect. Throws HallError, with the service's own error as `relayed`. */
  request(
    method: "tools/call" | "health/check",
    params: JsonObject,
    scope: Scope,
  ): Promise<unknown>;
  /** Calls back once when it can no longer be reached. Returns a function that stops listening. */
  onGone(listener: () => void): () => void;
  close(): void;
}

/**
 * A registration as a toolkit: calls go to its runner in the registry dialect. Without a runner it
 * stays listed and reports why it cannot be called.
 */
export interface RegisteredToolkit extends Toolkit {
  readonly registration: Registration;
  readonly toolId: string;
  readonly registeredAt: number;
  readonly runner: Runner | undefined;
  /** Makes this its runner and closes the one before. */
  attach(runner: Runner): void;
}

export interface RegisteredOptions
  extends Pick<RegisteredToolkit, "registration" | "toolId" | "registeredAt"> {
  /** Called when its runner was attached or is gone. */
  changed(toolkit: RegisteredToolkit): void;
}

const callIds = createIds("call");

export function createRegisteredToolkit({
  registration,
  toolId,
  registeredAt,
  changed,
}: RegisteredOptions): RegisteredToolkit {
  const { name, category, description, version, tools } = registration;
  let runner: Runner | undefined;
  let stopListening = (): void => {};
  let problem: string | undefined =
    "no service is attached: it was registered without an endpoint over a connection that cannot receive calls";

  function getRunner(): Runner {
    if (runner) return runner;
    throw new HallError("UNAVAILABLE", `${name} cannot be called: ${problem}`, {
      hint: "Its service must register again; use another tool until then.",
    });
  }

  const toolkit: RegisteredToolkit = {
    id: name,
    ...(registration.isSingle ? { prefix: "" } : {}),
    source: "registered",
    category,
    description,
    version,
    registration,
    toolId,
    registeredAt,
    get runner() {
      return runner;
    },
    attach(next) {
      if (next.id === runner?.id) {
        if (next !== runner) next.close();
        return;
      }
      stopListening();
      runner?.close();
      runner = next;
      problem = undefined;
      stopListening = next.onGone(() => {
        runner = undefined;
        problem = "its service disconnected";
        changed(toolkit);
      });
      changed(toolkit);
    },
    list: async () => tools,
    async call(tool, args, { scope, callId = callIds() }) {
      const seconds = Number.isFinite(scope.remainingMs)
        ? Math.ceil(scope.remainingMs) / 1000
        : undefined;
      const params = {
        tool_name: name,
        function_name: tool.name,
        arguments: args,
        call_id: callId,
        timeout: seconds,
      };
      const answer = await getRunner().request("tools/call", params, scope).catch(readFailure);
      return markDeprecated(readAnswer(answer, name), tool);
    },
    health: async () =>
      problem === undefined ? { state: "available" } : { state: "unavailable", reason: problem },
    async probe(scope) {
      if (!runner) return undefined;
      return readHealth(
        await runner.request("health/check", { tool_name: name }, scope).catch(readProbeFailure),
      );
    },
    problem: () => problem,
    async close() {
      stopListening();
      runner?.close();
      runner = undefined;
      problem = "it was unregistered";
    },
  };
  return toolkit;
}

/** Error types that a service may report; any other counts as EXECUTION. */
const reportable = new Map<unknown, ErrorCode>(
  (
    [
      "EXECUTION",
      "TIMEOUT",
      "VALIDATION",
      "UNAVAILABLE",
      "RATE_LIMITED",
      "BUDGET",
      "NOT_FOUND",
      "CANCELLED",
    ] as const
  ).map((code) => [errorType(code), code]),
);
const byNumber: Readonly<Record<number, ErrorCode>> = {
  [-32002]: "NOT_FOUND",
  [-32003]: "NOT_FOUND",
  [-32004]: "VALIDATION",
  [-32005]: "TIMEOUT",
  [-32006]: "UNAVAILABLE",
  [-32007]: "RATE_LIMITED",
  [-32601]: "BAD_ANSWER",
  [-32602]: "VALIDATION",
};

/** Translates a service's error by its type if known, else by its number. */
function readFailure(failure: unknown): never {
  if (!(failure instanceof HallError) || !failure.relayed) throw failure;
  const { code: number, message, data } = failure.relayed;
  const body = isObject(data) ? data : {};
  const code = reportable.get(body.error_type) ?? byNumber[number] ?? "EXECUTION";
  const text = typeof body.details === "string" && body.details !== "" ? body.details : message;
  const seconds = [body.retryAfterSeconds, body.retry_after].find((wait) => Number.isFinite(wait));
  const details = {
    ...(Array.isArray(body.errors) ? { errors: body.errors } : {}),
    ...(seconds === undefined ? {} : { retryAfterSeconds: seconds, retry_after: seconds }),
    ...(isWord(body.error_type) ? { error_type: body.error_type } : {}),
  };
  throw new HallError(code, text, { cause: failure, details });
}

function isWord(type: unknown): type is string {
  return typeof type === "string" && /^[\w.-]{1,64}$/.test(type);
}

/** Turns `{status, data}` into an MCP result; an MCP result passes unchanged. */
function readAnswer(answer: unknown, name: string): Outcome {
  if (!isObject(answer))
    throw new HallError("BAD_ANSWER", `${name} returned an answer that is not an object`);
  if (Array.isArray(answer.content)) return answer as unknown as Outcome;
  if (!("data" in answer))
    throw new HallError("BAD_ANSWER", `${name} returned an answer without data`);
  if (answer.status !== undefined && answer.status !== "completed") {
    throw new HallError(
      "EXECUTION",
      `${name} returned status ${JSON.stringify(answer.status)}`.slice(0, 200),
    );
  }
  const { data } = answer;
  return {
    content: [
      { type: "text", text: typeof data === "string" ? data : (JSON.stringify(data) ?? "null") },
    ],
    ...(data === null || data === undefined ? {} : { structuredContent: data }),
  };
}

const states: Readonly<Record<string, Health["state"]>> = {
  healthy: "available",
  degraded: "degraded",
  unhealthy: "unavailable",
  maintenance: "maintenance",
};

function readHealth(answer: unknown): Health {
  const body: JsonObject = isObject(answer) ? answer : {};
  const state = typeof body.status === "string" ? states[body.status.toLowerCase()] : undefined;
  const reason =
    typeof body.last_error === "string"
      ? body.last_error.slice(0, 500)
      : `it reports the status ${body.status}`;
  const reported = readReported(body);
  return state === undefined || state === "available"
    ? { state: "available", reported }
    : { state, reason, reported };
}

function readReported({ version, capabilities, response_time_ms: ms }: JsonObject): ReportedHealth {
  const isName = (name: unknown): name is string => typeof name === "string" && name.length <= 200;
  return {
    version: isName(version) ? version : undefined,
    capabilities:
      Array.isArray(capabilities) && capabilities.length <= 1_000 && capabilities.every(isName)
        ? capabilities
        : undefined,
    responseMs: typeof ms === "number" && ms >= 0 ? ms : undefined,
  };
}

/** A service without `health/check` has answered, so it is up. */
function readProbeFailure(failure: unknown): unknown {
  if (failure instanceof HallError && failure.relayed)
    return failure.relayed.code === -32601
      ? { status: "healthy" }
      : { status: "unhealthy", last_error: failure.relayed.message };
  throw failure;
}
