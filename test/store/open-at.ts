import { fileURLToPath } from "node:url";
import { openStore } from "../../src/store/open-store.ts";
import type { Store } from "../../src/store/store.ts";

/** Opens a file or a database; `note` gets its log messages. */
export function openAt(place: string, worker: URL, note: (message: string) => void): Store {
  const log = {
    warn: (_: unknown, text: string) => note(text),
    error: (_: unknown, text: string) => note(text),
  };
  return openStore(
    {
      ...(place.startsWith("postgres:") ? { url: place } : { path: place }),
      worker,
      sealFolder: fileURLToPath(new URL("seals", worker)),
    },
    { log: log as never, secrets: undefined },
  );
}
