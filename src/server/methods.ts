import { HallError } from "../base/errors.ts";
import { createIds } from "../base/ids.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { Scope } from "../base/scope.ts";
import type { Call, CallContext, Toolkit } from "../tool.ts";
import { Prepared } from "../wire/message.ts";
import { type Asking, askLegacy, type Work } from "./asking.ts";
import {
  type ClientRequest,
  isModernVersion,
  modernVersions,
  type Version,
} from "./client-request.ts";
import { callerOf, claimProgressToken, createContext } from "./context.ts";
import { type Face, faces, parseFaces, type ShownTool } from "./faces.ts";
import { fitOutcome, fitPrompt, fitTool } from "./fit.ts";
import { type Page, takePage } from "./paging.ts";
import type { ServerParts } from "./server.ts";

/** Methods of both eras. Those of one era only are in `connection.ts` and `stateless.ts`. */
export type MethodHandler = (
  params: JsonObject,
  request: ClientRequest,
  parts: ServerParts,
) => unknown;

export const methods: Readonly<Record<string, MethodHandler>> = {
  "tools/list": (params, { version }, parts) => {
    const { items, nextCursor } = page(
      "tools",
      parts.shownTools(readFaces(params)),
      params,
      parts,
      (tool) => tool.name,
    );
    const tools = items.map((tool) => writeTool(tool, version)).join(",");
    return new Prepared(
      `{"tools":[${tools}]${nextCursor === undefined ? "" : `,"nextCursor":${JSON.stringify(nextCursor)}`}}`,
    );
  },

  "tools/call": (params, request, parts) => {
    const name = readString(params, "name");
    const args = params.arguments ?? {};
    if (!isObject(args)) throw new HallError("INVALID_PARAMS", "arguments must be an object");
    const call = createCall(name, args, request, { face: faceOf(params, parts) });
    return runAsking(params, request, parts, (context) =>
      parts.gateway.call(call, context).then((outcome) => fitOutcome(outcome, request.version)),
    );
  },

  "resources/list": (params, _request, parts) => {
    const { items, ...rest } = page(
      "resources",
      parts.registry.resources(),
      params,
      parts,
      ({ uri }) => uri,
    );
    return { resources: items, ...rest };
  },

  "resources/templates/list": (params, _request, parts) => {
    const { items, ...rest } = page(
      "templates",
      parts.registry.resourceTemplates(),
      params,
      parts,
      ({ uriTemplate }) => String(uriTemplate),
    );
    return { resourceTemplates: items, ...rest };
  },

  "resources/read": (params, request, parts) => {
    const uri = readString(params, "uri");
    const source = parts.registry.getResourceOwner(uri).resources;
    if (!source) throw new HallError("NOT_FOUND", `Resource not found: ${uri}`);
    return runAsking(
      params,
      request,
      parts,
      within(parts.timeoutMs, (context) => source.read(uri, context)),
    );
  },

  "prompts/list": (params, _request, parts) => {
    const { items, ...rest } = page(
      "prompts",
      parts.registry.prompts(),
      params,
      parts,
      ({ fullName }) => fullName,
    );
    return {
      prompts: items.map(({ prompt, fullName }) => ({ ...prompt, name: fullName })),
      ...rest,
    };
  },

  "prompts/get": (params, request, parts) => {
    const { toolkit, prompt, fullName } = parts.registry.getPrompt(readString(params, "name"));
    const args = readPromptArguments(params.arguments);
    const missing = (prompt.arguments ?? []).find(
      ({ name, required }) => required && !Object.hasOwn(args, name),
    );
    if (missing)
      throw new HallError(
        "INVALID_PARAMS",
        `prompt ${fullName} requires the argument "${missing.name}"`,
      );
    const work = async (context: CallContext): Promise<JsonObject> =>
      fitPrompt(
        (await toolkit.prompts?.get(prompt.name, args, context)) ?? { messages: [] },
        request.version,
      );
    return runAsking(params, request, parts, within(parts.timeoutMs, work));
  },

  "completion/complete": async (params, request, parts) => {
    const { ref, argument } = params;
    if (
      !isObject(ref) ||
      !isObject(argument) ||
      typeof argument.name !== "string" ||
      typeof argument.value !== "string"
    ) {
      throw new HallError(
        "INVALID_PARAMS",
        "completion requires a ref and an argument with name and value",
      );
    }
    const { toolkit, reference } = findCompleter(ref, parts);
    const context = createContext(() => ({ params, request }), {
      ask:
        request.era === "modern"
          ? refuseToAsk
          : (questions, asked) => askLegacy(questions, request, asked),
      scope: request.exchange.scope,
    });
    const work = async (narrowed: CallContext): Promise<unknown> =>
      (await toolkit.complete?.(reference, argument, narrowed, params)) ?? {
        completion: { values: [] },
      };
    return within(parts.timeoutMs, work)(context);
  },
};

/** MCP defines `input_required` for calls, reads and prompts only. */
const refuseToAsk = (): Promise<never> =>
  Promise.reject(new HallError("EXECUTION", "a completion cannot ask the client"));

/** Faces that the client requests instead of the default. They change the list, not what may be called. Throws INVALID_PARAMS. */
function readFaces({ _meta }: JsonObject): readonly Face[] | undefined {
  const asked = isObject(_meta) ? _meta["guildhall/expose"] : undefined;
  return typeof asked === "string" ? parseFaces(asked) : undefined;
}

/** For the call record only; `tools/list` refuses unknown faces. */
function faceOf({ _meta }: JsonObject, parts: ServerParts): string {
  const asked = isObject(_meta) ? _meta["guildhall/expose"] : undefined;
  return typeof asked === "string" &&
    asked.split(",").every((name) => Object.hasOwn(faces, name.trim()))
    ? asked
    : parts.face();
}

const serialized = {
  modern: new WeakMap<ShownTool, string>(),
  legacy: new WeakMap<ShownTool, string>(),
};

/** A tool's definition as JSON, cached because long lists are requested often. */
function writeTool(tool: ShownTool, version: Version): string {
  const kept = isModernVersion(version) ? serialized.modern : serialized.legacy;
  let text = kept.get(tool);
  if (text === undefined) {
    text = JSON.stringify(fitTool(tool, version));
    kept.set(tool, text);
  }
  return text;
}

const callIds = createIds("call");

export function createCall(
  name: string,
  args: JsonObject,
  request: ClientRequest,
  { timeoutMs, face }: Pick<Call, "timeoutMs" | "face">,
): Call {
  return {
    id: callIds(),
    name,
    arguments: args,
    caller: callerOf(request),
    timeoutMs,
    face,
    target: undefined,
  };
}

function page<T>(
  kind: string,
  sorted: readonly T[],
  params: JsonObject,
  parts: ServerParts,
  key: (item: T) => string,
): Page<T> {
  return takePage(sorted, {
    kind,
    cursor: params.cursor,
    size: parts.pageSize,
    seal: parts.seal,
    key,
  });
}

/** Runs work that may ask the client, in the way of its era. */
function runAsking(
  params: JsonObject,
  request: ClientRequest,
  { asking }: { readonly asking: Asking },
  work: (context: CallContext) => Promise<unknown>,
): Promise<unknown> {
  const releaseToken = claimProgressToken(params, request);
  const run: Work = (ask, scope, current) => work(createContext(current, { ask, scope }));
  try {
    const running =
      request.era === "modern" ? asking.run(params, request, run) : runLegacy(params, request, run);
    return releaseToken ? running.finally(releaseToken) : running;
  } catch (error) {
    // The work never started, so `finally` does not release the token.
    releaseToken?.();
    throw error;
  }
}

function runLegacy(params: JsonObject, request: ClientRequest, run: Work): Promise<unknown> {
  const current = { params, request };
  return run(
    (questions, asked) => askLegacy(questions, request, asked),
    request.exchange.scope,
    () => current,
  );
}

/** A time limit for requests that do not pass the gateway. Waiting for a user's answer does not count. */
function within(
  timeoutMs: number,
  work: (context: CallContext) => Promise<unknown>,
): (context: CallContext) => Promise<unknown> {
  return (context) => {
    const scope = new Scope(context.scope, timeoutMs);
    return scope
      .race(
        work({
          ...context,
          scope,
          ask: (questions, asked) => scope.hold(() => context.ask(questions, asked)),
        }),
      )
      .finally(() => scope.close());
  };
}

function findCompleter(
  ref: JsonObject,
  { registry }: ServerParts,
): { readonly toolkit: Toolkit; readonly reference: JsonObject } {
  if (ref.type === "ref/prompt" && typeof ref.name === "string") {
    const { toolkit, prompt } = registry.getPrompt(ref.name);
    return { toolkit, reference: { ...ref, name: prompt.name } };
  }
  if (ref.type === "ref/resource" && typeof ref.uri === "string") {
    return {
      toolkit: registry.findTemplateOwner(ref.uri) ?? registry.getResourceOwner(ref.uri),
      reference: ref,
    };
  }
  throw new HallError(
    "INVALID_PARAMS",
    "ref must name a prompt (ref/prompt) or a resource (ref/resource)",
  );
}

export function readString(params: JsonObject, field: string): string {
  const value = params[field];
  if (typeof value !== "string" || value === "")
    throw new HallError("INVALID_PARAMS", `${field} must be a non-empty string`);
  return value;
}

function readPromptArguments(args: unknown): Readonly<Record<string, string>> {
  if (args === undefined) return {};
  if (!isObject(args) || !Object.values(args).every((value) => typeof value === "string"))
    throw new HallError("INVALID_PARAMS", "prompt arguments must be strings");
  return args as Record<string, string>;
}

export function discover(parts: ServerParts): JsonObject {
  return {
    supportedVersions: modernVersions,
    capabilities: parts.capabilities(),
    instructions: parts.instructions(),
  };
}

export function unknownMethod(method: string): HallError {
  return new HallError("METHOD_NOT_FOUND", `Method not found: ${method.slice(0, 100)}`);
}
