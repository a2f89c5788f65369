import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { PlannerConfig } from "../agents/planners.ts";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Secrets } from "../base/log.ts";
import type { ListKind } from "../tool.ts";
import { type Connection, openConnection } from "./connection.ts";
import { type ControlRoom, createControlRoom } from "./control-room.ts";
import type { LoadedPart, TuiEvent } from "./events.ts";
import { explainFailure } from "./failure.ts";
import { placeNewFeature, readFeatures } from "./features.ts";
import { readForm } from "./form.ts";
import { makeHarmless } from "./harmless.ts";
import type { Intention } from "./intentions.ts";
import { createDesk, type Desk } from "./questions.ts";
import { reduce } from "./reducer.ts";
import { createRunner, type Runner, type RunRequest } from "./runner.ts";
import { createInitialState, findRun, type Size, type StepName, type TuiState } from "./state.ts";
import type { Target } from "./target.ts";
import { readTools } from "./tool-list.ts";
import { deleteWorktree, listBranches, listWorktrees, openWorktree, refuseDelete } from "./worktrees.ts";

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
  /** The least time between two changes by output. Default 33. */
  readonly intervalMs?: number;
  /** How often the hall is asked for what nobody tells of. Default 2,000; 0 for never. */
  readonly pollMs?: number;
  /** The model that answers servers, where a person agrees; undefined where there is none. */
  readonly planner?: PlannerConfig | undefined;
}

export function createTuiSession(options: TuiSessionOptions): TuiSession {
  return new Session(options);
}

const timeoutMsUsual = 60_000;
const pollMsUsual = 2_000;

class Session implements TuiSession {
  #state: TuiState;
  readonly #listeners = new Set<() => void>();
  readonly #target: Target;
  readonly #project: string;
  readonly #connection: Connection;
  readonly #desk: Desk;
  readonly #runner: Runner;
  readonly #controlRoom: ControlRoom | undefined;
  readonly #polling: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor({ target, size, secrets, timeoutMs = timeoutMsUsual, intervalMs = 33, pollMs = pollMsUsual, planner }: TuiSessionOptions) {
    this.#target = target;
    this.#project = target.view.folder;
    this.#state = createInitialState({ target: target.view, size });
    const tell = (event: TuiEvent): void => this.#tell(event);
    this.#desk = createDesk({ folder: this.#project, tell, sample: planner?.model === undefined ? undefined : samplerFor(planner, secrets) });
    this.#runner = createRunner({
      connection: () => this.#connection,
      desk: this.#desk,
      folder: this.#project,
      server: target.view.name,
      timeoutMs: Math.min(600_000, Math.max(1_000, timeoutMs)),
      intervalMs,
      secrets,
      tell,
    });
    this.#controlRoom = target.admin ? createControlRoom({ connect: () => target.admin?.() ?? Promise.resolve(undefined), tell }) : undefined;
    this.#connection = openConnection({
      target,
      capabilities: this.#desk.capabilities,
      changed: (connection) => this.#connected(connection),
      listChanged: (kind) => void this.#listChanged(kind),
      said: (line) => this.#runner.hearStderr(line),
    });
    if (pollMs > 0 && this.#controlRoom) this.#polling = setInterval(() => void this.#controlRoom?.poll(this.#state.screen), pollMs).unref();
    void this.#refreshFeatures();
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
      this.#tell({ kind: "notice", level: "error", text: `${message}. ${hint}`, ...(mayRetry ? { retry: intention } : {}) });
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

  #connected(connection: TuiState["connection"]): void {
    const wasLost = this.#state.connection.kind === "connecting" && this.#state.connection.attempt > 1;
    const transport = this.#target.transport?.();
    this.#tell({ kind: "connection", connection, ...(transport ? { transport } : {}) });
    if (connection.kind !== "ready") return;
    if (wasLost) this.#tell({ kind: "notice", level: "info", text: "the connection is back" });
    void this.#refreshTools();
  }

  async #listChanged(kind: ListKind): Promise<void> {
    if (kind === "tools") await this.#refreshTools();
    if (kind === "resources") await this.#refreshFeatures();
  }

  async #carryOut(intention: Intention, before: TuiState): Promise<void> {
    switch (intention.kind) {
      case "go":
        return this.#refresh(intention.screen, true);
      case "refresh":
        return this.#refresh(intention.screen, false);
      case "reconnect":
        return this.#connection.reconnect();
      case "quit":
        return this.close();
      case "confirm":
        return intention.isYes && before.confirmation ? this.#carryOutConfirmed(before.confirmation.intention) : undefined;
      case "open feature":
      case "open document":
        return this.#readDocument();
      case "specify":
        return this.#specify();
      case "run step":
        return this.#runStep(intention);
      case "cancel run":
        return this.#runner.cancel(intention.run);
      case "retry run":
        return this.#retry(intention.run);
      case "answer question":
        return this.#answer(intention);
      case "call tool":
        return this.#callTool();
      case "ask agent":
        return this.#askAgent();
      case "evaluate":
        return this.#evaluate();
      case "restart server":
        return this.#controlRoom?.restart(intention.name);
      case "show logs":
        return this.#controlRoom?.showLogs(intention.server);
      case "approve":
        return this.#controlRoom?.approve(intention.token, intention.answer);
      case "switch worktree":
        return this.#switchWorktree(intention.feature);
      case "delete worktree":
        return this.#askDelete(intention.path);
      default:
        // The rest is done with the state.
        return;
    }
  }

  async #carryOutConfirmed(intention: Intention): Promise<void> {
    if (intention.kind !== "delete worktree") return this.#carryOut(intention, this.#state);
    await deleteWorktree({ folder: this.#project, current: this.#state.features.folder }, intention.path);
    await this.#refreshWorktrees();
  }

  /** A screen that comes up reads what it has not read yet; a person who wants it again gets it again. */
  async #refresh(screen: TuiState["screen"], isFirst: boolean): Promise<void> {
    switch (screen) {
      case "features":
        return this.#refreshFeatures();
      case "feature":
        return this.#readDocument();
      case "tools":
      case "agents":
        return isFirst && this.#state.tools.load.kind === "loaded" ? undefined : this.#refreshTools();
      case "servers":
      case "approvals":
      case "stats":
        return this.#controlRoom?.poll(screen);
      case "run":
      case "lisp":
        return;
    }
  }

  /** Reads a part of the state; a failure is that part's. */
  async #load(part: LoadedPart, read: () => Promise<TuiEvent>): Promise<void> {
    if (this.#state[part].load.kind === "idle") this.#tell({ kind: "loading", part });
    try {
      this.#tell(await read());
    } catch (error) {
      this.#tell({ kind: "load failed", part, failure: explainFailure(error, part) });
    }
  }

  async #refreshFeatures(): Promise<void> {
    const { folder } = this.#state.features;
    // A folder without git has no branches.
    const branches = await listBranches(this.#project).catch(() => []);
    await Promise.all([
      this.#load("features", async () => ({ kind: "features", items: await readFeatures({ folder, project: this.#project, branches }) })),
      this.#refreshWorktrees(),
    ]);
    if (this.#state.screen === "feature") await this.#readDocument();
  }

  #refreshWorktrees(): Promise<void> {
    return this.#load("worktrees", async () => ({
      kind: "worktrees",
      items: await listWorktrees({ folder: this.#project, current: this.#state.features.folder }),
    }));
  }

  async #refreshTools(): Promise<void> {
    await this.#load("tools", async () => ({ kind: "tools", ...(await readTools(this.#connection.get(), { isHall: this.#target.view.kind === "hall" })) }));
  }

  async #readDocument(): Promise<void> {
    const { feature, features } = this.#state;
    const found = features.items.find(({ name }) => name === feature?.name);
    if (!found || feature?.document === undefined) return;
    const { name, document: path } = feature;
    try {
      // The list names the files; nothing else is read.
      if (!found.files.includes(path)) throw new HallError("NOT_FOUND", `${name} has no ${path}`);
      this.#tell({ kind: "document", feature: name, path, text: makeHarmless(await readFile(join(found.directory, path), "utf8")) });
    } catch (error) {
      this.#tell({ kind: "document failed", feature: name, path, failure: explainFailure(error, path) });
    }
  }

  async #specify(): Promise<void> {
    const { draft = "", folder } = this.#state.features;
    if (draft.trim() === "") throw new HallError("VALIDATION", "the description is empty", { hint: "Say what the feature is to do." });
    const isHall = this.#target.view.kind === "hall";
    const directory = isHall ? join(folder, "specs") : await placeNewFeature(folder, draft, new Date());
    await this.#step("specify", { feature_description: draft, spec_directory: directory }, isHall ? "new" : (directory.split("/").at(-1) ?? "new"));
  }

  async #runStep({ feature: name, step, arguments: more = {} }: Extract<Intention, { kind: "run step" }>): Promise<void> {
    const feature = this.#state.features.items.find((item) => item.name === name);
    if (!feature) throw new HallError("NOT_FOUND", `there is no feature ${name}`);
    const next = step ?? (feature.phase === "done" ? undefined : feature.phase);
    if (next === undefined) throw new HallError("VALIDATION", `${name} is done`, { hint: "There is no next step." });
    const lacking = prerequisiteOf(next, feature.files);
    if (lacking !== undefined) throw new HallError("VALIDATION", `${next} needs ${lacking.file} of ${name}`, { hint: `Run ${lacking.step} first.` });
    // An interrupted step goes on with what it was given.
    const given = feature.run && !feature.run.isAtWork && feature.run.step === next ? feature.run.arguments : {};
    await this.#step(next, { ...given, ...more, spec_directory: feature.directory }, name);
  }

  async #step(step: StepName, args: JsonObject, about: string): Promise<void> {
    const tool = `speckit.${step}`;
    if (this.#state.features.missing.includes(tool))
      throw new HallError("NOT_FOUND", `the server has no tool ${tool}`, { hint: "Use a server that has it; `guildhall tui` without --command does." });
    await this.#run({ kind: "step", tool, arguments: args, about });
  }

  async #run(request: RunRequest): Promise<void> {
    await this.#runner.run(request);
    if (request.kind === "step") await this.#refreshFeatures();
  }

  async #retry(id: string): Promise<void> {
    const run = findRun(this.#state, id);
    if (!run || run.state.kind === "running" || run.state.kind === "cancelling") return;
    const { kind, tool, arguments: args, about } = run;
    await this.#run({ kind, tool, arguments: args, about, ...(kind === "lisp" ? { heard: this.#hearLisp } : {}) });
  }

  #answer({ question, action }: Extract<Intention, { kind: "answer question" }>): void {
    const view = this.#state.questions.find(({ id }) => id === question);
    if (view) this.#desk.answer(view, action);
  }

  async #callTool(): Promise<void> {
    const { selected, form } = this.#state.tools;
    const read = form && readForm(form);
    if (selected === undefined || !read || "problems" in read) return;
    await this.#run({ kind: "tool", tool: selected, arguments: read.values, about: "" });
  }

  async #askAgent(): Promise<void> {
    const { selected, task } = this.#state.agents;
    if (selected === undefined || task.trim() === "") return;
    await this.#run({ kind: "agent", tool: selected, arguments: { task }, about: task });
  }

  async #evaluate(): Promise<void> {
    const { input, session, mode } = this.#state.lisp;
    if (input.trim() === "") return;
    const args = { code: input, mode, ...(session === undefined ? {} : { session }) };
    await this.#run({ kind: "lisp", tool: "evaluate-lisp", arguments: args, about: input, heard: this.#hearLisp });
  }

  readonly #hearLisp = (run: string, result: JsonObject): void => {
    const { session, package: current } = isObject(result.structuredContent) ? result.structuredContent : {};
    const parts = (Array.isArray(result.content) ? result.content : []).filter(isObject);
    const text = parts.map((part) => (typeof part.text === "string" ? part.text : `[${String(part.type)}]`)).join("\n");
    this.#tell({
      kind: "evaluated",
      run,
      // The last line only says which session it was: one conversation is one session.
      text: makeHarmless(text.replace(/(^|\n); session \S+$/, "")),
      isError: result.isError === true,
      ...(typeof session === "string" ? { session } : {}),
      ...(typeof current === "string" ? { package: current } : {}),
    });
  };

  async #switchWorktree(name: string | undefined): Promise<void> {
    const feature = this.#state.features.items.find((item) => item.name === name);
    if (name !== undefined && !feature) throw new HallError("NOT_FOUND", `there is no feature ${name}`);
    const folder = feature ? await openWorktree(this.#project, feature.branch ?? feature.name, feature.name) : this.#project;
    this.#tell({ kind: "folder", folder });
    await this.#refreshFeatures();
  }

  #askDelete(path: string): void {
    const found = this.#state.worktrees.items.find((worktree) => worktree.path === path);
    const reason = found ? refuseDelete(found) : "it is not there";
    if (reason !== undefined) throw new HallError("EXECUTION", `${path} cannot be deleted: ${reason}`, { hint: "Nothing was changed." });
    const message = `Delete the worktree ${path}? Its branch ${found?.branch ?? ""} stays.`;
    this.#tell({ kind: "confirm", confirmation: { message, intention: { kind: "delete worktree", path } } });
  }
}

/** Loaded when a person has agreed to it. */
function samplerFor(planner: PlannerConfig, secrets: Secrets): (params: JsonObject, signal: AbortSignal) => Promise<JsonObject> {
  return async (params, signal) => (await import("./sampling.ts")).sampleWithModel(params, signal, { planner, secrets, env: process.env });
}

const needs: Readonly<Record<StepName, readonly { readonly file: string; readonly step: StepName }[]>> = {
  specify: [],
  clarify: [{ file: "spec.md", step: "specify" }],
  plan: [{ file: "spec.md", step: "specify" }],
  tasks: [
    { file: "spec.md", step: "specify" },
    { file: "plan.md", step: "plan" },
  ],
  implement: [{ file: "tasks.md", step: "tasks" }],
};

function prerequisiteOf(step: StepName, files: readonly string[]): { readonly file: string; readonly step: StepName } | undefined {
  return needs[step].find(({ file }) => !files.includes(file));
}

/** What was tried, for the sentence that says it went wrong. */
function subjectOf(intention: Intention): string {
  switch (intention.kind) {
    case "run step":
      return intention.step ?? "the next step";
    case "restart server":
      return `restarting ${intention.name}`;
    case "show logs":
      return `the log of ${intention.server}`;
    case "approve":
      return "the approval";
    case "delete worktree":
    case "switch worktree":
      return "the worktree";
    case "call tool":
      return "the call";
    default:
      return intention.kind;
  }
}
