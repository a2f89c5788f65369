/** How long a call may be silent. Every sign of life begins the time anew, and it stands still while a person is being asked. */
export interface Patience {
  renew(): void;
  hold<T>(work: () => Promise<T>): Promise<T>;
  /** Waits without end, until the next sign of life. */
  rest(): void;
  end(): void;
}

export function createPatience(silentMsMax: number, expired: () => void): Patience {
  let timer: NodeJS.Timeout | undefined;
  let holds = 0;
  let isOver = false;

  function renew(): void {
    clearTimeout(timer);
    if (holds === 0 && !isOver) timer = setTimeout(expired, silentMsMax);
  }

  renew();
  return {
    renew,
    async hold(work) {
      holds++;
      clearTimeout(timer);
      try {
        return await work();
      } finally {
        holds--;
        renew();
      }
    },
    rest: () => clearTimeout(timer),
    end() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
