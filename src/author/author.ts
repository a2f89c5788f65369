/** The authoring API: a function with a schema becomes a tool, several tools become a toolkit. */
import { HallError, messageOf } from "../base/errors.ts";
import { isObject, type JsonObject, requireJson } from "../base/json.ts";
import type { Hall } from "../hall/hall.ts";
import { describeDeprecation, markDeprecated, metadataOf } from "../registry/metadata.ts";
import type { CallContext, Outcome, Tool, Toolkit } from "../tool.ts";

/** A schema of zod or of any library that implements Standard Schema. */
export interface Schema<Value> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    validate(value: unknown): Validated<Value> | Promise<Validated<Value>>;
    /** Missing in some libraries; zod has another way. */
    readonly jsonSchema?: { input(options: { readonly target: "draft-2020-12" }): unknown };
  };
}
type Validated<Value> =
  | { readonly value: Value; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };
interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export interface ToolOptions<Input> {
  readonly name: string;
  /** For the model that selects tools. */
  readonly description: string;
  readonly title?: string;
  readonly input: Schema<Input> | JsonObject;
  readonly output?: Schema<unknown> | JsonObject;
  /** True if it changes or removes something. */
  readonly destructive?: boolean;
  /** True if it only reads. */
  readonly readOnly?: boolean;
  /** True if repeating a call has no further effect: a failed call may then be retried. */
  readonly idempotent?: boolean;
  /** The version in which it was deprecated. */
  readonly deprecatedIn?: string;
  /** Default 30. */
  readonly timeoutSeconds?: number;
}

/** The result of a handler: MCP's form, or any JSON value. */
export type Handler<Input> = (input: Input, context: CallContext) => unknown;

export interface AuthoredTool {
  readonly name: string;
  define(): Promise<Tool>;
  run(args: JsonObject, context: CallContext): Promise<Outcome>;
}

export function tool<Input = JsonObject>(
  options: ToolOptions<Input>,
  handler: Handler<Input>,
): AuthoredTool {
  const { name, input } = options;
  requireDefinition(options);
  let defined: Promise<Tool> | undefined;
  return {
    name,
    define() {
      defined ??= define(options);
      return defined;
    },
    async run(args, context) {
      const value = isSchema(input) ? await parse(input, args, name) : (args as Input);
      return toOutcome(await handler(value, context), name);
    },
  };
}

/** Throws CONFLICT (a RegistrationError) for a tool that could not be registered. */
function requireDefinition({ name, description, input }: Partial<ToolOptions<unknown>>): void {
  const fail = (why: string): never => {
    throw new HallError("CONFLICT", `tool "${name ?? ""}" cannot be registered: ${why}`, {
      hint: "Pass `name`, `description` and `input`, a schema of zod or a JSON Schema.",
    });
  };
  if (typeof name !== "string" || name === "") fail("it has no name");
  if (typeof description !== "string") fail("it has no description");
  if (typeof input !== "object" || input === null) fail("it has no input schema");
}

export interface ToolkitOptions {
  readonly name: string;
  readonly description?: string;
  /** Such as SEARCH: toolkits of the same category are suggested as alternatives. */
  readonly category?: string;
  readonly version?: string;
  readonly tools: readonly AuthoredTool[];
  /** Seconds between checks of its file for changes, if a hall loads it from one. Default 300. */
  readonly cacheTtlSeconds?: number;
}

/**
 * A toolkit for `serve`, `register`, the `toolkits` of a config, or `createHall`. Naming the same
 * tool again changes nothing; two tools of one name are a CONFLICT.
 */
export function toolkit({
  name,
  tools: given,
  ...about
}: ToolkitOptions): Toolkit & Pick<ToolkitOptions, "cacheTtlSeconds"> {
  const tools = [...new Set(given)];
  const byName = new Map(tools.map((authored) => [authored.name, authored]));
  if (byName.size < tools.length)
    throw new HallError("CONFLICT", `toolkit "${name}" has two tools with the same name`);
  return {
    id: name,
    ...about,
    list: () => Promise.all(tools.map((authored) => authored.define())),
    async call(called, args, context) {
      const authored = byName.get(called.name);
      if (!authored) throw new HallError("NOT_FOUND", `${name} has no tool named "${called.name}"`);
      try {
        return markDeprecated(await authored.run(args, context), called);
      } catch (error) {
        // An error of the handler is a failure of the tool, not of the hall.
        throw error instanceof HallError
          ? error
          : new HallError("EXECUTION", messageOf(error), { cause: error });
      }
    },
    health: async () => ({ state: "available" }),
    close: async () => {},
  };
}

async function define<Input>(options: ToolOptions<Input>): Promise<Tool> {
  const {
    name,
    title,
    description,
    input,
    output,
    destructive,
    readOnly,
    idempotent,
    deprecatedIn,
    timeoutSeconds = 30,
  } = options;
  return {
    name,
    ...(title === undefined ? {} : { title }),
    description: describeDeprecation(description, deprecatedIn),
    // An empty schema accepts any arguments, but clients expect `type: "object"`.
    inputSchema: { type: "object", ...(await toJsonSchema(input, name)) },
    ...(output === undefined ? {} : { outputSchema: await toJsonSchema(output, name) }),
    annotations: {
      destructiveHint: destructive,
      readOnlyHint: readOnly,
      idempotentHint: idempotent,
    },
    ...(deprecatedIn === undefined ? {} : { _meta: { "guildhall/deprecated_in": deprecatedIn } }),
    facts: { timeoutMs: timeoutSeconds * 1000, deprecatedIn },
  };
}

function isSchema<Value>(schema: Schema<Value> | JsonObject): schema is Schema<Value> {
  return "~standard" in schema;
}

async function toJsonSchema(
  schema: Schema<unknown> | JsonObject,
  name: string,
): Promise<JsonObject> {
  const written = isSchema(schema) ? await convert(schema) : schema;
  if (!isObject(written))
    throw new HallError(
      "EXECUTION",
      `the schema of "${name}" cannot be converted to JSON Schema; pass a JSON Schema instead`,
    );
  const { $schema: _dialect, ...rest } = written;
  return rest;
}

async function convert(schema: Schema<unknown>): Promise<unknown> {
  const { jsonSchema, vendor } = schema["~standard"];
  if (jsonSchema) return jsonSchema.input({ target: "draft-2020-12" });
  if (vendor !== "zod") return undefined;
  const { toJSONSchema } = await import("zod/mini");
  return toJSONSchema(schema as unknown as Parameters<typeof toJSONSchema>[0], { io: "input" });
}

async function parse<Input>(schema: Schema<Input>, args: JsonObject, name: string): Promise<Input> {
  const validated = await schema["~standard"].validate(args);
  if (!validated.issues) return validated.value;
  const errors = validated.issues.map(({ path = [], message }) => ({
    path: path.map((step) => `/${String(typeof step === "object" ? step.key : step)}`).join(""),
    message,
  }));
  const summary = errors.map(({ path, message }) => `${path} ${message}`.trim()).join("; ");
  throw new HallError("VALIDATION", `invalid arguments for ${name}: ${summary}`, {
    details: { errors },
  });
}

/** Throws SERIALIZATION for a value that JSON cannot carry. */
function toOutcome(value: unknown, name: string): Outcome {
  requireJson(value, `the result of ${name}`);
  if (isObject(value) && Array.isArray(value.content)) return value as unknown as Outcome;
  if (value === undefined || value === null) return { content: [] };
  if (typeof value === "string") return { content: [{ type: "text", text: value }] };
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
}

export interface RegisteredTool {
  /** `toolkit.tool`, as calls name it. */
  readonly name: string;
  readonly description: string | undefined;
  readonly toolkit: string;
  readonly category: string | undefined;
  readonly isAvailable: boolean;
  readonly inputSchema: JsonObject;
  /** `module`, `destructive`, `deprecated_in`, `cache_ttl`. */
  readonly metadata: JsonObject;
}

/** All tools of a hall, sorted by name. */
export function listRegisteredTools(hall: Hall): readonly RegisteredTool[] {
  const { registry, health } = requireHall(hall, "listRegisteredTools");
  return registry.tools().map((target) => {
    const { fullName, tool, toolkit } = target;
    const { state } = health.record(toolkit).health;
    return {
      name: fullName,
      description: tool.description,
      toolkit: toolkit.id,
      category: toolkit.category,
      isAvailable: state === "available" || state === "degraded",
      inputSchema: tool.inputSchema,
      metadata: metadataOf(target),
    };
  });
}

/** The schema of a tool's arguments. Throws NOT_FOUND with near names. */
export function getToolSchema(hall: Hall, name: string): JsonObject {
  return requireHall(hall, "getToolSchema").registry.getTool(name).tool.inputSchema;
}

/** For programs without types. */
function requireHall(hall: Partial<Hall> | undefined, what: string): Hall {
  if (hall?.registry) return hall as Hall;
  throw new HallError("INVALID_PARAMS", `${what} needs a hall as its first argument`, {
    hint: "Open one with `createHall({ toolkits })`.",
  });
}
