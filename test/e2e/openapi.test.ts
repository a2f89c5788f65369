import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { type OAuthServer, ownClient, startOAuthServer } from "../servers/oauth-server.ts";
import { buildTestCli } from "../servers/process.ts";
import { until } from "../servers/until.ts";
import { type CliProcess, usePlaces } from "../servers/upstreams.ts";

/** An API of this machine behind a hall, from `guildhall add --openapi` to a client's call. */
const places = usePlaces();
const root = dirname(places.runtime);
const seen: IncomingMessage[] = [];
let mayEnter: (authorization: string) => boolean = () => true;
const api = createServer((request, response) => {
  seen.push(request);
  const { url = "", method, headers } = request;
  if (!mayEnter(headers.authorization ?? "")) response.writeHead(401).end();
  else if (method === "DELETE") response.writeHead(204).end();
  else
    response
      .writeHead(url.includes("/pets/9") ? 404 : 200, { "content-type": "application/json" })
      .end(JSON.stringify({ name: "Rex", url }));
});
let [cli, origin] = ["", ""];
let issuer: OAuthServer;

beforeAll(async () => {
  cli = await buildTestCli();
  issuer = await startOAuthServer();
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await issuer[Symbol.asyncDispose]();
  api.closeAllConnections();
  api.close();
  places.remove();
});

const pet = { type: "object", properties: { name: { type: "string" }, url: { type: "string" } } };
const answers = { "200": { description: "ok", content: { "application/json": { schema: pet } } } };
const id = { name: "id", in: "path", required: true, schema: { type: "integer" } };

function petstore(more: JsonObject = {}): JsonObject {
  return {
    openapi: "3.1.0",
    info: { title: "Petstore", version: "1.0.0" },
    servers: [{ url: `${origin}/v1` }],
    security: [{ api_key: [] }],
    paths: {
      "/pets/{id}": {
        parameters: [id],
        get: { operationId: "getPet", summary: "Get a pet", responses: answers, ...more },
        delete: { operationId: "deletePet", responses: { "204": { description: "gone" } } },
      },
    },
    components: {
      securitySchemes: {
        api_key: { type: "apiKey", in: "header", name: "X-Key" },
        login: {
          type: "oauth2",
          flows: {
            authorizationCode: {
              authorizationUrl: `${issuer.issuer}/authorize`,
              tokenUrl: `${issuer.issuer}/token`,
              scopes: {},
            },
          },
        },
        own: {
          type: "oauth2",
          flows: { clientCredentials: { tokenUrl: `${issuer.issuer}/token`, scopes: {} } },
        },
      },
    },
  };
}

async function newProject(document: JsonObject): Promise<string> {
  const folder = await places.newProject({}, {});
  writeFileSync(join(folder, "petstore.json"), JSON.stringify(document));
  return folder;
}

function secret(name: string): string {
  return `\${${name}}`;
}

interface Ran {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

function start(folder: string, args: readonly string[], input = ""): CliProcess {
  const command = places.spawn(cli, args, folder);
  command.child.stdin.end(input);
  return command;
}

async function run(folder: string, args: readonly string[], input = ""): Promise<Ran> {
  await using command = start(folder, args, input);
  return { code: await command.exited, ...command.output };
}

async function connect(folder: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [cli, "mcp", "--expose", "tools"],
      cwd: folder,
      stderr: "ignore",
      env: {
        PATH: process.env.PATH ?? "",
        HOME: root,
        XDG_RUNTIME_DIR: places.runtime,
        XDG_DATA_HOME: places.data,
        XDG_CONFIG_HOME: join(root, "config"),
      },
    }),
  );
  return client;
}

test("an added document is reviewed, listed and called like a server, and a change of it is held back until a review", async () => {
  seen.length = 0;
  const folder = await newProject(petstore());
  const added = await run(folder, [
    "add",
    "store",
    "--openapi",
    "petstore.json",
    "--auth",
    "api_key",
  ]);
  expect(added.stdout).toContain(`2 operations at ${origin}/v1`);
  expect(added.stdout).toContain("guildhall secret set STORE_API_KEY");
  const { mcpServers } = JSON.parse(readFileSync(join(folder, "guildhall.json"), "utf8"));
  expect(mcpServers).toEqual({
    store: {
      openapi: "./petstore.json",
      baseUrl: `${origin}/v1`,
      auth: { api_key: secret("STORE_API_KEY") },
    },
  });
  expect(await run(folder, ["secret", "set", "STORE_API_KEY"], "k-0123456789")).toMatchObject({
    code: 0,
  });
  // Nothing is read or sent before the review.
  const early = await run(folder, ["call", "store.getPet", '{"id": 1}']);
  expect(early.code).not.toBe(0);
  expect(seen).toHaveLength(0);

  const reviewed = await run(folder, ["verify", "--yes"]);
  expect(reviewed.stdout).toContain(
    `the API of ./petstore.json at ${origin}/v1 with api_key=\${STORE_API_KEY}`,
  );
  expect(reviewed.stdout).toContain("it is marked destructive");
  const called = await run(folder, ["call", "store.getPet", '{"id": 1}']);
  expect(JSON.parse(called.stdout)).toEqual({ name: "Rex", url: "/v1/pets/1" });
  expect(seen.at(-1)?.headers["x-key"]).toBe("k-0123456789");
  const missing = await run(folder, ["call", "store.getPet", '{"id": 9}']);
  expect(missing.code).not.toBe(0);
  expect(missing.stderr).toContain("HTTP 404 Not Found");
  expect((await run(folder, ["doctor", "store"])).stdout).toContain("lists 2 tools");
  expect((await run(folder, ["list"])).stdout).toContain("./petstore.json");

  const client = await connect(folder);
  try {
    const described = async (tool: string): Promise<string | undefined> =>
      (await client.listTools()).tools.find(({ name }) => name === tool)?.description;
    expect(await described("store__getPet")).toBe("Get a pet.");
    expect(await described("store__deletePet")).toBeDefined();
    const call = (): Promise<unknown> =>
      client.callTool({ name: "store__getPet", arguments: { id: 2 } });
    expect(await call()).toMatchObject({ structuredContent: { name: "Rex", url: "/v1/pets/2" } });

    const count = seen.length;
    const wider = petstore({ parameters: [id, { name: "all", in: "query", schema: {} }] });
    writeFileSync(join(folder, "petstore.json"), JSON.stringify(wider));
    await until(
      async () => (await described("store__getPet"))?.startsWith("Held back"),
      "the changed tool is held back",
    );
    expect(await call()).toMatchObject({ isError: true });
    expect(seen).toHaveLength(count);
    expect((await run(folder, ["diff"])).stdout).toContain("getPet");
    expect(await run(folder, ["verify", "--yes"])).toMatchObject({ code: 0 });
    expect(await call()).toMatchObject({ structuredContent: { url: "/v1/pets/2" } });
  } finally {
    await client.close();
  }
});

test("tokens come from a login or from client credentials, and go to the API only", async () => {
  const folder = await newProject(petstore({ security: [{ login: [] }, { own: [] }] }));
  const isIssued = (authorization: string): boolean =>
    issuer.seen.tokens.includes(authorization.replace("Bearer ", ""));
  mayEnter = isIssued;
  for (const [name, scheme] of [
    ["person", "login"],
    ["robot", "own"],
  ] as const) {
    await run(folder, [
      "add",
      name,
      "--openapi",
      "petstore.json",
      "--auth",
      scheme,
      "--base-url",
      `${origin}/${name}`,
    ]);
    const upper = name.toUpperCase();
    await run(folder, ["secret", "set", `${upper}_CLIENT_ID`], ownClient.clientId);
    await run(folder, ["secret", "set", `${upper}_CLIENT_SECRET`], ownClient.clientSecret);
  }
  const { mcpServers } = JSON.parse(readFileSync(join(folder, "guildhall.json"), "utf8"));
  expect(mcpServers.robot.oauth).toEqual({
    grant: "client_credentials",
    tokenUrl: `${issuer.issuer}/token`,
    clientId: secret("ROBOT_CLIENT_ID"),
    clientSecret: secret("ROBOT_CLIENT_SECRET"),
  });
  expect(await run(folder, ["verify", "--yes"])).toMatchObject({ code: 0 });

  const own = await run(folder, ["call", "robot.getPet", '{"id": 3}']);
  expect(own).toMatchObject({ code: 0, stdout: expect.stringContaining("/robot/pets/3") });
  expect(issuer.seen.tokenRequests.map(({ body }) => body.get("grant_type"))).toEqual([
    "client_credentials",
  ]);

  const needy = await run(folder, ["call", "person.getPet", '{"id": 4}']);
  expect(needy.stderr).toContain("guildhall login person");
  await using login = start(folder, ["login", "person"]);
  const page = (): string | undefined =>
    /https?:\/\/\S+authorize\?[^\s"]+/.exec(login.output.stdout)?.[0];
  await until(() => page() !== undefined, "the page is printed");
  await (await fetch(page() ?? "")).text();
  expect(await login.exited).toBe(0);
  const called = await run(folder, ["call", "person.getPet", '{"id": 4}']);
  expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining("/person/pets/4") });
  mayEnter = () => true;
});
