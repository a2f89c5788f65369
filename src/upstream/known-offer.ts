import { setTimeout as sleep } from "node:timers/promises";
import { HallError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { createOneAtATime } from "../base/one-at-a-time.ts";
import { Scope } from "../base/scope.ts";
import type { ServerConnection } from "../client/connection.ts";
import type { ListKind, Tool } from "../tool.ts";
import { pinOf } from "../trust/pin.ts";
import {
  emptyOffer,
  type Offer,
  type ReadOptions,
  readChanged,
  readList,
  readOffer,
} from "./lists.ts";
import type { Supervisor, SupervisorState } from "./supervisor.ts";

/** What a server offers: from the lock, each start, its change notifications, and discovery. */
export interface KnownOffer {
  readonly isKnown: boolean;
  current(): Offer;
  /** The tool as it is known now. */
  find(tool: string): Tool | undefined;
  /** Reads the offer of a new connection, or compares it with the known one, before the first call. */
  syncOnOpen(connection: ServerConnection, scope: Scope): Promise<void>;
  /** Reads one list again. Never throws. */
  refresh(kind: ListKind): Promise<void>;
  /** Starts the server and reads everything, each time anew. */
  look(): Promise<Offer>;
  /** Like `look`, in the background; an unknown server is retried until it answers. */
  lookUntilKnown(): void;
  /** Resolves when the background discovery ends; undefined if none runs. */
  looking(): Promise<void> | undefined;
  onChange(listener: (kind: ListKind) => void): () => void;
}

export interface KnownOfferOptions {
  readonly name: string;
  readonly log: Log;
  /** From an earlier discovery. */
  readonly known: Offer | undefined;
  /** How long one reading may take. */
  readonly readMs: number;
  readonly isUsable: NonNullable<ReadOptions["isUsable"]>;
  readonly supervisor: Pick<Supervisor, "use" | "opened" | "state">;
}

const relookMsMin = 1_000;
const everything: readonly ListKind[] = ["tools", "resources", "prompts"];

export function createKnownOffer(options: KnownOfferOptions): KnownOffer {
  const { name, log, known, readMs, isUsable, supervisor } = options;
  const listeners = new Set<(kind: ListKind) => void>();
  const refreshing = createOneAtATime(refresh);
  let offer: Offer = known ?? emptyOffer;
  let isKnown = known !== undefined;
  /** Built on demand: a server that is only listed needs no index. */
  let toolByName: ReadonlyMap<string, Tool> | undefined;
  /** The connection on which the offer was just read: it need not be read again at once. */
  let fresh: ServerConnection | undefined;
  let isLooking = false;
  let looked: Promise<void> | undefined;

  function find(name: string): Tool | undefined {
    toolByName ??= new Map(offer.tools.map((tool) => [tool.name, tool]));
    return toolByName.get(name);
  }

  function isKnownTool(tool: Tool): boolean {
    const before = find(tool.name);
    return before !== undefined && pinOf(before) === pinOf(tool);
  }

  function adopt(next: Offer, kinds: readonly ListKind[]): void {
    offer = next;
    toolByName = undefined;
    isKnown = true;
    for (const kind of kinds) for (const listener of listeners) listener(kind);
  }

  function reading(scope: Scope): ReadOptions {
    return { scope, isUsable, warn: (message) => log.warn(message) };
  }

  /** Reads from an open connection. */
  function read<T>(from: (options: ReadOptions) => Promise<T>): Promise<T> {
    const scope = new Scope(undefined, readMs, name);
    return scope.finish(from(reading(scope)));
  }

  async function compare(line: ServerConnection, scope: Scope): Promise<void> {
    try {
      const tools = await readList(line, "tools", reading(scope));
      const isSame = tools.length === offer.tools.length && tools.every(isKnownTool);
      if (!isSame) adopt({ ...offer, tools }, ["tools"]);
    } catch (error) {
      // A server that refuses to list can still be called with what is known.
      if (!(error instanceof HallError && error.relayed)) throw error;
      log.warn({ err: error }, "cannot list its tools; keeping the known ones");
    }
  }

  /** Also waits for a server that is starting: its list may have changed since it was read. */
  async function refresh(kind: ListKind): Promise<void> {
    const line = await supervisor.opened();
    if (!line) return;
    try {
      const changed = await read((options) => readChanged(kind, line, options));
      // After the read: other lists may have changed meanwhile.
      adopt({ ...offer, ...changed }, [kind]);
    } catch (error) {
      log.warn({ kind, err: error }, "listing again failed; keeping the known list");
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
        await sleep(untilRetryMs(supervisor.state()), undefined, { ref: false });
      }
    } while (!isKnown && supervisor.state().kind !== "closed");
    isLooking = false;
  }

  return {
    get isKnown() {
      return isKnown;
    },
    current: () => offer,
    find,
    async syncOnOpen(connection, scope) {
      if (isKnown) {
        await compare(connection, scope);
        return;
      }
      adopt(await readOffer(connection, reading(scope)), everything);
      fresh = connection;
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

function untilRetryMs(state: SupervisorState): number {
  return state.kind === "down" ? Math.max(relookMsMin, state.retryAt - Date.now()) : relookMsMin;
}
