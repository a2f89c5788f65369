import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A service as the registry calls it. */
export interface TestService extends AsyncDisposable {
  readonly url: string;
  /** The places it was asked about, in that order. */
  readonly places: string[];
}

export async function startService(how: "answers" | "fails" = "answers"): Promise<TestService> {
  const places: string[] = [];
  const server = createServer(async (request, response) => {
    const { id, params } = JSON.parse(await text(request));
    const place = params?.arguments?.place;
    if (place !== undefined) places.push(place);
    if (how === "fails") response.statusCode = 500;
    const result = { status: "completed", data: { text: `rain in ${place}` } };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    places,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
