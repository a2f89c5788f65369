import { readFileSync, unwatchFile, watchFile } from "node:fs";
import type { Server } from "node:https";
import type { Socket } from "node:net";
import { createSecureContext, type PeerCertificate, TLSSocket } from "node:tls";
import { HallError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Config } from "../../config/schema.ts";
import type { Identity } from "./guard.ts";

export type TlsFiles = NonNullable<Config["listen"]["tls"]>;

interface TlsOptions {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca?: Buffer;
  readonly requestCert?: true;
  /** A client without a certificate may have a token instead. */
  readonly rejectUnauthorized?: false;
  readonly minVersion: "TLSv1.2";
}

/** Reads the files of `listen.tls`. Throws INVALID_PARAMS if they are missing or do not fit together. */
export function readTls({ cert, key, clientCa }: TlsFiles): TlsOptions {
  const options: TlsOptions = {
    cert: readPem(cert),
    key: readPem(key),
    ...(clientCa === undefined
      ? {}
      : { ca: readPem(clientCa), requestCert: true, rejectUnauthorized: false }),
    minVersion: "TLSv1.2",
  };
  try {
    createSecureContext(options);
  } catch (cause) {
    throw unusable(`${cert} and ${key} cannot be used together: ${messageOf(cause)}`, cause);
  }
  return options;
}

function readPem(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw unusable(`cannot read ${file} (${(cause as NodeJS.ErrnoException).code})`, cause);
  }
}

function unusable(message: string, cause: unknown): HallError {
  return new HallError("INVALID_PARAMS", message, {
    cause,
    next: [{ do: "edit-config", field: "listen.tls" }],
  });
}

const renewedEveryMs = 5_000;

/** New connections get renewed certificates without a restart. Returns a function that stops it. */
export function renewTls(server: Server, files: TlsFiles, log: Log): () => void {
  const watched = Object.values(files).filter((file) => file !== undefined);
  const renew = (): void => {
    try {
      server.setSecureContext(readTls(files));
      log.info("the TLS certificate was read again");
    } catch (error) {
      // A file is being replaced: the next change reads it again.
      log.warn(`the TLS certificate is not renewed: ${messageOf(error)}`);
    }
  };
  for (const file of watched)
    watchFile(file, { interval: renewedEveryMs, persistent: false }, renew);
  return () => {
    for (const file of watched) unwatchFile(file, renew);
  };
}

const known = new WeakMap<Socket, Identity | null>();

/** The owner of a client certificate that an authority of `clientCa` has issued. */
export function identifyCertificate(socket: Socket): Identity | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  let identity = known.get(socket);
  if (identity === undefined) {
    identity = readCertificate(socket.getPeerCertificate());
    known.set(socket, identity);
  }
  return identity ?? undefined;
}

function readCertificate({ subject, issuer, serialNumber }: PeerCertificate): Identity | null {
  // Several values of a field come as a list, which the types do not say.
  const [name, ...others] = [subject?.CN ?? []].flat();
  if (name === undefined || others.length > 0) return null;
  const authority = `x509:${[issuer.CN ?? issuer.O ?? "unnamed"].flat().join(",")}`;
  const groups = [subject.O ?? []].flat();
  const user = `${name}@${authority}`;
  return {
    principal: user,
    person: { user, groups, issuer: authority, token: `certificate ${serialNumber}` },
    rights: { scopes: ["call"] },
  };
}
