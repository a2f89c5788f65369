import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { defaultLimits } from "../../src/wire/channel.ts";
import { createMemoryPair } from "../../src/wire/memory.ts";
import { createStdioChannel } from "../../src/wire/stdio.ts";
import { channelContract, type Line } from "./channel.ts";

channelContract("the memory pair", openMemory);
channelContract("stdio over PassThrough streams", openPassThrough);
channelContract("stdio over a unix socket", openUnixSocket);

async function openMemory(): Promise<Line> {
  const [near, far] = createMemoryPair();
  return { near, far, close: () => closeBoth(near, far) };
}

async function openPassThrough(): Promise<Line> {
  const toFar = new PassThrough();
  const toNear = new PassThrough();
  const near = createStdioChannel(toNear, toFar, defaultLimits);
  const far = createStdioChannel(toFar, toNear, defaultLimits);
  return { near, far, close: () => closeBoth(near, far) };
}

async function openUnixSocket(): Promise<Line> {
  const path = join(tmpdir(), `guildhall-${randomUUID()}.sock`);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const nearSocket = connect(path);
  const farSocket = await accepted;
  const near = createStdioChannel(nearSocket, nearSocket, defaultLimits);
  const far = createStdioChannel(farSocket, farSocket, defaultLimits);
  return {
    near,
    far,
    async close() {
      nearSocket.destroy();
      farSocket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await rm(path, { force: true });
    },
  };
}

async function closeBoth(near: Line["near"], far: Line["far"]): Promise<void> {
  await near.close({ now: true });
  await far.close({ now: true });
}
