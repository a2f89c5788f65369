import { useEffect, useLayoutEffect, useReducer } from "preact/hooks";
import type { ChangedPart } from "../src/hall/events.ts";
import type { CallLine, PageError, PageEvent, PageMethods } from "../src/hall/page/contract.ts";
import type { LogEntry } from "../src/hall/server-logs.ts";
import type { Progress } from "../src/tool.ts";
import { ask, Failure, followEvents, Offline, SignedOut } from "./api.ts";

/**
 * The one store of the page. Answers of the hall are kept by method and parameters; an event marks
 * them as old, and those on the screen are read again. What a person types stays in the components,
 * so a hall that restarts loses nothing of it.
 */

export type Connection = "starting" | "opening" | "open" | "lost" | "signed-out";

export interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: PageError | undefined;
  readonly isLoading: boolean;
}

interface Entry {
  readonly method: keyof PageMethods;
  readonly params: object;
  loaded: Loaded<unknown>;
  isOld: boolean;
  users: number;
}

/** The methods that an event makes old. A new one that should follow events is named here. */
const follows: Readonly<Record<ChangedPart, readonly (keyof PageMethods)[]>> = {
  approvals: ["approvals"],
  servers: ["servers", "status"],
  tools: ["tools", "tool", "servers", "exposure"],
  review: ["review"],
  questions: ["questions"],
};

const entries = new Map<string, Entry>();
const listeners = new Set<() => void>();
const eventListeners = new Set<(event: PageEvent) => void>();
let connection: Connection = "starting";
let toasts: readonly Toast[] = [];

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: "good" | "bad";
}

function changed(): void {
  for (const listener of listeners) listener();
}

/** Shows a component again whenever the store changes. */
function useStore<T>(read: () => T): T {
  const [, again] = useReducer((count: number, _none: undefined) => count + 1, 0);
  useEffect(() => {
    const listener = (): void => again(undefined);
    listeners.add(listener);
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
    const entry = entries.get(key) ?? { method, params, loaded: unread, isOld: true, users: 0 };
    entries.set(key, entry);
    entry.users += 1;
    if (entry.isOld) void read(entry);
    return () => {
      entry.users -= 1;
    };
  }, [key]);
  return useStore(() => (entries.get(key)?.loaded ?? unread) as Loaded<PageMethods[M]["result"]>);
}

function keyOf(method: keyof PageMethods, params: object): string {
  return `${method} ${JSON.stringify(params)}`;
}

async function read(entry: Entry): Promise<void> {
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
  }
  changed();
}

/** Reads these methods again where they are shown, and later where they are not. */
export function refresh(...methods: readonly (keyof PageMethods)[]): void {
  for (const entry of entries.values()) {
    if (!methods.includes(entry.method)) continue;
    entry.isOld = true;
    if (entry.users > 0) void read(entry);
  }
}

function refreshAll(): void {
  for (const entry of entries.values()) {
    entry.isOld = true;
    if (entry.users > 0) void read(entry);
  }
}

/** Undefined where the hall is only away: the page says so in one place. */
export function failureOf(error: unknown): PageError | undefined {
  if (error instanceof Failure) return error.error;
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
  useEffect(() => {
    eventListeners.add(heard);
    return () => void eventListeners.delete(heard);
  }, inputs);
}

let following: AbortController | undefined;
/** The last event before the first answers. */
let lastEvent = "";

/**
 * Asks who is signed in, before all else: a browser that is not gets one refused request, and the
 * stream continues where the answers of this page begin.
 */
export async function begin(): Promise<void> {
  try {
    const data = await ask("session", {});
    lastEvent = data.lastEvent;
    const loaded = { data, error: undefined, isLoading: false };
    entries.set(keyOf("session", {}), {
      method: "session",
      params: {},
      loaded,
      isOld: false,
      users: 0,
    });
  } catch (error) {
    failureOf(error);
    if (error instanceof SignedOut) return;
  }
  connect("opening");
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
    entries.clear();
  }
  if (next === "open" && wasLost) refreshAll();
  changed();
}

function hear(event: PageEvent): void {
  if (event.type === "reset") {
    calls = undefined;
    refreshAll();
  } else if (event.type === "changed") refresh(...follows[event.what]);
  else if (event.type === "calls") addCalls(event.calls);
  else if (event.type === "progress") progress = new Map(progress).set(event.key, event.progress);
  else addLines(event.lines);
  for (const listener of eventListeners) listener(event);
  changed();
}

/** The newest calls, newest first: read once, then kept by events. */
let calls: readonly CallLine[] | undefined;
/** The row before which calls are unread; undefined if all are read. */
let callsBefore: number | undefined;
let isReadingCalls = false;
let wantsOlder = false;
const callsMax = 10_000;
/** More than a screen shows. */
const firstCalls = 100;
/** Few enough that no answer keeps the page busy. */
const olderCalls = 1_000;

/** With `older`, all calls that the page keeps; the newest come first, the others in parts. */
export function useCalls({ older = false } = {}): readonly CallLine[] | undefined {
  useLayoutEffect(() => {
    wantsOlder ||= older;
    void readCalls();
  }, []);
  return useStore(() => {
    if (!calls && connection === "open") void readCalls();
    return calls;
  });
}

async function readCalls(): Promise<void> {
  if (isReadingCalls) return;
  isReadingCalls = true;
  try {
    if (!calls) addOlder([], await ask("calls", { limit: firstCalls }));
    while (wantsOlder && calls && callsBefore !== undefined && calls.length < callsMax) {
      const answer = await ask("calls", { limit: olderCalls, before: callsBefore });
      // Events may have added calls meanwhile, or told the page to read all again.
      if (calls) addOlder(calls, answer);
    }
  } catch (error) {
    failureOf(error);
  } finally {
    isReadingCalls = false;
    changed();
  }
}

function addOlder(newer: readonly CallLine[], answer: PageMethods["calls"]["result"]): void {
  const known = new Set(newer.map(({ id }) => id));
  calls = [...newer, ...answer.calls.filter(({ id }) => !known.has(id))].slice(0, callsMax);
  callsBefore = answer.before;
  changed();
}

function addCalls(added: readonly CallLine[]): void {
  if (!calls) return;
  const known = new Set(added.map(({ id }) => id));
  const older = calls.slice(0, 1_000).some(({ id }) => known.has(id))
    ? calls.filter(({ id }) => !known.has(id))
    : calls;
  calls = [...[...added].reverse(), ...older].slice(0, callsMax);
  refresh("traffic", "status", "servers", "runs");
}

/** The last report of each call of this page. */
let progress: ReadonlyMap<string, Progress> = new Map();

export function useProgress(key: string): Progress | undefined {
  return useStore(() => progress.get(key));
}

/** Lines of servers since the page was opened. */
let lines: readonly LogEntry[] = [];
const linesMax = 5_000;

function addLines(added: readonly LogEntry[]): void {
  lines = [...lines, ...added].slice(-linesMax);
}

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
