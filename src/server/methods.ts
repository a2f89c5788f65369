import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject, TextOutcome } from "../base/json.ts";
import { Scope } from "../base/scope.ts";
import { createIds } from "../base/text.ts";
import { offeredTo } from "../gateway/policy.ts";
import { spellingFor, spellName } from "../registry/shown-names.ts";
import type { PromptTarget } from "../registry/toolkit-entry.ts";
import type { Call, CallContext, Outcome, Toolkit } from "../tool.ts";
import { addField, Prepared } from "../wire/message.ts";
import type { Exchange } from "../wire/requests.ts";
import { type Asking, askLegacy, readResponses, type Work } from "./asking.ts";
import {
  addModernEnvelope,
  type ClientRequest,
  claimProgressToken,
  createContext,
  isModernVersion,
  modernVersions,
  type Version,
} from "./client-request.ts";
import { faces } from "./faces.ts";
import { isWrapped, listMethods } from "./lists.ts";
import { type ReadSubject, requireRead, seenBy } from "./policy.ts";
import { mayUse, requireScope, requireUse } from "./rights.ts";
import type { ServerParts } from "./server.ts";
import { listen } from "./subscriptions.ts";
import { requireTasks, takesTasks } from "./tasks.ts";

export type MethodHandler = (
  params: JsonObject,
  request: ClientRequest,
  parts: ServerParts,
) => unknown;

/** Methods of both eras. Those of the legacy era only are in `connection.ts`. */
export const methods: Readonly<Record<string, MethodHandler>> = {
  ...listMethods,

  "tools/call": (params, request, parts) => {
    const name = readString(params, "name");
    const args = params.arguments ?? {};
    if (!isObject(args)) throw new HallError("INVALID_PARAMS", "arguments must be an object");
    const isTask = request.version === "2025-11-25" && isObject(params.task);
    // The result answers this very request: nothing else reads it.
    const takesText = request.era === "legacy" && !isTask;
    const call = createCall(name, args, request, { face: faceOf(params, parts), takesText });
    const work = (context: CallContext): Promise<Outcome> =>
      parts.gateway.call(call, context).then((outcome) => fitOutcome(outcome, call, request));
    if (isTask) return startTask(params, request, parts, work);
    if (!takesText) return runAsking(params, request, parts, work);
    request.exchange.finish = (outcome) => writeOutcome(outcome as Outcome, call, request);
    return runAsking(params, request, parts, (context) => parts.gateway.call(call, context));
  },

  "resources/read": caughtUp((params, request, parts) => {
    const uri = readString(params, "uri");
    const owned = parts.registry.getResourceOwner(uri);
    const source = owned.toolkit.resources;
    if (!source) throw new HallError("NOT_FOUND", `Resource not found: ${uri}`);
    requireUse(request.rights, owned.toolkit);
    requireRead(owned, request.caller, parts);
    parts.gateway.admitRead(owned, request.caller);
    const read = async (context: CallContext): Promise<JsonObject> =>
      renameContents(await source.read(owned.uri, context), owned.uri, uri);
    return runAsking(params, request, parts, within(parts.timeoutMs, read));
  }),

  "prompts/get": caughtUp((params, request, parts) => {
    const name = readString(params, "name");
    const { toolkit, prompt } = getPrompt(name, params, request, parts);
    requireUse(request.rights, toolkit);
    requireRead({ toolkit, prompt: prompt.name }, request.caller, parts);
    const args = readPromptArguments(params.arguments);
    const missing = (prompt.arguments ?? []).find(
      (argument) => argument.required && !Object.hasOwn(args, argument.name),
    );
    if (missing)
      throw new HallError(
        "INVALID_PARAMS",
        `prompt ${name} requires the argument "${missing.name}"`,
      );
    const work = async (context: CallContext): Promise<JsonObject> =>
      fitPrompt(
        (await toolkit.prompts?.get(prompt.name, args, context)) ?? { messages: [] },
        request.version,
      );
    return runAsking(params, request, parts, within(parts.timeoutMs, work));
  }),

  "completion/complete": caughtUp(async (params, request, parts) => {
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
    const { toolkit, reference, subject } = findCompleter(ref, { params, request, parts });
    requireUse(request.rights, toolkit);
    requireRead(subject, request.caller, parts);
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
  }),
};

/**
 * Of several halls, one that was stopped for a moment first asks what was revoked meanwhile. Calls
 * do so in the gateway.
 */
function caughtUp(handler: MethodHandler): MethodHandler {
  return (params, request, parts) => {
    const behind = parts.gateway.catchUp();
    const handle = (): unknown => handler(params, request, parts);
    return behind ? behind.then(handle) : handle();
  };
}

/** MCP defines `input_required` for calls, reads and prompts only. */
const refuseToAsk = (): Promise<never> =>
  Promise.reject(new HallError("EXECUTION", "a completion cannot ask the client"));

/** For the call record only; `tools/list` refuses unknown faces. */
function faceOf({ _meta }: JsonObject, parts: ServerParts): string {
  const asked = isObject(_meta) ? _meta["guildhall/expose"] : undefined;
  return typeof asked === "string" &&
    asked.split(",").every((name) => Object.hasOwn(faces, name.trim()))
    ? asked
    : parts.face();
}

const callIds = createIds("call");

export function createCall(
  name: string,
  args: JsonObject,
  request: ClientRequest,
  { timeoutMs, face, takesText }: Pick<Call, "timeoutMs" | "face" | "takesText">,
): Call {
  return {
    id: callIds(),
    name,
    arguments: args,
    caller: request.caller,
    timeoutMs,
    face,
    takesText,
    target: undefined,
  };
}

/** Runs work that may ask the client, in the way of its era. */
function runAsking(
  params: JsonObject,
  request: ClientRequest,
  { asking }: { readonly asking: Asking },
  work: (context: CallContext) => Promise<unknown>,
): Promise<unknown> {
  const releaseToken = claimProgressToken(params, request);
  const run = contextFor(work);
  try {
    const running =
      request.era === "modern"
        ? asking.run(params, request, run, mayBecomeTask(request))
        : runLegacy(params, request, run);
    return releaseToken ? running.finally(releaseToken) : running;
  } catch (error) {
    // The work never started, so `finally` does not release the token.
    releaseToken?.();
    throw error;
  }
}

function mayBecomeTask(request: ClientRequest): boolean {
  return request.exchange.request.method === "tools/call" && takesTasks(request);
}

function contextFor(work: (context: CallContext) => Promise<unknown>): Work {
  return (ask, scope, current, task) => work(createContext(current, { ask, scope, task }));
}

/** Throws METHOD_NOT_FOUND for a tool that does not run as a task, as 2025-11-25 requires. */
function startTask(
  params: JsonObject,
  request: ClientRequest,
  { registry, asking, names, policies }: ServerParts,
  work: (context: CallContext) => Promise<unknown>,
): JsonObject {
  const { caller } = request;
  const { tool } = registry.getTool(
    readString(params, "name"),
    (item) => spellName(item, spellingFor(names, params._meta, caller.client), registry),
    offeredTo(policies, request),
  );
  const support = tool.execution?.taskSupport;
  if (support !== "required" && support !== "optional")
    throw new HallError("METHOD_NOT_FOUND", `${params.name} does not run as a task`);
  return { task: asking.start(params, request, contextFor(work)).describeLegacy() };
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
          ask: (questions, asked) => scope.pauseWhile(() => context.ask(questions, asked)),
        }),
      )
      .finally(() => scope.close());
  };
}

/** Throws NOT_FOUND, with near names of the client's list, as it sees them there. */
function getPrompt(
  name: string,
  { _meta }: JsonObject,
  { caller, rights }: ClientRequest,
  parts: ServerParts,
): PromptTarget {
  const { registry, names } = parts;
  return seenBy(caller, parts).getPrompt(
    name,
    (item) => spellName(item, spellingFor(names, _meta, caller.client), registry),
    ({ toolkit }) => mayUse(rights, toolkit),
  );
}

function findCompleter(
  ref: JsonObject,
  {
    params,
    request,
    parts,
  }: { readonly params: JsonObject; readonly request: ClientRequest; readonly parts: ServerParts },
): { readonly toolkit: Toolkit; readonly reference: JsonObject; readonly subject: ReadSubject } {
  const { registry } = parts;
  if (ref.type === "ref/prompt" && typeof ref.name === "string") {
    const { toolkit, prompt } = getPrompt(ref.name, params, request, parts);
    const { name } = prompt;
    return { toolkit, reference: { ...ref, name }, subject: { toolkit, prompt: name } };
  }
  if (ref.type === "ref/resource" && typeof ref.uri === "string") {
    const { toolkit, uri } =
      registry.findTemplateOwner(ref.uri) ?? registry.getResourceOwner(ref.uri);
    return { toolkit, reference: { ...ref, uri }, subject: { toolkit, uri } };
  }
  throw new HallError(
    "INVALID_PARAMS",
    "ref must name a prompt (ref/prompt) or a resource (ref/resource)",
  );
}

/** Gives the contents the URI that the client read instead of the server's own. */
function renameContents(result: JsonObject, own: string, uri: string): JsonObject {
  if (own === uri || !Array.isArray(result.contents)) return result;
  const contents = result.contents.map((item: unknown) =>
    isObject(item) && item.uri === own ? { ...item, uri } : item,
  );
  return { ...result, contents };
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

const modernMethods: Readonly<Record<string, MethodHandler>> = {
  ...methods,
  "server/discover": (_params, _request, parts) => ({
    supportedVersions: modernVersions,
    capabilities: parts.capabilities("2026-07-28"),
    instructions: parts.instructions(),
  }),
  "subscriptions/listen": listen,
  "tasks/get": (params, request, { tasks }) => {
    requireTasks(request);
    return tasks.get(params, request).describe();
  },
  "tasks/update": (params, request, { tasks }) => {
    requireTasks(request);
    tasks.get(params, request).answer(readResponses(params.inputResponses));
    return {};
  },
  "tasks/cancel": (params, request, { tasks }) => {
    requireTasks(request);
    tasks.get(params, request).cancel();
    return {};
  },
};

/** The tasks of 2025-11-25. */
export const legacyTaskMethods: Readonly<Record<string, MethodHandler>> = {
  "tasks/get": (params, request, { tasks }) => tasks.get(params, request).describeLegacy(),
  "tasks/list": (_params, request, { tasks }) => ({
    tasks: tasks.of(request).map((task) => task.describeLegacy()),
  }),
  "tasks/result": (params, request, { tasks }) => {
    request.exchange.keepOpen();
    return tasks.get(params, request).result(request);
  },
  "tasks/cancel": (params, request, { tasks }) => {
    const task = tasks.get(params, request);
    if (task.isOver) throw new HallError("INVALID_PARAMS", "the task has ended");
    task.cancel();
    return task.describeLegacy();
  },
};

/** Runs a modern request and adds the envelope to its result. Throws METHOD_NOT_FOUND. */
export function handleModern(
  method: string,
  params: JsonObject,
  request: ClientRequest,
  parts: ServerParts,
): unknown {
  const handler = Object.hasOwn(modernMethods, method) ? modernMethods[method] : undefined;
  if (!handler) throw unknownMethod(method);
  requireScope(request.rights, "call", method);
  const { signature } = parts;
  request.exchange.finish = (result) => addModernEnvelope(method, result, signature);
  return handler(params, request, parts);
}

/** Dispatches again after discovery if a name is unknown and a server that may have it is still being listed. */
export function whenListed(
  { request, scope }: Exchange,
  { registry }: ServerParts,
  dispatch: () => unknown,
): unknown {
  try {
    return dispatch();
  } catch (error) {
    if (!(error instanceof HallError) || error.code !== "NOT_FOUND") throw error;
    const name = request.params?.name;
    const pending = registry.pendingDiscovery(typeof name === "string" ? name : undefined);
    if (!pending) throw error;
    return scope.race(pending).then(dispatch);
  }
}

export function unknownMethod(method: string): HallError {
  return new HallError("METHOD_NOT_FOUND", `Method not found: ${method.slice(0, 100)}`);
}

/** Text that every version can read is passed on as it came. */
function writeOutcome(outcome: Outcome, call: Call, request: ClientRequest): Outcome | Prepared {
  if (!(outcome instanceof TextOutcome)) return fitOutcome(outcome, call, request);
  const { json } = outcome;
  return new Prepared(json.endsWith("]}") ? `${json.slice(0, -1)},"isError":false}` : json);
}

/** The outcome as a client of this version reads it: `isError` is always there. */
function fitOutcome(outcome: Outcome, call: Call, request: ClientRequest): Outcome {
  const fitted = fitKinds(outcome, call, request);
  return fitted.isError === undefined ? addField(fitted, "isError", false) : fitted;
}

/** Replaces content that a client's version does not know with text. */
function fitKinds(outcome: Outcome, { target }: Call, { version }: ClientRequest): Outcome {
  const content = fitContent(outcome.content, version);
  const { structuredContent } = outcome;
  const fits = isObject(structuredContent) && !isWrapped(target?.tool.outputSchema);
  if (structuredContent === undefined || fits || isModernVersion(version)) {
    return content === outcome.content ? outcome : { ...outcome, content };
  }
  const hasText = content.some(({ type }) => type === "text");
  return {
    ...outcome,
    content: hasText
      ? content
      : [...content, { type: "text", text: JSON.stringify(structuredContent) }],
    structuredContent: { result: structuredContent },
  };
}

function fitPrompt(result: JsonObject, version: Version): JsonObject {
  const unknown = unknownKinds[version];
  if (!unknown || !Array.isArray(result.messages)) return result;
  const messages = result.messages.map((message) =>
    isObject(message) && isObject(message.content)
      ? { ...message, content: fitContent([message.content], version)[0] }
      : message,
  );
  return { ...result, messages };
}

const unknownKinds: Partial<Record<Version, ReadonlySet<unknown>>> = {
  "2024-11-05": new Set(["audio", "resource_link"]),
  "2025-03-26": new Set(["resource_link"]),
};

function fitContent(content: readonly JsonObject[], version: Version): readonly JsonObject[] {
  const unknown = unknownKinds[version];
  if (!unknown || !content.some(({ type }) => unknown.has(type))) return content;
  return content.map((item) =>
    unknown.has(item.type) ? { type: "text", text: describe(item) } : item,
  );
}

function describe(item: JsonObject): string {
  return item.type === "audio"
    ? `[audio, ${item.mimeType}: this client cannot play it]`
    : `[resource] ${item.uri}`;
}

/** Methods that are notifications even with `"id": null`, which some clients send. */
export function isNotification(method: string): boolean {
  return method.startsWith("notifications/") || method.startsWith("$/") || method === "exit";
}
