import { HallError } from "../../base/errors.ts";

/** The parts of `store.url`. */
export interface Address {
  /** A host name, an address, or the folder of a local socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Halls with the same schema share everything in it. */
  readonly schema: string;
  readonly tls: Tls;
}

/** As in libpq. */
interface Tls {
  readonly mode: SslMode;
  readonly rootFile: string | undefined;
  readonly certificateFile: string | undefined;
  readonly keyFile: string | undefined;
}

const sslModes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const;
export type SslMode = (typeof sslModes)[number];

const form = "postgres://user:password@host:5432/database";

/**
 * `postgres://user:password@host:5432/database?sslmode=verify-full&schema=guildhall`. Default: TLS with a verified
 * certificate, except on this machine. Errors never contain the URL, because a password may be anywhere in it.
 */
export function parseDatabaseUrl(url: string): Address {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^postgres(ql)?:$/.test(parsed.protocol)) {
    throw invalid(`is not a database URL (expected: ${form}, special characters percent-encoded)`);
  }
  const given = (name: string): string | undefined => parsed.searchParams.get(name) || undefined;
  const host = given("host") ?? (decode(parsed.hostname).replace(/^\[|\]$/g, "") || "localhost");
  const user = given("user") ?? decode(parsed.username);
  if (user === "") throw invalid(`has no user (expected: ${form})`);
  const schema = given("schema") ?? "guildhall";
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw invalid(`has an invalid schema "${schema}" (expected: lower-case letters, digits and _)`);
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

/** For display: without the password and the parameters. */
export function redactUrl(url: string): string {
  try {
    const { user, host, port, database } = parseDatabaseUrl(url);
    return `postgres://${user}@${host}:${port}/${database}`;
  } catch {
    // Opening the store reports the error.
    return "postgres://";
  }
}

/** The same for all users of the same tables. */
export function placeOf(url: string): string {
  try {
    const { host, port, database, schema } = parseDatabaseUrl(url);
    return `postgres://${host}:${port}/${database}/${schema}`;
  } catch {
    return "postgres://";
  }
}

function sslModeOf(mode: string | undefined, host: string): SslMode {
  if (mode === undefined) return isLocal(host) ? "disable" : "verify-full";
  const known = sslModes.find((name) => name === mode);
  if (!known) throw invalid(`has an unknown sslmode "${mode}" (expected: ${sslModes.join(", ")})`);
  return known;
}

function isLocal(host: string): boolean {
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
    throw invalid("has an invalid percent-encoding; write %25 for %");
  }
}

function invalid(text: string): HallError {
  return new HallError("UNAVAILABLE", `store.url ${text}`);
}
