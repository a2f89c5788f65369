import { HallError } from "../base/errors.ts";
import { makeHarmless } from "../base/harmless.ts";
import { isObject } from "../base/json.ts";
import type { Questions } from "../tool.ts";
import { visitFirst } from "./failure.ts";

/** A page that a server wants a person to open in a browser. It is shown whole, and never opened, not even looked at, before a person says so. */
export interface Page {
  /** In the letters that addresses are made of: others are written as their codes, names of hosts as the network knows them. */
  readonly url: string;
  /** Who would be visited. */
  readonly host: string;
  /** What should make one look twice. */
  readonly warnings: readonly string[];
}

const charactersMax = 8_192;

/** Undefined for what no browser should be given. */
export function readPage(address: unknown): Page | undefined {
  if (typeof address !== "string" || address.length > charactersMax || !URL.canParse(address))
    return undefined;
  const url = new URL(address);
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  return { url: makeHarmless(url.href), host: url.host, warnings: warningsOf(url) };
}

function warningsOf({ protocol, hostname, username, password }: URL): readonly string[] {
  const isHere =
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "127.0.0.1" ||
    hostname === "[::1]";
  return [
    ...(protocol === "http:" && !isHere
      ? ["It is not encrypted (http): others can read what you enter there."]
      : []),
    ...(hostname.split(".").some((label) => label.startsWith("xn--"))
      ? ["Its name has letters of other scripts, which can look like a name you know."]
      : []),
    ...(username !== "" || password !== ""
      ? ["What stands before the @ is no name of a host: only what follows it is visited."]
      : []),
  ];
}

const pagesMax = 5;

/** A refusal that says which pages a person must visit first, as questions. */
export function pagesNeeded(error: unknown): Questions | undefined {
  if (!(error instanceof HallError) || error.relayed?.code !== visitFirst) return undefined;
  const { elicitations } = isObject(error.relayed.data) ? error.relayed.data : {};
  const pages = (Array.isArray(elicitations) ? elicitations : [])
    .filter(isObject)
    .slice(0, pagesMax);
  return Object.fromEntries(
    pages.map((params, index) => [
      `page ${index}`,
      { method: "elicitation/create", params: { ...params, mode: "url" } },
    ]),
  );
}
