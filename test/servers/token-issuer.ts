/** An issuer of access tokens on loopback, whose keys and answers a test chooses. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from "jose";
import type { JsonObject } from "../../src/base/json.ts";

export interface TokenIssuer extends AsyncDisposable {
  readonly url: string;
  /** The public keys that it publishes. */
  readonly keys: JsonObject[];
  /** Its private keys, by key id. */
  readonly own: Map<string, CryptoKey>;
  /** Its answers about opaque tokens. */
  readonly known: Map<string, JsonObject>;
  /** The path of each request, in order. */
  readonly seen: string[];
  /** Replaces parts of its metadata. */
  metadata: JsonObject;
  addKey(kid: string, alg?: string): Promise<void>;
  sign(claims: JsonObject, header?: JsonObject): Promise<string>;
}

export async function startIssuer(path = ""): Promise<TokenIssuer> {
  const keys: JsonObject[] = [];
  const own = new Map<string, CryptoKey>();
  const known = new Map<string, JsonObject>();
  const seen: string[] = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", issuer.url);
    seen.push(pathname);
    const body: Buffer[] = [];
    for await (const chunk of request) body.push(chunk as Buffer);
    const send = (value: JsonObject | undefined): void => {
      response.writeHead(value ? 200 : 404, { "content-type": "application/json" });
      response.end(JSON.stringify(value ?? {}));
    };
    if (pathname === `${path}/.well-known/openid-configuration`)
      return send({
        issuer: issuer.url,
        jwks_uri: `${issuer.url.replace(/\/$/, "")}/keys`,
        introspection_endpoint: `${issuer.url.replace(/\/$/, "")}/introspect`,
        ...issuer.metadata,
      });
    if (pathname === `${path}/keys`) return send({ keys });
    if (pathname !== `${path}/introspect`) return send(undefined);
    const token = new URLSearchParams(Buffer.concat(body).toString()).get("token") ?? "";
    return send(known.get(token) ?? { active: false });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const issuer: TokenIssuer = {
    url: `http://127.0.0.1:${port}${path}`,
    keys,
    own,
    known,
    seen,
    metadata: {},
    async addKey(kid, alg = "RS256") {
      const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
      own.set(kid, privateKey);
      keys.push({ ...(await exportJWK(publicKey)), kid, alg, use: "sig" });
    },
    async sign(claims, { kid = [...own.keys()][0], ...header } = {}) {
      const key = own.get(String(kid));
      if (!key) throw new Error(`no key ${String(kid)}`);
      const alg = String(keys.find((known) => known.kid === kid)?.alg);
      return new SignJWT({ ...claims })
        .setProtectedHeader({ alg, kid: String(kid), ...header })
        .sign(key);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return issuer;
}
