import type { Socket } from "node:net";
import { type ErrorCode, HallError } from "../base/errors.ts";
import { type JsonObject, parseObject } from "../base/json.ts";
import { readUserKey } from "../base/user-key.ts";
import { version } from "../base/version.ts";
import { McpConnection } from "../client/connection.ts";
import { readHallError } from "../client/hall-error.ts";
import { type Channel, defaultLimits } from "../wire/channel.ts";
import { createStdioChannel } from "../wire/stdio.ts";
import type { AdminMethods, Hello } from "./admin-contract.ts";
import {
  connectSocket,
  createNonce,
  helloFolder,
  isProof,
  prove,
  readFirstLine,
  socketPath,
} from "./socket.ts";

/** A typed connection to a running hall. */
export interface AdminClient {
  ask<M extends keyof AdminMethods>(
    method: M,
    params: AdminMethods[M]["params"],
  ): Promise<AdminMethods[M]["result"]>;
  close(): Promise<void>;
}

/** Undefined when no hall runs. Throws like greetHall. */
export async function connectAdmin(path: string): Promise<AdminClient | undefined> {
  const socket = await greetHall(path, "admin");
  if (!socket) return undefined;
  const channel = createStdioChannel(socket, socket, defaultLimits);
  const connection = new McpConnection(channel, { limits: defaultLimits });
  return {
    async ask(method, params) {
      try {
        return (await connection.requestPlain(method, params as JsonObject, {
          timeoutMs: answerMsMax,
        })) as never;
      } catch (error) {
        throw readHallError(error);
      }
    },
    close: () => connection.close(),
  };
}

/** Runs work with the project's running hall, if there is one. */
async function withAdmin<T>(
  folder: string,
  work: (admin: AdminClient | undefined) => Promise<T>,
): Promise<T> {
  const admin = await connectAdmin(await socketPath(folder));
  try {
    return await work(admin);
  } finally {
    await admin?.close();
  }
}

/** Runs work with the project's running hall. Throws UNAVAILABLE when there is none. */
export async function withRunningHall<T>(
  folder: string,
  work: (admin: AdminClient) => Promise<T>,
): Promise<T> {
  return withAdmin(folder, async (admin) => {
    if (admin) return work(admin);
    throw new HallError("UNAVAILABLE", "no hall is running in this project", {
      hint: "A client that connects starts one.",
      next: [{ do: "run-command", command: "serve" }],
    });
  });
}

/** One request to the project's running hall. Undefined when there is none. */
export async function askHall<M extends keyof AdminMethods>(
  folder: string,
  method: M,
  params: AdminMethods[M]["params"],
): Promise<AdminMethods[M]["result"] | undefined> {
  return withAdmin(folder, async (admin) => admin?.ask(method, params));
}

const answerMsMax = 30_000;

/** A hall that is starting answers when it is ready; one that is stopped or stuck never does. */
const helloMsMax = 5_000;

export interface GreetOptions {
  readonly timeoutMs?: number;
  /** The client sees only the tools of this preset. */
  readonly preset?: string | undefined;
}

/**
 * Connects and states the purpose; the rest of the socket carries messages. Undefined when no hall
 * runs. Throws UNAVAILABLE when one holds the socket and does not answer or is of another version,
 * DENIED when what answers does not know the user's key.
 */
export async function greetHall(
  path: string,
  purpose: Hello["hello"],
  { timeoutMs = helloMsMax, preset }: GreetOptions = {},
): Promise<Socket | undefined> {
  const socket = await connectSocket(path);
  if (!socket) return undefined;
  let isSilent = false;
  const timer = setTimeout(() => {
    isSilent = true;
    socket.destroy();
  }, timeoutMs);
  // The new owner watches for its end; until then, a broken socket counts as none.
  socket.on("error", () => socket.destroy());
  const hello: Hello = { hello: purpose, version, nonce: createNonce(), preset };
  socket.write(`${JSON.stringify(hello)}\n`);
  const line = await readFirstLine(socket);
  clearTimeout(timer);
  if (isSilent)
    throw new HallError("UNAVAILABLE", "this project's hall does not answer", {
      hint: "Its process may be stopped.",
      next: [{ do: "run-command", command: "mcp --alone" }],
    });
  if (line === undefined) {
    socket.destroy();
    return undefined;
  }
  try {
    // Sent together with the first message: the proofs need no round trip of their own.
    socket.write(`${answerProof(line, hello, path)}\n`);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Our proof, in return for the hall's. */
function answerProof(line: string, hello: Hello, path: string): string {
  const answer = parseObject(line) ?? {};
  if (answer.ok === false)
    throw notOurs("UNAVAILABLE", "this project's hall is of another version");
  const key = readUserKey(helloFolder());
  const greeting = { ...hello, path, hallNonce: String(answer.nonce) };
  if (key && isProof(answer.proof, "hall", greeting, key)) return prove("client", greeting, key);
  throw notOurs(
    "DENIED",
    "what answers on this project's socket does not know your key: it is a hall of an older version, or not yours",
  );
}

function notOurs(code: ErrorCode, message: string): HallError {
  return new HallError(code, message, {
    hint: "End the running hall; the next client starts a new one.",
    next: [{ do: "run-command", command: "serve" }],
  });
}

/** A channel to a hall in another process, which may end in the middle of a message. */
export function createHallChannel(socket: Socket): Channel {
  return createStdioChannel(socket, socket, defaultLimits, { needsNewline: true });
}
