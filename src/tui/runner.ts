import { HallError } from "../base/errors.ts";
import { harmlessLines } from "../base/harmless.ts";
import type { JsonObject } from "../base/json.ts";
import type { Secrets } from "../base/log.ts";
import { Scope } from "../base/scope.ts";
import { createActivityTimeout } from "../client/activity-timeout.ts";
import { createCallContext } from "./call-context.ts";
import type { Connection } from "./connection.ts";
import type { TuiEvent } from "./events.ts";
import { explainFailure, explainResult, type Failure } from "./failure.ts";
import { createOutlet, type Outlet } from "./outlet.ts";
import { emptyOutput, type OutputLine } from "./output.ts";
import { pagesNeeded } from "./page.ts";
import type { Desk } from "./questions.ts";
import { type PictureReader, showResult } from "./result.ts";
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
  /** Done before the run is told to be over: what it has changed is known by then. */
  readonly settle?: () => Promise<void>;
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
  readonly readPicture?: PictureReader | undefined;
  tell(event: TuiEvent): void;
}

interface Workplace {
  readonly id: string;
  readonly scope: Scope;
  readonly outlet: Outlet;
  readonly log: RunLog | undefined;
}

export function createRunner({
  connection,
  desk,
  folder,
  server,
  timeoutMs,
  callMsMax,
  intervalMs,
  secrets,
  readPicture,
  tell,
}: RunnerOptions): Runner {
  const running = new Map<string, Workplace & { readonly over: Promise<RunState> }>();
  /** Where stderr goes: it comes on another pipe, so the last of it may come after the answer. Its log stays open for that. */
  let last: Workplace | undefined;
  let count = 0;

  async function carryOut(
    request: RunRequest,
    { id, scope, outlet, log }: Workplace,
  ): Promise<RunState> {
    const { tool } = request;
    const timeout = createActivityTimeout({
      silentMsMax: timeoutMs,
      totalMsMax: callMsMax,
      expired: (why) =>
        scope.cancel(
          why === "long"
            ? ranTooLong(callMsMax)
            : new HallError("TIMEOUT", `nothing was heard of it for ${timeoutMs / 1000} s`),
        ),
    });
    const context = createCallContext({ run: id, scope, outlet, timeout, desk });
    let failure: Failure;
    try {
      const result = await connection()
        .get()
        .relay("tools/call", { name: tool, arguments: request.arguments }, context);
      timeout.end();
      const { lines, saved } = await showResult(result, folder, readPicture);
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
      timeout.end();
    }
    return {
      kind: failure.kind === "unavailable" ? "failed" : failure.kind,
      endedAt: Date.now(),
      failure,
    };
  }

  async function begin(
    request: RunRequest,
    place: Workplace,
    before: Workplace | undefined,
  ): Promise<RunState> {
    const { id, outlet, log } = place;
    if (before && !running.has(before.id)) await before.log?.close();
    if (log) tell({ kind: "run logged", run: id, path: log.path });
    log?.note(`${request.tool} on ${server}\narguments: ${JSON.stringify(request.arguments)}`);
    const ended = await carryOut(request, place);
    outlet.flush();
    log?.note(
      "failure" in ended
        ? `${ended.kind}: ${ended.failure.message}\n${ended.failure.hint}`
        : ended.kind,
    );
    await log?.flush();
    await request.settle?.();
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
      const log = openRunLog({
        folder,
        about: request.kind === "step" ? request.about : "",
        tool: request.tool,
        secrets,
        now: () => new Date(),
      });
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
    cancel: (run) =>
      running.get(run)?.scope.cancel(new HallError("CANCELLED", "withdrawn by the user")),
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

function ranTooLong(ms: number): HallError {
  return new HallError(
    "TIMEOUT",
    `it was still at work after ${ms / 1000} s, the most a call gets`,
    {
      hint: "What it did by then stays. A step of the workflow goes on where it stopped when it is run again; give other tools less to do at once.",
    },
  );
}

/** Fits below the output on the smallest screen. */
const saidCharactersMax = 150;

/** Whether the failure, which stands below the output, tells all of it. */
function isSaid(lines: readonly OutputLine[], { message, hint }: Failure): boolean {
  return lines.every(
    ({ text }) =>
      text.length <= saidCharactersMax &&
      [message, hint].some((said) => said.includes(text.trim())),
  );
}

/** All there is to say of it, for the log. */
function writeError(error: unknown): string {
  if (!(error instanceof HallError))
    return `error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  const { code, message, relayed, details, cause } = error;
  const said = [
    `error ${code}: ${message}`,
    relayed && `the server said: ${JSON.stringify(relayed)}`,
    details && `details: ${JSON.stringify(details)}`,
  ];
  return [...said, cause instanceof Error && `cause: ${cause.stack ?? cause.message}`]
    .filter(Boolean)
    .join("\n");
}
