import type { JsonObject } from "../base/json.ts";
import type { HallStatus, ListedApproval } from "../hall/admin-contract.ts";
import type { Progress } from "../tool.ts";
import type { ApprovalAnswer } from "../trust/approvals.ts";
import type { Failure } from "./failure.ts";
import type { ToolList } from "./loader.ts";
import type { OutputLine } from "./output.ts";
import type {
  FeatureView,
  HallConnectionState,
  Notice,
  QuestionView,
  RunState,
  RunView,
  ScreenName,
  Size,
  TargetView,
  TuiState,
} from "./state.ts";
import type { ShownStepName } from "./steps.ts";

type Kind<K extends string, Fields = unknown> = Readonly<{ kind: K } & Fields>;

/** Parts of the state that are loaded from elsewhere. */
export type LoadedPart = "features" | "tools" | "servers" | "approvals";
export type Section = LoadedPart | "agents";

/** Replaces fields of one section that nothing else depends on: a selection, typed text. */
export type Change = {
  [S in Section]: Kind<"set", { section: S; fields: Partial<TuiState[S]> }>;
}[Section];

export function set<S extends Section>(section: S, fields: Partial<TuiState[S]>): Change {
  return { kind: "set", section, fields } as Change;
}

/** Something a screen asks for. Some only change the state; the session carries out the others. */
export type Intention =
  | Change
  | Kind<"go", { screen: ScreenName }>
  | Kind<"resize", { size: Size }>
  | Kind<"help", { isShown: boolean }>
  | Kind<"scroll", { view: string; to: number }>
  /** Reloads what the screen shows. */
  | Kind<"refresh", { screen: ScreenName }>
  | Kind<"reconnect">
  | Kind<"dismiss", { notice: number }>
  | Kind<"quit">
  /** Answers the open confirmation. */
  | Kind<"confirm", { isYes: boolean }>
  | Kind<"open feature", { name: string }>
  | Kind<"open document", { path: string }>
  /** Runs the step of the draft with what was typed. */
  | Kind<"send draft">
  /** Without `step`, the feature's next one. `isConfirmed`: the user has just said that it may run. */
  | Kind<
      "run step",
      {
        feature: string | undefined;
        step?: ShownStepName;
        arguments?: JsonObject;
        isConfirmed?: boolean;
      }
    >
  | Kind<"show run" | "cancel run" | "retry run", { run: string }>
  | Kind<"fill question", { question: string; field: string; text: string }>
  /** Opens the page in the browser and accepts the question. */
  | Kind<"open page", { question: string }>
  /** `accept` sends the form, or shows its mistakes. */
  | Kind<"answer question", { question: string; action: "accept" | "decline" | "cancel" }>
  | Kind<"select tool", { name: string | undefined }>
  | Kind<"fill tool", { field: string; text: string }>
  /** Calls the selected tool with its form, or shows the form's mistakes. */
  | Kind<"call tool">
  /** Gives the typed task to the selected agent. */
  | Kind<"ask agent">
  | Kind<"restart server" | "show logs", { server: string }>
  | Kind<"approve", { token: string; answer: ApprovalAnswer }>;

/** Everything that changes the state: the user's intentions and news from elsewhere. */
export type TuiEvent =
  | Kind<"intended", { intention: Intention }>
  | Change
  | Kind<
      "connection",
      { connection: HallConnectionState; transport?: TargetView["transport"] | undefined }
    >
  | Kind<"load failed", { part: LoadedPart; failure: Failure }>
  | Kind<"features", { items: readonly FeatureView[] }>
  | Kind<"document", { feature: string; path: string; text: string }>
  | Kind<"document failed", { feature: string; path: string; failure: Failure }>
  | Kind<"tools", Omit<ToolList, "isCut">>
  | RunEvent
  | Kind<"asked", { question: QuestionView }>
  /** Answered, or no longer wanted. */
  | Kind<"question over", { question: string }>
  | Kind<"status", { status: HallStatus }>
  | Kind<"approvals", { pending: readonly ListedApproval[] }>
  | Kind<"notice", { retry?: Intention | undefined } & Omit<Notice, "id" | "retry">>;

export type RunEvent =
  | Kind<"run started", { run: RunView }>
  | Kind<"run logged", { run: string; path: string }>
  | Kind<"output", { run: string; lines: readonly OutputLine[] }>
  | Kind<"progress", { run: string; progress: Progress }>
  | Kind<"run ended", { run: string; state: RunState }>;

export type Dispatch = (event: TuiEvent) => void;
