/** Entry point of the writer's thread. */
import { parentPort, workerData } from "node:worker_threads";
import { Archive, nameWriter } from "./archive.ts";
import type { FromWriter, ToWriter, WriterOptions } from "./protocol.ts";
import { Seal } from "./seal.ts";
import type { Engine } from "./sql.ts";
import { SqliteEngine } from "./sqlite-engine.ts";
import { Writer } from "./writer.ts";

const options = workerData as WriterOptions;
const seal = new Seal({ ...options.seal, notify });
const archive = new Archive({
  engine: await createEngine(options),
  seal,
  writer: await nameWriter(),
  retention: options.retention,
});
const writer = new Writer(archive, send);
parentPort?.on("message", (message: ToWriter) => writer.receive(message));

function send(message: FromWriter): void {
  parentPort?.postMessage(message);
  if (message.kind === "closed") parentPort?.close();
}

function notify(message: string): void {
  send({ kind: "notice", message });
}

/** The PostgreSQL driver is loaded only if it is used. */
async function createEngine({ location, isReader }: WriterOptions): Promise<Engine> {
  if ("url" in location)
    return new (await import("./postgres/engine.ts")).PostgresEngine(location.url);
  return new SqliteEngine({ path: location.path, isReader, seal, notify });
}
