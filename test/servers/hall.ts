import { PassThrough } from "node:stream";
import { createLog } from "../../src/base/log.ts";
import { createHall, type Hall } from "../../src/hall/hall.ts";
import type { HallOptions } from "../../src/hall/hall-options.ts";
import { defaultLimits } from "../../src/wire/channel.ts";
import { createMemoryPair } from "../../src/wire/memory.ts";
import { createLineReader, createStdioChannel } from "../../src/wire/stdio.ts";
import { RawClient } from "./client.ts";

/** A hall inside this process, with as many clients as a test connects. */
export interface TestHall {
  readonly hall: Hall;
  /** What the hall logged, one JSON line each. */
  readonly logged: string[];
  /** A new client over the memory pair: one text, one message. */
  connect(): RawClient;
  /** A new client over byte streams, as on stdio: it may send any bytes, and end its side. */
  connectStdio(): StdioClient;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface StdioClient extends RawClient {
  /** Bytes as they are, without a newline behind them. */
  sendBytes(bytes: string | Buffer): void;
  /** No more input from this client; it still reads. */
  end(): void;
  /** Resolves when the hall has closed the line. */
  readonly closed: Promise<void>;
}

export async function startHall(options: HallOptions = {}): Promise<TestHall> {
  const logged: string[] = [];
  const log = createLog({ level: "warn", sink: { write: (line) => logged.push(line) } });
  const hall = await createHall({
    log,
    hasOwnResources: false,
    listsPrograms: false,
    ...options,
  });
  const limits = { ...defaultLimits, ...options.limits };
  return {
    hall,
    logged,
    connect() {
      const [ours, theirs] = createMemoryPair();
      hall.server.accept(theirs);
      const client = new RawClient((bytes) => ours.send(bytes.toString()));
      ours.start({
        frame: (bytes) => client.deliver(bytes.toString()),
        oversize() {},
        drained() {},
        ended() {},
        closed() {},
      });
      return client;
    },
    connectStdio() {
      const input = new PassThrough();
      const output = new PassThrough();
      const { closed } = hall.server.accept(createStdioChannel(input, output, limits));
      const client = new RawClient(
        (bytes) => void input.write(Buffer.concat([Buffer.from(bytes), newline])),
      );
      output.on(
        "data",
        createLineReader(Number.POSITIVE_INFINITY, {
          line: (bytes) => client.deliver(bytes.toString()),
          oversize() {},
        }),
      );
      return Object.assign(client, {
        sendBytes: (bytes: string | Buffer) => void input.write(bytes),
        end: () => void input.end(),
        closed,
      });
    },
    [Symbol.asyncDispose]: () => hall.close(),
  };
}

const newline = Buffer.from("\n");
