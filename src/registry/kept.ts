import type { Json, JsonObject } from "../base/json.ts";
import { isObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { DocumentStore } from "../store/store.ts";
import type { Registrations } from "./registrations.ts";

/** Registrations that outlive the hall: their tools are listed again at once, and serve again when their service comes back. */
export interface KeptRegistrations extends Registrations {
  /** Registers again what an earlier hall kept. Never throws: what cannot be taken back is said and left out. */
  restore(): Promise<void>;
}

export interface KeepOptions {
  readonly shelf: DocumentStore;
  /** What only this user's halls can make: the file lies in the project, and a repository may bring one along. */
  sign(text: string): Promise<string>;
  readonly log: Pick<Log, "warn">;
}

export function keepRegistrations(
  registrations: Registrations,
  { shelf, sign, log }: KeepOptions,
): KeptRegistrations {
  /** Nobody waits for the disk; two writes of one name keep their order. */
  let writing: Promise<void> = Promise.resolve();
  function later(work: () => Promise<void>): void {
    writing = writing
      .then(work)
      .catch((err: unknown) => log.warn({ err }, "a registration could not be kept"));
  }

  async function takeBack(name: string, value: Json): Promise<void> {
    if (
      !isObject(value) ||
      !isObject(value.params) ||
      value.signature !== (await sign(JSON.stringify(value.params)))
    ) {
      log.warn(`the registration of ${name} was not kept by this user: it is left out`);
      return;
    }
    await registrations
      .register(value.params)
      .catch((err: unknown) => log.warn({ err }, `${name} could not be registered again`));
  }

  return {
    ...registrations,
    async register(params, runner) {
      const toolkit = await registrations.register(params, runner);
      later(async () =>
        shelf.put(toolkit.id, {
          params: params as JsonObject as Json,
          signature: await sign(JSON.stringify(params)),
        }),
      );
      return toolkit;
    },
    async unregister(name) {
      const toolkit = await registrations.unregister(name);
      later(() => shelf.remove(toolkit.id));
      return toolkit;
    },
    async restore() {
      const kept = await shelf.list().catch((err: unknown) => {
        log.warn({ err }, "registrations of the last hall could not be read");
        return [];
      });
      for (const { key, value } of kept) await takeBack(key, value);
    },
    async close() {
      await writing;
      await registrations.close();
    },
  };
}
