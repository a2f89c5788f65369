import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { endianness } from "node:os";

/** Users outside our user namespace are shown as this one, so it is never known to be ours. */
const nobody = 65_534;

/**
 * Finds out whether the program at the other end of a loopback connection belongs to our user. Linux
 * lists the sockets of this machine with their owners; elsewhere no program is known.
 */
export class SameUser {
  readonly #known = new WeakMap<Socket, boolean | Promise<boolean>>();
  readonly #tables = [new SocketTable("/proc/net/tcp"), new SocketTable("/proc/net/tcp6")];

  /** Looks once per connection. */
  has(socket: Socket): boolean | Promise<boolean> {
    const known = this.#known.get(socket);
    if (known !== undefined) return known;
    const inspection = this.#inspect(socket).then((isOurs) => {
      this.#known.set(socket, isOurs);
      return isOurs;
    });
    this.#known.set(socket, inspection);
    return inspection;
  }

  async #inspect(socket: Socket): Promise<boolean> {
    const ends = endsOf(socket);
    const user = process.geteuid?.();
    if (ends.length === 0 || user === undefined || user === nobody) return false;
    // A table is read in parts, and a socket that closes meanwhile can hide another: look twice.
    for (const table of [...this.#tables, ...this.#tables]) {
      const owner = findOwner(await table.read(), ends);
      if (owner !== undefined) return owner === user;
    }
    return false;
  }
}

class SocketTable {
  readonly #file: string;
  #reading: Promise<string> = Promise.resolve("");
  #nextReading: Promise<string> | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** Connections that arrive during a reading share the next one, which has them all. */
  read(): Promise<string> {
    this.#nextReading ??= this.#reading.then(() => {
      this.#nextReading = undefined;
      // A kernel without IPv6 has only one table, and other systems have none.
      this.#reading = readFile(this.#file, "latin1").catch(() => "");
      return this.#reading;
    });
    return this.#nextReading;
  }
}

/** The row of the other end's socket as the tables write it; IPv4 may also be written as IPv6. */
function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string[] {
  const from = hexOf(remoteAddress);
  const to = hexOf(localAddress);
  if (from === undefined || to === undefined) return [];
  const prefixes = from.length === 8 ? ["", mappedPrefix] : [""];
  return prefixes.map(
    (prefix) => ` ${prefix}${from}:${portHex(remotePort)} ${prefix}${to}:${portHex(localPort)} `,
  );
}

const mappedPrefix = `${"0".repeat(16)}${wordHex([0, 0, 0xff, 0xff])}`;

function hexOf(address = ""): string | undefined {
  if (address === "::1") return `${"0".repeat(24)}${wordHex([0, 0, 0, 1])}`;
  const parts = address.split(".").map(Number);
  return parts.length === 4 ? wordHex(parts) : undefined;
}

/** The tables print the four bytes of a word as one number of this machine. */
function wordHex(bytes: readonly number[]): string {
  const ordered = endianness() === "LE" ? [...bytes].reverse() : bytes;
  return Buffer.from(ordered).toString("hex").toUpperCase();
}

function portHex(port = 0): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}

/** The owner's uid. A socket that its program has closed has no inode, and is shown as root's. */
function findOwner(table: string, ends: readonly string[]): number | undefined {
  for (const end of ends) {
    const at = table.indexOf(end);
    if (at === -1) continue;
    const [, , , , uid, , inode] = table.slice(at + end.length, at + end.length + 100).split(/ +/);
    if (inode !== "0") return Number(uid);
  }
  return undefined;
}
