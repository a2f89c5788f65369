/** The writer's thread: what writer-thread.ts posts here is written, and confirmed. */
import { parentPort, workerData } from "node:worker_threads";
import type { Archive } from "./archive.ts";
import { createFileArchive } from "./file-archive.ts";
import type { FromWriter, ToWriter, WriterOptions } from "./protocol.ts";
import { createWriter } from "./writer.ts";

const tell = (message: FromWriter): void => {
  parentPort?.postMessage(message);
  if (message.kind === "closed") parentPort?.close();
};
const writer = createWriter(await openArchive(workerData as WriterOptions), tell);
parentPort?.on("message", (message: ToWriter) => writer.receive(message));

/** The driver of a database is loaded only for one. */
async function openArchive({
  place,
  retention,
  isReader = false,
}: WriterOptions): Promise<Archive> {
  if ("url" in place)
    return (await import("./postgres/archive.ts")).createDatabaseArchive({
      url: place.url,
      retention,
    });
  return createFileArchive({
    path: place.path,
    retention,
    isReader,
    notice: (message) => tell({ kind: "notice", message }),
  });
}
