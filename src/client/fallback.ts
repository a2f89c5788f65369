import type { HallError } from "../base/errors.ts";
import type { Channel, Receiver } from "../wire/channel.ts";
import type { Id } from "../wire/message.ts";

/**
 * Streamable HTTP, until a server turns the handshake down with one of the statuses that mean "no such thing here". Then
 * it may be one of 2024-11-05: the pair is opened at the same address, and the handshake begins again there.
 */
export function createFallback(first: Channel, openPair: () => Promise<Channel>): Channel {
  let current = first;
  let receiver: Receiver | undefined;
  let greeting: { readonly id: Id; readonly frame: string } | undefined;
  let isClosed = false;

  async function change(
    { frame, id }: { readonly id: Id; readonly frame: string },
    refused: HallError,
  ): Promise<void> {
    greeting = undefined;
    try {
      const pair = await openPair();
      if (isClosed) await pair.close();
      else {
        current = pair;
        if (receiver) pair.start(receiver);
        pair.send(frame, id, "request");
      }
    } catch {
      // It is not there either: what was said first is the better reason.
      receiver?.failed?.(id, () => refused);
    }
  }

  return {
    start(started) {
      receiver = started;
      first.start({
        ...started,
        failed(id, why) {
          const reason = greeting?.id === id ? why() : undefined;
          if (greeting && reason && isElsewhere(reason)) void change(greeting, reason);
          else started.failed?.(id, why);
        },
      });
    },
    send(frame, about, kind) {
      const id = greetingId(frame);
      if (current === first && id !== undefined) greeting = { id, frame };
      current.send(frame, about, kind);
    },
    get queuedBytes() {
      return current.queuedBytes;
    },
    pause: () => current.pause(),
    resume: () => current.resume(),
    close(options) {
      isClosed = true;
      return current.close(options);
    },
  };
}

function greetingId(frame: string): Id | undefined {
  if (!frame.includes('"initialize"')) return undefined;
  const { id, method } = JSON.parse(frame) as { readonly id?: Id; readonly method?: unknown };
  return method === "initialize" ? id : undefined;
}

const elsewhere: readonly unknown[] = [400, 404, 405];

function isElsewhere(reason: HallError): boolean {
  return elsewhere.includes(reason.details?.status);
}
