import { existsSync } from "node:fs";
import { join } from "node:path";
import type { PlannerConfig } from "../agents/planners.ts";
import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Secrets } from "../base/log.ts";
import { sanitize } from "../base/sanitize.ts";
import type { AdminClient } from "../hall/admin-client.ts";
import { createLastingAdmin, TargetConnection } from "./connection.ts";
import { type Intention, set, type TuiEvent } from "./events.ts";
import { explainFailure } from "./failure.ts";
import { StateLoader } from "./loader.ts";
import { QuestionQueue } from "./questions.ts";
import { reduce } from "./reducer.ts";
import {
  agentRequest,
  draftRequest,
  repeatedRequest,
  stepRequest,
  toolRequest,
} from "./requests.ts";
import { type CallRequest, CallRunner } from "./runner.ts";
import {
  createInitialState,
  type QuestionView,
  type ScreenName,
  type Size,
  type TuiState,
} from "./state.ts";
import type { ClientTarget } from "./target.ts";

export interface TuiSessionOptions {
  readonly target: ClientTarget;
  readonly size: Size;
  readonly secrets: Secrets;
  /** How long a call may be silent. Default 60,000; from 1,000 to 600,000. */
  readonly timeoutMs?: number;
  /** How long a call may take in all, not counting questions. Default 600,000. */
  readonly callMsMax?: number;
  /** The minimum time between two output events. Default 33. */
  readonly intervalMs?: number;
  /** How often the hall is polled. Default 2,000; 0 turns it off. */
  readonly pollMs?: number;
  /** Opens a page the user agreed to; false when it cannot. Default: the browser. */
  readonly openBrowser?: (page: URL) => Promise<boolean>;
  /** The model that may answer servers' sampling requests. */
  readonly planner?: PlannerConfig | undefined;
}

const timeoutMsDefault = 60_000;
const callMsDefault = 600_000;
const pollMsDefault = 2_000;
const intervalMsDefault = 33;

/** The client without a screen: holds the state and carries out intentions. */
export class TuiSession {
  #state: TuiState;
  readonly #listeners = new Set<() => void>();
  readonly #target: ClientTarget;
  readonly #project: string;
  readonly #connection: TargetConnection;
  readonly #questions: QuestionQueue;
  readonly #runner: CallRunner;
  readonly #loader: StateLoader;
  readonly #admin: AdminClient | undefined;
  readonly #polling: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: TuiSessionOptions) {
    const { target, size, secrets, openBrowser, planner } = options;
    const { timeoutMs = timeoutMsDefault, pollMs = pollMsDefault } = options;
    this.#target = target;
    this.#project = target.view.folder;
    this.#state = createInitialState({ target: target.view, size, screen: firstScreen(target) });
    const dispatch = (event: TuiEvent): void => this.#dispatch(event);
    this.#questions = new QuestionQueue({
      folder: this.#project,
      dispatch,
      openBrowser,
      sample: planner?.model === undefined ? undefined : createSampler(planner, secrets),
    });
    this.#connection = new TargetConnection({
      target,
      capabilities: this.#questions.capabilities,
      onState: (connection) => this.#onConnection(connection),
      onListChanged: (kind) => void this.#loader.onListChanged(kind),
      onStderr: (line) => this.#runner.onStderr(line),
      onReplaced: () => this.#questions.withdraw(hallEnded()),
    });
    this.#runner = new CallRunner({
      connection: this.#connection,
      questions: this.#questions,
      folder: this.#project,
      server: target.view.name,
      timeoutMs: Math.min(callMsDefault, Math.max(1_000, timeoutMs)),
      callMsMax: options.callMsMax ?? callMsDefault,
      intervalMs: options.intervalMs ?? intervalMsDefault,
      secrets,
      dispatch,
    });
    this.#admin = target.admin && createLastingAdmin(target.admin);
    this.#loader = new StateLoader({
      project: this.#project,
      connection: this.#connection,
      admin: this.#admin,
      state: () => this.#state,
      dispatch,
    });
    if (pollMs > 0 && this.#admin) this.#polling = setInterval(() => this.#poll(), pollMs).unref();
    // Git is started after the first frame.
    setImmediate(() => void this.#loader.features());
  }

  state(): TuiState {
    return this.#state;
  }

  /** The listener is called after every change. Returns a function that removes it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the intention is carried out. Never throws: failures become notices. */
  async send(intention: Intention): Promise<void> {
    const before = this.#state;
    this.#dispatch({ kind: "intended", intention });
    try {
      await this.#carryOut(intention, before);
    } catch (error) {
      const { message, hint, mayRetry } = explainFailure(error, subjectOf(intention));
      const retry = mayRetry ? intention : undefined;
      this.#dispatch({ kind: "notice", level: "error", text: `${message}. ${hint}`, retry });
    }
  }

  /** Cancels running calls and closes the connection. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearInterval(this.#polling);
    await this.#runner.close();
    await this.#admin?.close();
    await this.#connection.close();
  }

  #dispatch(event: TuiEvent): void {
    const next = reduce(this.#state, event);
    if (next === this.#state) return;
    this.#state = next;
    for (const listener of this.#listeners) listener();
  }

  #poll(): void {
    void this.#loader.poll(this.#state.screen);
    // When a hall ends, this process may become the next one without a new connection.
    const transport = this.#target.transport?.();
    if (transport && transport !== this.#state.target.transport)
      this.#dispatch({ kind: "connection", connection: this.#state.connection, transport });
  }

  #onConnection(connection: TuiState["connection"]): void {
    const { connection: old } = this.#state;
    const wasLost = old.kind === "connecting" && old.attempt > 1;
    this.#dispatch({ kind: "connection", connection, transport: this.#target.transport?.() });
    if (connection.kind !== "ready") return;
    if (wasLost) this.#inform("reconnected");
    void this.#loader.tools();
    if (this.#admin) void this.#loader.poll(this.#state.screen);
  }

  async #carryOut(intention: Intention, before: TuiState): Promise<void> {
    switch (intention.kind) {
      case "go":
        return this.#loader.screen(intention.screen, false);
      case "refresh":
        return this.#loader.screen(intention.screen, true);
      case "reconnect":
        return this.#connection.reconnect();
      case "quit":
        return this.#state.isQuitting ? this.close() : undefined;
      case "confirm":
        if (!intention.isYes || !before.confirmation) return;
        return this.#carryOut(before.confirmation.intention, this.#state);
      case "open feature":
      case "open document":
        return this.#loader.document();
      case "send draft":
        return this.#run(await draftRequest(this.#state, new Date()));
      case "run step":
        return this.#run(stepRequest(this.#state, intention));
      case "cancel run":
        return this.#runner.cancel(intention.run);
      case "retry run":
        return this.#run(repeatedRequest(this.#state, intention.run));
      case "answer question":
        return this.#questions.answer(this.#questionOf(intention), intention.action);
      case "open page":
        return this.#questions.openPage(this.#questionOf(intention));
      case "call tool":
        return this.#run(toolRequest(this.#state));
      case "ask agent":
        return this.#run(agentRequest(this.#state));
      case "restart server":
        return this.#restart(intention.server);
      case "show logs": {
        const { server } = intention;
        const { lines = [] } = (await this.#admin?.ask("logs", { server })) ?? {};
        return this.#dispatch(set("servers", { logs: { server, lines: lines.map(sanitize) } }));
      }
      case "approve":
        return this.#approve(intention);
      default:
        // The reducer has done the rest.
        return;
    }
  }

  async #restart(server: string): Promise<void> {
    await this.#admin?.ask("restart", { server });
    this.#inform(`${server} was stopped; it starts again on the next call`);
    await this.#loader.servers();
  }

  async #approve({ token, answer }: Extract<Intention, { kind: "approve" }>): Promise<void> {
    const approved = await this.#admin?.ask("approve", { token, answer });
    this.#inform(`${approved?.tool} was ${answer === "no" ? "denied" : "approved"}`);
    await this.#loader.approvals();
  }

  #inform(text: string): void {
    this.#dispatch({ kind: "notice", level: "info", text });
  }

  #questionOf({ question }: { readonly question: string }): QuestionView | undefined {
    return this.#state.questions.find(({ id }) => id === question);
  }

  async #run(request: CallRequest | undefined): Promise<void> {
    if (!request) return;
    // The next step must be known before this one is shown as done, or its key would repeat it.
    const beforeEnd = (): Promise<void> => this.#loader.features();
    await this.#runner.run({
      ...request,
      isConfirmed: request.isConfirmed === true && this.#target.view.kind === "hall",
      beforeEnd: request.kind === "step" ? beforeEnd : undefined,
    });
  }
}

function hallEnded(): HallError {
  return new HallError("UNAVAILABLE", "the hall ended before its question was answered", {
    hint: "Nothing was done. Press r to retry with the new hall.",
  });
}

/** Servers come first, unless the project uses the workflow; another server is there for its tools. */
function firstScreen({ view }: ClientTarget): ScreenName {
  if (existsSync(join(view.folder, ".specify"))) return "features";
  return view.kind === "hall" ? "servers" : "features";
}

/** The subject of the intention, for its failure message. */
function subjectOf(intention: Intention): string {
  if (intention.kind === "run step") return intention.step ?? "the next step";
  return subjects[intention.kind] ?? intention.kind;
}

const subjects: Readonly<Partial<Record<Intention["kind"], string>>> = {
  "restart server": "the restart",
  "show logs": "the log",
  approve: "the approval",
  "call tool": "the call",
  "open page": "opening the page",
};

/** The model code is loaded after the user agreed. */
function createSampler(
  planner: PlannerConfig,
  secrets: Secrets,
): (params: JsonObject, signal: AbortSignal) => Promise<JsonObject> {
  return async (params, signal) => {
    const { sampleWithModel } = await import("./sampling.ts");
    return sampleWithModel(params, signal, { planner, secrets, env: process.env });
  };
}
