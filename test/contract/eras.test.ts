import { describe, test, vi } from "vitest";
import { behaviours, clientLines, openCell, upstreamLines } from "./eras.ts";

// Most of the time goes by in waiting.
vi.setConfig({ maxConcurrency: 12 });

const cells = clientLines.flatMap((client) =>
  upstreamLines.map(
    (upstream) =>
      [
        `${client.era} over ${client.name}`,
        `${upstream.era} over ${upstream.name}`,
        client,
        upstream,
      ] as const,
  ),
);

describe.concurrent("with every pair of eras and transports", () => {
  test.each(cells)(
    "a client, %s, and a server, %s, do the same",
    async (_client, _server, clientLine, upstreamLine) => {
      await using cell = await openCell(clientLine, upstreamLine);
      for (const [name, behave] of Object.entries(behaviours)) {
        await behave(cell).catch((error: unknown) => {
          throw new Error(`${name}: ${error instanceof Error ? error.message : error}`, {
            cause: error,
          });
        });
      }
    },
  );
});
