import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { openRedirectPage } from "../../src/upstream/redirect.ts";

test("the page of a login refuses malformed addresses, and still accepts the issuer's answer", async () => {
  await using page = await openRedirectPage({
    port: 0,
    path: "/callback",
    state: "s",
    timeoutMs: 10_000,
  });
  const { port } = new URL(page.url);
  for (const target of ["//", "http://", "/callback?state=other", "/%ff"])
    expect(await ask(Number(port), target)).toMatch(/^HTTP\/1\.1 404 /);
  expect(await ask(Number(port), "/callback?state=s&code=c")).toMatch(/^HTTP\/1\.1 200 /);
  expect((await page.answer).get("code")).toBe("c");
});

/** The answer to a raw request target, without parsing by a URL class. */
async function ask(port: number, target: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
  let answer = "";
  socket.on("data", (bytes: Buffer) => {
    answer += bytes.toString();
  });
  await once(socket, "close");
  return answer;
}
