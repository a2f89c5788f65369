import { createHash, randomUUID } from "node:crypto";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { Scope } from "../base/scope.ts";
import { withResolvers } from "../base/timing.ts";
import type { CallContext, Question, Questions, TaskNews } from "../tool.ts";
import type { Exchange } from "../wire/requests.ts";
import type { ClientRequest, Current } from "./client-request.ts";
import type { StateSeal } from "./seal.ts";
import type { CallTask, Tasks } from "./tasks.ts";

/**
 * Questions to the client while a request runs: elicitation, sampling and roots.
 *
 * A legacy client gets a request of ours. A modern client gets the result `input_required` and sends
 * its request again with the answers. The work is suspended meanwhile and resumed by the second
 * request, so that no side effect happens twice.
 */
export type ClientAnswers = Readonly<Record<string, JsonObject>>;
export type Ask = (questions: Questions, asked?: Scope) => Promise<ClientAnswers>;
/** Work that may ask. Its scope outlives the first request; `current` is the request it answers now. */
export type Work = (
  ask: Ask,
  scope: Scope,
  current: () => Current,
  task?: CallContext["task"],
) => Promise<unknown>;

/** How long an answer may take, and how long a suspended run waits for it. */
const answerMsMax = 300_000;
const waitingRunsMax = 1_000;

/** A client that can be asked now. */
interface Askable extends Pick<ClientRequest, "capabilities" | "reportTo"> {
  readonly exchange: Pick<Exchange, "ask" | "scope">;
}

export async function askLegacy(
  questions: Questions,
  request: Askable,
  asked?: Scope,
): Promise<ClientAnswers> {
  requireCapabilities(questions, request);
  const scope = new Scope(request.exchange.scope);
  const leave = asked?.onCancel((reason) => scope.cancel(reason));
  const answers = Object.entries(questions).map(async ([key, question]) => {
    const { method } = question;
    const { params, release } = withProgress(question, request);
    const answer = await request.exchange
      .ask(method, params, { scope, timeoutMs: answerMsMax })
      .catch(asExecutionError)
      .finally(release);
    if (!isObject(answer))
      throw new HallError("BAD_ANSWER", `the client's answer to ${method} is not an object`);
    return [key, answer] as const;
  });
  return Promise.all(answers)
    .then((given) => Object.fromEntries(given))
    .finally(() => {
      leave?.();
      // One refusal fails the whole set, so the other questions are withdrawn.
      scope.cancel(new HallError("CANCELLED", "the other questions were not all answered"));
    });
}

/** The server's progress token is replaced with one that no other question of the client has. */
function withProgress(
  { params, progress }: Question,
  { reportTo }: Askable,
): { readonly params: JsonObject | undefined; release(): void } {
  if (!progress) return { params, release() {} };
  const { token: progressToken, release } = reportTo?.(progress) ?? { token: undefined };
  const _meta = { ...(isObject(params?._meta) ? params._meta : {}), progressToken };
  return { params: { ...params, _meta }, release: release ?? (() => {}) };
}

/** A client's refusal becomes an EXECUTION error; only an upstream's error is relayed as it is. */
function asExecutionError(error: unknown): never {
  throw error instanceof HallError && error.relayed
    ? new HallError("EXECUTION", error.message, { cause: error })
    : error;
}

/** The runs of modern requests that wait for answers. */
export class Asking {
  readonly #seal: StateSeal;
  readonly #tasks: Tasks;
  readonly #createId: () => string;
  readonly #waiting = new Map<string, SuspendableRun>();

  /** `createId` makes ids that no other hall makes. */
  constructor(seal: StateSeal, tasks: Tasks, createId: () => string = randomUUID) {
    this.#seal = seal;
    this.#tasks = tasks;
    this.#createId = createId;
  }

  /** The runs that wait for an answer. */
  get count(): number {
    return this.#waiting.size;
  }

  /** Runs work for a modern request, or resumes the run that its `requestState` names. */
  run(
    params: JsonObject,
    request: ClientRequest,
    work: Work,
    takesTask: boolean,
  ): Promise<unknown> {
    const responses = readResponses(params.inputResponses);
    if (!takesTask && params.requestState === undefined && !canBeAsked(request))
      return runUnasked(params, request, work);
    // Read before the work runs, because validation adds defaults to the arguments.
    const subject = subjectOf(params, request);
    const tasks = takesTask ? this.#tasks : undefined;
    if (params.requestState === undefined) {
      const run = new SuspendableRun(work, responses, { params, request }, tasks);
      return this.#step(run, subject, request);
    }
    const handle = this.#seal.open(params.requestState, bindingOf(subject));
    const run = handle === undefined ? undefined : this.#waiting.get(handle);
    if (!run)
      throw new HallError("INVALID_PARAMS", "requestState is unknown, used or expired", {
        hint: "Send the request again without it.",
      });
    run.forget();
    run.resume(responses, { params, request });
    return this.#step(run, subject, request);
  }

  /** Starts work as a task at once, as clients of 2025-11-25 ask for it. */
  start(params: JsonObject, request: ClientRequest, work: Work): CallTask {
    const { ttl } = isObject(params.task) ? params.task : {};
    // Progress belongs to the task, also after this answer.
    request.exchange.outlives = true;
    const run = new SuspendableRun(work, {}, { params, request }, this.#tasks);
    return run.becomeTask(typeof ttl === "number" ? { ttlMs: ttl } : {});
  }

  /** Cancels every suspended run. */
  close(): void {
    for (const run of [...this.#waiting.values()])
      run.scope.cancel(new HallError("UNAVAILABLE", "the hall is shutting down"));
  }

  async #step(run: SuspendableRun, subject: string, request: ClientRequest): Promise<unknown> {
    const leave = request.exchange.scope.onCancel((reason) => run.scope.cancel(reason));
    try {
      const turn = await run.turn;
      if (turn.kind === "done") return turn.result;
      if (turn.kind === "task") return { resultType: "task", ...turn.task.describeCreated() };
      return this.#suspend(run, turn.questions, bindingOf(subject));
    } finally {
      leave();
    }
  }

  #suspend(run: SuspendableRun, questions: Questions, binding: string): JsonObject {
    if (this.#waiting.size >= waitingRunsMax) {
      const refusal = new HallError(
        "OVERLOADED",
        `too many calls wait for an answer (limit: ${waitingRunsMax})`,
      );
      // The question never reaches the client, so the work must not wait for an answer.
      run.scope.cancel(refusal);
      throw refusal;
    }
    const handle = this.#createId();
    this.#waiting.set(handle, run);
    const expiry = setTimeout(
      () => run.scope.cancel(new HallError("TIMEOUT", "the question was not answered in time")),
      answerMsMax,
    );
    expiry.unref();
    run.forget = () => {
      clearTimeout(expiry);
      this.#waiting.delete(handle);
    };
    run.scope.onCancel(run.forget);
    return {
      resultType: "input_required",
      inputRequests: questions,
      requestState: this.#seal.close(handle, binding),
    };
  }
}

type Turn =
  | { readonly kind: "done"; readonly result: unknown }
  | { readonly kind: "asks"; readonly questions: Questions }
  | { readonly kind: "task"; readonly task: CallTask };

/** Work that can be suspended. Each turn ends with a result, with questions, or with a task, which is the last. */
export class SuspendableRun {
  readonly scope = new Scope();
  /** The result of the work. */
  readonly done: Promise<unknown>;
  /** Called when a task asks or has its answer. */
  asked: () => void = () => {};
  forget: () => void = () => {};
  #turn = withResolvers<Turn>();
  /** Set when the work has ended, which may happen while a question is open. */
  #finish: (() => void) | undefined;
  #current: Current;
  readonly #responses: Map<string, JsonObject>;
  readonly #open = new Map<string, { readonly question: Question; resolve(): void }>();
  /** Keys under which an answer may still arrive. */
  readonly #taken = new Set<string>();
  #duplicates = 0;

  readonly #tasks: Tasks | undefined;
  #task: CallTask | undefined;

  constructor(work: Work, responses: ClientAnswers, current: Current, tasks: Tasks | undefined) {
    this.#responses = new Map(Object.entries(responses));
    this.#current = current;
    this.#tasks = tasks;
    this.done = work(
      (questions, asked) => this.#ask(questions, asked),
      this.scope,
      () => this.#current,
      tasks && ((news) => void this.becomeTask(news)),
    );
    this.done.then(
      (result) => this.#end(() => this.#turn.resolve({ kind: "done", result })),
      (error: unknown) => this.#end(() => this.#turn.reject(error)),
    );
  }

  get turn(): Promise<Turn> {
    return this.#turn.promise;
  }

  #end(finish: () => void): void {
    this.#finish = finish;
    finish();
  }

  /** The first news make it a task. Throws OVERLOADED. */
  becomeTask(news: TaskNews): CallTask {
    if (this.#task) this.#task.notify(news);
    else if (!this.#tasks) throw new HallError("INTERNAL", "the caller does not support tasks");
    else {
      this.#task = this.#tasks.add(this, this.#current.request, news);
      this.#turn.resolve({ kind: "task", task: this.#task });
    }
    return this.#task;
  }

  /** The questions without an answer. */
  get questions(): Questions {
    return this.#openQuestions();
  }

  answer(responses: ClientAnswers): void {
    for (const [key, response] of Object.entries(responses)) this.#responses.set(key, response);
    for (const [key, { resolve }] of this.#open) {
      if (!this.#responses.has(key)) continue;
      this.#open.delete(key);
      resolve();
    }
  }

  resume(responses: ClientAnswers, current: Current): void {
    this.#current = current;
    this.#turn = withResolvers<Turn>();
    this.answer(responses);
    if (this.#finish) this.#finish();
    // Ask again for the answers that are still missing.
    else if (this.#open.size > 0)
      this.#turn.resolve({ kind: "asks", questions: this.#openQuestions() });
  }

  async #ask(questions: Questions, asked: Scope = this.scope): Promise<ClientAnswers> {
    requireCapabilities(questions, this.#current.request);
    const named = Object.entries(questions).map(([key, question]) => ({
      key,
      question,
      shown: this.#takeKey(key),
    }));
    const missing = named.filter(({ shown }) => !this.#responses.has(shown));
    const answered = missing.map(
      ({ shown, question }) =>
        new Promise<void>((resolve) => this.#open.set(shown, { question, resolve })),
    );
    if (missing.length > 0) this.#turn.resolve({ kind: "asks", questions: this.#openQuestions() });
    this.asked();
    try {
      await asked.race(this.scope.race(Promise.all(answered)));
    } catch (error) {
      // Keep the keys reserved: a late answer under them must not reach another question.
      for (const { shown } of named) this.#open.delete(shown);
      throw error;
    }
    const answers = named.map(({ key, shown }) => [key, this.#responses.get(shown) ?? {}] as const);
    // The same key may be used for another question later.
    for (const { shown } of named) {
      this.#responses.delete(shown);
      this.#taken.delete(shown);
    }
    return Object.fromEntries(answers);
  }

  /** A unique key, because servers that are called in parallel may ask under the same one. */
  #takeKey(key: string): string {
    let shown = key;
    while (this.#taken.has(shown)) shown = `${key} (${++this.#duplicates})`;
    this.#taken.add(shown);
    return shown;
  }

  #openQuestions(): Questions {
    return Object.fromEntries(
      [...this.#open].map(([key, { question }]) => [
        key,
        { method: question.method, params: withoutToken(question) },
      ]),
    );
  }
}

/** A modern client reports progress on nothing but its own requests. */
function withoutToken({ params = {}, progress }: Question): JsonObject {
  if (!progress || !isObject(params._meta)) return params;
  const { progressToken: _token, ..._meta } = params._meta;
  return { ...params, _meta };
}

/** Work for a client that cannot be asked anything, and so is never suspended. */
function runUnasked(params: JsonObject, request: ClientRequest, work: Work): Promise<unknown> {
  const current = { params, request };
  const refuse: Ask = async (questions) => {
    requireCapabilities(questions, request);
    return {};
  };
  return work(refuse, request.exchange.scope, () => current);
}

function canBeAsked({ capabilities }: ClientRequest): boolean {
  const { elicitation, sampling, roots } = capabilities;
  return isObject(elicitation) || isObject(sampling) || isObject(roots);
}

/** Binds a `requestState` to the caller, method, name and arguments that it was issued for. */
function subjectOf(params: JsonObject, request: ClientRequest): string {
  const { name, uri, arguments: args } = params;
  return JSON.stringify([
    request.caller.principal,
    request.exchange.request.method,
    name,
    uri,
    args ?? null,
  ]);
}

/** Hashed only for calls that ask. */
function bindingOf(subject: string): string {
  return createHash("sha256").update(subject).digest("base64url");
}

export function readResponses(responses: unknown): ClientAnswers {
  if (responses === undefined) return {};
  if (!isObject(responses) || !Object.values(responses).every(isObject))
    throw new HallError("INVALID_PARAMS", "inputResponses must map keys to results");
  return responses as ClientAnswers;
}

function requireCapabilities(
  questions: Questions,
  { capabilities }: Pick<ClientRequest, "capabilities">,
): void {
  const missing = Object.values(questions).flatMap(
    (question) => findMissing(question, capabilities) ?? [],
  );
  if (missing.length === 0) return;
  const required: Record<string, JsonObject> = {};
  for (const { capability, part } of missing)
    required[capability] = {
      ...required[capability],
      ...(part === undefined ? {} : { [part]: {} }),
    };
  throw new HallError(
    "MISSING_CAPABILITY",
    `the client does not support ${Object.keys(required).join(", ")}`,
    {
      details: { requiredCapabilities: required },
    },
  );
}

interface Capability {
  readonly capability: "elicitation" | "sampling" | "roots";
  readonly part?: string;
}

/** The capability that the client must declare for this question, if it has not. */
function findMissing(
  { method, params }: Question,
  capabilities: JsonObject,
): Capability | undefined {
  switch (method) {
    case "roots/list":
      return isObject(capabilities.roots) ? undefined : { capability: "roots" };
    case "sampling/createMessage": {
      const { sampling } = capabilities;
      if (params?.tools === undefined && params?.toolChoice === undefined)
        return isObject(sampling) ? undefined : { capability: "sampling" };
      return isObject(sampling) && isObject(sampling.tools)
        ? undefined
        : { capability: "sampling", part: "tools" };
    }
    case "elicitation/create": {
      const { elicitation } = capabilities;
      const mode = params?.mode === "url" ? "url" : "form";
      // A client that declares no mode supports forms.
      const isForm =
        isObject(elicitation) &&
        mode === "form" &&
        (isObject(elicitation.form) || !isObject(elicitation.url));
      return isForm || (isObject(elicitation) && isObject(elicitation[mode]))
        ? undefined
        : { capability: "elicitation", part: mode };
    }
  }
}
