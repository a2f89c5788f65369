import { HallError } from "../base/errors.ts";
import { sanitize } from "../base/sanitize.ts";
import type { AdminClient } from "../hall/admin-client.ts";
import type { ApprovalAnswer } from "../trust/approvals.ts";
import type { Dispatch, LoadedPart, TuiEvent } from "./events.ts";
import { explainFailure } from "./failure.ts";
import type { ScreenName } from "./state.ts";

export interface AdminPollerOptions {
  /** Undefined when no hall is running. */
  connect(): Promise<AdminClient | undefined>;
  readonly dispatch: Dispatch;
}

/** Statistics cover the last day. */
const statisticsMs = 24 * 60 * 60 * 1000;

/** Servers, approvals and statistics over the hall's control socket. */
export class AdminPoller {
  readonly #options: AdminPollerOptions;
  #client: AdminClient | undefined;
  #isPolling = false;

  constructor(options: AdminPollerOptions) {
    this.#options = options;
  }

  /** Loads what the screen shows, and always the approvals, which a caller may be waiting for. */
  async poll(screen: ScreenName): Promise<void> {
    // Skip a turn while a slow hall has not answered the last one.
    if (this.#isPolling) return;
    this.#isPolling = true;
    try {
      await this.#loadApprovals();
      if (screen === "servers") await this.#loadServers();
      if (screen === "stats") await this.#loadStatistics();
    } finally {
      this.#isPolling = false;
    }
  }

  async restart(server: string): Promise<void> {
    await this.#ask((admin) => admin.ask("restart", { server }));
    this.#inform(`${server} was stopped; it starts again on the next call`);
    await this.#loadServers();
  }

  async showLogs(server: string): Promise<void> {
    const { lines } = await this.#ask((admin) => admin.ask("logs", { server }));
    this.#options.dispatch({ kind: "logs", server, lines: lines.map(sanitize) });
  }

  async approve(token: string, answer: ApprovalAnswer): Promise<void> {
    const { tool } = await this.#ask((admin) => admin.ask("approve", { token, answer }));
    this.#inform(answer === "no" ? `${tool} was denied` : `${tool} was approved`);
    await this.#loadApprovals();
  }

  async close(): Promise<void> {
    await this.#client?.close();
    this.#client = undefined;
  }

  #inform(text: string): void {
    this.#options.dispatch({ kind: "notice", level: "info", text });
  }

  #loadApprovals(): Promise<void> {
    return this.#load("approvals", async (admin) => {
      const { pending } = await admin.ask("approvals", {});
      return { kind: "approvals", pending };
    });
  }

  #loadServers(): Promise<void> {
    return this.#load("servers", async (admin) => ({
      kind: "status",
      status: await admin.ask("status", {}),
    }));
  }

  #loadStatistics(): Promise<void> {
    return this.#load("stats", async (admin) => ({
      kind: "statistics",
      statistics: await admin.ask("statistics", { since: Date.now() - statisticsMs }),
    }));
  }

  async #load(
    part: LoadedPart,
    question: (admin: AdminClient) => Promise<TuiEvent>,
  ): Promise<void> {
    const { dispatch } = this.#options;
    try {
      dispatch(await this.#ask(question));
    } catch (error) {
      dispatch({ kind: "load failed", part, failure: explainFailure(error, part) });
    }
  }

  /** Retries once on a new connection, in case the hall was replaced. Throws UNAVAILABLE. */
  async #ask<T>(question: (admin: AdminClient) => Promise<T>): Promise<T> {
    const old = this.#client;
    const client = old ?? (await this.#options.connect());
    if (!client)
      throw new HallError("UNAVAILABLE", "cannot reach the hall of this project", {
        hint: "It has stopped, or has another version.",
      });
    this.#client = client;
    try {
      return await question(client);
    } catch (error) {
      const isLost =
        error instanceof HallError && error.code === "UNAVAILABLE" && error.relayed === undefined;
      if (!isLost) throw error;
      await client.close();
      this.#client = undefined;
      if (!old) throw error;
      return this.#ask(question);
    }
  }
}
