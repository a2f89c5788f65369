import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";

/** A handler of web requests on a loopback port, for servers of the SDK. */
export async function serveWeb(
  fetch: (request: Request) => Promise<Response>,
): Promise<{ readonly url: string; readonly http: Server }> {
  const http = createServer(async (incoming, outgoing) => {
    const { method = "GET", url = "/", headers } = incoming;
    const hasBody = method !== "GET" && method !== "HEAD";
    const gone = new AbortController();
    outgoing.on("close", () => gone.abort());
    const response = await fetch(
      new Request(`http://${headers.host}${url}`, {
        method,
        headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
        signal: gone.signal,
        ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: "half" } : {}),
      } as RequestInit),
    );
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.flushHeaders();
    const body = response.body?.getReader();
    outgoing.on("close", () => void body?.cancel().catch(() => {}));
    for (;;) {
      const { value, done } = (await body?.read().catch(() => undefined)) ?? { done: true };
      if (done || value === undefined) break;
      outgoing.write(value);
    }
    outgoing.end();
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return { http, url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` };
}
