/** Everything the hall says, in every version it speaks, held against the official schema of that version. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorTable } from "../../src/base/errors.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { createLog } from "../../src/base/log.ts";
import { createHall, type Hall } from "../../src/hall/hall.ts";
import {
  legacyVersions,
  metaKeys,
  modernVersions,
  type Version,
} from "../../src/server/client-request.ts";
import { createMemoryPair } from "../../src/wire/memory.ts";
import { loadJsonSchemas, loadWireSchemas, type WireSchemas } from "../servers/schemas.ts";
import { createShowcase, type Showcase } from "../servers/showcase.ts";
import { type Message, Witness } from "../servers/witness.ts";

/** What the hall does not say, and why. */
const notSaid = new Set([
  "Result", // the base of all others; sent as EmptyResult
  "PingRequest", // the hall does not ping its clients
  ...["GetTask", "GetTaskPayload", "CancelTask", "ListTasks"].flatMap((name) => [
    `${name}Request`,
    `${name}Result`,
  ]), // no tasks
  "TaskStatusNotification",
  "ElicitationCompleteNotification", // optional; a toolkit has no way to say it
]);
/** In 2026 a server ends only a subscription of its own accord, and does so by answering it. */
const notSaidModern = new Set([...notSaid, "CancelledNotification"]);

let schemas: Record<Version, WireSchemas>;
beforeAll(async () => {
  schemas = await loadWireSchemas();
});

interface Stage {
  readonly hall: Hall;
  readonly showcase: Showcase;
  join(capabilities?: JsonObject, answer?: (request: Message) => JsonObject | undefined): Witness;
}

async function openHall(version: Version): Promise<Stage> {
  const showcase = createShowcase();
  const hall = await createHall({
    toolkits: [showcase],
    hasOwnResources: false,
    pageSize: 5,
    limits: { messageBytesMax: 1_000_000 },
    log: createLog({ level: "silent" }),
  });
  return {
    hall,
    showcase,
    join(capabilities = capabilitiesOf(version), answer = answerAll) {
      const [ours, theirs] = createMemoryPair();
      hall.server.accept(theirs);
      return new Witness(ours, { version, schemas: schemas[version], capabilities, answer });
    },
  };
}

function capabilitiesOf(version: Version): JsonObject {
  const oldest = { roots: { listChanged: true }, sampling: {} };
  if (version < "2025-06-18") return oldest;
  if (version === "2025-06-18") return { ...oldest, elicitation: {} };
  return { roots: {}, sampling: { tools: {}, context: {} }, elicitation: { form: {}, url: {} } };
}

function answerAll({ method }: Message): JsonObject | undefined {
  switch (method) {
    case "elicitation/create":
      return { action: "accept", content: { name: "Ada" } };
    case "sampling/createMessage":
      return { role: "assistant", content: { type: "text", text: "4" }, model: "small" };
    case "roots/list":
      return { roots: [{ uri: "file:///home/ada", name: "home" }] };
    default:
      return undefined;
  }
}

async function greet(witness: Witness): Promise<void> {
  const { version, capabilities } = witness;
  const { result } = await witness.request("initialize", {
    protocolVersion: version,
    capabilities,
    clientInfo: { name: "witness", version: "1" },
  });
  expect(result?.protocolVersion).toBe(version);
  witness.notify("notifications/initialized");
}

async function listAll(witness: Witness, method: string, key: string): Promise<JsonObject[]> {
  const items: JsonObject[] = [];
  for (let cursor: unknown; ; ) {
    const { result } = await witness.request(method, cursor === undefined ? {} : { cursor });
    items.push(...((result?.[key] ?? []) as JsonObject[]));
    cursor = result?.nextCursor;
    if (cursor === undefined) return items;
  }
}

/** What both eras share. */
async function driveMethods(witness: Witness): Promise<void> {
  const tools = await listAll(witness, "tools/list", "tools");
  expect(tools.length).toBeGreaterThan(10);
  expect(await listAll(witness, "resources/list", "resources")).toHaveLength(3);
  expect(await listAll(witness, "resources/templates/list", "resourceTemplates")).toHaveLength(2);
  expect(await listAll(witness, "prompts/list", "prompts")).toHaveLength(2);
  for (const uri of [
    "showcase://text",
    "showcase://blob",
    "showcase://notes/one",
    "showcase://asks",
  ])
    await witness.request("resources/read", { uri });
  for (const name of ["showcase.greet", "asks"])
    await witness.request("prompts/get", { name, arguments: { who: "Ada" } });
  await witness.request("completion/complete", {
    ref: { type: "ref/prompt", name: "showcase.greet" },
    argument: { name: "who", value: "A" },
  });
  await witness.request("completion/complete", {
    ref: { type: "ref/resource", uri: "showcase://notes/{name}" },
    argument: { name: "name", value: "o" },
  });

  for (const name of [
    "content",
    "numbers",
    "anything",
    "log",
    "ask_user",
    "ask_url",
    "ask_model",
    "ask_model_with_tools",
    "ask_roots",
    "ask_all",
  ]) {
    await witness.call(name);
  }
  await witness.call("structured", { n: 2 });
  await witness.call("progress", {}, { progressToken: "token-1" });
}

async function driveFailures(witness: Witness): Promise<void> {
  for (const name of [
    "too_slow",
    "too_large",
    "throws",
    "says_nothing",
    "says_error",
    "breaks_promise",
    "not_json",
    "no_such_tool",
  ])
    await witness.call(name);
  for (const code of Object.keys(errorTable)) {
    await witness.call("fails", { code });
    await witness.call("structured", { n: 1, code });
    await witness.request("resources/read", { uri: `showcase://fails/${code}` });
  }
  await witness.call("structured", { n: "two" });
  await witness.request("tools/list", { cursor: "made up" });
  await witness.request("tools/call", {});
  await witness.request("resources/read", { uri: "showcase://nowhere" });
  await witness.request("prompts/get", { name: "nothing" });
  await witness.request("prompts/get", { name: "greet" });
  await witness.request("completion/complete", {
    ref: { type: "ref/prompt", name: "nothing" },
    argument: { name: "who", value: "" },
  });
  await witness.request("no/such/method");
  for (const unreadable of ["{", "[]", '"text"', '{"jsonrpc":"2.0","id":{},"method":"ping"}']) {
    const before = witness.received.length;
    witness.raw(unreadable);
    await witness.waitFor(
      `an answer to ${unreadable}`,
      (message) => witness.received.indexOf(message) >= before,
    );
  }
  witness.raw('{"jsonrpc":"1.0","id":"readable","method":"ping"}');
  await witness.waitFor(
    "an answer to the wrong jsonrpc",
    ({ id, error }) => id === "readable" && error?.code === -32600,
  );
}

async function driveLegacy({ hall, showcase, join }: Stage): Promise<Witness> {
  const witness = join();
  await witness.request("tools/list");
  await greet(witness);
  await witness.request("ping");
  await witness.request("logging/setLevel", { level: "debug" });
  await driveMethods(witness);
  await driveFailures(witness);

  await witness.request("resources/subscribe", { uri: "showcase://text" });
  showcase.touch("showcase://text");
  await witness.waitFor("the update", ({ method }) => method === "notifications/resources/updated");
  await witness.request("resources/unsubscribe", { uri: "showcase://text" });
  for (const kind of ["tools", "resources", "prompts"] as const) {
    showcase.change(kind);
    await witness.waitFor(
      `the change of ${kind}`,
      ({ method }) => method === `notifications/${kind}/list_changed`,
    );
  }
  if (witness.version === "2025-03-26") {
    const [pong, refused] = await witness.batch(["ping"], ["tools/call", { name: "nope" }]);
    expect([pong?.result, refused?.error?.code]).toEqual([{}, -32602]);
  }
  for (const definition of await driveWithdrawal(join)) witness.seen.add(definition);
  const waiting = witness.start("tools/call", { name: "wait" });
  await hall.close();
  await waiting.answered;
  return witness;
}

/** The client withdraws a request while it is being asked: the hall withdraws its question. */
async function driveWithdrawal(join: Stage["join"]): Promise<ReadonlySet<string>> {
  const witness = join(undefined, () => undefined);
  await greet(witness);
  const { id } = witness.start("tools/call", { name: "showcase.ask_roots" });
  const question = await witness.waitFor("the question", ({ method }) => method === "roots/list");
  witness.notify("notifications/cancelled", { requestId: id, reason: "enough" });
  const notice = await witness.waitFor(
    "the withdrawal",
    ({ method }) => method === "notifications/cancelled",
  );
  expect(notice.params).toMatchObject({ requestId: question.id });
  expect(witness.faults).toEqual([]);
  return witness.seen;
}

async function driveModern({ hall, showcase, join }: Stage): Promise<Witness> {
  const witness = join();
  const { result } = await witness.request("server/discover");
  expect(result?.supportedVersions).toEqual(["2026-07-28"]);
  await driveMethods(witness);
  await driveFailures(witness);

  await witness.request("tools/list", { _meta: { [metaKeys.version]: "1999-01-01" } });
  await witness.request("tools/list", { _meta: { [metaKeys.capabilities]: "none" } });
  witness.capabilities = {};
  for (const name of ["ask_user", "ask_model", "ask_roots", "ask_all"]) await witness.call(name);
  witness.capabilities = capabilitiesOf("2026-07-28");

  const notifications = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: ["showcase://text"],
  };
  const listening = witness.start("subscriptions/listen", { notifications });
  const isOurs = ({ params }: Message): boolean =>
    (params as { _meta?: JsonObject } | undefined)?._meta?.[metaKeys.subscription] === listening.id;
  await witness.waitFor(
    "the acknowledgement",
    (message) => message.method === "notifications/subscriptions/acknowledged" && isOurs(message),
  );
  for (const kind of ["tools", "resources", "prompts"] as const) {
    showcase.change(kind);
    await witness.waitFor(
      `the change of ${kind}`,
      (message) => message.method === `notifications/${kind}/list_changed` && isOurs(message),
    );
  }
  showcase.touch("showcase://text");
  await witness.waitFor(
    "the update",
    (message) => message.method === "notifications/resources/updated" && isOurs(message),
  );
  const waiting = witness.start("tools/call", { name: "wait" });
  await hall.close();
  expect((await listening.answered).result?._meta).toMatchObject({
    [metaKeys.subscription]: listening.id,
  });
  await waiting.answered;
  return witness;
}

describe.each([...legacyVersions, ...modernVersions])("%s", (version) => {
  const isModern = version === "2026-07-28";
  let witness: Witness;
  beforeAll(async () => {
    const stage = await openHall(version);
    witness = await (isModern ? driveModern(stage) : driveLegacy(stage));
  });

  it("sends nothing its schema does not allow", () => {
    expect(witness.received.length).toBeGreaterThan(100);
    expect([...new Set(witness.faults)]).toEqual([]);
  });

  it("sends at least one of every message a server has", () => {
    const unions = ["ServerResult", "ServerNotification", "ServerRequest", "InputRequest"].flatMap(
      (union) => schemas[version].membersOf(union),
    );
    const expected = unions.filter((name) => !(isModern ? notSaidModern : notSaid).has(name));
    expect(expected.length).toBeGreaterThan(15);
    expect(expected.filter((name) => !witness.seen.has(name))).toEqual([]);
    if (version === "2025-03-26") expect(witness.seen).toContain("JSONRPCBatchResponse");
  });

  it("sends every kind of error", () => {
    const codes = new Set<number>(Object.values(errorTable).map(({ request }) => request));
    expect(witness.codes).toEqual(isModern ? codes : codes.add(-32002));
    if (isModern)
      expect([...witness.seen].filter((name) => name.endsWith("Error")).sort()).toEqual(
        modernErrors,
      );
  });
});

const modernErrors = [
  "HeaderMismatchError",
  "InternalError",
  "InvalidParamsError",
  "InvalidRequestError",
  "MethodNotFoundError",
  "MissingRequiredClientCapabilityError",
  "ParseError",
  "UnsupportedProtocolVersionError",
];

describe("questions a client has not declared it can answer", () => {
  const stages: Stage[] = [];
  afterAll(() => Promise.all(stages.map(({ hall }) => hall.close())));

  it.each([
    ["2025-11-25", "ask_url", { elicitation: {} }],
    ["2025-11-25", "ask_url", { elicitation: { form: {} } }],
    ["2025-11-25", "ask_user", { elicitation: { url: {} } }],
    ["2025-11-25", "ask_model_with_tools", { sampling: {} }],
    ["2026-07-28", "ask_url", { elicitation: {} }],
    ["2026-07-28", "ask_user", { elicitation: { url: {} } }],
    ["2026-07-28", "ask_model_with_tools", { sampling: {} }],
    ["2025-06-18", "ask_url", { elicitation: {} }],
    ["2025-06-18", "ask_model_with_tools", { sampling: {} }],
  ] as const)("%s: %s is not sent to %j", async (version, tool, capabilities) => {
    const stage = await openHall(version);
    stages.push(stage);
    const witness = stage.join(capabilities);
    if (version !== "2026-07-28") await greet(witness);
    const { result, error } = await witness.start("tools/call", { name: tool }).answered;
    expect(witness.received.map(({ method }) => method).filter(Boolean)).toEqual([]);
    expect(
      error?.data?.error_type ?? (result?.structuredContent as JsonObject | undefined)?.error_type,
    ).toBe("missing_capability");
    expect(witness.faults).toEqual([]);
  });
});

it("says so when the package with the schemas has changed", () => {
  expect(() => loadJsonSchemas("const nothing = 1;")).toThrow("no longer has its table of schemas");
});
