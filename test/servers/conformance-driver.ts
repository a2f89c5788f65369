/**
 * The conformance suite starts this as the client under test: a hall with the suite's server as its only upstream, and
 * a client of that hall which uses whatever it is shown. `conformance-client.test.ts` bundles it.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HallError } from "../../src/base/errors.ts";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import type { RemoteServerConfig } from "../../src/upstream/issuer.ts";
import { login } from "../../src/upstream/login.ts";
import { createTokenStore } from "../../src/upstream/token-store.ts";
import { createMemoryPair } from "../../src/wire/memory.ts";
import { modern, modernVersion, RawClient } from "./client.ts";
import { startHall, type TestHall } from "./hall.ts";

const url = process.argv.at(-1) ?? "";
const {
  MCP_CONFORMANCE_SCENARIO: scenario = "",
  MCP_CONFORMANCE_CONTEXT: contextText = "{}",
  MCP_CONFORMANCE_PROTOCOL_VERSION: version,
} = process.env;
const context = JSON.parse(contextText) as JsonObject;
const isModern = version === modernVersion;
const name = "suite";
const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
const loginsMax = 3;

let hall: TestHall;
let tokenFolder: string;
const config: RemoteServerConfig = {
  type: "http",
  url,
  headers: {},
  start: "lazy",
  idleTimeoutSeconds: 0,
  prefix: "",
  tools: { include: ["*"], exclude: [] },
  disabled: false,
  allowPrivate: false,
  oauth: readOAuth(),
};

await drive();

async function drive(): Promise<void> {
  tokenFolder = await mkdtemp(join(tmpdir(), "guildhall-tokens-"));
  hall = await startHall({ toolkits: [], servers: { [name]: config }, tokenFolder });
  try {
    await withLogins(() => hall.hall.fleet.get(name).discover());
    await useAll(await connect(hall));
  } finally {
    await hall[Symbol.asyncDispose]();
    await rm(tokenFolder, { recursive: true, force: true });
  }
}

/** What a person would write into the config from what the suite tells. */
function readOAuth(): RemoteServerConfig["oauth"] {
  const {
    client_id: clientId,
    client_secret: clientSecret,
    issuer,
  } = context as Record<string, string | undefined>;
  return {
    grant: scenario.startsWith("auth/client-credentials")
      ? "client_credentials"
      : "authorization_code",
    callbackPort: 0,
    ...(clientId === undefined ? {} : { clientId }),
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(issuer === undefined ? {} : { issuer }),
    ...(scenario === "auth/basic-cimd"
      ? { clientMetadataUrl: "https://conformance-test.local/client-metadata.json" }
      : {}),
  };
}

/** Logs in as `guildhall login` does whenever the hall asks for it, with a browser that accepts everything. */
async function withLogins<T>(work: () => Promise<T>): Promise<T> {
  for (let count = 0; ; count++) {
    try {
      return await work();
    } catch (error) {
      const needsLogin =
        (error instanceof HallError && error.next.some((advice) => advice.do === "login")) ||
        String(error).includes(`guildhall login ${name}`);
      if (!needsLogin || count === loginsMax) throw error;
      const store = createTokenStore(url, { folder: tokenFolder });
      await login({
        config,
        store,
        timeoutMs: 10_000,
        show: (page) => void fetch(page).then((response) => response.text()),
      });
      await hall.hall.fleet.get(name).restart();
    }
  }
}

/** Calls, reads and gets everything there is, all at once, as a busy client would. */
async function useAll(client: RawClient): Promise<void> {
  const { tools } = await ask(client, "tools/list");
  const calls = Array.isArray(context.toolCalls)
    ? (context.toolCalls as JsonObject[])
    : planCalls(tools as JsonObject[]);
  const { resources } = await ask(client, "resources/list");
  const { prompts } = await ask(client, "prompts/list");
  await Promise.all([
    ...calls.map((call) => withLogins(() => callTool(client, call))),
    ...(resources as JsonObject[]).map(({ uri }) => ask(client, "resources/read", { uri })),
    ...(prompts as JsonObject[]).map((prompt) =>
      ask(client, "prompts/get", { name: prompt.name, arguments: {} }),
    ),
  ]);
}

async function callTool(
  client: RawClient,
  { name: tool, arguments: args }: JsonObject,
): Promise<void> {
  // The hall holds arguments against the schema: a client leaves out what it has no value for.
  const given = Object.fromEntries(
    Object.entries(isObject(args) ? args : {}).filter(([, value]) => value !== null),
  );
  const result = await ask(client, "tools/call", { name: tool, arguments: given });
  if (result.isError === true) throw new Error(`${tool}: ${JSON.stringify(result.content)}`);
}

function planCalls(tools: readonly JsonObject[]): readonly JsonObject[] {
  const echo = tools.find((tool) => tool.name === "json_schema_echo");
  // The suite wants to see the schema we were shown for the other tool.
  if (echo)
    return [
      { name: echo.name, arguments: { schema: tools.find((tool) => tool !== echo)?.inputSchema } },
    ];
  return tools.map((tool) => ({ name: tool.name, arguments: sample(tool.inputSchema) }));
}

function sample(schema: unknown): JsonObject {
  const { properties, required } = isObject(schema) ? schema : {};
  const entries = isObject(properties) ? Object.entries(properties) : [];
  return Object.fromEntries(
    entries
      .filter(([key]) => Array.isArray(required) && required.includes(key))
      .map(([key, field]) => [key, sampleValue(field)]),
  );
}

function sampleValue(field: unknown): unknown {
  if (!isObject(field)) return "text";
  if (field.default !== undefined) return field.default;
  if (Array.isArray(field.enum)) return field.enum[0];
  if (field.type === "boolean") return true;
  return field.type === "number" || field.type === "integer"
    ? 5
    : field.type === "object"
      ? {}
      : "text";
}

/** A request with all its rounds. */
async function ask(
  client: RawClient,
  method: string,
  params: JsonObject = {},
): Promise<JsonObject> {
  let more: JsonObject = {};
  for (;;) {
    const id = client.ask(method, isModern ? modern({ ...params, ...more }, capabilities) : params);
    const { result, error } = await client.answer(id);
    if (!isObject(result)) throw new Error(`${method}: ${JSON.stringify(error)}`);
    if (result.resultType !== "input_required") return result;
    const questions = Object.entries(isObject(result.inputRequests) ? result.inputRequests : {});
    more = {
      inputResponses: Object.fromEntries(
        questions.map(([key, question]) => [key, reply(question)]),
      ),
      requestState: result.requestState,
    };
  }
}

/** A client of the hall; for a legacy one, questions come as requests. */
async function connect({ hall }: TestHall): Promise<RawClient> {
  const [ours, theirs] = createMemoryPair();
  hall.server.accept(theirs);
  const client = new RawClient((bytes) => ours.send(bytes.toString()));
  const frame = (bytes: Buffer): void => {
    const message = JSON.parse(bytes.toString()) as JsonObject;
    if (message.id !== undefined && typeof message.method === "string")
      client.send({ jsonrpc: "2.0", id: message.id, result: reply(message) });
    else client.deliver(bytes.toString());
  };
  ours.start({ frame, oversize() {}, drained() {}, ended() {}, closed() {} });
  if (!isModern) await client.greet("2025-11-25", capabilities);
  return client;
}

/** A person who accepts what is proposed. */
function reply(question: unknown): JsonObject {
  const { method, params } = isObject(question) ? question : {};
  const { requestedSchema } = isObject(params) ? params : {};
  const { properties } = isObject(requestedSchema) ? requestedSchema : {};
  if (method === "roots/list") return { roots: [] };
  if (method === "sampling/createMessage")
    return { role: "assistant", content: { type: "text", text: "yes" }, model: "none" };
  return {
    action: "accept",
    content: Object.fromEntries(
      Object.entries(isObject(properties) ? properties : {}).map(([key, field]) => [
        key,
        sampleValue(field),
      ]),
    ),
  };
}
