import { readAdvice } from "../base/advice.ts";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { Scope } from "../base/scope.ts";
import { version } from "../base/version.ts";
import { readElapsed } from "../client/line.ts";
import { type ProjectOptions, type Reached, visitHall } from "../hall/project.ts";
import { metaKeys } from "../server/versions.ts";
import type { Progress } from "../tool.ts";
import { createPatience, type Patience } from "../tui/patience.ts";
import { defaultLimits } from "../wire/limits.ts";
import { Peer } from "../wire/peer.ts";

/** Our own commands as an MCP client of the project's hall: the running one, or one that lives as long as the command. */
export interface HallClient {
  /** Waits as long as there is life: progress and words count as such. Throws TIMEOUT. */
  request(method: string, params: JsonObject, options?: RequestOptions): Promise<JsonObject>;
  /** All pages of a list. A person at a terminal wants to see every tool, whatever models are shown. */
  list(method: string, field: string, faces?: string): Promise<readonly JsonObject[]>;
  /** No hall was running: this one ends with the command, and with it what it asked a person. */
  readonly isPassing: boolean;
  close(): Promise<void>;
}

export interface RequestOptions {
  readonly progress?: (progress: Progress) => void;
  /** Hears what is said while it runs; without it nobody is asked to say anything. */
  readonly log?: (data: unknown) => void;
  /** Withdraws the request when it is cancelled. */
  readonly scope?: Scope;
  /** It belongs to the registry's dialect, which knows no `_meta`. */
  readonly isPlain?: boolean;
}

const envelope = {
  [metaKeys.version]: "2026-07-28",
  [metaKeys.clientInfo]: { name: "guildhall-cli", version },
};

/** Answers a question of the hall or of a tool, in the way of MCP's elicitation. */
export type AnswerQuestion = (params: JsonObject) => Promise<JsonObject>;

export interface HallClientOptions extends ProjectOptions {
  /** Where there is a person to be asked. */
  readonly answer?: AnswerQuestion | undefined;
}

/** How long a request may be silent. A person who waits has Ctrl-C, and a script its own clock. */
const silentMsMax = 600_000;
/** An implementation of many tasks takes hours. */
const requestMsMax = 12 * 3_600_000;

/** A request that is under way: who hears of it, and how long it is waited for. */
interface Waiting extends RequestOptions {
  readonly patience: Patience;
}

export async function connectHall({ answer, ...options }: HallClientOptions): Promise<HallClient> {
  const { channel, project }: Reached = await visitHall(options);
  const waiting = new Map<number, Waiting>();
  let nextToken = 0;
  const peer = new Peer(channel, {
    limits: defaultLimits,
    handle: ({ method }) => {
      throw new HallError("METHOD_NOT_FOUND", method);
    },
    notified: ({ method, params }) => {
      if (method === "notifications/progress")
        hearProgress(waiting.get(Number(params?.progressToken)), {
          ...(params as unknown as Progress),
          ...readElapsed(params ?? {}),
        });
      // It does not say which request it is about; there is one at a time that wants to hear it.
      if (method === "notifications/message")
        for (const one of waiting.values()) hearLog(one, params?.data);
    },
    explain: () => ({ error: { code: -32601, message: "not a server" } }),
    withdrawal: (requestId, reason) => ({
      method: "notifications/cancelled",
      params: { requestId, reason },
    }),
  });

  const request: HallClient["request"] = async (method, params, options = {}) => {
    const { log } = options;
    const scope = new Scope(options.scope);
    const patience = createPatience({
      silentMsMax,
      totalMsMax: requestMsMax,
      expired: (why) => scope.cancel(expiredError(method, why)),
    });
    const progressToken = ++nextToken;
    waiting.set(progressToken, { ...options, patience });
    try {
      const capabilities = { [metaKeys.capabilities]: answer ? { elicitation: { form: {} } } : {} };
      // Progress is wanted in any case: it is a sign of life.
      const wishes = { progressToken, ...(log ? { [metaKeys.logLevel]: "info" } : {}) };
      const _meta = {
        ...envelope,
        ...capabilities,
        ...(isObject(params._meta) ? params._meta : {}),
        ...wishes,
      };
      let result = await peer.request(method, options.isPlain ? params : { ...params, _meta }, {
        scope,
      });
      while (answer && isObject(result) && result.resultType === "input_required") {
        const { inputRequests, requestState } = result;
        const inputResponses = await patience.hold(() => answerAll(inputRequests, answer));
        result = await peer.request(
          method,
          { ...params, _meta, inputResponses, requestState },
          { scope },
        );
      }
      return isObject(result) ? result : {};
    } catch (error) {
      throw readError(error);
    } finally {
      waiting.delete(progressToken);
      patience.end();
      scope.close();
    }
  };

  return {
    request,
    isPassing: project !== undefined,
    async list(method, field, faces = "tools") {
      const items: JsonObject[] = [];
      let cursor: unknown;
      do {
        const _meta = { "guildhall/expose": faces };
        const page = await request(method, cursor === undefined ? { _meta } : { cursor, _meta });
        items.push(...((page[field] as JsonObject[] | undefined) ?? []));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return items;
    },
    async close() {
      await channel.close();
      await project?.close();
    },
  };
}

function hearProgress(heard: Waiting | undefined, progress: Progress): void {
  heard?.patience.renew();
  heard?.progress?.(progress);
}

function hearLog({ patience, log }: Waiting, data: unknown): void {
  patience.renew();
  log?.(data);
}

function expiredError(method: string, why: "silent" | "long"): HallError {
  const told =
    why === "silent"
      ? `nothing was heard of it for ${silentMsMax / 1_000} s`
      : `it was still at work after ${requestMsMax / 3_600_000} h`;
  return new HallError("TIMEOUT", `${method}: ${told}`, {
    hint: "What it did by then stays. Give it less to do at once, or look at `guildhall status`.",
  });
}

async function answerAll(questions: unknown, answer: AnswerQuestion): Promise<JsonObject> {
  const answers: Record<string, JsonObject> = {};
  for (const [key, question] of Object.entries(isObject(questions) ? questions : {})) {
    answers[key] = await answer(
      isObject(question) && isObject(question.params) ? question.params : {},
    );
  }
  return answers;
}

/** The hall's own words for it, so that the exit code says what happened. */
function readError(error: unknown): unknown {
  if (!(error instanceof HallError) || !isObject(error.relayed?.data)) return error;
  const { error_type: type, suggestion, next } = error.relayed.data;
  const code = type === "not_found" ? "NOT_FOUND" : error.code;
  return new HallError(code, error.message, {
    ...(typeof suggestion === "string" ? { hint: suggestion } : {}),
    next: readAdvice(next),
  });
}
