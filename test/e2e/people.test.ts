// A person's client finds out where to sign in, signs in, and calls; over HTTPS a certificate does.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { fileURLToPath } from "node:url";
import {
  type OAuthClientProvider,
  UnauthorizedError,
} from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type {
  OAuthClientInformationMixed,
  OAuthTokens,
} from "@modelcontextprotocol/sdk/shared/auth.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { runCli } from "../servers/process.ts";
import { builtCli, type ServeProcess, watchProcess } from "../servers/serve-process.ts";
import { until } from "../servers/until.ts";

let folder: string;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "guildhall-people-"));
  env = {
    ...process.env,
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, "config"),
    XDG_DATA_HOME: join(folder, "data"),
  };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The user's own file; the project's folder is `project`. */
function configure(config: JsonObject): void {
  mkdirSync(join(folder, "config/guildhall"), { recursive: true });
  mkdirSync(join(folder, "project"));
  writeFileSync(join(folder, "config/guildhall/config.json"), JSON.stringify(config));
}

function serve(...args: readonly string[]): ServeProcess {
  return watchProcess([builtCli(), "serve", ...args], { cwd: join(folder, "project"), env });
}

const urlIn = (line: string): string => /https?:\/\/[^\s/]+/.exec(line)?.[0] ?? "";

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { readonly port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A browser: follows redirects with its cookies until one leads back to the client. */
async function browse(start: URL, back: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = start;
  for (let steps = 0; steps < 20; steps++) {
    if (url.href.startsWith(back)) return url;
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { redirect: "manual", headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location === null)
      throw new Error(`${url.href}: ${response.status} ${await response.text()}`);
    url = new URL(location, url);
  }
  throw new Error(`too many redirects, the last one to ${url.href}`);
}

test("a client of the SDK discovers the issuer, signs in and calls, and the record names the person", async () => {
  await using issuer = watchProcess([
    fileURLToPath(new URL("../servers/oidc-issuer.mjs", import.meta.url)),
  ]);
  const port = await freePort();
  configure({
    builtin: ["calculator"],
    auth: { issuers: { team: { url: await issuer.firstLine } } },
  });
  await using hall = serve("--port", String(port));
  const url = urlIn(await hall.firstLine);

  const back = "http://127.0.0.1:1/back";
  let asked: URL | undefined;
  let tokens: OAuthTokens | undefined;
  let registered: OAuthClientInformationMixed | undefined;
  let verifier = "";
  const authProvider: OAuthClientProvider = {
    redirectUrl: back,
    clientMetadata: { redirect_uris: [back], token_endpoint_auth_method: "none" },
    clientInformation: () => registered,
    saveClientInformation(information) {
      registered = information;
    },
    tokens: () => tokens,
    saveTokens(saved) {
      tokens = saved;
    },
    redirectToAuthorization(page) {
      asked = page;
    },
    saveCodeVerifier(saved) {
      verifier = saved;
    },
    codeVerifier: () => verifier,
  };
  // Without a token the hall would take this process for a program of its own user.
  const requestInit = { headers: { authorization: "Bearer none" } };
  const first = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    authProvider,
    requestInit,
  });
  const info = { name: "editor", version: "1" };
  await expect(new Client(info).connect(first)).rejects.toThrow(UnauthorizedError);
  expect(asked?.searchParams.get("scope")).toBe("call");
  expect(asked?.searchParams.get("resource")).toBe(`${url}/mcp`);

  const code = (await browse(asked as URL, back)).searchParams.get("code");
  const open = (): StreamableHTTPClientTransport =>
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider });
  await open().finishAuth(code ?? "");
  const client = new Client(info);
  await client.connect(open());
  const { tools } = await client.listTools();
  const name = tools.find((tool) => tool.name.includes("calc"))?.name ?? "";
  const outcome = await client.callTool({ name, arguments: { expression: "6*7" } });
  expect(JSON.stringify(outcome)).toContain("42");
  await client.close();

  const person = `anna@${await issuer.firstLine}`;
  const shown = await runCli(["audit", "--person", person, "--json"], {
    cwd: join(folder, "project"),
    env,
  });
  const { events } = JSON.parse(shown.stdout) as { readonly events: readonly JsonObject[] };
  expect(events).toMatchObject([{ event: "call", person, caller: "editor 1" }]);
  expect(events[0]?.token).toBeTruthy();
}, 120_000);

function openssl(...args: readonly string[]): void {
  execFileSync("openssl", args, { cwd: folder, stdio: "ignore" });
}

/** A key and a certificate, signed by an authority if one is named. */
function certify(name: string, subject: string, authority?: string): void {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const made = [...key, "-keyout", `${name}.key`, "-subj", subject];
  if (authority === undefined) {
    const alt = ["-addext", "subjectAltName=IP:127.0.0.1"];
    openssl("req", "-x509", "-days", "2", ...alt, ...made, "-out", `${name}.pem`);
    return;
  }
  openssl("req", ...made, "-out", `${name}.csr`);
  const signed = ["-CA", `${authority}.pem`, "-CAkey", `${authority}.key`, "-CAcreateserial"];
  openssl("x509", "-req", "-days", "2", "-in", `${name}.csr`, ...signed, "-out", `${name}.pem`);
}

interface Certified {
  readonly name?: string;
  readonly token?: string;
}

/** The status of one call over HTTPS. */
function callOver(url: string, { name, token }: Certified): Promise<number> {
  const pem = (file: string): Buffer => readFileSync(join(folder, file));
  const message = { jsonrpc: "2.0", id: 1, method: "initialize", params: {} };
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}/mcp`,
      {
        method: "POST",
        ca: pem("hall.pem"),
        ...(name === undefined ? {} : { cert: pem(`${name}.pem`), key: pem(`${name}.key`) }),
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
      },
      (response) => resolve(response.resume().statusCode ?? 0),
    );
    sent.on("error", reject);
    sent.end(JSON.stringify(message));
  });
}

/** The name in the certificate that a new connection gets. */
function nameOf(url: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(new URL(url).port), rejectUnauthorized: false }, () => {
      const { CN } = socket.getPeerCertificate().subject;
      socket.destroy();
      resolve([CN].flat()[0]);
    });
    socket.on("error", reject);
  });
}

test("over HTTPS a certificate of the team's authority is enough, and no other one", async () => {
  certify("hall", "/CN=hall");
  certify("team", "/CN=Team CA");
  certify("other", "/CN=Other CA");
  certify("anna", "/CN=anna/O=staff", "team");
  certify("mallory", "/CN=anna/O=staff", "other");
  const file = (name: string): string => join(folder, name);
  const tls = { cert: file("hall.pem"), key: file("hall.key"), clientCa: file("team.pem") };
  configure({ listen: { tls, port: await freePort() }, auth: { url: "https://hall.example" } });
  await using hall = serve();
  const line = await hall.firstLine;
  expect(line).toContain("https://");
  const url = `https://127.0.0.1:${JSON.parse(readFileSync(file("config/guildhall/config.json"), "utf8")).listen.port}`;

  // Past the door: the request itself is incomplete.
  expect(await callOver(url, { name: "anna" })).toBe(400);
  expect(await callOver(url, { name: "mallory" })).toBe(401);
  expect(await callOver(url, {})).toBe(401);
  expect(await callOver(url, { name: "anna", token: "wrong" })).toBe(401);
  const own = readFileSync(file("data/guildhall/token"), "utf8").trim();
  expect(await callOver(url, { token: own })).toBe(400);

  certify("renewed", "/CN=renewed");
  copyFileSync(file("renewed.key"), file("hall.key"));
  copyFileSync(file("renewed.pem"), file("hall.pem"));
  await until(async () => (await nameOf(url)) === "renewed", "the renewed certificate is served");
}, 60_000);
