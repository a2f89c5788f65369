import { HallError } from "../base/errors.ts";

/** One event as it was sent. `data` is undefined for an event that only sets the id or the retry time. */
export interface ReadEvent {
  readonly event: string;
  readonly data: string | undefined;
  readonly id: string | undefined;
  readonly retryMs: number | undefined;
}

/** Reads server-sent events from bytes, whatever way they are cut. Throws TOO_LARGE when one event is over the limit. */
export async function* readEvents(
  body: AsyncIterable<Uint8Array>,
  eventBytesMax: number,
): AsyncGenerator<ReadEvent> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  // A line that is still open, in the pieces it came in: joined once, when it ends.
  let open: string[] = [];
  let openLength = 0;
  let fields: Fields = {};
  for await (const chunk of body) {
    const piece = decode(decoder, chunk);
    open.push(piece);
    openLength += piece.length;
    if (openLength > eventBytesMax + 64)
      throw new HallError("TOO_LARGE", `an event is over ${eventBytesMax} bytes`);
    if (!/[\r\n]/.test(piece)) continue;
    const lines = open.join("").split(/\r\n|\n|\r(?!$)/);
    const rest = lines.pop() ?? "";
    open = [rest];
    openLength = rest.length;
    for (const line of lines) {
      if (line !== "") {
        fields = addLine(fields, line);
        if ((fields.data?.length ?? 0) > eventBytesMax)
          throw new HallError("TOO_LARGE", `an event is over ${eventBytesMax} bytes`);
        continue;
      }
      if (fields.data !== undefined || fields.id !== undefined || fields.retryMs !== undefined) {
        yield {
          event: fields.event ?? "message",
          data: fields.data,
          id: fields.id,
          retryMs: fields.retryMs,
        };
      }
      fields = {};
    }
  }
}

interface Fields {
  readonly event?: string;
  readonly data?: string;
  readonly id?: string;
  readonly retryMs?: number;
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk: Uint8Array): string {
  try {
    return decoder.decode(chunk, { stream: true });
  } catch {
    throw new HallError("BAD_ANSWER", "the event stream is not valid UTF-8");
  }
}

function addLine(fields: Fields, line: string): Fields {
  const colon = line.indexOf(":");
  // A line that starts with a colon is a comment.
  if (colon === 0) return fields;
  const name = colon === -1 ? line : line.slice(0, colon);
  const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
  switch (name) {
    case "event":
      return { ...fields, event: value };
    case "data":
      return { ...fields, data: fields.data === undefined ? value : `${fields.data}\n${value}` };
    case "id":
      return value.includes("\0") ? fields : { ...fields, id: value };
    case "retry":
      return /^\d{1,9}$/.test(value) ? { ...fields, retryMs: Number(value) } : fields;
    default:
      return fields;
  }
}
