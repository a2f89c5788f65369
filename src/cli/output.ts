import { HallError } from "../base/errors.ts";

/** Watches what a command prints on. Whoever reads it may have read enough, which is no failure; everything else that keeps it from being written is. */
export function watchOutput(output: NodeJS.WritableStream): {
  /** Throws EXECUTION when something could not be written. */ check(): void;
} {
  let failure: Error | undefined;
  output.on("error", (error: Error) => {
    if (!isClosedPipe(error)) failure ??= error;
  });
  return {
    check() {
      if (failure)
        throw new HallError("EXECUTION", `the output could not be written: ${failure.message}`, {
          hint: "What the command did stays done.",
          cause: failure,
        });
    },
  };
}

/** The reader at the other end, such as `head`, has gone. */
export function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === "EPIPE";
}
