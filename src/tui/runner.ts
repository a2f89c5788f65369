import { HallError } from "../base/errors.ts";
import type { Secrets } from "../base/log.ts";
import { sanitize, sanitizeLines } from "../base/sanitize.ts";
import { Scope } from "../base/scope.ts";
import { type ActivityTimeout, createActivityTimeout } from "../client/activity-timeout.ts";
import { dottedNames } from "../registry/shown-names.ts";
import type { CallContext } from "../tool.ts";
import type { TargetConnection } from "./connection.ts";
import type { Dispatch } from "./events.ts";
import { explainFailure, explainResult, type Failure } from "./failure.ts";
import {
  emptyOutput,
  keepHead,
  lineCharactersMax,
  OutputBuffer,
  type OutputLine,
  openRunLog,
  type RunLog,
} from "./output.ts";
import { pagesNeeded, type QuestionQueue, readPage } from "./questions.ts";
import { showResult } from "./result.ts";
import type { RunState, RunView } from "./state.ts";

export type CallRequest = Pick<RunView, "kind" | "tool" | "arguments" | "about"> & {
  /** The user has just agreed to this call, so the hall's question whether it may run is answered. */
  readonly isConfirmed?: boolean | undefined;
  /** Awaited before the run is shown as ended. */
  readonly beforeEnd?: (() => Promise<void>) | undefined;
};

export interface CallRunnerOptions {
  readonly connection: TargetConnection;
  readonly questions: QuestionQueue;
  readonly folder: string;
  readonly server: string;
  /** How long a call may be silent. */
  readonly timeoutMs: number;
  /** How long a call may take in all. */
  readonly callMsMax: number;
  readonly intervalMs: number;
  readonly secrets: Secrets;
  readonly dispatch: Dispatch;
}

interface ActiveRun {
  readonly id: string;
  readonly scope: Scope;
  readonly output: OutputBuffer;
  readonly log: RunLog | undefined;
}

/** Calls tools: shows their output and progress, enforces time limits, records how they ended. */
export class CallRunner {
  readonly #options: CallRunnerOptions;
  readonly #running = new Map<string, ActiveRun & { readonly over: Promise<RunState> }>();
  /** Receives stderr, whose last lines may arrive after the answer; its log stays open for them. */
  #last: ActiveRun | undefined;
  #count = 0;

  constructor(options: CallRunnerOptions) {
    this.#options = options;
  }

  /** Resolves when the call has ended in any way. Throws UNAVAILABLE without a connection. */
  async run(request: CallRequest): Promise<RunState> {
    const { connection, dispatch, folder, secrets } = this.#options;
    // Checked first, so that typed text is not cleared for a call that cannot be sent.
    connection.get();
    const id = `run_${++this.#count}`;
    dispatch({ kind: "run started", run: createView(id, request) });
    const about = request.kind === "step" ? request.about : "";
    const { tool } = request;
    const log = openRunLog({ folder, about, tool, secrets, now: () => new Date() });
    const run = { id, scope: new Scope(), output: this.#openOutput(id, log), log };
    const before = this.#last;
    this.#last = run;
    const over = this.#begin(request, run, before);
    this.#running.set(id, { ...run, over });
    try {
      return await over;
    } finally {
      this.#running.delete(id);
      run.scope.close();
    }
  }

  cancel(run: string): void {
    this.#running.get(run)?.scope.cancel(new HallError("CANCELLED", "cancelled by the user"));
  }

  /** A line of the server's stderr; it is shown with the last run. */
  onStderr(line: string): void {
    this.#last?.output.put(sanitizeLines(line).map((text) => ({ source: "err", text })));
  }

  async close(): Promise<void> {
    const all = [...this.#running.values()];
    for (const { scope } of all) scope.cancel(new HallError("CANCELLED", "the client is closing"));
    await Promise.allSettled(all.map(({ over }) => over));
    this.#last?.output.flush();
    await this.#last?.log?.close();
  }

  async #begin(
    request: CallRequest,
    run: ActiveRun,
    before: ActiveRun | undefined,
  ): Promise<RunState> {
    const { dispatch, server } = this.#options;
    const { id, output, log } = run;
    if (before && !this.#running.has(before.id)) await before.log?.close();
    if (log) dispatch({ kind: "run logged", run: id, path: log.path });
    log?.note(`${request.tool} on ${server}\narguments: ${JSON.stringify(request.arguments)}`);

    const ended = await this.#call(request, run);
    output.flush();
    const reason = "failure" in ended ? `: ${ended.failure.message}\n${ended.failure.hint}` : "";
    log?.note(ended.kind + reason);
    await log?.flush();

    await request.beforeEnd?.();
    dispatch({ kind: "run ended", run: id, state: ended });
    if (this.#last !== run) await log?.close();
    return ended;
  }

  async #call(
    { tool, arguments: args, isConfirmed = false }: CallRequest,
    run: ActiveRun,
  ): Promise<RunState> {
    const { connection, folder } = this.#options;
    const { output, log } = run;
    const timeout = this.#startTimeout(run.scope);
    const context = createCallContext({ ...run, isConfirmed }, timeout, this.#options.questions);
    let failure: Failure;
    try {
      const line = connection.get();
      const result = await line.relay("tools/call", { name: tool, arguments: args }, context);
      timeout.end();
      const { lines, saved } = showResult(result, folder);
      if (result.isError !== true) {
        output.put(lines);
        return { kind: "completed", endedAt: Date.now(), result, saved };
      }
      failure = explainResult(result, tool);
      if (!isCovered(lines, failure)) output.put(lines);
      log?.note(`result: ${JSON.stringify(result)}`);
    } catch (error) {
      log?.note(describeError(error));
      const pages = pagesNeeded(error);
      // The answers do not matter: the server knows what happened on its pages.
      if (pages) await context.ask(pages).catch(() => {});
      failure = await this.#explain(error, tool);
      connection.onCallError(error);
    } finally {
      timeout.end();
    }
    const kind = failure.kind === "unavailable" ? "failed" : failure.kind;
    return { kind, endedAt: Date.now(), failure };
  }

  /** A lost server is named with the reason, such as its exit code. */
  async #explain(error: unknown, tool: string): Promise<Failure> {
    const failure = explainFailure(error, tool);
    if (failure.kind !== "unavailable") return failure;
    const reason = await this.#options.connection.lossReason();
    if (reason === undefined) return failure;
    const message = `${tool} failed: the server ${reason}`;
    return { ...failure, message, hint: "The client reconnects by itself; then press r to retry." };
  }

  #startTimeout(scope: Scope): ActivityTimeout {
    const { timeoutMs, callMsMax } = this.#options;
    const silent = `no message for ${timeoutMs / 1000} s`;
    const long = `still running after ${callMsMax / 1000} s, the limit for a call`;
    return createActivityTimeout({
      silentMsMax: timeoutMs,
      totalMsMax: callMsMax,
      expired: (why) =>
        scope.cancel(
          why === "silent"
            ? new HallError("TIMEOUT", silent)
            : new HallError("TIMEOUT", long, { hint: longHint }),
        ),
    });
  }

  #openOutput(run: string, log: RunLog | undefined): OutputBuffer {
    const { dispatch, intervalMs } = this.#options;
    return new OutputBuffer({
      intervalMs,
      onOutput(lines) {
        log?.write(lines);
        dispatch({ kind: "output", run, lines });
      },
      onProgress: (progress) => dispatch({ kind: "progress", run, progress }),
    });
  }
}

const longHint =
  "Its changes are kept. A workflow step resumes where it stopped; give other tools less to do.";

function createView(id: string, { kind, tool, arguments: args, about }: CallRequest): RunView {
  return {
    id,
    kind,
    tool,
    arguments: args,
    about,
    state: { kind: "running" },
    startedAt: Date.now(),
    progress: undefined,
    output: emptyOutput,
    logPath: undefined,
  };
}

/** Passes progress, log messages and questions of a call to the screen. */
function createCallContext(
  { id: run, scope, output, isConfirmed }: ActiveRun & { readonly isConfirmed: boolean },
  timeout: ActivityTimeout,
  questionQueue: QuestionQueue,
): CallContext {
  let lastMessage: string | undefined;
  return {
    scope,
    meta: dottedNames,
    capabilities: questionQueue.capabilities,
    logLevel: "info",
    progress({ message, ...progress }) {
      timeout.renew();
      if (message === undefined) return output.progress(progress);
      const shown = sanitize(keepHead(message, lineCharactersMax)).replace(/\s+/g, " ");
      output.progress({ ...progress, message: shown });
      if (shown !== lastMessage) output.put([{ source: "progress", text: shown }]);
      lastMessage = shown;
    },
    log(level, data, logger) {
      const isQuiet = level === "debug" || level === "info" || level === "notice";
      const source = streamOf(logger) ?? (isQuiet ? "log" : "err");
      const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
      output.put(sanitizeLines(text).map((line) => ({ source, text: line })));
    },
    async ask(questions, asked) {
      // An address in one piece can be copied from the log.
      for (const { params } of Object.values(questions)) {
        const page = params?.mode === "url" ? readPage(params.url) : undefined;
        if (page) output.put([{ source: "log", text: `page to open: ${page.url}` }]);
      }
      const answers = await timeout.pauseWhile(() =>
        questionQueue.ask(questions, { run, scope: asked ?? scope, isConfirmed }),
      );
      // The user may take any time on a page; Esc ends the call.
      const hasOpened = Object.entries(answers).some(
        ([key, { action }]) => action === "accept" && questions[key]?.params?.mode === "url",
      );
      if (hasOpened) timeout.pause();
      return answers;
    },
  };
}

/** Loggers of commands are named after the stream: `speckit.command.stderr`. */
function streamOf(logger: string | undefined): "out" | "err" | undefined {
  const [, stream] = /(?:^|[./: ])std(out|err)$/.exec(logger ?? "") ?? [];
  return stream === "out" || stream === "err" ? stream : undefined;
}

/** Fits below the output on the smallest screen. */
const coveredCharactersMax = 150;

/** True if the failure, which is shown below the output, already says everything. */
function isCovered(lines: readonly OutputLine[], { message, hint }: Failure): boolean {
  return lines.every(
    ({ text }) =>
      text.length <= coveredCharactersMax &&
      [message, hint].some((shown) => shown.includes(text.trim())),
  );
}

/** All details, for the log. */
function describeError(error: unknown): string {
  if (!(error instanceof HallError))
    return `error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  const { code, message, relayed, details, cause } = error;
  const parts = [
    `error ${code}: ${message}`,
    relayed && `from the server: ${JSON.stringify(relayed)}`,
    details && `details: ${JSON.stringify(details)}`,
    cause instanceof Error && `cause: ${cause.stack ?? cause.message}`,
  ];
  return parts.filter(Boolean).join("\n");
}
