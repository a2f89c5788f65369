import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { HallError } from "../base/errors.ts";

/** The page on this machine that an issuer sends a person's browser back to. It answers once, and is gone. */
export interface RedirectPage extends AsyncDisposable {
  readonly url: string;
  /** What the issuer says. Throws TIMEOUT when nobody came. */
  readonly answer: Promise<URLSearchParams>;
}

export interface RedirectOptions {
  /** 0 for any. */
  readonly port: number;
  readonly path: string;
  /** What a visitor must bring: whoever else comes is turned away. */
  readonly state: string;
  readonly timeoutMs: number;
}

export async function openRedirectPage({
  port,
  path,
  state,
  timeoutMs,
}: RedirectOptions): Promise<RedirectPage> {
  let settle = (_parameters: URLSearchParams): void => {};
  let fail = (_error: HallError): void => {};
  const answer = new Promise<URLSearchParams>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  // Whoever asks for a login and then fails elsewhere does not wait for this.
  answer.catch(() => {});
  const server = createServer((request, response) => {
    const { url = "/", method } = request;
    // Any page of the browser may ask for anything here, also for what is no address.
    const { pathname, searchParams } = new URL(URL.canParse(url, here) ? url : "/", here);
    const isExpected = method === "GET" && pathname === path && searchParams.get("state") === state;
    response.writeHead(isExpected ? 200 : 404, {
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-store",
      connection: "close",
    });
    response.end(
      isExpected
        ? "Guildhall has the answer. You can close this page and go back to the terminal.\n"
        : "There is nothing here.\n",
    );
    if (!isExpected) return;
    server.close();
    settle(searchParams);
  });
  await listen(server, port);
  const timer = setTimeout(
    () => fail(new HallError("TIMEOUT", `nobody logged in within ${timeoutMs / 60_000} min`)),
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
