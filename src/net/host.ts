import { BlockList, isIP } from "node:net";

/** Classifies a host name or address without DNS. */
export type HostKind = "loopback" | "private" | "public";

const privateAddresses = new BlockList();
for (const [address, bits] of [
  ["0.0.0.0", 8], // this host: reaches loopback
  ["10.0.0.0", 8],
  ["100.64.0.0", 10], // carrier-grade NAT, and overlay networks of some clouds
  ["127.0.0.0", 8], // loopback
  ["169.254.0.0", 16], // link-local: cloud metadata services
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24], // documentation, as are two below
  ["192.88.99.0", 24], // 6to4 relays
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3], // multicast, reserved, broadcast
] as const) {
  privateAddresses.addSubnet(address, bits, "ipv4");
}
for (const [address, bits] of [
  // Only 2000::/3 is public. Below it are the unspecified address and embedded IPv4: mapped, translated, NAT64.
  ["::", 3],
  ["2001::", 23], // Teredo (embeds IPv4) and other special purposes
  ["2001:db8::", 32], // documentation
  ["2002::", 16], // 6to4 (embeds IPv4)
  ["3fff::", 20], // documentation
  ["4000::", 2],
  ["8000::", 1], // local, link-local, multicast
] as const) {
  privateAddresses.addSubnet(address, bits, "ipv6");
}

/** Cloud metadata services, in every form that reaches them: never opened, not even by a setting. */
const linkLocal = new BlockList();
linkLocal.addSubnet("169.254.0.0", 16, "ipv4");
for (const [address, bits] of [
  ["fe80::", 10],
  ["64:ff9b::", 96], // NAT64, embeds IPv4
  ["64:ff9b:1::", 48],
  ["2002::", 16], // 6to4, embeds IPv4
] as const)
  linkLocal.addSubnet(address, bits, "ipv6");

/** For addresses that a lookup returned, or hosts as in `URL.hostname`. */
export function isLinkLocal(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, "");
  const version = isIP(address);
  return version !== 0 && linkLocal.check(address, version === 4 ? "ipv4" : "ipv6");
}

/** Takes a host as in `URL.hostname`: lower case, IPv4 in dotted form, IPv6 in brackets. */
export function kindOfHost(host: string): HostKind {
  const name = host.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (name === "127.0.0.1" || name === "::1" || name === "localhost" || name.endsWith(".localhost"))
    return "loopback";
  const version = isIP(name);
  if (version !== 0)
    return privateAddresses.check(name, version === 4 ? "ipv4" : "ipv6") ? "private" : "public";
  // Names that public DNS does not resolve.
  return !name.includes(".") || /\.(local|internal|intranet|lan|home|corp|home\.arpa)$/.test(name)
    ? "private"
    : "public";
}
