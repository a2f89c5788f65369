import type { JsonObject } from "../base/json.ts";
import { type AnswerQuestion, Client, type ClientRequestOptions } from "../client/client.ts";
import { McpConnection } from "../client/connection.ts";
import { dottedNames } from "../registry/shown-names.ts";
import { defaultLimits } from "../wire/channel.ts";
import { type ProjectOptions, reachHall } from "./project.ts";

/** A client of the project's hall: the running one, or a temporary one. */
export interface HallClient {
  /** Throws TIMEOUT after ten minutes without progress. */
  request(method: string, params: JsonObject, options?: ClientRequestOptions): Promise<JsonObject>;
  /** All pages of a list. Commands see every tool, whatever models see. */
  list(method: string, field: string, faces?: string): Promise<readonly JsonObject[]>;
  /** No hall was running: this one ends with the command, and pending approvals end with it. */
  readonly isEphemeral: boolean;
  /** Servers of which a temporary hall knows nothing, because it starts none to list them. */
  readonly unlisted: readonly string[];
  close(): Promise<void>;
}

export interface HallClientOptions extends ProjectOptions {
  /** Answers questions of tools, if a person can be asked. */
  readonly answer?: AnswerQuestion | undefined;
  /** The tool that will be called: without a running hall, its server is waited for. */
  readonly tool?: string | undefined;
}

/** How long a request may take without progress. */
const silentMsMax = 600_000;
/** Implementing many workflow tasks takes hours. */
const totalMsMax = 12 * 3_600_000;

export async function connectHall({
  answer,
  tool,
  ...options
}: HallClientOptions): Promise<HallClient> {
  const { channel, project } = await reachHall(options, tool);
  // A hall of ours speaks the newest version: no handshake is needed.
  const connection = new McpConnection(channel, { limits: defaultLimits }).assumeModern();
  const client = new Client(connection, { answer, silentMsMax, totalMsMax });
  return {
    request: (method, params, requestOptions) =>
      client.request(method, params, {
        ...requestOptions,
        meta: { ...requestOptions?.meta, ...dottedNames },
      }),
    list: (method, field, faces = "tools") =>
      client.list(method, field, {
        meta: { "guildhall/expose": faces, ...dottedNames },
      }),
    isEphemeral: project !== undefined,
    unlisted: (project?.hall.fleet.all() ?? [])
      .filter((server) => !server.handshake() && server.state().kind !== "unusable")
      .map(({ id }) => id),
    async close() {
      await client.close();
      await project?.close();
    },
  };
}
