import { setTimeout as sleep } from "node:timers/promises";
import { HallError } from "../../src/base/errors.ts";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import type { CallContext, Outcome, Question, Questions, Tool } from "../../src/tool.ts";

/** The tools the official conformance suite calls, each as its scenario describes it. */
export interface Act {
  readonly tool: Tool;
  run(args: JsonObject, context: CallContext): Promise<Outcome>;
}

/** A tool's powers over its own toolkit. */
export interface Stagehand {
  changeTools(): void;
  changePrompts(): void;
  updateResource(): void;
}

/** One red pixel. */
export const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/** A header and no samples. */
const wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

/**
 * Much longer than halls forward progress apart, two of them in a row too, so that no step is left
 * out on a busy machine.
 */
const stepMs = 200;
/** A hall that ends its streams earlier than this makes the client poll for the answer. */
const reconnectionMs = 1_500;

export function createActs(stagehand: Stagehand): readonly Act[] {
  return [
    ...contentActs,
    ...reportingActs,
    ...legacyAskingActs,
    ...inputRequiredActs,
    ...schemaActs,
    ...createTriggerActs(stagehand),
  ];
}

/** Comes and goes when the list is told to change. */
export const dynamicAct = act("test_dynamic_tool", "Is there only some of the time", async () =>
  say("Still here."),
);

const contentActs: readonly Act[] = [
  act("test_simple_text", "Returns simple text", async () =>
    say("This is a simple text response for testing."),
  ),
  act("test_image_content", "Returns an image", async () => ({ content: [image] })),
  act("test_audio_content", "Returns a sound", async () => ({
    content: [{ type: "audio", data: wav, mimeType: "audio/wav" }],
  })),
  act("test_embedded_resource", "Returns a resource inside the answer", async () => ({
    content: [
      embed("test://embedded-resource", "text/plain", "This is an embedded resource content."),
    ],
  })),
  act("test_multiple_content_types", "Returns text, an image and a resource", async () => ({
    content: [
      text("Multiple content types test:"),
      image,
      embed(
        "test://mixed-content-resource",
        "application/json",
        JSON.stringify({ test: "data", value: 123 }),
      ),
    ],
  })),
  act("test_error_handling", "Always fails", async () => {
    throw new HallError("EXECUTION", "This tool intentionally returns an error for testing");
  }),
];

const reportingActs: readonly Act[] = [
  act(
    "test_tool_with_logging",
    "Logs three times while it works",
    async (_args, { log, scope }) => {
      log("info", "Tool execution started");
      await pause(stepMs, scope.signal);
      log("info", "Tool processing data");
      await pause(stepMs, scope.signal);
      log("info", "Tool execution completed");
      return say("Logged three times.");
    },
  ),
  act(
    "test_tool_with_progress",
    "Tells how far it is, three times",
    async (_args, { progress, scope }) => {
      progress({ progress: 0, total: 100 });
      await pause(stepMs, scope.signal);
      progress({ progress: 50, total: 100 });
      await pause(stepMs, scope.signal);
      progress({ progress: 100, total: 100 });
      return say("Went from 0 to 100.");
    },
  ),
  act(
    "test_logging_tool",
    "Logs at every level: heard only by who asked for it",
    async (_args, { log }) => {
      log("debug", "a detail");
      log("info", "a fact");
      log("error", "a failure");
      return say("Logged.");
    },
  ),
  act(
    "test_reconnection",
    "Works long enough for its stream to be ended before it answers",
    async (_args, { scope }) => {
      await pause(reconnectionMs, scope.signal);
      return say("Reconnection test completed.");
    },
  ),
];

const legacyAskingActs: readonly Act[] = [
  act(
    "test_sampling",
    "Asks the client's model",
    async ({ prompt }, context) =>
      say(`LLM response: ${readSampled(await askOne(context, sample(String(prompt), 100)))}`),
    {
      properties: { prompt: { type: "string", description: "What to ask the model" } },
      required: ["prompt"],
    },
  ),
  act(
    "test_elicitation",
    "Asks the user for a name and an address",
    async ({ message }, context) => {
      const properties = {
        username: { type: "string", description: "User's response" },
        email: { type: "string", description: "User's email address" },
      };
      return say(
        `User response: ${describeAnswer(await askOne(context, elicit(String(message), properties)))}`,
      );
    },
    {
      properties: { message: { type: "string", description: "What to show the user" } },
      required: ["message"],
    },
  ),
  act(
    "test_elicitation_sep1034_defaults",
    "Asks the user with a default for every primitive type",
    async (_args, context) => {
      const properties = {
        name: { type: "string", description: "User name", default: "John Doe" },
        age: { type: "integer", description: "User age", default: 30 },
        score: { type: "number", description: "User score", default: 95.5 },
        status: {
          type: "string",
          description: "User status",
          enum: ["active", "inactive", "pending"],
          default: "active",
        },
        verified: { type: "boolean", description: "Whether the user is verified", default: true },
      };
      return say(
        `Elicitation completed: ${describeAnswer(await askOne(context, elicit("Check the defaults and change what is wrong", properties, [])))}`,
      );
    },
  ),
  act(
    "test_elicitation_sep1330_enums",
    "Asks the user with every kind of enumeration",
    async (_args, context) => {
      const options = ["option1", "option2", "option3"];
      const properties = {
        untitledSingle: { type: "string", description: "One of three", enum: options },
        titledSingle: {
          type: "string",
          description: "One of three, with titles",
          oneOf: titled("Option"),
        },
        legacyEnum: {
          type: "string",
          description: "The old way",
          enum: ["opt1", "opt2", "opt3"],
          enumNames: ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti: {
          type: "array",
          description: "Any of three",
          minItems: 1,
          maxItems: 3,
          items: { type: "string", enum: options },
        },
        titledMulti: {
          type: "array",
          description: "Any of three, with titles",
          minItems: 1,
          maxItems: 3,
          items: { anyOf: titled("Choice") },
        },
      };
      return say(
        `Elicitation completed: ${describeAnswer(await askOne(context, elicit("Choose", properties, [])))}`,
      );
    },
  ),
  act(
    "test_missing_capability",
    "Needs a client whose model can be asked",
    async (_args, context) =>
      say(`The model says: ${readSampled(await askOne(context, sample("Say hello", 20)))}`),
  ),
  act(
    "test_streaming_elicitation",
    "Asks the user after it has reported",
    async (_args, context) => {
      context.log("info", "about to ask");
      context.progress({ progress: 0.5, total: 1 });
      return say(
        `Heard: ${describeAnswer(await askOne(context, elicit("Go on?", { ok: { type: "boolean" } })))}`,
      );
    },
  ),
];

const askName = elicit("What is your name?", { name: { type: "string" } });

const inputRequiredActs: readonly Act[] = [
  act(
    "test_input_required_result_elicitation",
    "Asks the user's name and greets",
    async (_args, { ask }) => {
      const { user_name } = await ask({ user_name: askName });
      return say(`Hello, ${readField(user_name, "name")}!`);
    },
  ),
  act(
    "test_input_required_result_sampling",
    "Asks the model a question",
    async (_args, { ask }) => {
      const { capital_question } = await ask({
        capital_question: sample("What is the capital of France?", 100),
      });
      return say(readSampled(capital_question));
    },
  ),
  act(
    "test_input_required_result_list_roots",
    "Asks for the client's roots",
    async (_args, { ask }) => {
      const { client_roots } = await ask({ client_roots: { method: "roots/list", params: {} } });
      return say(`Roots: ${JSON.stringify(client_roots?.roots ?? [])}`);
    },
  ),
  act(
    "test_input_required_result_request_state",
    "Asks to confirm; the state must come back",
    async (_args, { ask }) => {
      const { confirm } = await ask({
        confirm: elicit("Please confirm", { ok: { type: "boolean" } }),
      });
      return say(`state-ok, confirmed: ${readField(confirm, "ok")}`);
    },
  ),
  act(
    "test_input_required_result_multiple_inputs",
    "Asks the user, the model and for the roots at once",
    async (_args, { ask }) => {
      const { user_name, greeting, client_roots } = await ask({
        user_name: askName,
        greeting: sample("Generate a greeting", 50),
        client_roots: { method: "roots/list", params: {} },
      });
      return say(
        `${readSampled(greeting)} ${readField(user_name, "name")}, roots: ${JSON.stringify(client_roots?.roots ?? [])}`,
      );
    },
  ),
  act("test_input_required_result_multi_round", "Asks twice", async (_args, { ask }) => {
    const { step1 } = await ask({
      step1: elicit("Step 1: What is your name?", { name: { type: "string" } }),
    });
    const { step2 } = await ask({
      step2: elicit("Step 2: What is your favorite color?", { color: { type: "string" } }),
    });
    return say(`${readField(step1, "name")} likes ${readField(step2, "color")}.`);
  }),
  act(
    "test_input_required_result_tampered_state",
    "Asks to confirm; a changed state is refused",
    async (_args, { ask }) => {
      const { confirm } = await ask({
        confirm: elicit("Please confirm", { ok: { type: "boolean" } }),
      });
      return say(`Confirmed: ${readField(confirm, "ok")}`);
    },
  ),
  act(
    "test_input_required_result_capabilities",
    "Asks only what the client can be asked",
    async (_args, context) => {
      const answers = await askWhatIsPossible(context, {
        user_name: askName,
        greeting: sample("Generate a greeting", 50),
      });
      return say(`Answered: ${Object.keys(answers).join(", ")}`);
    },
  ),
];

const schemaActs: readonly Act[] = [
  act(
    "json_schema_2020_12_tool",
    "Tool with JSON Schema 2020-12 features",
    async (args) => say(`Accepted: ${JSON.stringify(args)}`),
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $defs: {
        address: {
          $anchor: "addressDef",
          type: "object",
          properties: { street: { type: "string" }, city: { type: "string" } },
        },
      },
      properties: {
        name: { type: "string" },
        address: { $ref: "#/$defs/address" },
        contactMethod: { type: "string", enum: ["phone", "email"] },
        phone: { type: "string" },
        email: { type: "string" },
      },
      allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
      if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ["phone"] },
      else: { required: ["email"] },
      additionalProperties: false,
    },
  ),
  act(
    "test_x_mcp_header",
    "Takes arguments that are also sent as headers",
    async (args) => say(`Received: ${JSON.stringify(args)}`),
    {
      properties: {
        region: { type: "string", description: "Where to run", "x-mcp-header": "Region" },
        priority: { type: "integer", description: "How urgent", "x-mcp-header": "Priority" },
        dryRun: { type: "boolean", description: "Only pretend", "x-mcp-header": "Dry-Run" },
        query: { type: "string", description: "Not a header" },
      },
      required: ["region", "priority", "dryRun"],
    },
  ),
];

function createTriggerActs({
  changeTools,
  changePrompts,
  updateResource,
}: Stagehand): readonly Act[] {
  const trigger = (name: string, description: string, change: () => void): Act =>
    act(name, description, async () => {
      change();
      return say("Changed.");
    });
  return [
    trigger("test_trigger_tool_change", "Adds or removes a tool", changeTools),
    trigger("test_trigger_prompt_change", "Adds or removes a prompt", changePrompts),
    trigger("test_trigger_resource_update", "Changes test://watched-resource", updateResource),
  ];
}

function act(
  name: string,
  description: string,
  run: Act["run"],
  schema: JsonObject = { properties: {} },
): Act {
  return { tool: { name, description, inputSchema: { type: "object", ...schema } }, run };
}

const image = { type: "image", data: png, mimeType: "image/png" };

function text(value: string): JsonObject {
  return { type: "text", text: value };
}

function say(value: string): Outcome {
  return { content: [text(value)] };
}

function embed(uri: string, mimeType: string, value: string): JsonObject {
  return { type: "resource", resource: { uri, mimeType, text: value } };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal });
}

export function elicit(
  message: string,
  properties: JsonObject,
  required: readonly string[] = Object.keys(properties),
): Question {
  return {
    method: "elicitation/create",
    params: { message, requestedSchema: { type: "object", properties, required } },
  };
}

function sample(prompt: string, maxTokens: number): Question {
  return {
    method: "sampling/createMessage",
    params: { messages: [{ role: "user", content: text(prompt) }], maxTokens },
  };
}

function titled(noun: string): readonly JsonObject[] {
  return ["First", "Second", "Third"].map((ordinal, index) => ({
    const: `value${index + 1}`,
    title: `${ordinal} ${noun}`,
  }));
}

async function askOne({ ask }: CallContext, question: Question): Promise<JsonObject> {
  return (await ask({ question })).question ?? {};
}

/** The hall says which capabilities are missing before anybody is asked, so the rest can be asked instead. */
async function askWhatIsPossible(
  { ask }: CallContext,
  questions: Questions,
): Promise<Readonly<Record<string, JsonObject>>> {
  try {
    return await ask(questions);
  } catch (error) {
    const missing =
      error instanceof HallError && error.code === "MISSING_CAPABILITY"
        ? error.details?.requiredCapabilities
        : undefined;
    const possible = Object.entries(questions).filter(
      ([, { method }]) => isObject(missing) && !Object.hasOwn(missing, method.split("/")[0] ?? ""),
    );
    if (possible.length === 0) throw error;
    return ask(Object.fromEntries(possible));
  }
}

function describeAnswer({ action, content }: JsonObject): string {
  return `action=${action}, content=${JSON.stringify(content ?? {})}`;
}

/** A field of what the user filled in; what they declined has none. */
export function readField(answer: JsonObject | undefined, field: string): string {
  const content = answer?.content;
  return isObject(content) && content[field] !== undefined ? String(content[field]) : "(no answer)";
}

function readSampled(answer: JsonObject | undefined): string {
  const blocks = [answer?.content].flat();
  return blocks
    .map((block) => (isObject(block) && typeof block.text === "string" ? block.text : ""))
    .join("");
}
