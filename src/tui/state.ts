import type { JsonObject } from "../base/json.ts";
import type { HallStatus, ListedApproval } from "../hall/admin-contract.ts";
import type { Progress } from "../tool.ts";
import type { Feature, FeaturePhase } from "../workflow/feature.ts";
import type { Intention } from "./events.ts";
import type { Failure } from "./failure.ts";
import type { Form } from "./form.ts";
import type { OutputRing } from "./output.ts";
import type { BrowserPage } from "./questions.ts";
import type { ShownStepName } from "./steps.ts";

/**
 * Everything the screens show, as one plain value that only the reducer replaces. It includes typed
 * text, so neither a lost connection nor another screen loses it.
 */
export interface TuiState {
  readonly target: TargetView;
  readonly connection: HallConnectionState;
  readonly size: Size;
  readonly screen: ScreenName;
  readonly isHelpShown: boolean;
  readonly features: FeaturesState;
  readonly feature: FeatureState | undefined;
  /** Newest first, at most `runsMax` and those that still run. */
  readonly runs: readonly RunView[];
  /** The run on the run screen. */
  readonly shownRun: string | undefined;
  readonly tools: ToolsState;
  readonly agents: AgentsState;
  readonly servers: ServersState;
  readonly approvals: {
    readonly load: Load;
    readonly pending: readonly ListedApproval[];
    readonly selected: string | undefined;
  };
  /** Open questions of servers; the first one is shown. */
  readonly questions: readonly QuestionView[];
  readonly confirmation: Confirmation | undefined;
  /** Oldest first. */
  readonly notices: readonly Notice[];
  /** Scroll positions by view; 0 when absent. */
  readonly scrolls: Readonly<Record<string, number>>;
  readonly isQuitting: boolean;
}

export const screenNames = [
  "servers",
  "tools",
  "agents",
  "approvals",
  "features",
  "feature",
  "run",
] as const;
export type ScreenName = (typeof screenNames)[number];

/** Screens that need a hall's control socket. */
export const hallScreens: readonly ScreenName[] = ["servers", "approvals"];

export function screensOf({ target }: Pick<TuiState, "target">): readonly ScreenName[] {
  if (target.kind === "hall") return screenNames;
  return screenNames.filter((name) => !hallScreens.includes(name));
}

export interface TargetView {
  readonly kind: "hall" | "server";
  /** The project's folder name, or the server's command line or address. */
  readonly name: string;
  readonly transport: "in process" | "socket" | "stdio" | "http" | "websocket";
  /** The project. */
  readonly folder: string;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export type HallConnectionState =
  /** `failure`: the reason for another attempt. */
  | { readonly kind: "connecting"; readonly attempt: number; readonly failure?: Failure }
  | {
      readonly kind: "ready";
      readonly era: "legacy" | "modern";
      readonly version: string;
      readonly server: string;
    }
  /** Waiting for the next attempt; `retryAt` in milliseconds since 1970. */
  | {
      readonly kind: "lost";
      readonly failure: Failure;
      readonly attempt: number;
      readonly retryAt: number;
    }
  | { readonly kind: "closed" };

/** A list that is read from elsewhere. Its old items stay visible while it loads. */
export type Load =
  | { readonly kind: "loading" | "loaded" }
  | { readonly kind: "failed"; readonly failure: Failure };

export const loaded: Load = { kind: "loaded" };

export interface FeaturesState {
  readonly load: Load;
  readonly items: readonly FeatureView[];
  readonly selected: string | undefined;
  /** Workflow tools the server lacks, such as speckit.plan. */
  readonly missing: readonly string[];
  /** The text for a step while it is typed. */
  readonly draft: StepDraft | undefined;
}

export interface StepDraft {
  readonly step: ShownStepName;
  /** Undefined for a new feature. */
  readonly feature: string | undefined;
  readonly text: string;
}

export interface FeatureView extends Feature {
  readonly number: string;
  readonly isActive: boolean;
  /** A step that runs in some process, or ran when that process ended. */
  readonly run:
    | { readonly step: string; readonly isAtWork: boolean; readonly arguments: JsonObject }
    | undefined;
}

export interface FeatureState {
  readonly name: string;
  /** Relative to the feature's folder, such as `spec.md`. */
  readonly document: string | undefined;
  /** Undefined until it is read. */
  readonly text: string | undefined;
  readonly failure: Failure | undefined;
}

export const stepNames: readonly WorkflowStep[] = [
  "specify",
  "clarify",
  "plan",
  "tasks",
  "implement",
];
export type WorkflowStep = Exclude<FeaturePhase, "done">;

/** One call the user started: a step, a tool, an agent. */
export interface RunView {
  readonly id: string;
  readonly kind: "step" | "tool" | "agent";
  /** The tool's name on the server. */
  readonly tool: string;
  readonly arguments: JsonObject;
  /** The feature or the task it is about. */
  readonly about: string;
  readonly state: RunState;
  readonly startedAt: number;
  readonly progress: Progress | undefined;
  readonly output: OutputRing;
  /** Undefined until the log is open. */
  readonly logPath: string | undefined;
}

export type RunState =
  | { readonly kind: "running" }
  /** The server was notified and has not answered yet. */
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
  /** The form of the selected tool; those of other tools are kept in `forms`. */
  readonly form: Form | undefined;
  readonly forms: Readonly<Record<string, Form>>;
  /** The last call from this screen. */
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
  /** The task as typed so far. */
  readonly task: string;
  readonly run: string | undefined;
}

export interface ServersState {
  readonly load: Load;
  readonly status: HallStatus | undefined;
  readonly selected: string | undefined;
  /** The last stderr lines of the server whose log was opened. */
  readonly logs: { readonly server: string; readonly lines: readonly string[] } | undefined;
}

/** A server's question during a call. */
export interface QuestionView {
  readonly id: string;
  readonly run: string | undefined;
  /** `sampling`: may the configured model answer? `page`: a page to open in the browser. */
  readonly kind: "form" | "sampling" | "page";
  readonly message: string;
  readonly form: Form;
  readonly page?: BrowserPage | undefined;
}

/** An intention that is carried out once the user confirms it. */
export interface Confirmation {
  readonly message: string;
  readonly intention: Intention;
}

export interface Notice {
  readonly id: number;
  readonly level: "info" | "warning" | "error";
  readonly text: string;
  /** Repeats what failed. */
  readonly retry: Intention | undefined;
}

export const runsMax = 8;
export const noticesMax = 20;

export function createInitialState({
  target,
  size,
  screen,
}: Pick<TuiState, "target" | "size" | "screen">): TuiState {
  const load: Load = { kind: "loading" };
  const list = { load, items: [], selected: undefined };
  return {
    target,
    size,
    connection: { kind: "connecting", attempt: 1 },
    screen,
    isHelpShown: false,
    features: { ...list, missing: [], draft: undefined },
    feature: undefined,
    runs: [],
    shownRun: undefined,
    tools: { ...list, search: "", form: undefined, forms: {}, run: undefined },
    agents: { ...list, task: "", run: undefined },
    servers: { load, status: undefined, selected: undefined, logs: undefined },
    approvals: { load, pending: [], selected: undefined },
    questions: [],
    confirmation: undefined,
    notices: [],
    scrolls: {},
    isQuitting: false,
  };
}

export function findRun({ runs }: Pick<TuiState, "runs">, id?: string): RunView | undefined {
  return id === undefined ? undefined : runs.find((run) => run.id === id);
}

export function isAtWork({ state: { kind } }: RunView): boolean {
  return kind === "running" || kind === "cancelling";
}

/**
 * The tools that match the search: every word is in the name, title or description. Tools with all
 * words in the name come first.
 */
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
