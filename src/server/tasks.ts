import { randomUUID } from "node:crypto";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { relatedTask, tasksExtension } from "../client/tasks.ts";
import type { TaskNews } from "../tool.ts";
import type { Reply } from "../wire/requests.ts";
import { askLegacy, type SuspendableRun } from "./asking.ts";
import type { ClientRequest } from "./client-request.ts";

/**
 * Calls that a client follows as tasks, in both forms of MCP. The hall owns them: the call runs on
 * like any other, whatever form its server has, and its result is kept until the task expires.
 */
export class Tasks {
  readonly #tasks = new Map<string, CallTask>();
  readonly #explain: ExplainCall;
  readonly #createId: () => string;

  /** `createId` makes ids that no other hall makes. */
  constructor(explain: ExplainCall, createId: () => string = randomUUID) {
    this.#explain = explain;
    this.#createId = createId;
  }

  /** Those that have not ended. */
  get count(): number {
    return [...this.#tasks.values()].filter(({ isOver }) => !isOver).length;
  }

  /** Throws OVERLOADED. */
  add(run: SuspendableRun, request: ClientRequest, news: TaskNews): CallTask {
    if (this.#tasks.size >= tasksMax)
      throw new HallError("OVERLOADED", `too many tasks (limit: ${tasksMax})`);
    const task = new CallTask(this.#createId(), run, request, news, this.#explain);
    this.#tasks.set(task.id, task);
    setTimeout(() => {
      this.#tasks.delete(task.id);
      task.cancel("the task has expired");
    }, task.ttlMs).unref();
    return task;
  }

  /** Throws NOT_FOUND, also for a task of another caller. */
  get({ taskId }: JsonObject, { caller }: ClientRequest): CallTask {
    const task = this.#tasks.get(String(taskId));
    if (task?.principal === caller.principal) return task;
    throw new HallError("NOT_FOUND", `unknown task "${String(taskId).slice(0, 100)}"`);
  }

  of({ caller }: ClientRequest): readonly CallTask[] {
    return [...this.#tasks.values()].filter((task) => task.principal === caller.principal);
  }

  close(): void {
    for (const task of this.#tasks.values()) task.cancel("the hall is shutting down");
  }
}

/** Turns the failure of a call into its answer, without the envelope of a newer version. */
type ExplainCall = (failure: unknown, request: ClientRequest) => Reply;
type TaskOutcome = { readonly result: unknown } | { readonly error: JsonObject };

const tasksMax = 1_000;
const ttlMsDefault = 3_600_000;
const ttlMsMax = 86_400_000;

export class CallTask {
  readonly id: string;
  readonly principal: string;
  readonly ttlMs: number;
  readonly #run: SuspendableRun;
  readonly #createdAt = new Date();
  #updatedAt = this.#createdAt;
  #statusMessage: string | undefined;
  #pollIntervalMs = 1_000;
  #outcome: TaskOutcome | undefined;
  #isCancelled = false;
  readonly #waiting = new Set<() => void>();

  constructor(
    id: string,
    run: SuspendableRun,
    request: ClientRequest,
    news: TaskNews,
    explain: ExplainCall,
  ) {
    this.id = id;
    this.principal = request.caller.principal;
    this.ttlMs = Math.max(1, Math.min(news.ttlMs ?? ttlMsDefault, ttlMsMax));
    this.#run = run;
    this.notify(news);
    run.asked = () => this.#change();
    run.done.then(
      (result) => this.#end({ result }),
      (error: unknown) => {
        const reply = explain(error, request);
        this.#end("result" in reply ? reply : { error: { ...reply.error } });
      },
    );
  }

  notify({ statusMessage, pollIntervalMs }: TaskNews): void {
    this.#statusMessage = statusMessage ?? this.#statusMessage;
    this.#pollIntervalMs = Math.max(1, Math.round(pollIntervalMs ?? this.#pollIntervalMs));
    this.#change();
  }

  get isOver(): boolean {
    return this.#isCancelled || this.#outcome !== undefined;
  }

  get #status(): string {
    if (this.#isCancelled) return "cancelled";
    if (this.#outcome) return "result" in this.#outcome ? "completed" : "failed";
    return Object.keys(this.#run.questions).length > 0 ? "input_required" : "working";
  }

  /** The extension of 2026: the task with its result, error or questions. */
  describe(): JsonObject {
    const status = this.#status;
    return {
      ...this.describeCreated(),
      ...(status === "input_required" ? { inputRequests: this.#run.questions } : {}),
      ...this.#outcome,
    };
  }

  describeCreated(): JsonObject {
    const { ttl: ttlMs, pollInterval: pollIntervalMs, ...task } = this.describeLegacy();
    return { ...task, ttlMs, pollIntervalMs };
  }

  describeLegacy(): JsonObject {
    return {
      taskId: this.id,
      status: this.#status,
      ...(this.#statusMessage === undefined ? {} : { statusMessage: this.#statusMessage }),
      createdAt: this.#createdAt.toISOString(),
      lastUpdatedAt: this.#updatedAt.toISOString(),
      ttl: this.ttlMs,
      pollInterval: this.#pollIntervalMs,
    };
  }

  answer(responses: Readonly<Record<string, JsonObject>>): void {
    this.#run.answer(responses);
    this.#change();
  }

  cancel(reason = "the client cancelled the task"): void {
    if (this.isOver) return;
    this.#isCancelled = true;
    this.#run.scope.cancel(new HallError("CANCELLED", reason));
    this.#change();
  }

  /** Waits for the end. Questions of the call are asked with this request meanwhile. */
  async result(request: ClientRequest): Promise<JsonObject> {
    const { scope } = request.exchange;
    const asked = new Set<string>();
    while (!this.isOver) {
      const open = Object.entries(this.#run.questions).filter(([key]) => !asked.has(key));
      for (const [key, question] of open) {
        asked.add(key);
        const params = { ...question.params, _meta: this.#related(question.params?._meta) };
        askLegacy({ [key]: { ...question, params } }, request)
          .then((answers) => this.answer(answers))
          // The call continues: its question stays open until it is cancelled.
          .catch((error: unknown) => this.#run.scope.cancel(error as HallError));
      }
      await scope.race(new Promise<void>((resolve) => this.#waiting.add(resolve)));
    }
    if (this.#outcome && "result" in this.#outcome) {
      const body = isObject(this.#outcome.result) ? this.#outcome.result : {};
      return { ...body, _meta: this.#related(body._meta) };
    }
    const { code = -32602, message = "the task was cancelled", data } = this.#outcome?.error ?? {};
    throw new HallError("EXECUTION", String(message), {
      relayed: { code: Number(code), message: String(message), data },
    });
  }

  #related(meta: unknown): JsonObject {
    return { ...(isObject(meta) ? meta : {}), [relatedTask]: { taskId: this.id } };
  }

  #end(outcome: TaskOutcome): void {
    if (this.isOver) return;
    this.#outcome = outcome;
    this.#change();
  }

  #change(): void {
    this.#updatedAt = new Date();
    for (const resume of this.#waiting) resume();
    this.#waiting.clear();
  }
}

export function takesTasks({ capabilities }: ClientRequest): boolean {
  return isObject(capabilities.extensions) && isObject(capabilities.extensions[tasksExtension]);
}

/** Throws MISSING_CAPABILITY. */
export function requireTasks(request: ClientRequest): void {
  if (takesTasks(request)) return;
  throw new HallError("MISSING_CAPABILITY", "the client does not support tasks", {
    details: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
  });
}
