import type { Socket } from "node:net";
import { type ErrorCode, errorTable, HallError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { version } from "../base/version.ts";
import type { Channel } from "../wire/channel.ts";
import { defaultLimits } from "../wire/limits.ts";
import { Peer } from "../wire/peer.ts";
import { createStdioChannel } from "../wire/stdio.ts";
import type { AdminMethods, Hello, HelloAnswer } from "./admin-contract.ts";
import { readFirstLine } from "./control.ts";
import { connectSocket } from "./socket.ts";

/** A typed line to a running hall. */
export interface AdminClient {
  ask<M extends keyof AdminMethods>(
    method: M,
    params: AdminMethods[M]["params"],
  ): Promise<AdminMethods[M]["result"]>;
  close(): Promise<void>;
}

/** Undefined when no hall of this version runs. */
export async function connectAdmin(path: string): Promise<AdminClient | undefined> {
  const socket = await greetHall(path, "admin");
  if (!socket) return undefined;
  const channel = createStdioChannel(socket, socket, defaultLimits);
  const peer = new Peer(channel, {
    limits: defaultLimits,
    handle: ({ method }) => {
      throw new HallError("METHOD_NOT_FOUND", method);
    },
    notified: () => {},
    explain: () => ({ error: { code: -32601, message: "not a server" } }),
  });
  return {
    async ask(method, params) {
      try {
        return (await peer.request(method, params, {
          timeoutMs: method === "sample" ? sampleMsMax : answerMsMax,
        })) as never;
      } catch (error) {
        throw error instanceof HallError ? readError(error) : error;
      }
    },
    close: () => channel.close(),
  };
}

const answerMsMax = 30_000;
/** A model thinks, and a person may be asked whether it may. */
const sampleMsMax = 330_000;

/** A hall that is just starting answers when it is ready; one that is stopped or stuck never does. */
const helloMsMax = 5_000;

/**
 * Connects and says what for; the rest of the socket is the line. Undefined when no hall of this version runs. Throws
 * UNAVAILABLE when one has the socket and does not answer.
 */
export async function greetHall(
  path: string,
  purpose: Hello["hello"],
  timeoutMs: number = helloMsMax,
): Promise<Socket | undefined> {
  const socket = await connectSocket(path);
  if (!socket) return undefined;
  let isSilent = false;
  const patience = setTimeout(() => {
    isSilent = true;
    socket.destroy();
  }, timeoutMs);
  // Whoever gets the socket hears of its end; before that, a broken one is none.
  socket.on("error", () => socket.destroy());
  socket.write(`${JSON.stringify({ hello: purpose, version } satisfies Hello)}\n`);
  const line = await readFirstLine(socket);
  clearTimeout(patience);
  if (isSilent)
    throw new HallError("UNAVAILABLE", "this project's hall does not answer", {
      hint: "Is its process stopped? `guildhall mcp --alone` does without it.",
    });
  const answer = line === undefined ? undefined : (JSON.parse(line) as HelloAnswer);
  if (answer?.ok) return socket;
  socket.destroy();
  return undefined;
}

/** A line of this client to a hall in another process, which may end in the middle of a message. */
export function createHallChannel(socket: Socket): Channel {
  return createStdioChannel(socket, socket, defaultLimits, { needsNewline: true });
}

/** The hall's error as it was thrown there. */
function readError(error: HallError): HallError {
  const data = error.relayed?.data;
  if (!isObject(data) || typeof data.code !== "string" || !Object.hasOwn(errorTable, data.code))
    return error;
  return new HallError(data.code as ErrorCode, error.message, {
    ...(typeof data.hint === "string" ? { hint: data.hint } : {}),
  });
}
