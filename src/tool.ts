/**
 * The narrow waist: what every source of tools looks like to the hall, and what a call carries.
 * Shapes follow MCP; fields we do not know pass through untouched.
 */
import type { JsonObject } from "./base/json.ts";
import type { Scope } from "./base/scope.ts";

/** A tool as its toolkit defines it. Everything but `facts` is what clients see. */
export interface Tool {
  /** The toolkit's own name for it; the hall puts the prefix in front. */
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
  readonly _meta?: JsonObject;
  /** What only the hall needs to know; never shown to a client. */
  readonly facts?: ToolFacts;
  readonly [field: string]: unknown;
}

export interface ToolFacts {
  /** Deadline of one call. Default 30,000. */
  readonly timeoutMs?: number;
  /** Where the tool comes from, as its author says: a file, a package. */
  readonly module?: string;
  /** The version since which it should no longer be used. */
  readonly deprecatedIn?: string;
  /** A person is asked for every single call, whatever was granted, and also inside other calls. */
  readonly asksEachTime?: boolean;
  /** It may not be called again, directly or indirectly, from inside a call of its own. */
  readonly isNotReentrant?: boolean;
  /**
   * Finds secrets that stand in these arguments without a key that says so, such as in the text of a
   * program. Returns a function that removes them from what is recorded, or undefined for none.
   */
  readonly hideSecrets?: (args: JsonObject) => ((value: unknown) => unknown) | undefined;
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
  /** The call at the beginning of it all, for nested calls. */
  readonly root?: string;
  /** That call itself, for what is known of the whole piece of work. */
  readonly rootCall?: Call;
  /** How many calls stand between this one and its root. */
  readonly depth?: number;
  /** The agents this call is made for, outermost first: none of them is called again. */
  readonly inside?: readonly string[] | undefined;
  /** The time the caller gives it, where the caller may say. */
  readonly timeoutMs?: number | undefined;
  /** Through what the caller found it, and what decided on it, where that is known: for the record only. */
  readonly face?: string | undefined;
  readonly planner?: string | undefined;
  /** Set by the resolve stage, in place: a copy of the call would be its most expensive part. */
  target?: Target | undefined;
}

export interface Target {
  readonly toolkit: Toolkit;
  readonly tool: Tool;
  readonly fullName: string;
}

export interface Caller {
  /** Which line the call came in on. */
  readonly connection: string;
  /** Whose call it is: one who may answer for another's must not. */
  readonly principal: string;
  /** What the client says of itself: for logs, never for decisions about what it may do. */
  readonly client: string;
  /** Whose allowance the call is counted against; undefined for callers without one, such as a client on stdio. */
  readonly quota?: string | undefined;
  /** Whether the line remembers what was said on it: what belongs to nobody else may then be kept for it. */
  readonly isLasting?: boolean;
}

/** What a toolkit may use while it works. */
export interface CallContext {
  /** Cancelled when the caller withdraws or the deadline passes: `scope.signal`, `scope.remainingMs`. */
  readonly scope: Scope;
  /** Tells the caller how far the work is; must grow. */
  progress(progress: Progress): void;
  log(level: LogLevel, data: unknown, logger?: string): void;
  /** The least level the client wants to hear of, for sources that must be told; undefined for nothing. */
  readonly logLevel?: LogLevel | undefined;
  /** What the client put into `_meta` besides what the protocol puts there: passed on to upstreams as it is. */
  readonly meta?: JsonObject | undefined;
  /** What the client can be asked, as it declared it, for sources that must be told before they ask. */
  readonly capabilities?: JsonObject | undefined;
  /**
   * Asks the client: its user, its model, its roots; all questions at once, answered under the same keys.
   * Throws MISSING_CAPABILITY when the client cannot be asked. Time spent waiting does not count.
   * When `asked` is cancelled, nobody wants the answers any more, and the client is told.
   */
  ask(questions: Questions, asked?: Scope): Promise<Readonly<Record<string, JsonObject>>>;
  /**
   * Calls another tool for this call, through the whole gateway: with its deadline and its caller, and never more powerful than it.
   * `scope` ends the inner call before this one. Throws HallError. Absent outside the gateway.
   */
  call?(name: string, args: JsonObject, scope?: Scope, how?: InnerCall): Promise<Outcome>;
  /** Whose call it is, where somebody is on the line. */
  readonly caller?: Caller;
  /** What strangers wrote and this piece of work has read; for tools that keep it for later work. Absent where nobody guards the flow. */
  readonly flow?: Flow | undefined;
}

/** What one call says about another that it makes. */
export interface InnerCall {
  /** Who decided on it: for the record. */
  readonly planner?: string;
  /** Hears how far it is. Default: the caller of the outer one does. */
  progress?(progress: Progress): void;
  /** Hears what it says on the way. Default: the caller of the outer one does. */
  readonly log?: CallContext["log"];
}

export interface Flow {
  /** The tool that brought it in, or undefined while nothing was. */
  taintedBy(): string | undefined;
  taint(tool: string): void;
}

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
  /** How long the work has run, where the message stays the same for long. */
  readonly elapsedSeconds?: number | undefined;
}

/** Where a progress notification carries `elapsedSeconds` on the wire. */
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
  readonly params?: JsonObject;
}
export type Questions = Readonly<Record<string, Question>>;

/** What a call gives back, in MCP's shape. */
export interface Outcome {
  readonly content: readonly JsonObject[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: JsonObject;
  readonly [field: string]: unknown;
}

export type Health =
  | { readonly state: "available" }
  | { readonly state: "degraded"; readonly reason: string }
  | { readonly state: "unavailable"; readonly reason: string }
  | { readonly state: "maintenance"; readonly reason: string };

export type ListKind = "tools" | "resources" | "prompts";

/** `hall` is for the hall's own tools, which stand before all toolkits: `find_tools`, `call_tool`, the agents. */
export type ToolkitSource = "built-in" | "module" | "upstream" | "registered" | "hall";

/** Anything that offers tools: an upstream, a built-in pack, a registration, the workflow. */
export interface Toolkit {
  readonly id: string;
  /** What stands before the dot in full names; default the id, "" for none. */
  readonly prefix?: string;
  /** Where it comes from. Default `built-in`: its own answers are believed, and it is neither limited nor rested. */
  readonly source?: ToolkitSource;
  readonly description?: string;
  /** What kind of work it does, such as SEARCH: toolkits of one category may stand in for each other. */
  readonly category?: string;
  readonly version?: string;
  /** A failing list is reported and the toolkit skipped. */
  list(): Promise<readonly Tool[]>;
  /** Throws HallError; never returns a half result. */
  call(tool: Tool, args: JsonObject, context: CallContext): Promise<Outcome>;
  health(): Promise<Health>;
  /** Asks whatever runs it whether it is well; undefined when nothing runs that could be asked. Throws when it does not answer. */
  probe?(scope: Scope): Promise<Health | undefined>;
  /** For toolkits that belong to no group: whether their tools are shown beside the agents right now. */
  besideAgents?(): boolean;
  /** Why it offers nothing, or less than it should, right now; clients are told, so that no list is silently short. */
  problem?(): string | undefined;
  close(): Promise<void>;
  readonly resources?: ResourceSource;
  readonly prompts?: PromptSource;
  complete?(
    reference: JsonObject,
    argument: JsonObject,
    context: CallContext,
    params: JsonObject,
  ): Promise<JsonObject>;
  /** While it is still being found out what it offers: resolves when that is over, well or not. */
  looking?(): Promise<void> | undefined;
  /** Calls back when one of its lists has changed. Returns the way to stop listening. */
  onChange?(listener: (kind: ListKind) => void): () => void;
}

export interface ResourceSource {
  list(): Promise<readonly Resource[]>;
  templates(): Promise<readonly JsonObject[]>;
  /** Throws NOT_FOUND. The result is MCP's, with `contents`. */
  read(uri: string, context: CallContext): Promise<JsonObject>;
  /** True when `read` may know this uri although `list` does not name it. */
  covers?(uri: string): boolean;
  /** Calls back when the resource changes. */
  watch?(uri: string, listener: () => void): () => void;
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
