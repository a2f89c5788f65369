import { HallError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { Scope } from "../base/scope.ts";
import type { Health, Toolkit } from "../tool.ts";
import type { HealthBook } from "./health.ts";
import type { Registry } from "./registry.ts";

/** Probes toolkits that are not built in, periodically and on request. */
export interface Monitor {
  /** Probes one now; resolves when its record is updated. */
  check(toolkit: Toolkit): Promise<void>;
  readonly intervalSeconds: number;
  close(): void;
}

export interface MonitorOptions {
  readonly registry: Registry;
  readonly health: HealthBook;
  readonly log: Log;
  /** Default 60. */
  readonly intervalSeconds?: number | undefined;
  /** Default 5,000. */
  readonly timeoutMs?: number | undefined;
}

const atOnceMax = 8;

export function createMonitor({
  registry,
  health,
  log,
  intervalSeconds = 60,
  timeoutMs = 5_000,
}: MonitorOptions): Monitor {
  const running = new Map<Toolkit, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const leave = health.onChange(({ toolkit, from, to }) =>
    log.info(
      { toolkit: toolkit.id, from, to: to.state, reason: "reason" in to ? to.reason : undefined },
      "health changed",
    ),
  );

  function check(toolkit: Toolkit): Promise<void> {
    let probing = running.get(toolkit);
    if (!probing) {
      probing = probe(toolkit).finally(() => running.delete(toolkit));
      running.set(toolkit, probing);
    }
    return probing;
  }

  async function probe(toolkit: Toolkit): Promise<void> {
    const record = health.record(toolkit);
    const scope = new Scope(undefined, timeoutMs, `${toolkit.id} health/check`);
    const began = performance.now();
    try {
      const own = await toolkit.health();
      const found: Health | undefined =
        own.state === "available" && toolkit.probe
          ? await scope.closeAfter(toolkit.probe(scope))
          : own;
      record.probed(found ?? own, performance.now() - began);
    } catch (error) {
      record.responseMs = performance.now() - began;
      record.probeFailed(
        error instanceof HallError && error.code === "TIMEOUT"
          ? `no answer within ${timeoutMs / 1000} s`
          : messageOf(error),
      );
    } finally {
      scope.close();
    }
  }

  async function checkAll(): Promise<void> {
    const waiting = registry.toolkits().filter(({ probe: canProbe }) => canProbe !== undefined);
    const next = async (): Promise<void> => {
      for (let toolkit = waiting.pop(); toolkit && !isClosed; toolkit = waiting.pop())
        await check(toolkit);
    };
    await Promise.all(Array.from({ length: atOnceMax }, next));
  }

  function schedule(): void {
    // Jitter keeps halls that started together from probing together.
    timer = setTimeout(
      () => void checkAll().then(() => (isClosed ? undefined : schedule())),
      intervalSeconds * 1000 * (0.9 + Math.random() * 0.2),
    );
    timer.unref();
  }
  schedule();

  return {
    check,
    intervalSeconds,
    close() {
      isClosed = true;
      clearTimeout(timer);
      leave();
    },
  };
}
