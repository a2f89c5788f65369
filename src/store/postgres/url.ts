import { HallError } from "../../base/errors.ts";

/** A database as `store.url` names it. */
export interface Address {
  /** A name, an address, or the folder of a local socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** The halls that share one share everything in it. */
  readonly schema: string;
  readonly tls: Tls;
}

/** The modes of libpq, with the files that belong to them. */
export interface Tls {
  readonly mode: SslMode;
  readonly rootFile: string | undefined;
  readonly certificateFile: string | undefined;
  readonly keyFile: string | undefined;
}

const sslModes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const;
export type SslMode = (typeof sslModes)[number];

const form = "postgres://user:password@host:5432/database";

/**
 * `postgres://user:password@host:5432/database?sslmode=verify-full&schema=guildhall`. Without an sslmode, TLS with a checked
 * certificate, except on this machine. Throws HallError, which never has the URL in it: there may be a password anywhere.
 */
export function parseDatabaseUrl(url: string): Address {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^postgres(ql)?:$/.test(parsed.protocol)) {
    throw refusal(
      `is no address of a database; write it as ${form}, with %-codes for special characters in the password`,
    );
  }
  const given = (name: string): string | undefined => parsed.searchParams.get(name) || undefined;
  const host = given("host") ?? (decode(parsed.hostname).replace(/^\[|\]$/g, "") || "localhost");
  const user = given("user") ?? decode(parsed.username);
  if (user === "") throw refusal(`names no user; write it as ${form}`);
  const schema = given("schema") ?? "guildhall";
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw refusal(`names the schema "${schema}"; use small letters, digits and _`);
  return {
    host,
    port: Number(given("port") ?? (parsed.port || 5432)),
    user,
    password: given("password") ?? decode(parsed.password),
    database: decode(parsed.pathname.slice(1)) || user,
    schema,
    tls: {
      mode: sslModeOf(given("sslmode"), host),
      rootFile: given("sslrootcert"),
      certificateFile: given("sslcert"),
      keyFile: given("sslkey"),
    },
  };
}

/** For people and logs: without the password and whatever else stands behind it. */
export function nameDatabase(url: string): string {
  try {
    const { user, host, port, database } = parseDatabaseUrl(url);
    return `postgres://${user}@${host}:${port}/${database}`;
  } catch {
    // What is wrong with it is said when it is opened.
    return "postgres://";
  }
}

function sslModeOf(mode: string | undefined, host: string): SslMode {
  if (mode === undefined) return isHere(host) ? "disable" : "verify-full";
  const known = sslModes.find((name) => name === mode);
  if (!known) throw refusal(`has the sslmode "${mode}"; there are ${sslModes.join(", ")}`);
  return known;
}

function isHere(host: string): boolean {
  return (
    host.startsWith("/") ||
    host === "localhost" ||
    host === "::1" ||
    /^127\.\d+\.\d+\.\d+$/.test(host)
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw refusal("has a % that begins no code; write %25 for it");
  }
}

function refusal(text: string): HallError {
  return new HallError("UNAVAILABLE", `store.url ${text}`);
}
