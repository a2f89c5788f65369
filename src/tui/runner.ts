import { HallError } from "../base/errors.ts";
import { harmlessLines, makeHarmless } from "../base/harmless.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Secrets } from "../base/log.ts";
import { Scope } from "../base/scope.ts";
import type { CallContext, Questions } from "../tool.ts";
import type { Connection } from "./connection.ts";
import type { TuiEvent } from "./events.ts";
import { explainFailure, explainResult, type Failure, visitFirst } from "./failure.ts";
import { createOutlet, type Outlet } from "./outlet.ts";
import { emptyOutput, keepHead, lineCharactersMax, type OutputLine } from "./output.ts";
import { readPage } from "./page.ts";
import { createPatience } from "./patience.ts";
import type { Desk } from "./questions.ts";
import { showResult } from "./result.ts";
import { openRunLog, type RunLog } from "./run-log.ts";
import type { RunState, RunView } from "./state.ts";

/** Calls tools for a person: shows what comes while they run, waits as long as there is life, and says how they ended. */
export interface Runner {
  /** Resolves when it is over, whatever happened: the state tells. Throws UNAVAILABLE at once where there is no connection. */
  run(request: RunRequest): Promise<RunState>;
  cancel(run: string): void;
  /** A line of the server's stderr: it belongs to the last run, as far as one can tell. */
  hearStderr(line: string): void;
  close(): Promise<void>;
}

export type RunRequest = Pick<RunView, "kind" | "tool" | "arguments" | "about"> & {
  /** Hears the result as it came, before the run is over. */
  readonly heard?: (run: string, result: JsonObject) => void;
};

export interface RunnerOptions {
  readonly connection: () => Connection;
  readonly desk: Desk;
  readonly folder: string;
  readonly server: string;
  /** How long a call may be silent. */
  readonly timeoutMs: number;
  /** How long a call may take, whatever it says. */
  readonly callMsMax: number;
  readonly intervalMs: number;
  readonly secrets: Secrets;
  tell(event: TuiEvent): void;
}

interface Workplace {
  readonly id: string;
  readonly scope: Scope;
  readonly outlet: Outlet;
  readonly log: RunLog | undefined;
}

export function createRunner({ connection, desk, folder, server, timeoutMs, callMsMax, intervalMs, secrets, tell }: RunnerOptions): Runner {
  const running = new Map<string, Workplace & { readonly over: Promise<RunState> }>();
  /** Where stderr goes: it comes on another pipe, so the last of it may come after the answer. Its log stays open for that. */
  let last: Workplace | undefined;
  let count = 0;

  async function carryOut(request: RunRequest, { id, scope, outlet, log }: Workplace): Promise<RunState> {
    const { tool } = request;
    const patience = createPatience({
      silentMsMax: timeoutMs,
      totalMsMax: callMsMax,
      expired: (why) => scope.cancel(why === "long" ? ranTooLong(callMsMax) : new HallError("TIMEOUT", `nothing was heard of it for ${timeoutMs / 1000} s`)),
    });
    const context = contextFor({ id, scope, outlet, patience, desk });
    let failure: Failure;
    try {
      const result = await connection().get().relay("tools/call", { name: tool, arguments: request.arguments }, context);
      patience.end();
      const { lines, saved } = await showResult(result, folder);
      request.heard?.(id, result);
      if (result.isError !== true) {
        outlet.put(lines);
        return { kind: "completed", endedAt: Date.now(), result, saved };
      }
      failure = explainResult(result, tool);
      if (!isSaid(lines, failure)) outlet.put(lines);
      log?.note(`result: ${JSON.stringify(result)}`);
    } catch (error) {
      log?.note(writeError(error));
      const pages = pagesNeeded(error);
      // Whatever the answers are: the server knows what was done on its pages when it is called again.
      if (pages) await context.ask(pages).catch(() => {});
      failure = explainFailure(error, tool);
      connection().doubt(error);
    } finally {
      patience.end();
    }
    return { kind: failure.kind === "unavailable" ? "failed" : failure.kind, endedAt: Date.now(), failure };
  }

  async function begin(request: RunRequest, place: Workplace, before: Workplace | undefined): Promise<RunState> {
    const { id, outlet, log } = place;
    if (before && !running.has(before.id)) await before.log?.close();
    if (log) tell({ kind: "run logged", run: id, path: log.path });
    log?.note(`${request.tool} on ${server}\narguments: ${JSON.stringify(request.arguments)}`);
    const ended = await carryOut(request, place);
    outlet.flush();
    log?.note("failure" in ended ? `${ended.kind}: ${ended.failure.message}\n${ended.failure.hint}` : ended.kind);
    await log?.flush();
    tell({ kind: "run ended", run: id, state: ended });
    if (last !== place) await log?.close();
    return ended;
  }

  function openOutlet(run: string, log: RunLog | undefined): Outlet {
    return createOutlet({
      intervalMs,
      output(lines) {
        log?.write(lines);
        tell({ kind: "output", run, lines });
      },
      progress: (progress) => tell({ kind: "progress", run, progress }),
    });
  }

  return {
    async run(request) {
      // A call that cannot go out is none: what was typed stays where it is.
      connection().get();
      const id = `run_${++count}`;
      const scope = new Scope();
      const view: RunView = {
        id,
        kind: request.kind,
        tool: request.tool,
        arguments: request.arguments,
        about: request.about,
        state: { kind: "running" },
        startedAt: Date.now(),
        progress: undefined,
        output: emptyOutput,
        logPath: undefined,
      };
      tell({ kind: "run started", run: view });
      const log = openRunLog({ folder, about: request.kind === "step" ? request.about : "", tool: request.tool, secrets, now: () => new Date() });
      const place: Workplace = { id, scope, outlet: openOutlet(id, log), log };
      const before = last;
      last = place;
      const over = begin(request, place, before);
      running.set(id, { ...place, over });
      try {
        return await over;
      } finally {
        running.delete(id);
        scope.close();
      }
    },
    cancel: (run) => running.get(run)?.scope.cancel(new HallError("CANCELLED", "withdrawn by the user")),
    hearStderr(line) {
      last?.outlet.put(harmlessLines(line).map((text) => ({ source: "err", text })));
    },
    async close() {
      const all = [...running.values()];
      for (const { scope } of all) scope.cancel(new HallError("CANCELLED", "the client ends"));
      await Promise.allSettled(all.map(({ over }) => over));
      last?.outlet.flush();
      await last?.log?.close();
    },
  };
}

const pagesMax = 5;

interface ContextParts {
  readonly id: string;
  readonly scope: Scope;
  readonly outlet: Outlet;
  readonly patience: ReturnType<typeof createPatience>;
  readonly desk: Desk;
}

function contextFor({ id, scope, outlet, patience, desk }: ContextParts): CallContext {
  let lastNews: string | undefined;
  return {
    scope,
    capabilities: desk.capabilities,
    logLevel: "info",
    progress({ message, ...progress }) {
      patience.renew();
      const shown = message === undefined ? undefined : makeHarmless(keepHead(message, lineCharactersMax)).replace(/\s+/g, " ");
      outlet.progress({ ...progress, ...(shown === undefined ? {} : { message: shown }) });
      const news = shown?.replace(age, "");
      if (shown !== undefined && news !== lastNews) outlet.put([{ source: "progress", text: shown }]);
      lastNews = news;
    },
    log(level, data, logger) {
      const source = streamOf(logger) ?? (level === "debug" || level === "info" || level === "notice" ? "log" : "err");
      const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
      outlet.put(harmlessLines(text).map((line) => ({ source, text: line })));
    },
    async ask(questions, asked) {
      // In one piece, to be copied from the log.
      const pages = Object.values(questions).map(({ params }) => (params?.mode === "url" ? readPage(params.url) : undefined));
      outlet.put(pages.flatMap((page) => (page ? [{ source: "log", text: `the page to open: ${page.url}` } as const] : [])));
      const answers = await patience.hold(() => desk.ask(questions, { run: id, scope: asked ?? scope }));
      // What a person does on a page takes as long as it takes; Esc ends the call.
      if (Object.entries(answers).some(([key, { action }]) => action === "accept" && questions[key]?.params?.mode === "url")) patience.rest();
      return answers;
    },
  };
}

/** How long something has run is seen at the bar; as a line of output it would come every few seconds. */
const age = / \(\d+ s\)$/;

/** Commands are heard through logs that are named after what they write to: `speckit.command.stderr`. */
function streamOf(logger: string | undefined): "out" | "err" | undefined {
  const [, stream] = /(?:^|[./: ])std(out|err)$/.exec(logger ?? "") ?? [];
  return stream === "out" || stream === "err" ? stream : undefined;
}

function ranTooLong(ms: number): HallError {
  return new HallError("TIMEOUT", `it was still at work after ${ms / 1000} s, the most a call gets`, {
    hint: "What it did by then stays. A step of the workflow goes on where it stopped when it is run again; give other tools less to do at once.",
  });
}

/** Fits below the output on the smallest screen. */
const saidCharactersMax = 150;

/** Whether the failure, which stands below the output, tells all of it. */
function isSaid(lines: readonly OutputLine[], { message, hint }: Failure): boolean {
  return lines.every(({ text }) => text.length <= saidCharactersMax && [message, hint].some((said) => said.includes(text.trim())));
}

/** A refusal that says which pages a person must visit first, as questions. */
function pagesNeeded(error: unknown): Questions | undefined {
  if (!(error instanceof HallError) || error.relayed?.code !== visitFirst) return undefined;
  const { elicitations } = isObject(error.relayed.data) ? error.relayed.data : {};
  const pages = (Array.isArray(elicitations) ? elicitations : []).filter(isObject).slice(0, pagesMax);
  return Object.fromEntries(pages.map((params, index) => [`page ${index}`, { method: "elicitation/create", params: { ...params, mode: "url" } }]));
}

/** All there is to say of it, for the log. */
function writeError(error: unknown): string {
  if (!(error instanceof HallError)) return `error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  const { code, message, relayed, details, cause } = error;
  const said = [`error ${code}: ${message}`, relayed && `the server said: ${JSON.stringify(relayed)}`, details && `details: ${JSON.stringify(details)}`];
  return [...said, cause instanceof Error && `cause: ${cause.stack ?? cause.message}`].filter(Boolean).join("\n");
}
