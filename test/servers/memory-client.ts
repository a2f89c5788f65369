import type { Hall } from "../../src/hall/hall.ts";
import { createMemoryPair } from "../../src/wire/memory.ts";
import { RawClient } from "./client.ts";

/** A client of a hall in this process: one text, one message. */
export function createMemoryClient(
  { server }: Pick<Hall, "server">,
  options: Parameters<Hall["server"]["accept"]>[1] = {},
): RawClient {
  const [ours, theirs] = createMemoryPair();
  server.accept(theirs, options);
  const client = new RawClient((bytes) => ours.send(bytes.toString()));
  ours.start({
    frame: (bytes) => client.deliver(bytes.toString()),
    oversize() {},
    drained() {},
    ended() {},
    closed() {},
  });
  return client;
}
