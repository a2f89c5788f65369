import type { PlannerConfig } from "../agents/planners.ts";
import type { JsonObject } from "../base/json.ts";
import type { Secrets } from "../base/log.ts";
import type { ListKind } from "../tool.ts";
import { agentRequest, lispRequest, repeatedRequest, toolRequest } from "./calls.ts";
import { confirmDelete, openCheckout } from "./checkouts.ts";
import { type Connection, openConnection } from "./connection.ts";
import { type ControlRoom, createControlRoom } from "./control-room.ts";
import type { TuiEvent } from "./events.ts";
import { explainFailure } from "./failure.ts";
import { type Intention, subjectOf } from "./intentions.ts";
import { readLispAnswer } from "./lisp-answer.ts";
import { createDesk, type Desk } from "./questions.ts";
import { createReader, type Reader } from "./reader.ts";
import { reduce } from "./reducer.ts";
import type { PictureReader } from "./result.ts";
import { createRunner, type Runner, type RunRequest } from "./runner.ts";
import { createInitialState, type QuestionView, type Size, type TuiState } from "./state.ts";
import { specifyRequest, stepRequest } from "./steps.ts";
import type { Target } from "./target.ts";
import { deleteWorktree } from "./worktrees.ts";

/** The client without a screen: holds the state, carries out what screens ask for, and tells when something has changed. */
export interface TuiSession {
  state(): TuiState;
  /** Called after every change. Returns the way to stop listening. */
  subscribe(listener: () => void): () => void;
  /** Never throws: what goes wrong is in the state. Resolves when it is done; screens need not wait. */
  send(intention: Intention): Promise<void>;
  /** Ends what runs, says goodbye to the server, and closes the line. Idempotent. */
  close(): Promise<void>;
}

export interface TuiSessionOptions {
  readonly target: Target;
  readonly size: Size;
  readonly secrets: Secrets;
  /** How long a call may be silent. Default 60,000; from 1,000 to 600,000. */
  readonly timeoutMs?: number;
  /** How long a call may take, whatever it says; a person who is asked does not count. Default 600,000. */
  readonly callMsMax?: number;
  /** The least time between two changes by output. Default 33. */
  readonly intervalMs?: number;
  /** How often the hall is asked for what nobody tells of. Default 2,000; 0 for never. */
  readonly pollMs?: number;
  /** Opens a page a person has agreed to; false where it cannot. Default: the person's browser. */
  readonly openBrowser?: (page: URL) => Promise<boolean>;
  /** Decodes images for the screen. Default: in a worker thread. */
  readonly readPicture?: PictureReader | undefined;
  /** The model that answers servers, where a person agrees; undefined where there is none. */
  readonly planner?: PlannerConfig | undefined;
}

export function createTuiSession(options: TuiSessionOptions): TuiSession {
  return new Session(options);
}

const timeoutMsUsual = 60_000;
const callMsUsual = 600_000;
const pollMsUsual = 2_000;

class Session implements TuiSession {
  #state: TuiState;
  readonly #listeners = new Set<() => void>();
  readonly #target: Target;
  readonly #project: string;
  readonly #connection: Connection;
  readonly #desk: Desk;
  readonly #runner: Runner;
  readonly #reader: Reader;
  readonly #controlRoom: ControlRoom | undefined;
  readonly #polling: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: TuiSessionOptions) {
    const {
      target,
      size,
      secrets,
      timeoutMs = timeoutMsUsual,
      callMsMax = callMsUsual,
      intervalMs = 33,
      pollMs = pollMsUsual,
      openBrowser,
      readPicture,
      planner,
    } = options;
    this.#target = target;
    this.#project = target.view.folder;
    this.#state = createInitialState({ target: target.view, size });
    const tell = (event: TuiEvent): void => this.#tell(event);
    this.#desk = createDesk({
      folder: this.#project,
      tell,
      openBrowser,
      sample: planner?.model === undefined ? undefined : samplerFor(planner, secrets),
    });
    this.#runner = createRunner({
      connection: () => this.#connection,
      desk: this.#desk,
      folder: this.#project,
      server: target.view.name,
      timeoutMs: Math.min(callMsUsual, Math.max(1_000, timeoutMs)),
      callMsMax,
      intervalMs,
      secrets,
      readPicture,
      tell,
    });
    this.#controlRoom = target.admin
      ? createControlRoom({ connect: () => target.admin?.() ?? Promise.resolve(undefined), tell })
      : undefined;
    this.#connection = openConnection({
      target,
      capabilities: this.#desk.capabilities,
      changed: (connection) => this.#connected(connection),
      listChanged: (kind) => void this.#listChanged(kind),
      said: (line) => this.#runner.hearStderr(line),
    });
    this.#reader = createReader({
      project: this.#project,
      connection: this.#connection,
      controlRoom: this.#controlRoom,
      state: () => this.#state,
      tell,
    });
    if (pollMs > 0 && this.#controlRoom)
      this.#polling = setInterval(() => this.#poll(), pollMs).unref();
    void this.#reader.features();
  }

  state(): TuiState {
    return this.#state;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async send(intention: Intention): Promise<void> {
    const before = this.#state;
    this.#tell({ kind: "intended", intention });
    try {
      await this.#carryOut(intention, before);
    } catch (error) {
      const { message, hint, mayRetry } = explainFailure(error, subjectOf(intention));
      this.#tell({
        kind: "notice",
        level: "error",
        text: `${message}. ${hint}`,
        ...(mayRetry ? { retry: intention } : {}),
      });
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearInterval(this.#polling);
    await this.#runner.close();
    await this.#controlRoom?.close();
    await this.#connection.close();
  }

  #tell(event: TuiEvent): void {
    const next = reduce(this.#state, event);
    if (next === this.#state) return;
    this.#state = next;
    for (const listener of this.#listeners) listener();
  }

  #poll(): void {
    void this.#controlRoom?.poll(this.#state.screen);
    // When a hall ends, this process may have become the next one, on the same line.
    const transport = this.#target.transport?.();
    if (transport && transport !== this.#state.target.transport)
      this.#tell({ kind: "connection", connection: this.#state.connection, transport });
  }

  #connected(connection: TuiState["connection"]): void {
    const wasLost =
      this.#state.connection.kind === "connecting" && this.#state.connection.attempt > 1;
    const transport = this.#target.transport?.();
    this.#tell({ kind: "connection", connection, ...(transport ? { transport } : {}) });
    if (connection.kind !== "ready") return;
    if (wasLost) this.#tell({ kind: "notice", level: "info", text: "the connection is back" });
    void this.#reader.tools();
  }

  async #listChanged(kind: ListKind): Promise<void> {
    if (kind === "tools") await this.#reader.tools();
    if (kind === "resources") await this.#reader.features();
  }

  async #carryOut(intention: Intention, before: TuiState): Promise<void> {
    switch (intention.kind) {
      case "go":
        return this.#reader.screen(intention.screen, false);
      case "refresh":
        return this.#reader.screen(intention.screen, true);
      case "reconnect":
        return this.#connection.reconnect();
      case "quit":
        return this.#state.isQuitting ? this.close() : undefined;
      case "confirm":
        return intention.isYes && before.confirmation
          ? this.#carryOutConfirmed(before.confirmation.intention)
          : undefined;
      case "open feature":
      case "open document":
        return this.#reader.document();
      case "specify":
        return this.#run(await specifyRequest(this.#state, new Date()));
      case "run step":
        return this.#run(stepRequest(this.#state, intention));
      case "cancel run":
        return this.#runner.cancel(intention.run);
      case "retry run":
        return this.#run(repeatedRequest(this.#state, intention.run));
      case "answer question":
        return this.#desk.answer(this.#questionOf(intention), intention.action);
      case "open page":
        return this.#desk.openPage(this.#questionOf(intention));
      case "call tool":
        return this.#run(toolRequest(this.#state));
      case "ask agent":
        return this.#run(agentRequest(this.#state));
      case "evaluate":
        return this.#run(lispRequest(this.#state));
      case "restart server":
        return this.#controlRoom?.restart(intention.name);
      case "show logs":
        return this.#controlRoom?.showLogs(intention.server);
      case "approve":
        return this.#controlRoom?.approve(intention.token, intention.answer);
      case "switch worktree":
        this.#tell({ kind: "folder", folder: await openCheckout(this.#state, intention.feature) });
        return this.#reader.features();
      case "delete worktree":
        return this.#tell({
          kind: "confirm",
          confirmation: confirmDelete(this.#state, intention.path),
        });
      default:
        // The rest is done with the state.
        return;
    }
  }

  async #carryOutConfirmed(intention: Intention): Promise<void> {
    if (intention.kind !== "delete worktree") return this.#carryOut(intention, this.#state);
    await deleteWorktree(
      { folder: this.#project, current: this.#state.features.folder },
      intention.path,
    );
    await this.#reader.worktrees();
  }

  #questionOf({ question }: { readonly question: string }): QuestionView | undefined {
    return this.#state.questions.find(({ id }) => id === question);
  }

  async #run(request: RunRequest | undefined): Promise<void> {
    if (!request) return;
    const heard = (run: string, result: JsonObject): void =>
      this.#tell(readLispAnswer(run, result));
    // Who sees that a step is done, and presses the key of the next, must not get the same one again.
    const settle = (): Promise<void> => this.#reader.features();
    await this.#runner.run({
      ...request,
      ...(request.kind === "lisp" ? { heard } : {}),
      ...(request.kind === "step" ? { settle } : {}),
    });
  }
}

/** Loaded when a person has agreed to it. */
function samplerFor(
  planner: PlannerConfig,
  secrets: Secrets,
): (params: JsonObject, signal: AbortSignal) => Promise<JsonObject> {
  return async (params, signal) =>
    (await import("./sampling.ts")).sampleWithModel(params, signal, {
      planner,
      secrets,
      env: process.env,
    });
}
