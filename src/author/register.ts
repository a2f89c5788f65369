import { setTimeout as sleep } from "node:timers/promises";
import { HallError, messageOf } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { backoffMs } from "../base/timing.ts";
import type { Toolkit } from "../tool.ts";
import type { Channel } from "../wire/channel.ts";
import { dialHall } from "./dial.ts";
import { connectHall, type HallLine } from "./hall-line.ts";
import { createService } from "./service.ts";

export interface RegisterOptions {
  /** Default: GUILDHALL_TOKEN, or the user's own on this machine. */
  readonly token?: string;
  /** Replaces another toolkit of the same name. */
  readonly replace?: boolean;
  /** Called for lost connections and failed reconnects. */
  warn?(message: string): void;
}

export interface Registered {
  /** Such as `search_tool_v1`. */
  readonly toolId: string;
  /** Disconnects from the hall: the toolkit is unavailable until it is registered again. */
  close(): Promise<void>;
}

/** Registers a toolkit with a running hall and serves its calls; reconnects when the connection is lost. Rejects if the first registration fails. */
export function register(
  toolkit: Toolkit,
  url: string,
  { token, ...options }: RegisterOptions = {},
): Promise<Registered> {
  return joinHall(toolkit, () => dialHall(url, token), options);
}

const firstDelayMs = 250;
const delayMsMax = 30_000;

/** The same over any connection; `connect` opens a new one when the last is lost. */
export async function joinHall(
  toolkit: Toolkit,
  connect: () => Promise<Channel>,
  { replace = false, warn = () => {} }: Omit<RegisterOptions, "token"> = {},
): Promise<Registered> {
  const serve = await createService(toolkit);
  const declaration = await declare(toolkit, replace);
  const leaving = new AbortController();
  let line: HallLine | undefined;
  let reopening: Promise<void> | undefined;

  async function open(): Promise<string> {
    const opened: HallLine = connectHall(await connect(), {
      serve,
      lost() {
        if (leaving.signal.aborted || line !== opened) return;
        line = undefined;
        warn("lost the connection to the hall; reconnecting");
        reopening = reopen();
      },
    });
    try {
      const { tool_id: toolId } = await opened.ask("tools/register", declaration);
      if (typeof toolId !== "string")
        throw new HallError("BAD_ANSWER", "the hall returned no id for the registered toolkit");
      // Closed meanwhile: nothing else would close this connection.
      if (leaving.signal.aborted) await opened.close();
      else line = opened;
      return toolId;
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  async function reopen(): Promise<void> {
    for (let attempt = 1; !leaving.signal.aborted; attempt++) {
      const waitMs = backoffMs(attempt, { firstMs: firstDelayMs, maxMs: delayMsMax });
      try {
        await sleep(waitMs, undefined, { signal: leaving.signal });
        toolId = await open();
        return;
      } catch (error) {
        if (!leaving.signal.aborted) warn(`registration failed, retrying: ${messageOf(error)}`);
      }
    }
  }

  let toolId = await open();
  return {
    get toolId() {
      return toolId;
    },
    async close() {
      leaving.abort();
      await line?.close();
      await reopening;
    },
  };
}

const timeoutSecondsMax = 30;

/** The registration of a toolkit. */
async function declare(
  { id, description = id, category, version, list }: Toolkit,
  replace: boolean,
): Promise<JsonObject> {
  const functions = (await list()).map(
    ({ name, description: text = name, inputSchema, outputSchema, annotations, facts }) => ({
      name,
      description: text,
      parameters: inputSchema,
      returns: outputSchema,
      annotations,
      metadata: facts?.deprecatedIn && { deprecated_in: facts.deprecatedIn },
      timeout_seconds: Math.min(
        timeoutSecondsMax,
        Math.max(1, (facts?.timeoutMs ?? 10_000) / 1000),
      ),
    }),
  );
  return { tool: { name: id, description, category, version, functions }, replace };
}
