import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Scope } from "../base/scope.ts";
import { version } from "../base/version.ts";
import type { Progress } from "../tool.ts";
import { defaultLimits } from "../wire/limits.ts";
import { Peer } from "../wire/peer.ts";
import { type ProjectOptions, type Reached, visitHall } from "./project.ts";

/** Our own commands as an MCP client of the project's hall: the running one, or one that lives as long as the command. */
export interface HallClient {
  /** `scope` withdraws the request when it is cancelled. */
  request(method: string, params: JsonObject, options?: { readonly progress?: (progress: Progress) => void; readonly scope?: Scope }): Promise<JsonObject>;
  /** All pages of a list. A person at a terminal wants to see every tool, whatever models are shown. */
  list(method: string, field: string, faces?: string): Promise<readonly JsonObject[]>;
  /** No hall was running: this one ends with the command, and with it what it asked a person. */
  readonly isPassing: boolean;
  close(): Promise<void>;
}

const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "guildhall-cli", version },
};

/** Answers a question of the hall or of a tool, in the way of MCP's elicitation. */
export type AnswerQuestion = (params: JsonObject) => Promise<JsonObject>;

export interface HallClientOptions extends ProjectOptions {
  /** Where there is a person to be asked. */
  readonly answer?: AnswerQuestion | undefined;
}

const requestMsMax = 600_000;

export async function connectHall({ answer, ...options }: HallClientOptions): Promise<HallClient> {
  const { channel, project }: Reached = await visitHall(options);
  const listeners = new Map<number, (progress: Progress) => void>();
  let nextToken = 0;
  const peer = new Peer(channel, {
    limits: defaultLimits,
    handle: ({ method }) => {
      throw new HallError("METHOD_NOT_FOUND", method);
    },
    notified: ({ method, params }) => {
      if (method === "notifications/progress") listeners.get(Number(params?.progressToken))?.(params as unknown as Progress);
    },
    explain: () => ({ error: { code: -32601, message: "not a server" } }),
    withdrawal: (requestId, reason) => ({ method: "notifications/cancelled", params: { requestId, reason } }),
  });

  const request: HallClient["request"] = async (method, params, { progress, scope } = {}) => {
    const limits = { timeoutMs: requestMsMax, ...(scope ? { scope } : {}) };
    const progressToken = ++nextToken;
    if (progress) listeners.set(progressToken, progress);
    try {
      const capabilities = { "io.modelcontextprotocol/clientCapabilities": answer ? { elicitation: { form: {} } } : {} };
      const _meta = { ...envelope, ...capabilities, ...(isObject(params._meta) ? params._meta : {}), ...(progress ? { progressToken } : {}) };
      let result = await peer.request(method, { ...params, _meta }, limits);
      while (answer && isObject(result) && result.resultType === "input_required") {
        const { inputRequests, requestState } = result;
        const inputResponses: Record<string, JsonObject> = {};
        for (const [key, question] of Object.entries(isObject(inputRequests) ? inputRequests : {})) {
          inputResponses[key] = await answer(isObject(question) && isObject(question.params) ? question.params : {});
        }
        result = await peer.request(method, { ...params, _meta, inputResponses, requestState }, limits);
      }
      return isObject(result) ? result : {};
    } catch (error) {
      throw readError(error);
    } finally {
      listeners.delete(progressToken);
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

/** The hall's own words for it, so that the exit code says what happened. */
function readError(error: unknown): unknown {
  if (!(error instanceof HallError) || !isObject(error.relayed?.data)) return error;
  const { error_type: type, suggestion } = error.relayed.data;
  const hint = typeof suggestion === "string" ? { hint: suggestion } : {};
  return type === "not_found" ? new HallError("NOT_FOUND", error.message, hint) : new HallError(error.code, error.message, hint);
}
