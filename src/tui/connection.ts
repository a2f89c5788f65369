import { backoffMs } from "../base/backoff.ts";
import { HallError } from "../base/errors.ts";
import { makeHarmless, wordOf } from "../base/harmless.ts";
import type { JsonObject } from "../base/json.ts";
import { Scope } from "../base/scope.ts";
import type { Line } from "../client/line.ts";
import type { ListKind } from "../tool.ts";
import { explainFailure, type Failure } from "./failure.ts";
import type { ConnectionState } from "./state.ts";
import type { Target } from "./target.ts";

/** The line to the target, opened again whenever it is lost. */
export interface Connection {
  /** Throws UNAVAILABLE while there is none. */
  get(): Line;
  /** What a failed call says about the line: one that leads nowhere, or has expired, is given up for a new one. */
  doubt(error: unknown): void;
  /** Does not wait for the next try. */
  reconnect(): void;
  /** Says goodbye, and ends what was started. */
  close(): Promise<void>;
}

export interface ConnectionOptions {
  readonly target: Target;
  readonly capabilities: JsonObject;
  changed(state: ConnectionState): void;
  listChanged(kind: ListKind): void;
  said(line: string): void;
  readonly random?: (() => number) | undefined;
}

const startMsMax = 30_000;
const goodbyeMsMax = 1_000;
const backoffMsMin = 500;
const backoffMsMax = 30_000;

export function openConnection({
  target,
  capabilities,
  changed,
  listChanged,
  said,
  random = Math.random,
}: ConnectionOptions): Connection {
  const { name } = target.view;
  let line: Line | undefined;
  let starting: Scope | undefined;
  let wake = (): void => {};
  let tellLost = (_reason: string): void => {};
  let isClosed = false;

  /** Resolves with why the line was lost. Throws where there was none. */
  async function stayConnected(): Promise<string> {
    const scope = new Scope(undefined, startMsMax, name);
    starting = scope;
    const lost = new Promise<string>((resolve) => {
      tellLost = resolve;
    });
    try {
      line = await scope.race(
        target.connect({
          scope,
          capabilities,
          listChanged,
          said,
          lost: (reason) => tellLost(reason),
        }),
      );
    } catch (error) {
      scope.cancel(new HallError("UNAVAILABLE", "the start failed"));
      throw error;
    }
    scope.close();
    if (isClosed) {
      // It came up while it was being closed: nobody else knows of it.
      await line.close();
      throw new HallError("CANCELLED", "the client ends");
    }
    const { era, version, info } = line.greeting;
    line.listen([]);
    changed({
      kind: "ready",
      era,
      version,
      server: oneLine(wordOf(info.name, "a server without a name")),
    });
    return lost;
  }

  async function keep(): Promise<void> {
    let failure: Failure | undefined;
    for (let attempt = 1; !isClosed; attempt++) {
      changed({ kind: "connecting", attempt, ...(failure ? { failure } : {}) });
      const problem = await stayConnected().then(
        (reason) => {
          attempt = 1;
          return new HallError("UNAVAILABLE", reason);
        },
        (error: unknown) => error,
      );
      line = undefined;
      if (isClosed) return;
      failure = tellFailure(problem);
      await rest(failure, attempt);
    }
  }

  function tellFailure(problem: unknown): Failure {
    return {
      ...explainFailure(problem, name),
      hint: wantsToken(problem)
        ? tokenHint
        : "It is tried again by itself; what you have typed stays.",
    };
  }

  async function rest(failure: Failure, attempt: number): Promise<void> {
    const delayMs = backoffMs(attempt, { firstMs: backoffMsMin, maxMs: backoffMsMax }, random);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, delayMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
      changed({ kind: "lost", failure, attempt, retryAt: Date.now() + delayMs });
    });
  }

  const kept = keep();
  return {
    get() {
      if (line && !line.isLost) return line;
      throw new HallError("UNAVAILABLE", "there is no connection", {
        hint: "Wait until it is back; what you have typed stays.",
      });
    },
    doubt(error) {
      const open = line;
      if (!open || open.isLost || !leadsNowhere(error)) return;
      line = undefined;
      tellLost(error.message);
      // Nobody is at its other end to say goodbye to.
      void open.close().catch(() => {});
    },
    reconnect: () => wake(),
    async close() {
      if (isClosed) return;
      isClosed = true;
      const open = line;
      if (open && !open.isLost) {
        const goodbye = new Scope(undefined, goodbyeMsMax);
        await open.leave(goodbye);
        goodbye.close();
      }
      await open?.close();
      starting?.cancel(new HallError("CANCELLED", "the client ends"));
      wake();
      // A line that was open resolves nothing any more; its loop ends with the process.
      if (!open) await kept;
      await target.close();
      changed({ kind: "closed" });
    },
  };
}

/** Whatever a server calls itself, it is one word of a line of ours. */
function oneLine(name: string): string {
  return makeHarmless(name).replace(/\s+/g, " ").trim();
}

const tokenHint =
  "Put its token into headers of [mcp] in your config, such as Authorization, and start the client again.";

function wantsToken(error: unknown): boolean {
  return error instanceof HallError && error.code === "DENIED";
}

/** Over HTTP a line is there although nobody is at its other end: only an answer that does not come, or forgets us, tells. */
function leadsNowhere(error: unknown): error is HallError {
  if (!(error instanceof HallError) || error.code !== "UNAVAILABLE" || error.relayed) return false;
  return error.details?.expired === true || error.details?.unreachable === true;
}
