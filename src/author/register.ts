import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "../base/backoff.ts";
import { HallError, messageOf } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Toolkit } from "../tool.ts";
import type { Channel } from "../wire/channel.ts";
import { dialHall } from "./dial.ts";
import { connectHall, type HallLine } from "./hall-line.ts";
import { createService } from "./service.ts";

export interface RegisterOptions {
  /** Default: GUILDHALL_TOKEN, else this user's own where the hall is on this machine. */
  readonly token?: string;
  /** Takes the place of a different toolkit registered under the same name. */
  readonly replace?: boolean;
  /** Hears of lost connections, and why a new one did not come about. */
  warn?(message: string): void;
}

export interface Registered {
  /** Such as `search_tool_v1`. */
  readonly toolId: string;
  /** Leaves the hall: the toolkit turns unavailable there until somebody registers it again. */
  close(): Promise<void>;
}

/** Joins a running hall with a toolkit and serves its calls, through every loss of the connection. Rejects when the first registration is refused. */
export function register(
  toolkit: Toolkit,
  url: string,
  { token, ...options }: RegisterOptions = {},
): Promise<Registered> {
  return joinHall(toolkit, () => dialHall(url, token), options);
}

const firstDelayMs = 250;
const delayMsMax = 30_000;

/** The same over any line to a hall; `connect` is asked for a new one whenever the last is lost. */
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
        warn("the connection to the hall is lost; trying again");
        reopening = reopen();
      },
    });
    try {
      const { tool_id: toolId } = await opened.ask("tools/register", declaration);
      if (typeof toolId !== "string")
        throw new HallError(
          "BAD_ANSWER",
          "the hall did not say under which id the toolkit is registered",
        );
      // Nobody is left to close it later.
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
        if (!leaving.signal.aborted) warn(`not registered again yet: ${messageOf(error)}`);
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

/** What a toolkit says of itself when it registers. */
async function declare(
  { id, description = id, category, version, list }: Toolkit,
  replace: boolean,
): Promise<JsonObject> {
  const functions = (await list()).map(
    ({ name, description: text = name, inputSchema, outputSchema, annotations, facts }) => ({
      name,
      description: text,
      parameters: inputSchema,
      ...(outputSchema ? { returns: outputSchema } : {}),
      ...(annotations ? { annotations } : {}),
      ...(facts?.deprecatedIn === undefined
        ? {}
        : { metadata: { deprecated_in: facts.deprecatedIn } }),
      timeout_seconds: Math.min(
        timeoutSecondsMax,
        Math.max(1, (facts?.timeoutMs ?? 10_000) / 1000),
      ),
    }),
  );
  return {
    tool: {
      name: id,
      description,
      ...(category === undefined ? {} : { category }),
      ...(version === undefined ? {} : { version }),
      functions,
    },
    ...(replace ? { replace } : {}),
  };
}
