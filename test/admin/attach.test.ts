import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { attach } from "../../src/admin/attach.ts";
import type { Channel } from "../../src/wire/channel.ts";
import { defaultLimits } from "../../src/wire/limits.ts";
import { createMemoryPair } from "../../src/wire/memory.ts";
import { createStdioChannel } from "../../src/wire/stdio.ts";

test("a client that is gone is not connected once more", async () => {
  const output = new PassThrough();
  let connected = 0;
  const attached = attach(createStdioChannel(new PassThrough(), output, defaultLimits), {
    limits: defaultLimits,
    async connect() {
      connected++;
      const [near, far] = createMemoryPair();
      far.start({ frame() {}, oversize() {}, drained() {}, ended() {}, closed() {} });
      return near satisfies Channel;
    },
  });
  // It no longer reads, and has not said that it sends no more.
  output.destroy();
  await attached;
  expect(connected).toBe(1);
});
