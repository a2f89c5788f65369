import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CreateMessageRequestSchema,
  type CreateMessageResult,
  type CreateMessageResultWithTools,
  type JSONRPCMessage,
} from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "../../src/base/json.ts";
import type { Hall } from "../../src/hall/hall.ts";
import { createMemoryPair } from "../../src/wire/memory.ts";

/** A client of the official SDK that lends its model, which says what a test wants. */
export interface SamplingClient extends AsyncDisposable {
  readonly client: Client;
  /** What its model was asked, in order. */
  readonly asked: JsonObject[];
}

export type SampledTurn = CreateMessageResult | CreateMessageResultWithTools;

export async function connectSampling(
  hall: Hall,
  script: readonly SampledTurn[],
): Promise<SamplingClient> {
  const asked: JsonObject[] = [];
  const client = new Client(
    { name: "lender", version: "1" },
    { capabilities: { sampling: { tools: {} } } },
  );
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
    asked.push(params as unknown as JsonObject);
    const turn = script[asked.length - 1];
    if (!turn) throw new Error("the user does not lend the model any more");
    return turn;
  });
  await client.connect(openTransport(hall));
  return { client, asked, [Symbol.asyncDispose]: () => client.close() };
}

function openTransport(hall: Hall): Transport {
  const [ours, theirs] = createMemoryPair();
  const transport: Transport = {
    async start() {
      ours.start({
        frame: (bytes) => transport.onmessage?.(JSON.parse(bytes.toString()) as JSONRPCMessage),
        oversize() {},
        drained() {},
        ended() {},
        closed: () => transport.onclose?.(),
      });
      hall.server.accept(theirs);
    },
    async send(message) {
      ours.send(JSON.stringify(message));
    },
    close: () => ours.close(),
  };
  return transport;
}
