import { createParser } from "eventsource-parser";
import { HallError } from "../base/errors.ts";
import { formatBytes } from "../base/text.ts";

/** One server-sent event. `data` is undefined for one that only sets the retry time. */
export interface ReadEvent {
  readonly event: string;
  readonly data: string | undefined;
  readonly id: string | undefined;
  readonly retryMs: number | undefined;
}

/** Reads server-sent events from bytes in chunks of any size. Throws TOO_LARGE for a long event. */
export async function* readEvents(
  body: AsyncIterable<Uint8Array>,
  eventBytesMax: number,
): AsyncGenerator<ReadEvent> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const ready: ReadEvent[] = [];
  let isTooLarge = false;
  const parser = createParser({
    // Field names and line ends do not count against the limit of the data.
    maxBufferSize: eventBytesMax + 64,
    onEvent: ({ event = "message", data, id }) =>
      void ready.push({ event, data, id, retryMs: undefined }),
    onRetry: (retryMs) =>
      void ready.push({ event: "message", data: undefined, id: undefined, retryMs }),
    onError: ({ type }) => {
      isTooLarge ||= type === "max-buffer-size-exceeded";
    },
  });

  for await (const chunk of body) {
    parser.feed(decode(decoder, chunk));
    yield* ready.splice(0);
    if (isTooLarge)
      throw new HallError(
        "TOO_LARGE",
        `an event exceeds the limit of ${formatBytes(eventBytesMax)}`,
      );
  }
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk: Uint8Array): string {
  try {
    return decoder.decode(chunk, { stream: true });
  } catch {
    throw new HallError("BAD_ANSWER", "the event stream is not valid UTF-8");
  }
}
