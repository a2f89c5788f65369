import type { Read, ToWriter } from "./protocol.ts";

/** What the writer writes into: a SQLite file or a PostgreSQL database, opened when it is first needed. One thing is asked of it at a time. */
export interface Archive {
  /** All of it or nothing; durable when it resolves. What came through although it seemed to fail is not written again. */
  commit(batch: readonly Waiting[]): Promise<void>;
  read(read: Read): Promise<unknown>;
  /** True where a row is at fault: another one would not fail, and the same would fail again. */
  isOfRow(error: unknown): boolean;
  close(): Promise<void>;
}

/** What waits to be written. */
export type Waiting = Extract<ToWriter, { kind: "calls" | "write" }>;

/** What an archive says by itself, for the log. */
export type Notice = (message: string) => void;
