import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { errorTable, errorType, HallError, messageOf } from "../base/errors.ts";
import { type JsonObject, parseObject } from "../base/json.ts";
import { loadUserKey } from "../base/user-key.ts";
import { version } from "../base/version.ts";
import { localRights, type Rights, within } from "../server/rights.ts";
import type { Server } from "../server/server.ts";
import { type Channel, defaultLimits } from "../wire/channel.ts";
import { Peer } from "../wire/peer.ts";
import { createStdioChannel } from "../wire/stdio.ts";
import type { AdminMethods, Hello, HelloAnswer } from "./admin-contract.ts";
import {
  claimSocket,
  createNonce,
  helloFolder,
  isProof,
  leaving,
  left,
  prove,
  readFirstLine,
} from "./socket.ts";

export type AdminHandlers = {
  readonly [M in keyof AdminMethods]: (
    params: AdminMethods[M]["params"],
  ) => Promise<AdminMethods[M]["result"]>;
};

export interface Control {
  /** Accepts no new clients. Attached ones are notified and have this long to receive their last answers. */
  leave(ms: number): Promise<void>;
  close(): Promise<void>;
}

export interface ControlOptions {
  readonly server: Server;
  readonly handlers: AdminHandlers;
}

/**
 * Opens the hall's local socket before the hall is ready; early clients wait. Undefined if another
 * hall of this project holds it.
 */
export async function openControl(
  path: string,
  ready: Promise<ControlOptions>,
): Promise<Control | undefined> {
  const sockets = new Set<Socket>();
  const lines = new Map<Channel, Promise<void>>();
  const listening = await claimSocket(path, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    void greet(socket, path, ready, (channel, closed) => {
      lines.set(channel, closed);
      void closed.then(() => lines.delete(channel));
    }).catch(() => socket.destroy());
  });
  if (!listening) return undefined;
  let closing: Promise<void> | undefined;
  const stopListening = (): Promise<void> => {
    closing ??= new Promise((resolve) => listening.close(() => resolve()));
    return closing;
  };
  return {
    async leave(ms) {
      void stopListening();
      for (const channel of lines.keys()) channel.send(leaving);
      await Promise.race([Promise.all(lines.values()), sleep(ms, undefined, { ref: false })]);
    },
    async close() {
      const closed = stopListening();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/**
 * Reads the first line, which says whether the rest of the socket carries MCP or admin requests, and
 * the second, which proves that the client is the user's.
 */
async function greet(
  socket: Socket,
  path: string,
  ready: Promise<ControlOptions>,
  attached: (channel: Channel, closed: Promise<void>) => void,
): Promise<void> {
  const hello = await readHello(socket);
  const { server, handlers } = await ready;
  const answer = (line: HelloAnswer): boolean => socket.write(`${JSON.stringify(line)}\n`);
  if (hello?.version !== version) {
    answer({ ok: false, reason: `this hall is version ${version}` });
    socket.end();
    return;
  }
  const rights = findRights(server, hello.preset);
  if (!rights) {
    answer({ ok: false, reason: "this hall does not have the preset" });
    socket.end();
    return;
  }
  const key = await loadUserKey(helloFolder());
  const greeting = { ...hello, path, hallNonce: createNonce() };
  answer({
    ok: true,
    pid: process.pid,
    nonce: greeting.hallNonce,
    proof: prove("hall", greeting, key),
  });
  if (!isProof(await readFirstLine(socket), "client", greeting, key)) {
    socket.destroy();
    return;
  }
  const channel = createStdioChannel(socket, socket, defaultLimits, { needsNewline: true });
  if (hello.hello === "mcp")
    attached(channel, server.accept(endOnLeft(channel), { rights }).closed);
  else serveAdmin(channel, handlers);
}

/** Undefined for a preset that the hall does not have: its config may have been edited just now. */
function findRights({ presets }: Server, preset: string | undefined): Rights | undefined {
  try {
    return within(preset, localRights, presets);
  } catch {
    return undefined;
  }
}

/** Treats the client's `left` notification as the end of its input; the socket stays open for answers. */
function endOnLeft(channel: Channel): Channel {
  return {
    start: (receiver) =>
      channel.start({
        ...receiver,
        frame: (bytes) => (bytes.equals(leftBytes) ? receiver.ended() : receiver.frame(bytes)),
      }),
    send: (frame, message) => channel.send(frame, message),
    get queuedBytes() {
      return channel.queuedBytes;
    },
    pause: () => channel.pause(),
    resume: () => channel.resume(),
    close: (options) => channel.close(options),
  };
}

const leftBytes = Buffer.from(left);

async function readHello(socket: Socket): Promise<Hello | undefined> {
  const { hello, version, nonce, preset } = parseObject((await readFirstLine(socket)) ?? "") ?? {};
  // Anything else is not a Guildhall client; the answer says so.
  if (hello !== "mcp" && hello !== "admin") return undefined;
  if (typeof version !== "string" || typeof nonce !== "string") return undefined;
  return preset === undefined || typeof preset === "string"
    ? { hello, version, nonce, preset }
    : undefined;
}

function serveAdmin(channel: Channel, handlers: AdminHandlers): void {
  new Peer(channel, {
    limits: defaultLimits,
    handle: ({ method, params }) => {
      if (!Object.hasOwn(handlers, method))
        throw new HallError("METHOD_NOT_FOUND", `unknown admin method "${method}"`);
      return (handlers[method as keyof AdminHandlers] as (params: JsonObject) => Promise<unknown>)(
        params ?? {},
      );
    },
    notified: () => {},
    explain: (failure) => {
      const error =
        failure instanceof HallError ? failure : new HallError("INTERNAL", messageOf(failure));
      return {
        error: {
          code: errorTable[error.code].request,
          message: error.message,
          data: {
            error_type: errorType(error.code),
            suggestion: error.hint,
            next: error.next,
            details: error.details,
          },
        },
      };
    },
    ended: () => void channel.close(),
  });
}
