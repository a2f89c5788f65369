import type { Json, JsonObject } from "../base/json.ts";
import { isObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { DocumentStore } from "../store/store.ts";
import type { Registrations } from "./registrations.ts";

/** Registrations that survive a restart: tools are listed at once and work when the service reconnects. */
export interface KeptRegistrations extends Registrations {
  /** Restores saved registrations. Never throws: those that cannot be restored are logged and skipped. */
  restore(): Promise<void>;
}

export interface KeepOptions {
  readonly documents: DocumentStore;
  /** Signs with this user's key, because a repository could ship a forged file. */
  sign(text: string): Promise<string>;
  readonly log: Pick<Log, "warn">;
}

export function keepRegistrations(
  registrations: Registrations,
  { documents, sign, log }: KeepOptions,
): KeptRegistrations {
  /** Writes run in the background, in order. */
  let writing: Promise<void> = Promise.resolve();
  let isClosing = false;
  function later(work: () => Promise<void>): void {
    writing = writing
      .then(work)
      .catch((err: unknown) => log.warn({ err }, "saving a registration failed"));
  }

  async function restoreOne(name: string, value: Json): Promise<void> {
    if (
      !isObject(value) ||
      !isObject(value.params) ||
      value.signature !== (await sign(JSON.stringify(value.params)))
    ) {
      log.warn(`skipping the saved registration of ${name}: it was not signed by this user`);
      return;
    }
    await registrations
      .register(value.params)
      .catch((err: unknown) => log.warn({ err }, `restoring the registration of ${name} failed`));
  }

  return {
    ...registrations,
    async register(params, runner) {
      const toolkit = await registrations.register(params, runner);
      later(async () =>
        documents.put(toolkit.id, {
          params: params as JsonObject as Json,
          signature: await sign(JSON.stringify(params)),
        }),
      );
      return toolkit;
    },
    async unregister(name) {
      const toolkit = await registrations.unregister(name);
      later(() => documents.remove(toolkit.id));
      return toolkit;
    },
    async restore() {
      if (isClosing) return;
      const kept = await documents.list().catch((err: unknown) => {
        // A client may leave as soon as it has its answer, and the store closes while it is read.
        if (!isClosing) log.warn({ err }, "reading the saved registrations failed");
        return [];
      });
      for (const { key, value } of kept) await restoreOne(key, value);
    },
    async close() {
      isClosing = true;
      await writing;
      await registrations.close();
    },
  };
}
