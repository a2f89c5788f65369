import { useLayoutEffect, useState } from "preact/hooks";
import type { ChangedPart } from "../src/hall/events.ts";
import type {
  CallLine,
  PageError,
  PageEvent,
  PageMethods,
  PageReads,
} from "../src/hall/page/contract.ts";
import type { LogEntry } from "../src/hall/server-logs.ts";
import type { Progress } from "../src/tool.ts";
import { ApiFailure, ask, followEvents, Offline, SignedOut } from "./api.ts";
import { type First, firstCalls, readFirst } from "./first.ts";
import { addLines } from "./log-lines.ts";

/**
 * The one store of the page. Answers of the hall are kept by method and parameters; an event marks
 * them as old, and those on the screen are read again. What a person types stays in the components,
 * so a hall that restarts loses nothing of it.
 */

type Connection = "starting" | "opening" | "open" | "lost" | "signed-out";

interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: PageError | undefined;
  readonly isLoading: boolean;
}

interface Entry {
  readonly method: keyof PageMethods;
  readonly params: object;
  loaded: Loaded<unknown>;
  isOld: boolean;
  /** `again`: an event made the answer old while it was on its way. */
  reading: "no" | "yes" | "again";
  users: number;
}

/** The methods that an event makes old. A new one that should follow events is named here. */
const follows: Readonly<Record<ChangedPart, readonly (keyof PageMethods)[]>> = {
  approvals: ["approvals"],
  servers: ["servers", "status"],
  tools: ["tools", "tool", "servers", "exposure"],
  review: ["review"],
  questions: ["questions"],
  calls: [],
  logs: ["logs"],
};

const entries = new Map<string, Entry>();
const listeners = new Set<() => void>();
const eventListeners = new Set<(event: PageEvent) => void>();
let connection: Connection = "starting";
let toasts: readonly Toast[] = [];

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: "good" | "bad";
}

let changes = 0;

function changed(): void {
  changes += 1;
  for (const listener of listeners) listener();
}

/** Shows a component again whenever the store changes. */
function useStore<T>(read: () => T): T {
  const [, show] = useState(changes);
  // Before the browser paints: an answer that arrives until then would never be shown.
  useLayoutEffect(() => {
    const listener = (): void => show(changes);
    listeners.add(listener);
    listener();
    return () => void listeners.delete(listener);
  }, []);
  return read();
}

export function useConnection(): Connection {
  return useStore(() => connection);
}

export function useToasts(): readonly Toast[] {
  return useStore(() => toasts);
}

const unread: Loaded<never> = { data: undefined, error: undefined, isLoading: true };

/** An answer of the hall, kept up to date while the component is shown. */
export function useData<M extends keyof PageMethods>(
  method: M,
  params: PageMethods[M]["params"],
): Loaded<PageMethods[M]["result"]> {
  const key = keyOf(method, params);
  // Asked before the browser paints, which takes a while on a busy machine.
  useLayoutEffect(() => {
    const entry = entries.get(key) ?? createEntry(method, params);
    entries.set(key, entry);
    entry.users += 1;
    if (entry.isOld) void read(entry);
    return () => {
      entry.users -= 1;
      // Shown at once when the screen is opened again, and read again: not everything has events.
      entry.isOld ||= entry.users === 0;
      if (entries.size > entriesMax) entries.delete(key);
    };
  }, [key]);
  return useStore(() => (entries.get(key)?.loaded ?? unread) as Loaded<PageMethods[M]["result"]>);
}

/** Some parameters are times and never come again. */
const entriesMax = 100;

function createEntry(method: keyof PageMethods, params: object): Entry {
  return { method, params, loaded: unread, isOld: true, reading: "no", users: 0 };
}

function keyOf(method: keyof PageMethods, params: object): string {
  return `${method} ${JSON.stringify(params)}`;
}

/** One request at a time: of two, the older answer could arrive last. */
async function read(entry: Entry): Promise<void> {
  if (entry.reading !== "no") {
    entry.reading = "again";
    return;
  }
  entry.reading = "yes";
  entry.isOld = false;
  const before = entry.loaded;
  entry.loaded = { ...before, isLoading: true };
  try {
    const data = await ask(entry.method, entry.params as never);
    entry.loaded = { data, error: undefined, isLoading: false };
  } catch (error) {
    // Kept on the screen: the hall is away only for a moment.
    entry.isOld = true;
    entry.loaded = { data: before.data, error: failureOf(error), isLoading: false };
    if (error instanceof Offline)
      retryLater(
        () => entry.isOld && entry.users > 0,
        () => read(entry),
      );
  }
  const isAgain = (entry.reading as Entry["reading"]) === "again";
  entry.reading = "no";
  changed();
  if (isAgain) void read(entry);
}

/** Reads these methods again where they are shown, and later where they are not. */
export function refresh(...methods: readonly (keyof PageMethods)[]): void {
  refreshWhere(({ method }) => methods.includes(method));
}

function refreshAll(): void {
  refreshWhere(() => true);
  refreshCalls();
}

function refreshWhere(isMeant: (entry: Entry) => boolean): void {
  for (const entry of entries.values()) {
    if (!isMeant(entry)) continue;
    entry.isOld = true;
    if (entry.users > 0) void read(entry);
  }
}

const retryMs = 1_000;

/** Sends a lost request again while the event stream is open. A stream that reconnects reads everything anew. */
function retryLater(isNeeded: () => boolean, again: () => Promise<void>): void {
  setTimeout(() => {
    if (connection === "open" && isNeeded()) void again();
  }, retryMs);
}

/** Undefined where the hall is only away: the page says so in one place. */
export function failureOf(error: unknown): PageError | undefined {
  if (error instanceof ApiFailure) return error.error;
  if (error instanceof Offline) return undefined;
  if (error instanceof SignedOut) {
    connect("signed-out");
    return undefined;
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: "INTERNAL", message, hint: undefined, next: [] };
}

/** Called for every event of the hall. */
export function useEvents(heard: (event: PageEvent) => void, inputs: readonly unknown[]): void {
  useLayoutEffect(() => {
    eventListeners.add(heard);
    return () => void eventListeners.delete(heard);
  }, inputs);
}

let following: AbortController | undefined;
/** The last event before the first answers. */
let lastEvent = "";

/** Keeps the first answers. The event stream continues where they begin. */
export async function begin({ reads, answer }: First = readFirst()): Promise<void> {
  try {
    const { session, answers } = await answer;
    lastEvent = session.lastEvent;
    keep("session", {}, session);
    for (const [method, data] of Object.entries(answers))
      keep(method as keyof PageReads, reads[method as keyof PageReads] ?? {}, data);
    if (answers.calls) {
      areCallsOld = false;
      keepCalls(answers.calls.calls, answers.calls.before);
    }
  } catch (error) {
    failureOf(error);
    if (error instanceof SignedOut) return;
  }
  connect("opening");
}

function keep(method: keyof PageMethods, params: object, data: unknown): void {
  const loaded = { data, error: undefined, isLoading: false };
  entries.set(keyOf(method, params), { ...createEntry(method, params), loaded, isOld: false });
}

/** Opens the event stream. */
export function follow(): void {
  following?.abort();
  following = new AbortController();
  void followEvents(hear, connect, { after: lastEvent, signal: following.signal });
}

export function connect(next: Connection): void {
  if (connection === next) return;
  const wasLost = connection === "lost";
  connection = next;
  if (next === "signed-out") {
    following?.abort();
    forget();
  }
  if (next === "open" && wasLost) refreshAll();
  changed();
}

/** The next person to sign in may see less. */
function forget(): void {
  entries.clear();
  [calls, callsBefore, areCallsOld] = [unread, undefined, true];
  [progress, lines] = [new Map(), []];
}

function hear(event: PageEvent): void {
  if (event.type === "reset") refreshAll();
  else if (event.type === "changed") {
    refresh(...follows[event.what]);
    if (event.what === "calls") refreshCalls();
  } else if (event.type === "calls") addCalls(event.calls);
  else if (event.type === "progress") progress = new Map(progress).set(event.key, event.progress);
  else lines = addLines(lines, event.lines);
  for (const listener of eventListeners) listener(event);
  changed();
}

/** The newest calls, newest first: read once, then kept by events. */
let calls: Loaded<readonly CallLine[]> = unread;
/** The row before which calls are unread; undefined if all are read. */
let callsBefore: number | undefined;
let areCallsOld = true;
let isReadingCalls = false;
/** Calls that ended while the newest were on their way. */
let arrived: readonly CallLine[] | undefined;
let callsUsers = 0;
let wantsOlder = false;
const callsMax = 10_000;
/** Few enough that no answer keeps the page busy. */
const olderCalls = 1_000;

/** With `older`, all calls that the page keeps; the newest come first, the others in parts. */
export function useCalls({ older = false } = {}): Loaded<readonly CallLine[]> {
  useLayoutEffect(() => {
    wantsOlder ||= older;
    callsUsers += 1;
    void readCalls();
    return () => {
      callsUsers -= 1;
    };
  }, []);
  return useStore(() => calls);
}

/** Answers stay on the screen until they are read again. */
function refreshCalls(): void {
  areCallsOld = true;
  if (callsUsers > 0) void readCalls();
}

async function readCalls(): Promise<void> {
  if (isReadingCalls) return;
  isReadingCalls = true;
  try {
    if (areCallsOld) await readNewest();
    // The newest are on the screen before the others are read.
    await new Promise((resolve) => requestIdleCallback(resolve));
    while (wantsOlder && !areCallsOld && callsBefore !== undefined) {
      const answer = await ask("calls", { limit: olderCalls, before: callsBefore });
      keepCalls(joined(calls.data ?? [], answer.calls), answer.before);
    }
  } catch (error) {
    calls = { ...calls, error: failureOf(error), isLoading: false };
    areCallsOld = true;
    if (error instanceof Offline) retryLater(() => areCallsOld && callsUsers > 0, readCalls);
    changed();
    return;
  } finally {
    isReadingCalls = false;
  }
  if (areCallsOld && callsUsers > 0) void readCalls();
}

async function readNewest(): Promise<void> {
  areCallsOld = false;
  arrived = [];
  try {
    const answer = await ask("calls", firstCalls);
    const known = calls.data ?? [];
    const newest = joined(arrived, answer.calls);
    // After a gap, what the page had is no longer the next part.
    if (isOverlapping(answer.calls, known)) keepCalls(joined(newest, known), callsBefore);
    else keepCalls(newest, answer.before);
  } finally {
    arrived = undefined;
  }
}

function isOverlapping(newer: readonly CallLine[], older: readonly CallLine[]): boolean {
  const ids = new Set(newer.map(({ id }) => id));
  return older.some(({ id }) => ids.has(id));
}

function joined(newer: readonly CallLine[], older: readonly CallLine[]): readonly CallLine[] {
  const known = new Set(newer.map(({ id }) => id));
  return [...newer, ...older.filter(({ id }) => !known.has(id))];
}

function keepCalls(rows: readonly CallLine[], before: number | undefined): void {
  calls = { data: rows.slice(0, callsMax), error: undefined, isLoading: false };
  callsBefore = rows.length < callsMax ? before : undefined;
  changed();
}

function addCalls(added: readonly CallLine[]): void {
  const newest = [...added].reverse();
  if (arrived) arrived = joined(newest, arrived);
  if (calls.data) calls = { ...calls, data: joined(newest, calls.data).slice(0, callsMax) };
  refresh("traffic", "status", "servers", "runs");
  const roots = new Set(added.map(({ root }) => root));
  refreshWhere(({ method, params }) => method === "callTree" && roots.has(rootOf(params)));
}

function rootOf(params: object): string {
  return (params as PageMethods["callTree"]["params"]).root;
}

/** The last report of each call of this page. */
let progress: ReadonlyMap<string, Progress> = new Map();

export function useProgress(key: string): Progress | undefined {
  return useStore(() => progress.get(key));
}

/** Lines of servers since the page was opened. */
let lines: readonly LogEntry[] = [];

export function useLines(server: string): readonly LogEntry[] {
  return useStore(() => lines.filter((line) => line.server === server));
}

let toastId = 0;
const toastMs = 4_000;

export function toast(text: string, tone: Toast["tone"] = "good"): void {
  toastId += 1;
  const id = toastId;
  toasts = [...toasts, { id, text, tone }];
  changed();
  setTimeout(() => {
    toasts = toasts.filter((shown) => shown.id !== id);
    changed();
  }, toastMs);
}
