import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Advice } from "../base/advice.ts";
import { HallError, messageOf } from "../base/errors.ts";
import { replacePrivate } from "../base/files.ts";
import { hashOf, isObject } from "../base/json.ts";
import { keyMadeAt, loadUserKey } from "../base/user-key.ts";
import type { Anchor } from "./chain.ts";

/** How far a store was written. */
export interface SealRecord {
  /** The name of the store; empty for a database. */
  readonly store: string;
  /** The last row of the audit, and its hash. */
  readonly seq: number;
  readonly hash: string;
}

export interface SealOptions {
  /** In the user's data folder. */
  readonly folder: string;
  /** The path or URL of the store. */
  readonly place: string;
  notify(message: string): void;
}

/**
 * The record of a store in the user's data folder: the key of its audit, and how far it was written. It tells our file
 * from one that a clone brought, and shows that a file was removed, replaced or rolled back.
 */
export class Seal {
  readonly #options: SealOptions;
  readonly #file: string;
  #key: Buffer | undefined;
  #hasFailed = false;

  constructor(options: SealOptions) {
    this.#options = options;
    this.#file = markFile(options);
  }

  async key(): Promise<Buffer> {
    this.#key ??= await loadUserKey(this.#options.folder);
    return this.#key;
  }

  /** A new name for a store whose rows after this one are keyed. Only this user can make one that `isOwn` accepts. */
  async name({ seq, hash }: Anchor): Promise<string> {
    const random = randomBytes(16).toString("hex");
    return `${random}.${hash}.${await this.#sign(["store", random, seq, hash])}`;
  }

  async isOwn(name: string, seq: number): Promise<boolean> {
    const [random = "", hash = "", signature = ""] = name.split(".");
    return isSame(signature, await this.#sign(["store", random, seq, hash]));
  }

  /**
   * True for a time when this user worked with a version that had no key for stores: after their first approval, which
   * made the key of the approvals, and before the key for stores.
   */
  async isBeforeKey(time: number): Promise<boolean> {
    await this.key();
    const { folder } = this.#options;
    const first = await keyMadeAt(join(folder, "..", "trust")).catch(
      () => Number.POSITIVE_INFINITY,
    );
    return first < time && time <= (await keyMadeAt(folder));
  }

  /** Undefined if the store was not written yet. */
  async readMark(): Promise<SealRecord | undefined> {
    try {
      const value: unknown = JSON.parse(readFileSync(this.#file, "utf8"));
      if (!isObject(value)) return undefined;
      const { signature, ...body } = value;
      if (!isSame(String(signature), await this.#sign(body))) return undefined;
      return { store: String(body.store), seq: Number(body.seq), hash: String(body.hash) };
    } catch {
      // There is none, or it is damaged: then nothing is known.
      return undefined;
    }
  }

  /** The rows are durable already, so a failure is only reported. */
  async saveMark(mark: SealRecord): Promise<void> {
    const body = { place: this.#options.place, ...mark };
    try {
      const text = JSON.stringify({ ...body, signature: await this.#sign(body) });
      await replacePrivate(this.#file, `${text}\n`);
    } catch (error) {
      if (!this.#hasFailed)
        this.#options.notify(`cannot remember how far the store was written: ${messageOf(error)}`);
      this.#hasFailed = true;
    }
  }

  forgetMark(): void {
    rmSync(this.#file, { force: true });
  }

  async #sign(body: unknown): Promise<string> {
    return createHmac("sha256", await this.key())
      .update(hashOf(body))
      .digest("base64url");
  }
}

/** The hash of the last row without a key, which the name of a store seals. */
export function sealedHash(name: string): string {
  return name.split(".")[1] ?? "";
}

/** Where the mark of a store is kept. */
export function markFile({ folder, place }: Pick<SealOptions, "folder" | "place">): string {
  const name = createHash("sha256").update(place).digest("hex").slice(0, 32);
  return join(folder, `${name}.json`);
}

/**
 * The store is not the one that was written. Calls that must be recorded are refused until a person
 * has looked at it.
 */
export class StoreChanged extends HallError {
  static readonly hint =
    "Put it back, or accept the loss: a new audit then begins with a row about it.";
  static readonly next: readonly Advice[] = [{ do: "run-command", command: "audit accept" }];

  constructor(what: string) {
    super("UNAVAILABLE", `the store ${what}`, StoreChanged);
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
