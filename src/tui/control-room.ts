import { HallError } from "../base/errors.ts";
import { makeHarmless } from "../base/harmless.ts";
import type { AdminClient } from "../hall/admin-client.ts";
import type { Answer } from "../trust/approvals.ts";
import type { LoadedPart, TuiEvent } from "./events.ts";
import { explainFailure } from "./failure.ts";
import type { ScreenName } from "./state.ts";

/** What only a hall can be asked, over its control socket: servers, approvals, statistics. */
export interface ControlRoom {
  /** Reads what the screen shows, and always the approvals: somebody may be waiting. */
  poll(screen: ScreenName): Promise<void>;
  restart(server: string): Promise<void>;
  showLogs(server: string): Promise<void>;
  approve(token: string, answer: Answer): Promise<void>;
  close(): Promise<void>;
}

export interface ControlRoomOptions {
  /** Undefined when no hall runs that could be asked. */
  connect(): Promise<AdminClient | undefined>;
  tell(event: TuiEvent): void;
}

/** Figures of the last day, by the hour. */
const shownMs = 24 * 60 * 60 * 1000;

export function createControlRoom({ connect, tell }: ControlRoomOptions): ControlRoom {
  let client: AdminClient | undefined;
  let isPolling = false;

  /** On the line there is; once more on a new one, should the hall have changed. Throws UNAVAILABLE. */
  async function ask<T>(question: (admin: AdminClient) => Promise<T>): Promise<T> {
    const old = client;
    client ??= await connect();
    if (!client)
      throw new HallError("UNAVAILABLE", "this project's hall cannot be asked", {
        hint: "It is of another version, or stopped.",
      });
    try {
      return await question(client);
    } catch (error) {
      const isLost =
        error instanceof HallError && error.code === "UNAVAILABLE" && error.relayed === undefined;
      if (!isLost) throw error;
      await client.close();
      client = undefined;
      if (!old) throw error;
      return ask(question);
    }
  }

  async function read(
    part: LoadedPart,
    question: (admin: AdminClient) => Promise<TuiEvent>,
  ): Promise<void> {
    try {
      tell(await ask(question));
    } catch (error) {
      tell({ kind: "load failed", part, failure: explainFailure(error, part) });
    }
  }

  const readers: Readonly<Partial<Record<ScreenName, () => Promise<void>>>> = {
    servers: () =>
      read("servers", async (admin) => ({ kind: "status", status: await admin.ask("status", {}) })),
    stats: () =>
      read("stats", async (admin) => ({
        kind: "statistics",
        statistics: await admin.ask("statistics", { since: Date.now() - shownMs }),
      })),
  };

  return {
    async poll(screen) {
      // A hall that answers slowly is not asked again meanwhile.
      if (isPolling) return;
      isPolling = true;
      try {
        await read("approvals", async (admin) => ({
          kind: "approvals",
          pending: (await admin.ask("approvals", {})).pending,
        }));
        await readers[screen]?.();
      } finally {
        isPolling = false;
      }
    },
    async restart(server) {
      await ask((admin) => admin.ask("restart", { server }));
      tell({
        kind: "notice",
        level: "info",
        text: `${server} was stopped; it starts again at its next call`,
      });
      await readers.servers?.();
    },
    async showLogs(server) {
      const { lines } = await ask((admin) => admin.ask("logs", { server }));
      tell({ kind: "logs", server, lines: lines.map(makeHarmless) });
    },
    async approve(token, answer) {
      const { tool } = await ask((admin) => admin.ask("approve", { token, answer }));
      tell({
        kind: "notice",
        level: "info",
        text: answer === "no" ? `${tool} was refused` : `${tool} may go on`,
      });
      await read("approvals", async (admin) => ({
        kind: "approvals",
        pending: (await admin.ask("approvals", {})).pending,
      }));
    },
    async close() {
      await client?.close();
      client = undefined;
    },
  };
}
