import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { realpath, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { basename, dirname, join } from "node:path";
import {
  dataFolder,
  makePrivateFolder,
  requirePrivateFolder,
  withFileLock,
} from "../base/files.ts";
import type { Hello } from "./admin-contract.ts";

/** The path of the local socket of a project's hall. Throws DENIED for a folder that others can use. */
export async function socketPath(project: string): Promise<string> {
  const folder = requirePrivateFolder(runtimeFolder());
  const name = createHash("sha256")
    .update(await realpath(project))
    .digest("hex")
    .slice(0, 20);
  return join(folder, `${name}.sock`);
}

function runtimeFolder(): string {
  return process.env.XDG_RUNTIME_DIR
    ? join(process.env.XDG_RUNTIME_DIR, "guildhall")
    : join(dataFolder(), "run");
}

/** Undefined if no hall is running. */
export function connectSocket(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.off("error", refused);
      resolve(socket);
    });
    const refused = (error: NodeJS.ErrnoException): void => {
      if (error.code === "ENOENT" || error.code === "ECONNREFUSED") resolve(undefined);
      else reject(error);
    };
    socket.once("error", refused);
  });
}

/** Claims the socket for this process. Undefined if another hall holds it. */
export async function claimSocket(
  path: string,
  accept: (socket: Socket) => void,
): Promise<Server | undefined> {
  makePrivateFolder(dirname(path));
  return withFileLock(`${path}.lock`, lockMsMax, async () => {
    const other = await connectSocket(path);
    if (other) {
      other.destroy();
      return undefined;
    }
    // No answer: the file was left by a hall that crashed.
    await rm(path, { force: true });
    const server = createServer(accept);
    const before = process.umask(0o177);
    try {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(path, resolve);
      });
    } finally {
      process.umask(before);
    }
    return server;
  });
}

const lockMsMax = 5_000;

/**
 * Both ends of the local socket prove that they can read a key of the user's data folder. Each proof
 * covers a nonce of either side, so that none can be used twice, and the socket's name, so that none
 * is good for another project's hall.
 */
export interface Greeting extends Pick<Hello, "hello" | "nonce" | "preset"> {
  readonly path: string;
  readonly hallNonce: string;
}

type Role = "hall" | "client";

/** Where the key is; the hall makes it. */
export function helloFolder(): string {
  return join(dataFolder(), "hall");
}

export function createNonce(): string {
  return randomBytes(16).toString("base64url");
}

export function prove(
  role: Role,
  { hello, nonce, hallNonce, path, preset }: Greeting,
  key: Buffer,
): string {
  const said = JSON.stringify([role, basename(path), hello, nonce, hallNonce, preset ?? null]);
  return createHmac("sha256", key).update(said).digest("base64url");
}

export function isProof(given: unknown, role: Role, greeting: Greeting, key: Buffer): boolean {
  const [ours, theirs] = [Buffer.from(prove(role, greeting, key)), Buffer.from(String(given))];
  return ours.length === theirs.length && timingSafeEqual(ours, theirs);
}

const helloBytesMax = 4_096;

/** Waits for one line and leaves everything after it in the stream. */
export function readFirstLine(socket: Socket): Promise<string | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const done = (line: string | undefined): void => {
      socket.off("readable", read).off("end", lost).off("close", lost);
      resolve(line);
    };
    const lost = (): void => done(undefined);
    const read = (): void => {
      for (
        let chunk = socket.read() as Buffer | null;
        chunk !== null;
        chunk = socket.read() as Buffer | null
      ) {
        const end = chunk.indexOf(0x0a);
        if (end !== -1) {
          socket.unshift(chunk.subarray(end + 1));
          done(Buffer.concat([...chunks, chunk.subarray(0, end)]).toString());
          return;
        }
        bytes += chunk.length;
        if (bytes > helloBytesMax) {
          done(undefined);
          return;
        }
        chunks.push(chunk);
      }
    };
    socket.on("readable", read).on("end", lost).on("close", lost);
  });
}

/** A hall that ends sends `leaving` to each attached client, which replies `left` after its last frame. */
export const leaving = '{"jsonrpc":"2.0","method":"guildhall/leaving"}';
export const left = '{"jsonrpc":"2.0","method":"guildhall/left"}';
