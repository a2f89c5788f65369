/**
 * Limits how long a request may be silent, and how long it may take in all. Every sign of life
 * restarts the first clock; both stand still while a person is being asked.
 */
export interface ActivityTimeout {
  renew(): void;
  pauseWhile<T>(work: () => Promise<T>): Promise<T>;
  /** Stops both clocks until the next sign of life. */
  pause(): void;
  end(): void;
}

export interface ActivityTimeoutOptions {
  readonly silentMsMax: number;
  readonly totalMsMax: number;
  expired(why: "silent" | "long"): void;
}

export function createActivityTimeout({
  silentMsMax,
  totalMsMax,
  expired,
}: ActivityTimeoutOptions): ActivityTimeout {
  let timer: NodeJS.Timeout | undefined;
  let leftMs = totalMsMax;
  let runningSince: number | undefined;
  let pauseCount = 0;
  let isOver = false;

  function stop(): void {
    clearTimeout(timer);
    if (runningSince !== undefined) leftMs -= performance.now() - runningSince;
    runningSince = undefined;
  }

  function renew(): void {
    stop();
    if (pauseCount > 0 || isOver) return;
    runningSince = performance.now();
    timer =
      leftMs <= silentMsMax
        ? setTimeout(expired, Math.max(0, leftMs), "long")
        : setTimeout(expired, silentMsMax, "silent");
  }

  renew();
  return {
    renew,
    async pauseWhile(work) {
      pauseCount++;
      stop();
      try {
        return await work();
      } finally {
        pauseCount--;
        renew();
      }
    },
    pause: stop,
    end() {
      isOver = true;
      stop();
    },
  };
}
