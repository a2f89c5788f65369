/**
 * The narrow waist: what every source of tools looks like to the hall, and what a call carries.
 * Shapes follow MCP; fields we do not know pass through untouched.
 */
import type { HallError } from "./base/errors.ts";
import { isObject, type JsonObject } from "./base/json.ts";
import type { Scope } from "./base/scope.ts";

/** A tool as its toolkit defines it. Everything but `facts` is what clients see. */
export interface Tool {
  /** The toolkit's own name for it; the hall adds the prefix. */
  readonly name: string;
  readonly title?: string;
  readonly description?: string | undefined;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject | undefined;
  readonly annotations?: JsonObject;
  readonly _meta?: JsonObject;
  readonly execution?: JsonObject;
  /** For the hall only; never shown to a client. */
  readonly facts?: ToolFacts;
  readonly [field: string]: unknown;
}

export interface ToolFacts {
  /** Deadline of one call. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** The origin of the tool as its author declares it: a file, a package. */
  readonly module?: string | undefined;
  /** The version in which it was deprecated. */
  readonly deprecatedIn?: string | undefined;
  /** Seconds for which its definition may be cached, as its author declares. */
  readonly cacheTtl?: number | undefined;
  /** Every call requires approval, even if the tool is trusted, and also in nested calls. */
  readonly asksEachTime?: boolean;
  /** The facts of a call with these arguments for the flow guard; they replace the judgement by name. */
  readonly flow?: (args: JsonObject) => Partial<FlowMarks>;
  /** It cannot be called, directly or indirectly, from within its own call. */
  readonly isNotReentrant?: boolean;
  /**
   * Finds secrets in the arguments that have no telling key, such as in the text of a program. Returns a
   * function that removes them from recorded values, or undefined if there are none.
   */
  readonly hideSecrets?: (args: JsonObject) => ((value: unknown) => unknown) | undefined;
}

/** Facts about a tool for the flow guard. */
export interface FlowMarks {
  /** It reads content from outside that anyone may have written. */
  readonly bringsIn: boolean;
  /** It reads the user's files, mail or environment. */
  readonly readsPrivate: boolean;
  readonly sendsOut: boolean;
  /** The caller chooses the address that its request goes to. */
  readonly takesAddress: boolean;
  /** Its arguments leave for a service on the web, such as a search engine. */
  readonly goesOut: boolean;
}

/** One passage through the gateway. */
export interface Call {
  readonly id: string;
  /** The name as the caller wrote it. */
  readonly name: string;
  readonly arguments: JsonObject;
  readonly caller: Caller;
  /** The call that made this one, for nested calls. */
  readonly parent?: string;
  /** The id of the root call, for nested calls. */
  readonly root?: string;
  /** The root call itself, as the key of state that covers all nested calls. */
  readonly rootCall?: Call;
  /** Number of calls between this one and its root. */
  readonly depth?: number;
  /** The agents this call is made for, outermost first; none of them may be called again. */
  readonly inside?: readonly string[] | undefined;
  /** The caller's own timeout, if it set one. */
  readonly timeoutMs?: number | undefined;
  /** The face the caller used, and the planner that chose the call: for the record only. */
  readonly face?: string | undefined;
  readonly planner?: string | undefined;
  /** Set in place by the resolve stage: copying the call would be expensive. */
  target?: Target | undefined;
  /** Time spent on loading code, which is not recorded as the tool's. Set in place. */
  loadingMs?: number;
  /** Set in place for a call that is sent on as JSON: the request and the record share one text. */
  written?: Written | undefined;
  /** The outcome is only passed on, so it may be a `TextOutcome`. */
  readonly takesText?: boolean | undefined;
  /** Of a changing call that a standing trust allows: throws once that was taken back. Set in place. */
  requireStillTrusted?: () => void;
}

/** A value and its JSON text. The text is used for this very object only. */
export interface Written {
  readonly value: JsonObject;
  readonly text: string;
}

export interface Target {
  readonly toolkit: Toolkit;
  readonly tool: Tool;
  readonly fullName: string;
}

/** The person or program that a token stands for. */
export interface Person {
  /** Unique within the hall: `subject@issuer` for an access token, the name of a named token. */
  readonly user: string;
  readonly groups: readonly string[];
  /** The issuer of the access token; undefined for a named token. */
  readonly issuer?: string | undefined;
  /** The name of the token, or the client id that an access token was issued to. */
  readonly token?: string | undefined;
}

export interface Caller {
  /** The connection of the call. */
  readonly connection: string;
  /** The identity behind the call. Approvals of one principal are not valid for another. */
  readonly principal: string;
  /** Undefined for a program of the same user, which needs no token. */
  readonly person?: Person | undefined;
  /** The name the client reports: for logs, never for decisions. */
  readonly client: string;
  /** The answers to approvals that count from it. Default: `once`. */
  readonly mayAnswer?: "lasting" | "once" | "nothing" | undefined;
  /** The only tools it may call, as `server.tool` or `server.*`; undefined for all. */
  readonly tools?: readonly string[] | undefined;
  /**
   * The key of the rate limit: the connection, or what requests without a lasting one have in common.
   * Undefined for callers without a limit, such as a client on stdio.
   */
  readonly quota?: string | undefined;
  /** True if the connection has a session, so that state can be kept for it. */
  readonly isLasting?: boolean;
  /** The way to the client outside of its calls, for clients with a session. */
  readonly link?: ClientLink | undefined;
}

/** A connected client, for what a server sends when none of the client's calls is running. */
export interface ClientLink {
  readonly connection: string;
  readonly principal: string;
  /** Sends the message if the client's log level allows it. */
  log(level: LogLevel, data: unknown, logger?: string): void;
  notify(method: string, params: JsonObject): void;
  /** Throws MISSING_CAPABILITY if the client cannot be asked. */
  ask(questions: Questions, asked: Scope): Promise<Readonly<Record<string, JsonObject>>>;
  /** Calls back once the client has disconnected. */
  onClosed(listener: () => void): void;
}

/** The services that a toolkit may use during a call. */
export interface CallContext {
  /** Cancelled when the caller cancels or the deadline passes: `scope.signal`, `scope.remainingMs`. */
  readonly scope: Scope;
  /** True if the caller asked for progress notifications, and so may wait long. */
  readonly takesProgress?: boolean;
  /** Reports progress to the caller; the value must grow. */
  progress(progress: Progress): void;
  log(level: LogLevel, data: unknown, logger?: string): void;
  /** The log level the client asked for, for upstreams; undefined for none. */
  readonly logLevel?: LogLevel | undefined;
  /** The client's own `_meta` fields, passed on to upstreams unchanged. */
  readonly meta?: JsonObject | undefined;
  /** The client's declared capabilities, for upstreams. */
  readonly capabilities?: JsonObject | undefined;
  /**
   * Asks the client (its user, its model, its roots): all questions at once, answered under the same keys.
   * Throws MISSING_CAPABILITY if the client cannot be asked. Time spent waiting does not count. When
   * `asked` is cancelled, the questions are withdrawn.
   */
  ask(questions: Questions, asked?: Scope): Promise<Readonly<Record<string, JsonObject>>>;
  /**
   * Calls another tool through the whole gateway, with the deadline, caller and permissions of this call.
   * `scope` can end the inner call earlier. Throws HallError. Absent outside the gateway.
   */
  call?(name: string, args: JsonObject, scope?: Scope, how?: InnerCall): Promise<Outcome>;
  /** Present if the caller takes a task instead of a result. The first report makes the call one. */
  readonly task?: ((news: TaskNews) => void) | undefined;
  /** The caller's own id of the call, for services. */
  readonly callId?: string | undefined;
  /** The caller, if the call came from a connection. */
  readonly caller?: Caller;
  /** Taint of the conversation, for tools that store content for later. Absent without a flow guard. */
  readonly flow?: Flow | undefined;
  /** The arguments as JSON, for upstreams. Set in place. */
  written?: Written | undefined;
  /** As in `Call`. Set in place. */
  takesText?: boolean | undefined;
}

/** The state of a running task. */
export interface TaskNews {
  readonly statusMessage?: string;
  readonly ttlMs?: number;
  readonly pollIntervalMs?: number;
}

/** Options of a nested call. */
export interface InnerCall {
  /** The planner that chose it: for the record. */
  readonly planner?: string;
  /** Receives its progress. Default: the outer call's. */
  progress?(progress: Progress): void;
  /** Receives its log messages. Default: the outer call's. */
  readonly log?: CallContext["log"];
}

export interface Flow {
  read(): Taint;
  add(taint: Taint): void;
}

/** The kinds of content that a conversation has read: for each, the first tool that did. */
export interface Taint {
  /** Content from outside that anyone may have written. */
  readonly outside?: string | undefined;
  /** The user's files, mail or environment. */
  readonly private?: string | undefined;
}

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
  /** Elapsed time, for messages that stay the same for long. */
  readonly elapsedSeconds?: number | undefined;
}

/** The `_meta` key of `elapsedSeconds` in a progress notification. */
export const elapsedKey = "guildhall/elapsedSeconds";

export const logLevels = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;
export type LogLevel = (typeof logLevels)[number];

export interface Question {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  readonly params?: JsonObject | undefined;
  /** Receives the client's progress on it, for a server that asked for it. */
  readonly progress?: ((progress: JsonObject) => void) | undefined;
}
export type Questions = Readonly<Record<string, Question>>;

/** The result of a call, in MCP's shape. */
export interface Outcome {
  readonly content: readonly JsonObject[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: JsonObject;
  readonly [field: string]: unknown;
}

export type Health = (
  | { readonly state: "available" }
  | { readonly state: "degraded"; readonly reason: string }
  | { readonly state: "unavailable"; readonly reason: string }
  | { readonly state: "maintenance"; readonly reason: string }
) & {
  /** The service's own report when it was probed. */
  readonly reported?: ReportedHealth | undefined;
};

export interface ReportedHealth {
  readonly version?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly responseMs?: number | undefined;
}

export type ListKind = "tools" | "resources" | "prompts";

/** `hall`: the hall's own tools, such as `find_tools`, `call_tool` and the agents. */
export type ToolkitSource = "built-in" | "module" | "upstream" | "registered" | "hall";

/** Anything that offers tools: an upstream, a built-in pack, a registration, the workflow. */
export interface Toolkit {
  readonly id: string;
  /** Prefix of full names. Default: the id; "" for none. */
  readonly prefix?: string | undefined;
  /** Its names are fixed by a published document: they are listed with their dot. */
  readonly keepsDot?: boolean;
  /** Default `built-in`: trusted, without rate limits and circuit breaker. */
  readonly source?: ToolkitSource;
  readonly description?: string | undefined;
  /** Such as SEARCH: toolkits of the same category are suggested as alternatives. */
  readonly category?: string | undefined;
  readonly version?: string | undefined;
  /** A failing list is reported and the toolkit skipped. */
  list(): Promise<readonly Tool[]>;
  /** Loads the code of a tool before its first call; undefined if it is loaded. Not recorded as the tool's time. */
  prepare?(tool: Tool): Promise<void> | undefined;
  /** Throws HallError; never returns a partial result. */
  call(tool: Tool, args: JsonObject, context: CallContext): Promise<Outcome>;
  health(): Promise<Health>;
  /** Probes the running service; undefined if nothing is running. Throws if it does not answer. */
  probe?(scope: Scope): Promise<Health | undefined>;
  /** False if it starts at its next call. Default: true. */
  isRunning?(): boolean;
  /** False while its tools and prompts appear only in lists that were requested in full. Default true. */
  isListed?(): boolean;
  /** For toolkits without a group: true if their tools are shown next to `find_tools`. */
  isInUse?(): boolean;
  /**
   * Set while it is off: it lists nothing and is in no list of toolkits, and a call of its tools is refused
   * with this.
   */
  off?(): HallError;
  /** Why a tool that it has and does not list cannot be called; undefined for any other name. */
  refusalOf?(tool: string): HallError | undefined;
  /** Why it currently offers nothing or less than usual; shown to clients, so that no list is silently incomplete. */
  problem?(): string | undefined;
  close(): Promise<void>;
  readonly resources?: ResourceSource | undefined;
  readonly prompts?: PromptSource | undefined;
  complete?(
    reference: JsonObject,
    argument: JsonObject,
    context: CallContext,
    params: JsonObject,
  ): Promise<JsonObject>;
  /** Another log level or other roots of a client that may have used it. */
  clientChanged?(link: ClientLink, change: { readonly logLevel: LogLevel } | "roots"): void;
  /** The protocol extensions that it supports, with their settings. */
  extensions?(): JsonObject;
  /** Resolves when the running discovery of its tools ends, successfully or not. */
  pendingDiscovery?(): Promise<void> | undefined;
  /** Calls back when one of its lists has changed. Returns a function that unsubscribes. */
  readonly onChange?: ((listener: (kind: ListKind) => void) => () => void) | undefined;
}

export interface ResourceSource {
  list(): Promise<readonly Resource[]>;
  templates(): Promise<readonly JsonObject[]>;
  /** Throws NOT_FOUND. The result is MCP's, with `contents`. */
  read(uri: string, context: CallContext): Promise<JsonObject>;
  /**
   * True if `read` may accept this URI although `list` does not contain it. Of its templates, only
   * these may be used.
   */
  covers?(uri: string, templates: readonly JsonObject[]): boolean;
  /** Calls back when the resource changes. Throws if the source refuses to report changes. */
  watch?(uri: string, listener: () => void): (() => void) | Promise<() => void>;
}

export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly [field: string]: unknown;
}

export interface PromptSource {
  list(): Promise<readonly Prompt[]>;
  get(
    name: string,
    args: Readonly<Record<string, string>>,
    context: CallContext,
  ): Promise<JsonObject>;
}

export interface Prompt {
  readonly name: string;
  readonly arguments?: readonly {
    readonly name: string;
    readonly required?: boolean;
    readonly [field: string]: unknown;
  }[];
  readonly [field: string]: unknown;
}

/** True if the client can show its user a form: it names them, or names no mode at all. */
export function supportsForms(capabilities: JsonObject | undefined): boolean {
  const elicitation = capabilities?.elicitation;
  return isObject(elicitation) && (isObject(elicitation.form) || !isObject(elicitation.url));
}
