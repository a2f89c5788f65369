import type { HallStatus, PendingApproval } from "../hall/admin-contract.ts";
import type { Statistics } from "../store/store.ts";
import type { Progress } from "../tool.ts";
import type { Failure } from "./failure.ts";
import type { Intention } from "./intentions.ts";
import type { OutputLine } from "./output.ts";
import type {
  Confirmation,
  ConnectionState,
  FeatureView,
  Notice,
  QuestionView,
  RunState,
  RunView,
  TargetView,
  ToolView,
  Worktree,
} from "./state.ts";

/** Parts of the state that are read from elsewhere. */
export type LoadedPart = "features" | "tools" | "servers" | "approvals" | "stats" | "worktrees";

/** Everything that changes the state: what a person wants, and what is heard from elsewhere. */
export type TuiEvent =
  | { readonly kind: "intended"; readonly intention: Intention }
  | {
      readonly kind: "connection";
      readonly connection: ConnectionState;
      readonly transport?: TargetView["transport"];
    }
  | { readonly kind: "loading"; readonly part: LoadedPart }
  | { readonly kind: "load failed"; readonly part: LoadedPart; readonly failure: Failure }
  | { readonly kind: "features"; readonly items: readonly FeatureView[] }
  | {
      readonly kind: "document";
      readonly feature: string;
      readonly path: string;
      readonly text: string;
    }
  | {
      readonly kind: "document failed";
      readonly feature: string;
      readonly path: string;
      readonly failure: Failure;
    }
  /** What the server offers; agents are the ones among them that take a task. */
  | {
      readonly kind: "tools";
      readonly tools: readonly ToolView[];
      readonly agents: readonly ToolView[];
      readonly missing: readonly string[];
    }
  | { readonly kind: "run started"; readonly run: RunView }
  | { readonly kind: "run logged"; readonly run: string; readonly path: string }
  | { readonly kind: "output"; readonly run: string; readonly lines: readonly OutputLine[] }
  | { readonly kind: "progress"; readonly run: string; readonly progress: Progress }
  | { readonly kind: "run ended"; readonly run: string; readonly state: RunState }
  /** What a Lisp form came to. */
  | {
      readonly kind: "evaluated";
      readonly run: string;
      readonly text: string;
      readonly isError: boolean;
      readonly session?: string;
      readonly package?: string;
    }
  | { readonly kind: "asked"; readonly question: QuestionView }
  /** Answered, or nobody wants to know any more. */
  | { readonly kind: "question over"; readonly question: string }
  | { readonly kind: "status"; readonly status: HallStatus }
  | { readonly kind: "logs"; readonly server: string; readonly lines: readonly string[] }
  | { readonly kind: "approvals"; readonly pending: readonly PendingApproval[] }
  | { readonly kind: "statistics"; readonly statistics: Statistics }
  | { readonly kind: "worktrees"; readonly items: readonly Worktree[] }
  /** Steps work in this folder from now on. */
  | { readonly kind: "folder"; readonly folder: string }
  | { readonly kind: "confirm"; readonly confirmation: Confirmation }
  | ({ readonly kind: "notice"; readonly retry?: Intention } & Omit<Notice, "id" | "retry">);
