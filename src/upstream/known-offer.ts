import { setTimeout as sleep } from "node:timers/promises";
import { HallError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { createOneAtATime } from "../base/one-at-a-time.ts";
import { Scope } from "../base/scope.ts";
import type { ServerConnection } from "../client/connection.ts";
import type { ListKind } from "../tool.ts";
import { pinOf } from "../trust/pin.ts";
import {
  emptyOffer,
  type Offer,
  type ReadOptions,
  readAllResources,
  readOffer,
  readPrompts,
  readTools,
} from "./lists.ts";
import type { Supervisor } from "./supervisor.ts";

/** What is known of a server's offer: from the lock, from each start, from every change it tells of, and from looks at it. */
export interface KnownOffer {
  readonly isKnown: boolean;
  current(): Offer;
  /** Of a tool as it is known now. */
  pinOf(tool: string): string | undefined;
  /** A line that is being opened: what is offered on it is read, or compared with what is known, before the first call goes out. */
  meet(line: ServerConnection, scope: Scope): Promise<void>;
  /** Reads one list again. Never throws. */
  refresh(kind: ListKind): Promise<void>;
  /** Starts the server and reads everything, each time anew. */
  look(): Promise<Offer>;
  /** The same in the background. A server that nothing is known of is tried again until it answers, since nobody can call it before. */
  lookUntilKnown(): void;
  /** Resolves when the look in the background is over; undefined when there is none. */
  looking(): Promise<void> | undefined;
  onChange(listener: (kind: ListKind) => void): () => void;
}

export interface KnownOfferOptions {
  readonly name: string;
  readonly log: Log;
  /** From an earlier look. */
  readonly known: Offer | undefined;
  /** How long one reading may take. */
  readonly readMs: number;
  readonly isUsable: NonNullable<ReadOptions["isUsable"]>;
  readonly supervisor: Pick<Supervisor, "use" | "opened" | "state">;
}

const relookMsMin = 1_000;
const everything: readonly ListKind[] = ["tools", "resources", "prompts"];

export function createKnownOffer({
  name,
  log,
  known,
  readMs,
  isUsable,
  supervisor,
}: KnownOfferOptions): KnownOffer {
  const listeners = new Set<(kind: ListKind) => void>();
  const refreshing = createOneAtATime(refresh);
  let offer: Offer = known ?? emptyOffer;
  let isKnown = known !== undefined;
  /** Made when it is needed: hashing thousands of tools is not for the start of a hall. */
  let pinByName: ReadonlyMap<string, string> | undefined;
  /** The line on which the offer was read when it opened: it need not be read again at once. */
  let fresh: ServerConnection | undefined;
  let isLooking = false;
  let looked: Promise<void> | undefined;

  function pinOfKnown(tool: string): string | undefined {
    pinByName ??= new Map(offer.tools.map((known) => [known.name, pinOf(known)]));
    return pinByName.get(tool);
  }

  function adopt(next: Offer, kinds: readonly ListKind[]): void {
    offer = next;
    pinByName = undefined;
    isKnown = true;
    for (const kind of kinds) for (const listener of listeners) listener(kind);
  }

  function reading(scope: Scope): ReadOptions {
    return { scope, isUsable, warn: (message) => log.warn(message) };
  }

  /** Reads from a line that is open. */
  function read<T>(from: (options: ReadOptions) => Promise<T>): Promise<T> {
    const scope = new Scope(undefined, readMs, name);
    return scope.finish(from(reading(scope)));
  }

  async function compare(line: ServerConnection, scope: Scope): Promise<void> {
    try {
      const tools = await readTools(line, reading(scope));
      const isSame =
        tools.length === offer.tools.length &&
        tools.every((tool) => pinOf(tool) === pinOfKnown(tool.name));
      if (!isSame) adopt({ ...offer, tools }, ["tools"]);
    } catch (error) {
      // One that cannot list can still be called for what it was known for, as it says so itself.
      if (!(error instanceof HallError && error.relayed)) throw error;
      log.warn({ err: error }, "its tools could not be listed; what was known stays");
    }
  }

  /** From the running server, or from the one that is being opened: the list may have changed since it was read. */
  async function refresh(kind: ListKind): Promise<void> {
    const line = await supervisor.opened();
    if (!line) return;
    try {
      const changed = await read((options) => readList(kind, line, options));
      // Not before: other lists may have been read meanwhile.
      adopt({ ...offer, ...changed }, [kind]);
    } catch (error) {
      log.warn({ kind, err: error }, "listing again failed; what was known stays");
    }
  }

  async function look(): Promise<Offer> {
    const found = await supervisor.use(new Scope(), async (line) => {
      const isFresh = fresh === line;
      fresh = undefined;
      return isFresh ? offer : read((options) => readOffer(line, options));
    });
    adopt(found, everything);
    return found;
  }

  async function lookUntilKnown(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    let warned: string | undefined;
    do {
      const looking = look();
      const over = (): void => {
        looked = undefined;
      };
      looked = looking.then(over, over);
      try {
        await looking;
      } catch (error) {
        const reason = messageOf(error);
        if (reason !== warned) log.warn(`not reached yet: ${reason}`);
        warned = reason;
        const state = supervisor.state();
        const waitMs =
          state.kind === "down" ? Math.max(relookMsMin, state.retryAt - Date.now()) : relookMsMin;
        await sleep(waitMs, undefined, { ref: false });
      }
    } while (!isKnown && supervisor.state().kind !== "closed");
    isLooking = false;
  }

  return {
    get isKnown() {
      return isKnown;
    },
    current: () => offer,
    pinOf: pinOfKnown,
    async meet(line, scope) {
      if (isKnown) {
        await compare(line, scope);
        return;
      }
      adopt(await readOffer(line, reading(scope)), everything);
      fresh = line;
    },
    refresh: refreshing.run,
    look,
    lookUntilKnown: () => void lookUntilKnown(),
    looking: () => (isKnown ? undefined : looked),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

async function readList(
  kind: ListKind,
  line: ServerConnection,
  options: ReadOptions,
): Promise<Partial<Offer>> {
  switch (kind) {
    case "tools":
      return { tools: await readTools(line, options) };
    case "resources":
      return readAllResources(line, options);
    case "prompts":
      return { prompts: await readPrompts(line, options) };
  }
}
