import { HallError } from "../../base/errors.ts";
import { createInOrder } from "../../base/one-at-a-time.ts";
import { type Connection, connect, explainFailure } from "../postgres/connection.ts";
import type { Address } from "../postgres/url.ts";
import type { Sql } from "../sql.ts";

/** Longer than any statement here takes; a database that does not answer counts as away. */
const statementMs = 2_000;

/** One connection that is opened again after a failure. Works on one thing at a time. */
export class Line {
  readonly #address: Address;
  readonly #opened: (connection: Connection) => Promise<void>;
  readonly #inOrder = createInOrder();
  #connection: Connection | undefined;
  #isClosed = false;

  constructor(address: Address, opened: (connection: Connection) => Promise<void>) {
    this.#address = address;
    this.#opened = opened;
  }

  /** Throws UNAVAILABLE. */
  run<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#inOrder(async () => {
      try {
        return await work((await this.#open()).sql);
      } catch (error) {
        this.#drop();
        throw explainFailure(error, this.#address);
      }
    });
  }

  /** True if the next work uses a connection that was used before. */
  get isOpen(): boolean {
    return this.#connection !== undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#inOrder(async () => this.#drop());
  }

  async #open(): Promise<Connection> {
    if (this.#connection) return this.#connection;
    if (this.#isClosed) throw new Error("closed");
    const connection = await connect(this.#address, statementMs);
    try {
      await this.#opened(connection);
    } catch (error) {
      connection.close().catch(() => {});
      throw error;
    }
    this.#connection = connection;
    return connection;
  }

  #drop(): void {
    this.#connection?.close().catch(() => {});
    this.#connection = undefined;
  }
}

/** The failure of work for which the database had to answer. */
export function away(cause?: unknown): HallError {
  return new HallError("UNAVAILABLE", "the database that the halls share does not answer", {
    cause,
    details: { retryAfterSeconds: 1 },
    next: [{ do: "retry-after", seconds: 1 }],
  });
}
