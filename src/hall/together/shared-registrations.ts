import type { ServerResponse } from "node:http";
import { HallError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { Scope } from "../../base/scope.ts";
import type { HealthBook } from "../../registry/health.ts";
import type { Runner } from "../../registry/registered.ts";
import type { Registrations } from "../../registry/registrations.ts";
import type { Board } from "../../store/shared/board.ts";

/** A registration as all halls know it. */
interface Shared {
  readonly params: JsonObject;
  /** The hall that the service is connected to, if it has no endpoint. */
  readonly hall?: string | undefined;
}

/** Sends a call to the hall that a service is connected to. */
export type SendRun = (hall: string, body: JsonObject, scope: Scope) => Promise<unknown>;

/**
 * Registrations that hold in all halls. `own` records a change; `book` only applies what another
 * hall has recorded. A call of a service that is connected to another hall goes through that hall.
 */
export function shareRegistrations(
  own: Registrations,
  book: Registrations,
  board: Board,
  send: SendRun,
): Registrations {
  async function apply(name: string, text: string | undefined): Promise<void> {
    if (text === undefined) {
      if (book.all().some(({ id }) => id === name)) await book.unregister(name);
      return;
    }
    const { params, hall } = JSON.parse(text) as Shared;
    if (hall === board.hall) return;
    const runner = hall === undefined ? undefined : runnerIn(hall, name, send);
    await book.register(params, runner).catch(async (error: unknown) => {
      if (!(error instanceof HallError) || error.code !== "CONFLICT") throw error;
      // Replaced in the meantime by one that this hall has not seen.
      await book.unregister(name);
      await book.register(params, runner);
    });
  }
  board.on("registrations", apply);

  return {
    ...own,
    async register(params, runner) {
      // Refused before anything changes if the other halls cannot be told.
      if (!board.isCurrent) await board.refresh();
      const toolkit = await own.register(params, runner);
      const hall = toolkit.runner?.kind === "connection" && runner ? board.hall : undefined;
      await board.put("registrations", toolkit.id, JSON.stringify({ params, hall }));
      return toolkit;
    },
    async unregister(name) {
      if (!board.isCurrent) await board.refresh();
      const toolkit = await own.unregister(name);
      await board.put("registrations", toolkit.id, undefined);
      return toolkit;
    },
  };
}

function runnerIn(hall: string, name: string, send: SendRun): Runner {
  return {
    kind: "connection",
    id: `${name} in ${hall}`,
    request: (method, params, scope) => send(hall, { name, method, params }, scope),
    // A hall that ended takes the connection with it; its service connects to another and registers again.
    onGone: () => () => {},
    close() {},
  };
}

/** Runs a call for another hall, on the service that is connected to this one. */
export async function runForOther(
  registrations: Registrations,
  { name, method, params }: JsonObject,
  response: ServerResponse,
): Promise<void> {
  const scope = new Scope();
  response.on("close", () => scope.cancel(new HallError("CANCELLED", "the other hall hung up")));
  let answer: JsonObject;
  try {
    const toolkit = registrations.all().find(({ id }) => id === name);
    const { runner } = toolkit ?? {};
    if (!runner || runner.id.startsWith(`${name} in `))
      throw new HallError("UNAVAILABLE", `${name} has no service attached`);
    const asked = method === "health/check" ? "health/check" : "tools/call";
    answer = { result: await runner.request(asked, params as JsonObject, scope) };
  } catch (error) {
    const { code, message, relayed } =
      error instanceof HallError ? error : new HallError("INTERNAL", String(error));
    answer = { failure: { code, message, relayed } };
  }
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
}

/** Shares the health of services with an endpoint: a breaker opens and closes in all halls. */
export function shareHealth(
  health: HealthBook,
  registrations: Pick<Registrations, "all">,
  board: Board,
): void {
  let isLearning = false;
  health.onChange(({ toolkit, from, to }) => {
    const isShared =
      !isLearning &&
      toolkit.source === "registered" &&
      registrations
        .all()
        .some(({ id, runner }) => id === toolkit.id && runner?.kind === "endpoint");
    if (!isShared || (to.state !== "unavailable" && from !== "unavailable")) return;
    const text =
      to.state === "unavailable"
        ? JSON.stringify({ hall: board.hall, reason: to.reason })
        : undefined;
    board.put("health", toolkit.id, text, { isQuick: true, ttlMs: restMs }).catch(() => {});
  });
  board.on("health", (name, text) => {
    const toolkit = registrations.all().find(({ id }) => id === name);
    const found = text === undefined ? undefined : JSON.parse(text);
    if (!toolkit || found?.hall === board.hall) return;
    isLearning = true;
    if (found) health.record(toolkit).openedElsewhere(found.reason);
    else health.record(toolkit).reset();
    isLearning = false;
  });
}

/** How long a breaker stays open. */
const restMs = 30_000;
