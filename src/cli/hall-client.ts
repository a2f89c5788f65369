import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { version } from "../base/version.ts";
import type { Progress } from "../tool.ts";
import { defaultLimits } from "../wire/limits.ts";
import { Peer } from "../wire/peer.ts";
import { type ProjectOptions, type Reached, visitHall } from "./project.ts";

/** Our own commands as an MCP client of the project's hall: the running one, or one that lives as long as the command. */
export interface HallClient {
  request(method: string, params: JsonObject, options?: { readonly progress?: (progress: Progress) => void }): Promise<JsonObject>;
  /** All pages of a list. A person at a terminal wants to see every tool, whatever models are shown. */
  list(method: string, field: string, faces?: string): Promise<readonly JsonObject[]>;
  close(): Promise<void>;
}

const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "guildhall-cli", version },
  "io.modelcontextprotocol/clientCapabilities": {},
};

const requestMsMax = 600_000;

export async function connectHall(options: ProjectOptions): Promise<HallClient> {
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

  const request: HallClient["request"] = async (method, params, { progress } = {}) => {
    const progressToken = ++nextToken;
    if (progress) listeners.set(progressToken, progress);
    try {
      const _meta = { ...envelope, ...(isObject(params._meta) ? params._meta : {}), ...(progress ? { progressToken } : {}) };
      const result = await peer.request(method, { ...params, _meta }, { timeoutMs: requestMsMax });
      return isObject(result) ? result : {};
    } catch (error) {
      throw readError(error);
    } finally {
      listeners.delete(progressToken);
    }
  };

  return {
    request,
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
