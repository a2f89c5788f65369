import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { greetHall } from "../../src/hall/admin-client.ts";

test("a hall that holds the socket and never answers times out with advice", async () => {
  const folder = await mkdtemp(join(tmpdir(), "guildhall-mute-"));
  const path = join(folder, "hall.sock");
  const mute = createServer((socket) => socket.resume()).listen(path);
  try {
    await expect(greetHall(path, "mcp", { timeoutMs: 100 })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      next: [{ do: "run-command", command: "mcp --alone" }],
    });
  } finally {
    mute.close();
    await rm(folder, { recursive: true });
  }
});

test("no socket is no hall", async () => {
  expect(
    await greetHall(join(tmpdir(), "guildhall-nobody.sock"), "mcp", { timeoutMs: 100 }),
  ).toBeUndefined();
});
