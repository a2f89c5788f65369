import { createHash } from "node:crypto";
import { realpath, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { dataFolder, makePrivateFolder, withFileLock } from "../base/files.ts";

/** The path of the local socket of a project's hall. Throws DENIED for a folder that others can use. */
export async function socketPath(project: string): Promise<string> {
  const folder = makePrivateFolder(runtimeFolder());
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
