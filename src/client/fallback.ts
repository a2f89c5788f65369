import type { HallError } from "../base/errors.ts";
import type { Channel, Outgoing, Receiver } from "../wire/channel.ts";
import type { Id } from "../wire/message.ts";

interface Initialize {
  readonly id: Id;
  readonly frame: string;
  readonly message: Outgoing;
}

/**
 * Streamable HTTP, until a server refuses `initialize` with a status that means "not found here".
 * It may then be a server of 2024-11-05: the HTTP+SSE pair is opened at the same address, and
 * `initialize` is sent again there.
 */
export function createFallback(first: Channel, openPair: () => Promise<Channel>): Channel {
  let current = first;
  let receiver: Receiver | undefined;
  let initialize: Initialize | undefined;
  let isClosed = false;

  async function change({ frame, id, message }: Initialize, refused: HallError): Promise<void> {
    initialize = undefined;
    try {
      const pair = await openPair();
      if (isClosed) await pair.close();
      else {
        current = pair;
        if (receiver) pair.start(receiver);
        pair.send(frame, message);
      }
    } catch {
      // That failed too: the first refusal is the better reason.
      receiver?.failed?.(id, () => refused);
    }
  }

  return {
    start(started) {
      receiver = started;
      first.start({
        ...started,
        failed(id, why) {
          const reason = initialize?.id === id ? why() : undefined;
          if (initialize && reason && isElsewhere(reason)) void change(initialize, reason);
          else started.failed?.(id, why);
        },
      });
    },
    send(frame, message) {
      if (current === first && message?.method === "initialize" && message.id !== undefined)
        initialize = { id: message.id, frame, message };
      current.send(frame, message);
    },
    answered: (id) => current.answered?.(id),
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

const elsewhere: readonly unknown[] = [400, 404, 405];

function isElsewhere(reason: HallError): boolean {
  return elsewhere.includes(reason.details?.status);
}
