import type { JsonObject } from "../base/json.ts";
import type { HallStatus, PendingApproval } from "../hall/admin-contract.ts";
import type { Statistics } from "../store/store.ts";
import type { Progress } from "../tool.ts";
import type { Phase } from "../workflow/feature.ts";
import type { Failure } from "./failure.ts";
import type { Form } from "./form.ts";
import type { Intention } from "./intentions.ts";
import type { OutputRing } from "./output.ts";
import type { Page } from "./page.ts";

/**
 * Everything the screens show, as one plain value. The reducer makes each next one; nothing else does. What a person has typed
 * is in here too, so that neither a lost connection nor another screen loses it.
 */
export interface TuiState {
  readonly target: TargetView;
  readonly connection: ConnectionState;
  readonly size: Size;
  readonly screen: ScreenName;
  readonly isHelpShown: boolean;
  readonly features: FeaturesState;
  readonly feature: FeatureState | undefined;
  /** Newest first, at most `runsMax`. */
  readonly runs: readonly RunView[];
  /** Which one the run screen shows. */
  readonly shownRun: string | undefined;
  readonly tools: ToolsState;
  readonly agents: AgentsState;
  readonly lisp: LispState;
  readonly servers: ServersState;
  readonly approvals: ApprovalsState;
  readonly stats: StatsState;
  readonly worktrees: WorktreesState;
  /** What servers want to know; the first is asked. */
  readonly questions: readonly QuestionView[];
  /** Something that is done only after a yes. */
  readonly confirmation: Confirmation | undefined;
  /** Oldest first. */
  readonly notices: readonly Notice[];
  /** Lines scrolled back from the end, or rows down from the top, by the name of the view; 0 when absent. */
  readonly scrolls: Readonly<Record<string, number>>;
  readonly isQuitting: boolean;
}

export const screenNames = [
  "features",
  "feature",
  "run",
  "tools",
  "agents",
  "lisp",
  "servers",
  "approvals",
  "stats",
] as const;
export type ScreenName = (typeof screenNames)[number];
/** What only a hall can show. */
export const hallScreens: readonly ScreenName[] = ["servers", "approvals", "stats"];

/** Screens that lead somewhere with this target: features and tools everywhere, the hall's own only there. */
export function screensOf({ target }: Pick<TuiState, "target">): readonly ScreenName[] {
  return target.kind === "hall"
    ? screenNames
    : screenNames.filter((name) => !hallScreens.includes(name));
}

export interface TargetView {
  readonly kind: "hall" | "server";
  /** The project's folder name, or the server as it was named: a command line, an address. */
  readonly name: string;
  readonly transport: "in process" | "socket" | "stdio" | "http" | "websocket";
  /** The project. */
  readonly folder: string;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export type ConnectionState =
  /** `failure`: why it is tried again. */
  | { readonly kind: "connecting"; readonly attempt: number; readonly failure?: Failure }
  | {
      readonly kind: "ready";
      readonly era: "legacy" | "modern";
      readonly version: string;
      readonly server: string;
    }
  /** Waiting to try again; `retryAt` in milliseconds since 1970. */
  | {
      readonly kind: "lost";
      readonly failure: Failure;
      readonly attempt: number;
      readonly retryAt: number;
    }
  | { readonly kind: "closed" };

/** How far a list is that comes from elsewhere: what was read before stays on the screen meanwhile. */
export type Load =
  | { readonly kind: "idle" }
  | { readonly kind: "loading" }
  | { readonly kind: "loaded" }
  | { readonly kind: "failed"; readonly failure: Failure };

export interface FeaturesState {
  readonly load: Load;
  readonly items: readonly FeatureView[];
  readonly selected: string | undefined;
  /** Where steps work: the project's folder, or a worktree of it. */
  readonly folder: string;
  /** Steps the server should have and has not, such as speckit.plan. */
  readonly missing: readonly string[];
  /** The description of a new feature, as typed so far; undefined while none is being typed. */
  readonly draft: string | undefined;
}

export interface FeatureView {
  readonly name: string;
  readonly number: string;
  readonly directory: string;
  readonly branch: string | undefined;
  readonly phase: Phase;
  readonly tasks: { readonly total: number; readonly done: number } | undefined;
  readonly files: readonly string[];
  readonly openQuestions: number;
  readonly isActive: boolean;
  /** A step that is at work on it in some process, or was when that ended. */
  readonly run:
    | { readonly step: string; readonly isAtWork: boolean; readonly arguments: JsonObject }
    | undefined;
}

export interface FeatureState {
  readonly name: string;
  /** From the feature's folder on, such as `spec.md`. */
  readonly document: string | undefined;
  /** The document as it is in its file; undefined until it is read. */
  readonly text: string | undefined;
  readonly failure: Failure | undefined;
}

export const stepNames = ["specify", "clarify", "plan", "tasks", "implement"] as const;
export type StepName = (typeof stepNames)[number];

/** One call that a person started: a step, a tool, an agent, a Lisp form. */
export interface RunView {
  readonly id: string;
  readonly kind: "step" | "tool" | "agent" | "lisp";
  /** As the server knows it. */
  readonly tool: string;
  readonly arguments: JsonObject;
  /** What it is about: a feature, the task of an agent. */
  readonly about: string;
  readonly state: RunState;
  readonly startedAt: number;
  readonly progress: Progress | undefined;
  readonly output: OutputRing;
  /** Where everything is written; undefined until it could be opened. */
  readonly logPath: string | undefined;
}

export type RunState =
  | { readonly kind: "running" }
  /** The server has been told; it has not answered yet. */
  | { readonly kind: "cancelling" }
  | {
      readonly kind: "completed";
      readonly endedAt: number;
      readonly result: JsonObject;
      readonly saved: readonly string[];
    }
  | {
      readonly kind: "failed" | "timed out" | "cancelled";
      readonly endedAt: number;
      readonly failure: Failure;
    };

export interface ToolsState {
  readonly load: Load;
  readonly items: readonly ToolView[];
  readonly search: string;
  readonly selected: string | undefined;
  /** For the selected tool. Forms of others are kept in `forms`, as they were left. */
  readonly form: Form | undefined;
  readonly forms: Readonly<Record<string, Form>>;
  /** The last call made from here. */
  readonly run: string | undefined;
}

export interface ToolView {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly isDestructive: boolean;
}

export interface AgentsState {
  readonly load: Load;
  readonly items: readonly ToolView[];
  readonly selected: string | undefined;
  /** As typed so far. */
  readonly task: string;
  readonly run: string | undefined;
}

export interface LispState {
  /** Whether the server has `evaluate-lisp`; undefined until its tools are known. */
  readonly isOffered: boolean | undefined;
  readonly entries: readonly LispEntry[];
  readonly input: string;
  readonly package: string;
  readonly session: string | undefined;
  readonly mode: "explore" | "act";
}

export interface LispEntry {
  readonly run: string;
  readonly code: string;
  readonly state: "running" | "completed" | "failed";
  readonly text: string;
}

export interface ServersState {
  readonly load: Load;
  readonly status: HallStatus | undefined;
  readonly selected: string | undefined;
  /** The last lines a server wrote to stderr, where somebody wanted to see them. */
  readonly logs: { readonly server: string; readonly lines: readonly string[] } | undefined;
}

export interface ApprovalsState {
  readonly load: Load;
  readonly pending: readonly PendingApproval[];
  readonly selected: string | undefined;
}

export interface StatsState {
  readonly load: Load;
  readonly statistics: Statistics | undefined;
}

export interface WorktreesState {
  readonly load: Load;
  readonly items: readonly Worktree[];
}

/** A checkout of the repository; the first is the main one. */
export interface Worktree {
  readonly path: string;
  /** Undefined where no branch is checked out. */
  readonly branch: string | undefined;
  readonly isMain: boolean;
  /** The one the steps work in. */
  readonly isCurrent: boolean;
  readonly isDirty: boolean;
  /** Against what the branch follows; undefined where it follows nothing, or that is gone. */
  readonly ahead: number | undefined;
  readonly behind: number | undefined;
}

/** What a server wants to know before it goes on. */
export interface QuestionView {
  readonly id: string;
  /** Which run it belongs to. */
  readonly run: string | undefined;
  /** `form`: a person fills it in. `sampling`: a person says whether the configured model may answer. `page`: a person opens it, or not. */
  readonly kind: "form" | "sampling" | "page";
  readonly message: string;
  readonly form: Form;
  readonly page?: Page | undefined;
}

export interface Confirmation {
  readonly message: string;
  readonly intention: Intention;
}

export interface Notice {
  readonly id: number;
  readonly level: "info" | "warning" | "error";
  readonly text: string;
  /** What would try it again. */
  readonly retry: Intention | undefined;
}

export const runsMax = 8;
export const noticesMax = 20;
export const lispEntriesMax = 500;

export interface InitialState {
  readonly target: TargetView;
  readonly size: Size;
}

export function createInitialState({ target, size }: InitialState): TuiState {
  const idle: Load = { kind: "idle" };
  return {
    target,
    size,
    connection: { kind: "connecting", attempt: 1 },
    screen: "features",
    isHelpShown: false,
    features: {
      load: idle,
      items: [],
      selected: undefined,
      folder: target.folder,
      missing: [],
      draft: undefined,
    },
    feature: undefined,
    runs: [],
    shownRun: undefined,
    tools: {
      load: idle,
      items: [],
      search: "",
      selected: undefined,
      form: undefined,
      forms: {},
      run: undefined,
    },
    agents: { load: idle, items: [], selected: undefined, task: "", run: undefined },
    lisp: {
      isOffered: undefined,
      entries: [],
      input: "",
      package: "COMMON-LISP-USER",
      session: undefined,
      mode: "explore",
    },
    servers: { load: idle, status: undefined, selected: undefined, logs: undefined },
    approvals: { load: idle, pending: [], selected: undefined },
    stats: { load: idle, statistics: undefined },
    worktrees: { load: idle, items: [] },
    questions: [],
    confirmation: undefined,
    notices: [],
    scrolls: {},
    isQuitting: false,
  };
}

export function findRun(
  { runs }: Pick<TuiState, "runs">,
  id: string | undefined,
): RunView | undefined {
  return id === undefined ? undefined : runs.find((run) => run.id === id);
}

/** What the search text leaves of the tools: every word must be in name, title or description. Those with all of them in the name come first. */
export function foundTools({
  items,
  search,
}: Pick<ToolsState, "items" | "search">): readonly ToolView[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return items;
  const isIn = (text: string): boolean => words.every((word) => text.toLowerCase().includes(word));
  const found = items.filter(({ name, title = "", description }) =>
    isIn(`${name} ${title} ${description}`),
  );
  return [...found.filter(({ name }) => isIn(name)), ...found.filter(({ name }) => !isIn(name))];
}
