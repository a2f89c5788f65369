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
import type { Supervisor } from "./supervisor.ts";

export interface KnownOfferOptions {
  readonly name: string;
  readonly log: Log;
  /** From an earlier discovery. */
  readonly known: Offer | undefined;
  /** How long one reading may take. */
  readonly readMs: number;
  readonly isUsable: NonNullable<ReadOptions["isUsable"]>;
  readonly supervisor: Pick<Supervisor, "use" | "opened" | "state" | "retryInMs">;
}

const relookMsMin = 1_000;
const everything: readonly ListKind[] = ["tools", "resources", "prompts"];

/** The tools, resources and prompts of a server: from the lock, each start, its change notifications, and discovery. */
export class KnownOffer {
  readonly #options: KnownOfferOptions;
  readonly #listeners = new Set<(kind: ListKind) => void>();
  readonly #refreshing = createOneAtATime((kind: ListKind) => this.#refresh(kind));
  #offer: Offer;
  #isKnown: boolean;
  /** Built on demand: a server that is only listed needs no index. */
  #toolByName: ReadonlyMap<string, Tool> | undefined;
  /** The connection on which the offer was just read: it need not be read again at once. */
  #fresh: ServerConnection | undefined;
  #isLooking = false;
  #pending: Promise<void> | undefined;

  constructor(options: KnownOfferOptions) {
    this.#options = options;
    this.#offer = options.known ?? emptyOffer;
    this.#isKnown = options.known !== undefined;
  }

  get isKnown(): boolean {
    return this.#isKnown;
  }

  get current(): Offer {
    return this.#offer;
  }

  /** The tool as it is known now. */
  find(name: string): Tool | undefined {
    this.#toolByName ??= new Map(this.#offer.tools.map((tool) => [tool.name, tool]));
    return this.#toolByName.get(name);
  }

  /** Reads the offer of a new connection, or compares it with the known one, before the first call. */
  async syncOnOpen(connection: ServerConnection, scope: Scope): Promise<void> {
    if (this.#isKnown) {
      await this.#compare(connection, scope);
      return;
    }
    this.#adopt(await readOffer(connection, this.#reading(scope)), everything);
    this.#fresh = connection;
  }

  /** Reads one list again. Never throws. */
  refresh(kind: ListKind): Promise<void> {
    return this.#refreshing.run(kind);
  }

  /** Starts the server and reads everything, each time anew. */
  async discover(): Promise<Offer> {
    const found = await this.#options.supervisor.use(new Scope(), async (line) => {
      const isFresh = this.#fresh === line;
      this.#fresh = undefined;
      return isFresh ? this.#offer : this.#read((options) => readOffer(line, options));
    });
    this.#adopt(found, everything);
    return found;
  }

  /** Like `discover`, in the background; an unknown server is retried until it answers. */
  async discoverUntilKnown(): Promise<void> {
    if (this.#isLooking) return;
    const { log, supervisor } = this.#options;
    this.#isLooking = true;
    let warned: string | undefined;
    do {
      const discovery = this.discover();
      const over = (): void => {
        this.#pending = undefined;
      };
      this.#pending = discovery.then(over, over);
      try {
        await discovery;
      } catch (error) {
        const reason = messageOf(error);
        if (reason !== warned) log.warn(`not reached yet: ${reason}`);
        warned = reason;
        await sleep(Math.max(relookMsMin, supervisor.retryInMs), undefined, { ref: false });
      }
    } while (!this.#isKnown && supervisor.state().kind !== "closed");
    this.#isLooking = false;
  }

  /** Resolves when the background discovery ends; undefined if none runs. */
  pendingDiscovery(): Promise<void> | undefined {
    return this.#isKnown ? undefined : this.#pending;
  }

  onChange(listener: (kind: ListKind) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #adopt(next: Offer, kinds: readonly ListKind[]): void {
    this.#offer = next;
    this.#toolByName = undefined;
    this.#isKnown = true;
    for (const kind of kinds) for (const listener of this.#listeners) listener(kind);
  }

  #reading(scope: Scope): ReadOptions {
    const { isUsable, log } = this.#options;
    return { scope, isUsable, warn: (message) => log.warn(message) };
  }

  /** Reads from an open connection. */
  #read<T>(from: (options: ReadOptions) => Promise<T>): Promise<T> {
    const scope = new Scope(undefined, this.#options.readMs, this.#options.name);
    return scope.closeAfter(from(this.#reading(scope)));
  }

  async #compare(line: ServerConnection, scope: Scope): Promise<void> {
    try {
      const tools = await readList(line, "tools", this.#reading(scope));
      const before = this.#offer.tools;
      const isSame = tools.length === before.length && tools.every((tool) => this.#has(tool));
      if (!isSame) this.#adopt({ ...this.#offer, tools }, ["tools"]);
    } catch (error) {
      // A server that refuses to list can still be called with what is known.
      if (!(error instanceof HallError && error.relayed)) throw error;
      this.#options.log.warn({ err: error }, "cannot list its tools; keeping the known ones");
    }
  }

  #has(tool: Tool): boolean {
    const before = this.find(tool.name);
    return before !== undefined && pinOf(before) === pinOf(tool);
  }

  /** Also waits for a server that is starting: its list may have changed since it was read. */
  async #refresh(kind: ListKind): Promise<void> {
    const line = await this.#options.supervisor.opened();
    if (!line) return;
    try {
      const changed = await this.#read((options) => readChanged(kind, line, options));
      // After the read: other lists may have changed meanwhile.
      this.#adopt({ ...this.#offer, ...changed }, [kind]);
    } catch (error) {
      this.#options.log.warn({ kind, err: error }, "listing again failed; keeping the known list");
    }
  }
}
