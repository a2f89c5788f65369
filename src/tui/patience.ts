/** How long a call may take: silent, and in all. Every sign of life ends the silence; both clocks stand still while a person is being asked. */
export interface Patience {
  renew(): void;
  hold<T>(work: () => Promise<T>): Promise<T>;
  /** Waits without end, until the next sign of life. */
  rest(): void;
  end(): void;
}

export interface PatienceOptions {
  readonly silentMsMax: number;
  readonly totalMsMax: number;
  expired(why: "silent" | "long"): void;
}

export function createPatience({ silentMsMax, totalMsMax, expired }: PatienceOptions): Patience {
  let timer: NodeJS.Timeout | undefined;
  let leftMs = totalMsMax;
  let goesSince: number | undefined;
  let holds = 0;
  let isOver = false;

  function stop(): void {
    clearTimeout(timer);
    if (goesSince !== undefined) leftMs -= performance.now() - goesSince;
    goesSince = undefined;
  }

  function renew(): void {
    stop();
    if (holds > 0 || isOver) return;
    goesSince = performance.now();
    timer =
      leftMs <= silentMsMax
        ? setTimeout(expired, Math.max(0, leftMs), "long")
        : setTimeout(expired, silentMsMax, "silent");
  }

  renew();
  return {
    renew,
    async hold(work) {
      holds++;
      stop();
      try {
        return await work();
      } finally {
        holds--;
        renew();
      }
    },
    rest: stop,
    end() {
      isOver = true;
      stop();
    },
  };
}
