import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Socket } from "node:net";
import { basename, join } from "node:path";
import { dataFolder } from "../base/files.ts";
import type { Hello } from "./admin-contract.ts";

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
