import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { HallError } from "../base/errors.ts";
import { withResolvers } from "../base/timing.ts";

/** The page on this machine that the issuer redirects the browser to. It answers once and closes. */
export interface RedirectPage extends AsyncDisposable {
  readonly url: string;
  /** The parameters of the redirect. Throws TIMEOUT if there was none. */
  readonly answer: Promise<URLSearchParams>;
}

export interface RedirectOptions {
  /** 0 for any free port. */
  readonly port: number;
  readonly path: string;
  /** Required in the redirect; other requests are rejected. */
  readonly state: string;
  readonly timeoutMs: number;
}

export async function openRedirectPage({
  port,
  path,
  state,
  timeoutMs,
}: RedirectOptions): Promise<RedirectPage> {
  const { promise: answer, resolve, reject } = withResolvers<URLSearchParams>();
  // Avoid an unhandled rejection if the login fails before it is awaited.
  answer.catch(() => {});
  const server = createServer((request, response) => {
    const { url = "/", method } = request;
    // Any web page can send requests here, even with an invalid URL.
    const { pathname, searchParams } = new URL(URL.canParse(url, here) ? url : "/", here);
    const isExpected = method === "GET" && pathname === path && searchParams.get("state") === state;
    response.writeHead(isExpected ? 200 : 404, {
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-store",
      connection: "close",
    });
    response.end(isExpected ? "Login complete. You can close this page.\n" : "Not found.\n");
    if (!isExpected) return;
    server.close();
    resolve(searchParams);
  });
  await listen(server, port);
  const timer = setTimeout(
    () => reject(new HallError("TIMEOUT", `no login within ${timeoutMs / 60_000} min`)),
    timeoutMs,
  );
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    answer,
    async [Symbol.asyncDispose]() {
      clearTimeout(timer);
      server.close();
      server.closeAllConnections();
    },
  };
}

const here = "http://127.0.0.1";

async function listen(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
}
