import { BlockList, isIP } from "node:net";

/** Who can be behind a host name or address, as far as one can tell without asking DNS. */
export type HostKind = "loopback" | "private" | "public";

const privateAddresses = new BlockList();
for (const [address, bits] of [
  ["0.0.0.0", 8], // this host: reaches loopback
  ["10.0.0.0", 8],
  ["100.64.0.0", 10], // carriers, and the overlay networks of some clouds
  ["127.0.0.0", 8], // loopback under another address
  ["169.254.0.0", 16], // link-local: metadata services of clouds
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3], // multicast, reserved, broadcast
] as const) {
  privateAddresses.addSubnet(address, bits, "ipv4");
}
for (const [address, bits] of [
  ["::", 96], // unspecified, and IPv4 in its oldest disguise
  ["64:ff9b::", 32], // NAT64: an IPv4 address inside
  ["2001::", 32], // Teredo, the same
  ["2002::", 16], // 6to4, the same
  ["fc00::", 7],
  ["fe80::", 9], // link-local and the site-local of old
  ["ff00::", 8],
] as const) {
  privateAddresses.addSubnet(address, bits, "ipv6");
}

/** Takes a host as URL gives it: lower case, IPv4 in dotted form, IPv6 in brackets. */
export function kindOfHost(host: string): HostKind {
  const name = host.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (name === "127.0.0.1" || name === "::1" || name === "localhost" || name.endsWith(".localhost")) return "loopback";
  const version = isIP(name);
  if (version !== 0) return privateAddresses.check(name, version === 4 ? "ipv4" : "ipv6") ? "private" : "public";
  // Names that no public DNS answers.
  return !name.includes(".") || /\.(local|internal|intranet|lan|home|corp|home\.arpa)$/.test(name) ? "private" : "public";
}
