import { setTimeout as sleep } from "node:timers/promises";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { Scope } from "../base/scope.ts";
import type { CallContext, Questions, TaskNews } from "../tool.ts";
import type { Handshake } from "./handshake.ts";
import { readQuestions } from "./questions.ts";

/**
 * Calls that a server runs as tasks. We wait for the result, so that the call looks like any other; `report`
 * passes the task on to a caller that supports tasks itself.
 */
export const tasksExtension = "io.modelcontextprotocol/tasks";
/** Names the task in `_meta`, up to 2025-11-25. */
export const relatedTask = "io.modelcontextprotocol/related-task";

export interface TaskCall {
  readonly scope: Scope;
  readonly report: CallContext["task"];
  send(method: string, params: JsonObject, scope: Scope): Promise<JsonObject>;
  ask(questions: Questions): ReturnType<CallContext["ask"]>;
}

/** An older client cannot say that it takes tasks: the hall waits for it. */
export function declareTasks(
  own: JsonObject,
  { caller }: CallContext,
  handshake: Handshake | undefined,
): JsonObject {
  const { extensions } = handshake?.capabilities ?? {};
  if (!caller?.isLasting || !isObject(extensions) || !extensions[tasksExtension]) return own;
  const declared = isObject(own.extensions) ? own.extensions : {};
  return { ...own, extensions: { ...declared, [tasksExtension]: {} } };
}

const pollMs = 1_000;
const pollMsMin = 20;
const pollMsMax = 5_000;
const cancelMsMax = 10_000;

/** Waits for a task of the extension of 2026: polls it, and answers what it asks for. */
export function followTask(created: JsonObject, call: TaskCall): Promise<JsonObject> {
  return whileRunning(created, call, async (params) => {
    const answered = new Set<string>();
    for (let task = created; ; ) {
      const over = readOutcome(task);
      if (over) return over;
      const requests = isObject(task.inputRequests) ? Object.entries(task.inputRequests) : [];
      const open = requests.filter(([key]) => !answered.has(key));
      if (task.status === "input_required" && open.length > 0) {
        const asking = call.ask(readQuestions(Object.fromEntries(open)));
        const inputResponses = await call.scope.race(asking);
        for (const [key] of open) answered.add(key);
        await call.send("tasks/update", { ...params, inputResponses }, call.scope);
      } else await call.scope.race(sleep(pollInterval(task), undefined, { ref: false }));
      task = await call.send("tasks/get", params, call.scope);
      call.report?.(readTask(task));
    }
  });
}

/** Waits for a task of 2025-11-25, whose questions arrive as requests and whose news as notifications. */
export async function awaitTask(
  created: JsonObject,
  call: TaskCall,
  reports: Map<string, (news: TaskNews) => void>,
): Promise<JsonObject> {
  const id = String(created.taskId);
  reports.set(id, (news) => call.report?.(news));
  try {
    const { _meta, ...found } = await whileRunning(created, call, (params) =>
      call.send("tasks/result", params, call.scope),
    );
    const { [relatedTask]: _task, ...meta } = isObject(_meta) ? _meta : {};
    return Object.keys(meta).length > 0 ? { ...found, _meta: meta } : found;
  } finally {
    reports.delete(id);
  }
}

/** The time limit of a call does not count once its caller has a task. */
async function whileRunning(
  created: JsonObject,
  { scope, report, send }: TaskCall,
  wait: (params: JsonObject) => Promise<JsonObject>,
): Promise<JsonObject> {
  const params = { taskId: created.taskId };
  const stop = scope.onCancel(() => {
    const cancelling = new Scope(undefined, cancelMsMax);
    // A server that does not cancel keeps a task that nobody waits for.
    void cancelling.closeAfter(send("tasks/cancel", params, cancelling)).catch(() => {});
  });
  try {
    if (!report) return await wait(params);
    report(readTask(created));
    return await scope.pauseWhile(() => wait(params));
  } finally {
    stop();
  }
}

function readOutcome({ status, result, error, statusMessage }: JsonObject): JsonObject | undefined {
  switch (status) {
    case "completed":
      return isObject(result) ? result : {};
    case "failed": {
      const { code, message, data } = isObject(error) ? error : {};
      const text = typeof message === "string" ? message : "the task failed";
      throw new HallError("EXECUTION", text, {
        relayed: {
          code: typeof code === "number" ? code : -32603,
          message: text,
          ...(data === undefined ? {} : { data }),
        },
      });
    }
    case "cancelled":
      throw new HallError(
        "EXECUTION",
        typeof statusMessage === "string" ? statusMessage : "the server cancelled the task",
      );
    default:
      return undefined;
  }
}

/** The fields of a task in either form. */
export function readTask(task: JsonObject): TaskNews {
  const ttlMs = task.ttlMs ?? task.ttl;
  const pollIntervalMs = task.pollIntervalMs ?? task.pollInterval;
  return {
    ...(typeof task.statusMessage === "string" ? { statusMessage: task.statusMessage } : {}),
    ...(typeof ttlMs === "number" ? { ttlMs } : {}),
    ...(typeof pollIntervalMs === "number" ? { pollIntervalMs } : {}),
  };
}

function pollInterval({ pollIntervalMs }: JsonObject): number {
  const wanted = typeof pollIntervalMs === "number" ? pollIntervalMs : pollMs;
  return Math.min(pollMsMax, Math.max(pollMsMin, wanted));
}
