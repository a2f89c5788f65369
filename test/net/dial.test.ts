import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createDialler } from "../../src/net/dial.ts";

test("an answer that is aborted before its body is read fails its reader, and nobody else", async () => {
  const server = createServer((_request, response) => void response.writeHead(200).write("x"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const uncaught: unknown[] = [];
  const note = (error: unknown): void => void uncaught.push(error);
  process.on("uncaughtException", note);
  const dialler = createDialler(undefined);
  try {
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const controller = new AbortController();
    const answer = await dialler.open(url, {
      method: "GET",
      headers: {},
      signal: controller.signal,
    });
    controller.abort();
    // The error is emitted in a later turn.
    await new Promise((resolve) => setTimeout(resolve, 20));
    const read = async (): Promise<void> => {
      for await (const _chunk of answer.body ?? []);
    };
    await expect(read()).rejects.toThrow();
    expect(uncaught).toEqual([]);
  } finally {
    process.off("uncaughtException", note);
    dialler.close();
    server.closeAllConnections();
    server.close();
  }
});
