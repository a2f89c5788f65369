/** An issuer and an MCP server that wants its tokens, both on loopback, that can be told to go wrong in every way. */
import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { JsonObject } from "../../src/base/json.ts";
import { modernVersion } from "./client.ts";

export interface OAuthServer extends AsyncDisposable {
  /** Where MCP is spoken, with a token. */
  readonly url: string;
  readonly issuer: string;
  readonly behaviour: Behaviour;
  readonly seen: Seen;
  /** No access token is good any more; refresh tokens are. */
  expire(): void;
  /** Nothing that was ever granted is good any more. */
  revoke(): void;
}

/** What a test changes while the server runs. */
export interface Behaviour {
  /** What the resource's metadata says it is; default its address. */
  resource?: string;
  /** Another issuer than this one. */
  issuers?: readonly string[];
  /** What the issuer's metadata says it is; default its address. */
  issuer?: string;
  authorizationEndpoint?: string;
  /** The `iss` of the answer to a login; default right. */
  iss?: string;
  /** The `state` of the answer to a login; default what was sent. */
  state?: string;
  /** What a login is answered with instead of a code. */
  loginError?: string;
  /** The scope `tools/list` wants, and what `tools/call` wants. */
  listScope: string;
  callScope: string;
  /** Answers token requests with this status and no more. */
  tokenStatus?: number;
  /** How long tokens are said to be good. */
  expiresIn: number;
  /** How long a refresh takes. */
  refreshMs: number;
  /** Tokens are made out for somewhere else. */
  audience?: string;
}

export interface Seen {
  logins: URLSearchParams[];
  registrations: JsonObject[];
  tokenRequests: { readonly body: URLSearchParams; readonly authorization: string | undefined }[];
  /** The Authorization header of each MCP request, in order. */
  bearers: (string | undefined)[];
  /** The Authorization header and the arguments of each tool call. */
  calls: { readonly bearer: string | undefined; readonly given: unknown }[];
  /** Every access and refresh token ever given. */
  tokens: string[];
}

interface Grant {
  readonly scope: string;
  readonly audience: string;
  isExpired: boolean;
}

export const ownClient = {
  clientId: "own-client",
  clientSecret: "own-client-secret-1234",
} as const;

export async function startOAuthServer(initial: Partial<Behaviour> = {}): Promise<OAuthServer> {
  const behaviour: Behaviour = {
    listScope: "tools:list",
    callScope: "tools:list",
    expiresIn: 3600,
    refreshMs: 0,
    ...initial,
  };
  const seen: Seen = {
    logins: [],
    registrations: [],
    tokenRequests: [],
    bearers: [],
    calls: [],
    tokens: [],
  };
  const codes = new Map<
    string,
    {
      readonly challenge: string;
      readonly redirectUri: string;
      readonly clientId: string;
      readonly scope: string;
      readonly resource: string;
    }
  >();
  const access = new Map<string, Grant>();
  const refresh = new Map<string, Grant>();

  const issuerServer = createServer((request, response) => void serveIssuer(request, response));
  const resourceServer = createServer((request, response) => void serveResource(request, response));
  const issuer = await listen(issuerServer);
  const url = `${await listen(resourceServer)}/mcp`;

  async function serveIssuer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", issuer);
    const text = await readText(request);
    if (pathname === "/.well-known/oauth-authorization-server")
      return json(response, 200, describeIssuer());
    if (pathname === "/register") return register(JSON.parse(text) as JsonObject, response);
    if (pathname === "/authorize") return authorize(searchParams, response);
    if (pathname === "/token")
      return give(new URLSearchParams(text), request.headers.authorization, response);
    return json(response, 404, {});
  }

  function describeIssuer(): JsonObject {
    return {
      issuer: behaviour.issuer ?? issuer,
      authorization_endpoint: behaviour.authorizationEndpoint ?? `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      registration_endpoint: `${issuer}/register`,
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["client_secret_basic", "none"],
      authorization_response_iss_parameter_supported: true,
      scopes_supported: ["tools:list", "tools:call", "offline_access"],
    };
  }

  function register(metadata: JsonObject, response: ServerResponse): void {
    seen.registrations.push(metadata);
    json(response, 201, { ...metadata, client_id: `client-${seen.registrations.length}` });
  }

  /** A person who always says yes. */
  function authorize(query: URLSearchParams, response: ServerResponse): void {
    seen.logins.push(query);
    const redirectUri = query.get("redirect_uri") ?? "";
    const back = new URL(redirectUri);
    const code = randomBytes(16).toString("hex");
    const kept = {
      challenge: query.get("code_challenge") ?? "",
      redirectUri,
      clientId: query.get("client_id") ?? "",
    };
    codes.set(code, {
      ...kept,
      scope: query.get("scope") ?? "",
      resource: query.get("resource") ?? "",
    });
    if (behaviour.loginError === undefined) back.searchParams.set("code", code);
    else back.searchParams.set("error", behaviour.loginError);
    back.searchParams.set("state", behaviour.state ?? query.get("state") ?? "");
    back.searchParams.set("iss", behaviour.iss ?? issuer);
    response.writeHead(302, { location: back.href }).end();
  }

  async function give(
    body: URLSearchParams,
    authorization: string | undefined,
    response: ServerResponse,
  ): Promise<void> {
    seen.tokenRequests.push({ body, authorization });
    if (behaviour.tokenStatus !== undefined)
      return json(response, behaviour.tokenStatus, { secret: "of the issuer" });
    switch (body.get("grant_type")) {
      case "authorization_code": {
        const code = codes.get(body.get("code") ?? "");
        codes.delete(body.get("code") ?? "");
        const challenge = createHash("sha256")
          .update(body.get("code_verifier") ?? "")
          .digest("base64url");
        const fits =
          code?.challenge === challenge &&
          code.redirectUri === body.get("redirect_uri") &&
          code.clientId === (body.get("client_id") ?? basicUser(authorization));
        return fits && code.resource === (body.get("resource") ?? "")
          ? grant(code.scope, code.resource, response)
          : json(response, 400, { error: "invalid_grant" });
      }
      case "refresh_token": {
        const token = body.get("refresh_token") ?? "";
        const known = refresh.get(token);
        // It works once.
        refresh.delete(token);
        await wait(behaviour.refreshMs);
        return known
          ? grant(known.scope, known.audience, response)
          : json(response, 400, { error: "invalid_grant" });
      }
      case "client_credentials": {
        const expected = `Basic ${Buffer.from(`${ownClient.clientId}:${ownClient.clientSecret}`).toString("base64")}`;
        if (authorization !== expected) return json(response, 401, { error: "invalid_client" });
        return grant(body.get("scope") ?? "", body.get("resource") ?? "", response, false);
      }
      default:
        return json(response, 400, { error: "unsupported_grant_type" });
    }
  }

  function grant(
    scope: string,
    resource: string,
    response: ServerResponse,
    canRefresh = true,
  ): void {
    const token = (): string => randomBytes(24).toString("base64url");
    const given: Grant = { scope, audience: behaviour.audience ?? resource, isExpired: false };
    const tokens = { access_token: token(), refresh_token: token() };
    access.set(tokens.access_token, given);
    refresh.set(tokens.refresh_token, { ...given, audience: resource });
    seen.tokens.push(tokens.access_token, tokens.refresh_token);
    json(response, 200, {
      access_token: tokens.access_token,
      token_type: "Bearer",
      expires_in: behaviour.expiresIn,
      scope,
      ...(canRefresh ? { refresh_token: tokens.refresh_token } : {}),
    });
  }

  async function serveResource(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readText(request);
    const base = new URL(url).origin;
    if (request.url === "/.well-known/oauth-protected-resource/mcp") {
      const { resource = url, issuers = [issuer] } = behaviour;
      return json(response, 200, { resource, authorization_servers: issuers });
    }
    seen.bearers.push(request.headers.authorization);
    const message = (text === "" ? {} : JSON.parse(text)) as JsonObject;
    const scope = message.method === "tools/call" ? behaviour.callScope : behaviour.listScope;
    const known = access.get(request.headers.authorization?.replace(/^Bearer /, "") ?? "");
    const challenge = `Bearer resource_metadata="${base}/.well-known/oauth-protected-resource/mcp", scope="${scope}"`;
    if (!known || known.isExpired || known.audience !== url)
      return json(response, 401, {}, { "www-authenticate": `${challenge}, error="invalid_token"` });
    if (!known.scope.split(" ").includes(scope))
      return json(
        response,
        403,
        {},
        { "www-authenticate": `${challenge}, error="insufficient_scope"` },
      );
    if (message.method === "tools/call")
      seen.calls.push({
        bearer: request.headers.authorization,
        given: (message.params as JsonObject).arguments,
      });
    return answer(message, response);
  }

  return {
    url,
    issuer,
    behaviour,
    seen,
    expire() {
      for (const known of access.values()) known.isExpired = true;
    },
    revoke() {
      access.clear();
      refresh.clear();
    },
    async [Symbol.asyncDispose]() {
      for (const server of [issuerServer, resourceServer]) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

/** As much of MCP as it takes: a modern server with one tool. */
function answer({ id, method, params }: JsonObject, response: ServerResponse): void {
  const common = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
  const results: Readonly<Record<string, JsonObject>> = {
    "server/discover": {
      ...common,
      supportedVersions: [modernVersion],
      capabilities: { tools: {} },
    },
    "tools/list": { ...common, tools: [{ name: "echo", inputSchema: { type: "object" } }] },
    "tools/call": {
      resultType: "complete",
      content: [
        { type: "text", text: JSON.stringify((params as JsonObject | undefined)?.arguments ?? {}) },
      ],
    },
  };
  const result = results[String(method)];
  if (result) json(response, 200, { jsonrpc: "2.0", id, result });
  else
    json(response, 404, {
      jsonrpc: "2.0",
      id,
      error: { code: -32601, message: "Method not found" },
    });
}

function basicUser(authorization = ""): string | undefined {
  return Buffer.from(authorization.replace(/^Basic /, ""), "base64")
    .toString()
    .split(":")[0];
}

function json(
  response: ServerResponse,
  status: number,
  value: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): void {
  response
    .writeHead(status, { "content-type": "application/json", ...headers })
    .end(JSON.stringify(value));
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
