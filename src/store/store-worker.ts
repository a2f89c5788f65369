/** The writer's thread: what sqlite-store.ts posts here is written, and confirmed. */
import { parentPort, workerData } from "node:worker_threads";
import type { FromWriter, ToWriter, WriterOptions } from "./protocol.ts";
import { createWriter } from "./writer.ts";

const tell = (message: FromWriter): void => {
  parentPort?.postMessage(message);
  if (message.kind === "closed") parentPort?.close();
};
const writer = createWriter(workerData as WriterOptions, tell);
parentPort?.on("message", (message: ToWriter) => writer.receive(message));
