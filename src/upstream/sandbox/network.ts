import type { ChildProcess } from "node:child_process";
import type { Socket as DatagramSocket } from "node:dgram";
import { lookup } from "node:dns";
import { connect, isIP, type LookupFunction, Server, type Socket } from "node:net";
import { isLinkLocal, kindOfHost } from "../../net/host.ts";

/**
 * The network of a server in a sandbox. The sandbox has its own network namespace without a route out. In it, a
 * short program opens a name server and a listener for each port, passes them to the hall, and ends before the
 * server starts. The hall resolves allowed names to loopback addresses of that namespace, and forwards
 * connections to the host itself. The server needs no proxy settings, and TLS stays between it and the host.
 */
export interface BoxNetwork {
  /** Takes the listeners from the process that makes them. */
  attach(child: ChildProcess): void;
  close(): void;
}

export const channelDescriptor = 5;

/** Numbers of the system call that passes sockets. */
const sendmsg: Readonly<Record<string, number>> = { x64: 46, arm64: 211 };

/** A program that opens the listeners inside the network, its code, and its argument. */
type Opener = readonly [program: string, code: string, argument: string];

/** Perl starts ten times as fast as Node, so it is preferred where it is installed. */
export function openerFor(hosts: readonly string[], perl: string | undefined): Opener {
  const ports = portsOf(hosts);
  const number = sendmsg[process.arch];
  return perl === undefined || number === undefined
    ? [process.execPath, openWithNode, JSON.stringify(ports)]
    : [perl, openWithPerl, [number, ...ports].join(" ")];
}

// Writes the messages with which Node passes sockets between its own processes, and waits for each to be accepted. The
// numbers are Linux's: loading Perl's module for them would take longer than all the rest.
const openWithPerl = `
my ($number, @ports) = split / /, $ARGV[0];
sub check { $_[0] or die "sandbox: no network: $!\\n" }
check(open my $channel, "<&=${channelDescriptor}");
sub hand {
  my ($socket, $type) = @_;
  my $text = qq({"cmd":"NODE_HANDLE",$type,"msg":"listener"}\\n);
  my $part = pack "P Q", $text, length $text;
  my $control = pack "Q i i i x4", 20, 1, 1, fileno $socket;
  my $message = pack "Q L x4 P Q P Q i x4", 0, 0, $part, 1, $control, length $control, 0;
  check(syscall($number, ${channelDescriptor}, $message, 0) > 0);
  check(sysread $channel, my $accepted, 4096);
}
sub address { pack "S n C4 x8", 2, @_ }
check(socket my $names, 2, 2, 0);
check(bind $names, address(53, 127, 0, 0, 1));
hand($names, '"type":"dgram.Socket","dgramType":"udp4"');
for my $port (@ports) {
  check(socket my $server, 2, 1, 0);
  check(bind $server, address($port, 0, 0, 0, 0));
  check(listen $server, 511);
  hand($server, '"type":"net.Server"');
}
`;

const openWithNode = `
const { send } = process, wait = (start) => new Promise((done, fail) => start(done, fail));
(async () => {
  const names = require("dgram").createSocket("udp4");
  await wait((done, fail) => names.once("error", fail).bind(53, "127.0.0.1", done));
  await wait((done) => send.call(process, "names", names, {}, done));
  for (const port of JSON.parse(process.argv[1])) {
    const server = require("net").createServer();
    await wait((done, fail) => server.once("error", fail).listen(port, "0.0.0.0", done));
    await wait((done) => send.call(process, "port", server, {}, done));
  }
  process.exit(0);
})().catch((error) => { console.error("sandbox: no network: " + error.message); process.exit(1); });
`;

const portsUsual = [80, 443];

/** A host of a list: `api.github.com`, `*.example.com`, `localhost:5432`. */
interface AllowedHost {
  readonly name: string;
  readonly ports: readonly number[];
}

function parseHost(text: string): AllowedHost {
  const [, name = text, port] = /^(.*?)(?::(\d+))?$/.exec(text) ?? [];
  return { name: name.toLowerCase(), ports: port === undefined ? portsUsual : [Number(port)] };
}

function portsOf(hosts: readonly string[]): readonly number[] {
  return [...new Set(hosts.flatMap((host) => parseHost(host).ports))];
}

export function isAllowed(hosts: readonly string[], name: string, port?: number): boolean {
  return hosts.map(parseHost).some((host) => {
    const isNamed = host.name.startsWith("*.")
      ? name.endsWith(host.name.slice(1))
      : host.name === name;
    return isNamed && (port === undefined || host.ports.includes(port));
  });
}

const connectionsMax = 256;

export function createBoxNetwork(
  hosts: readonly string[],
  refused: (host: string) => void,
): BoxNetwork {
  const listeners: (Server | DatagramSocket)[] = [];
  const sockets = new Set<Socket>();
  const addresses = createAddresses();
  let isClosed = false;

  function accept(inside: Socket): void {
    const { localAddress = "", localPort = 0 } = inside;
    const name = addresses.nameOf(localAddress) ?? "localhost";
    inside.on("error", () => inside.destroy());
    if (!isAllowed(hosts, name, localPort) && !isAllowed(hosts, localAddress, localPort)) {
      refused(`${name}:${localPort}`);
      inside.destroy();
      return;
    }
    if (sockets.size >= connectionsMax) {
      inside.destroy();
      return;
    }
    const outside = connect({ host: name, port: localPort, lookup: lookupFor(name) });
    for (const socket of [inside, outside]) {
      sockets.add(socket);
      socket.once("close", () => {
        sockets.delete(socket);
        inside.destroy();
        outside.destroy();
      });
    }
    outside.on("error", () => outside.destroy());
    inside.pipe(outside).pipe(inside);
  }

  function answerNames(names: DatagramSocket): void {
    names.on("error", () => names.close());
    names.on("message", (query, { port, address }) => {
      const asked = readQuestion(query);
      if (!asked) return;
      const isKnown = isAllowed(hosts, asked.name);
      if (!isKnown) refused(asked.name);
      const found = isKnown && asked.type === typeA ? addresses.addressOf(asked.name) : undefined;
      names.send(answerQuestion(query, asked.end, { isKnown, found }), port, address);
    });
  }

  return {
    attach(child) {
      child.on("message", (_kind, handle) => {
        if (!handle) return;
        if (isClosed) {
          (handle as Server | DatagramSocket).close();
          return;
        }
        listeners.push(handle as Server | DatagramSocket);
        if (handle instanceof Server) handle.on("connection", accept);
        else answerNames(handle as DatagramSocket);
      });
    },
    close() {
      isClosed = true;
      for (const listener of listeners.splice(0)) listener.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Gives each name an address of 127.77.0.0/16. */
function createAddresses() {
  const names: string[] = [];
  const prefix = "127.77.";
  return {
    addressOf(name: string): string | undefined {
      let at = names.indexOf(name);
      if (at === -1) at = names.push(name) - 1;
      return at < 65_000 ? `${prefix}${(at + 1) >> 8}.${(at + 1) & 255}` : undefined;
    },
    nameOf(address: string): string | undefined {
      if (!address.startsWith(prefix)) return undefined;
      const [high = 0, low = 0] = address.slice(prefix.length).split(".").map(Number);
      return names[high * 256 + low - 1];
    },
  };
}

/** A name that leads to this machine or to a metadata service is refused, unless the list names this machine. */
function lookupFor(name: string): LookupFunction {
  const mayBeHere = kindOfHost(name) === "loopback";
  return (host, options, done) =>
    lookup(host, { ...options, all: true }, (error, found) => {
      const usable = (error ? [] : found).filter(
        ({ address }) =>
          !isLinkLocal(address) && (mayBeHere || !/^(127\.|0\.|::1$|::ffff:)/.test(address)),
      );
      const first = usable[0];
      if (!first) done(error ?? new Error(`${host} has no usable address`), "", 4);
      else if (options.all) done(null, usable);
      else done(null, first.address, first.family);
    });
}

const typeA = 1;
const nameBytesMax = 253;

/** The first question of a DNS query. */
function readQuestion(
  query: Buffer,
): { readonly name: string; readonly type: number; readonly end: number } | undefined {
  const labels: string[] = [];
  let at = 12;
  for (;;) {
    const length = query[at];
    if (length === undefined || length > 63 || at > 12 + nameBytesMax) return undefined;
    at++;
    if (length === 0) break;
    labels.push(query.toString("latin1", at, at + length));
    at += length;
  }
  if (at + 4 > query.length || labels.length === 0) return undefined;
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at), end: at + 4 };
}

/** An address, no address of this type, or "no such name". */
function answerQuestion(
  query: Buffer,
  end: number,
  { isKnown, found }: { readonly isKnown: boolean; readonly found: string | undefined },
): Buffer {
  const head = Buffer.from(query.subarray(0, 12));
  head.writeUInt16BE(isKnown ? 0x8180 : 0x8183, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(found === undefined ? 0 : 1, 6);
  head.writeUInt32BE(0, 8);
  const question = query.subarray(12, end);
  if (found === undefined || isIP(found) !== 4) return Buffer.concat([head, question]);
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
  return Buffer.concat([head, question, record, Buffer.from(found.split(".").map(Number))]);
}
