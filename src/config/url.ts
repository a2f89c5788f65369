import { kindOfHost } from "../net/host.ts";
import { quote } from "./error.ts";

/** Why a server must not be reached at this address; undefined if it may be, or if it is no text. */
export function findUrlFault(
  url: unknown,
  isSocket: boolean,
  allowPrivate: boolean,
): string | undefined {
  if (typeof url !== "string") return undefined;
  const [safe, plain] = isSocket ? ["wss:", "ws:"] : ["https:", "http:"];
  if (!URL.canParse(url)) return `is not a URL; expected ${safe}//host/path; write the full URL`;
  const { protocol, username, password, hostname, hash } = new URL(url);
  if (protocol !== safe && protocol !== plain) {
    const isOther = /^(https?|wss?):$/.test(protocol);
    return `has the scheme ${quote(protocol)}; expected ${safe}//; ${isOther ? `change it, or set "type" to "${isSocket ? "http" : "ws"}"` : "no other scheme is supported"}`;
  }
  if (username || password)
    return "contains a user name or password; expected none; send them in headers";
  if (hash || url.includes("#"))
    return "has a fragment (#); expected none, as it is never sent; remove it";
  const kind = kindOfHost(hostname);
  if (kind === "private" && !allowPrivate)
    return `points into a private network (${quote(hostname)}); expected a public host or this machine; set "allowPrivate": true if you mean it`;
  if (kind === "public" && protocol === plain)
    return `is not encrypted (${quote(hostname)} is not this machine); expected ${safe}//; change the scheme`;
  return undefined;
}
