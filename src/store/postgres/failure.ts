import { HallError, messageOf } from "../../base/errors.ts";
import type { Address } from "./url.ts";

/** Describes an error of the database or the network, without the password. */
export function explainFailure(error: unknown, address: Address): HallError {
  if (error instanceof HallError) return error;
  return new HallError("UNAVAILABLE", describe(error, address), { cause: error });
}

/** Class 22 is an invalid value, class 23 a violated constraint. Everything else may succeed later. */
export function isRowError(error: unknown): boolean {
  return /^2[23]...$/.test(codeOf(error));
}

export function lacksTls(error: unknown): boolean {
  return textOfError(error).includes("does not support SSL");
}

const unreachable = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "EACCES",
  "ECONNRESET",
  "EPIPE",
]);
const untrusted =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|ERR_TLS_CERT_ALTNAME_INVALID)/;

function describe(error: unknown, { host, port, user, database, schema, tls }: Address): string {
  const [code, message] = [codeOf(error), textOfError(error)];
  const place = host.startsWith("/") ? `${host}/.s.PGSQL.${port}` : `${host}:${port}`;
  if (lacksTls(error))
    return `the database at ${place} does not support TLS; enable it there, or set sslmode=disable in store.url if you trust the network`;
  if (untrusted.test(code))
    return `the certificate of the database at ${place} is not trusted (${message}); set sslrootcert in store.url`;
  if (unreachable.has(code))
    return `cannot connect to the database at ${place} (${code}); check that it is running, and host and port in store.url`;
  if (/timeout/i.test(message) && code === "")
    return `the database at ${place} did not answer in time; check that it is running, and host and port in store.url`;
  if (code === "28P01")
    return `the database at ${place} rejected the password of "${user}"; check store.url`;
  if (code === "28000")
    return `the database at ${place} rejected the user "${user}" (${message}); check store.url and pg_hba.conf`;
  if (code === "3D000")
    return `no database "${database}" at ${place}; create it with \`createdb ${database}\`, or correct store.url`;
  if (code === "42501") {
    const create = `CREATE SCHEMA IF NOT EXISTS ${schema} AUTHORIZATION "${user}"`;
    return `"${user}" may not create tables in the database "${database}" (${message}); its owner can run \`${create}\``;
  }
  return `the database at ${place} failed${tls.mode === "disable" ? "" : " (over TLS)"}: ${message}`;
}

function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? code : "";
}

/** An AggregateError of several addresses has only a code. */
function textOfError(error: unknown): string {
  return messageOf(error) || codeOf(error);
}
