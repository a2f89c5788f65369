import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { readBody } from "../../src/server/http/body.ts";

/** Sends a gzip body in chunks to a server with a limit of 1,000 bytes. */
async function startSending() {
  let report: (body: ReturnType<typeof readBody>) => void = () => {};
  const arrived = new Promise<{ readonly body: ReturnType<typeof readBody> }>((resolve) => {
    report = (body) => resolve({ body });
  });
  const server = createServer((request) => report(readBody(request, 1_000))).listen(0, "127.0.0.1");
  await once(server, "listening");
  const sending = httpRequest({
    port: (server.address() as AddressInfo).port,
    method: "POST",
    headers: { "content-type": "application/json", "content-encoding": "gzip" },
  }).on("error", () => {});
  onTestFinished(() => {
    sending.destroy();
    server.close();
  });
  return { sending, arrived };
}

test("the limit holds for received bytes, even if they decompress to nothing", async () => {
  const { sending, arrived } = await startSending();
  sending.write(Buffer.concat(Array.from({ length: 2_000 }, () => gzipSync(""))));
  expect(await (await arrived).body).toMatchObject({ status: 413 });
});

test("a gzip body is read to its end", async () => {
  const { sending, arrived } = await startSending();
  sending.write(gzipSync("[1,"));
  sending.end(gzipSync("2]"));
  expect(String(await (await arrived).body)).toBe("[1,2]");
});

test("invalid gzip is refused before the body has ended", async () => {
  const { sending, arrived } = await startSending();
  sending.write("not gzip");
  expect(await (await arrived).body).toMatchObject({ status: 400, code: "PARSE" });
});

test("reading rejects if the client disconnects within its gzip", async () => {
  const { sending, arrived } = await startSending();
  sending.write(gzipSync("[1,2]").subarray(0, 12));
  const { body } = await arrived;
  sending.destroy();
  await expect(body).rejects.toThrow();
});
