import type { JsonObject } from "../base/json.ts";
import type { Answer } from "../trust/approvals.ts";
import type { ScreenName, Size, StepName } from "./state.ts";

/** What a screen can ask for. Some only change the state; the rest the session carries out. */
export type Intention =
  | { readonly kind: "go"; readonly screen: ScreenName }
  | { readonly kind: "resize"; readonly size: Size }
  | { readonly kind: "help"; readonly isShown: boolean }
  | { readonly kind: "scroll"; readonly view: string; readonly to: number }
  /** Reads again what the screen shows. */
  | { readonly kind: "refresh"; readonly screen: ScreenName }
  | { readonly kind: "reconnect" }
  | { readonly kind: "dismiss"; readonly notice: number }
  | { readonly kind: "quit" }
  /** Answers the confirmation that waits. */
  | { readonly kind: "confirm"; readonly isYes: boolean }
  | FeatureIntention
  | RunIntention
  | ToolIntention
  | HallIntention
  | WorktreeIntention;

type FeatureIntention =
  | { readonly kind: "select feature"; readonly name: string }
  /** Undefined ends typing; the text so far is given up. */
  | { readonly kind: "draft feature"; readonly text: string | undefined }
  | { readonly kind: "open feature"; readonly name: string }
  | { readonly kind: "open document"; readonly path: string }
  /** Makes a feature of the description that was typed. */
  | { readonly kind: "specify" }
  /** The step that is next for the feature, or the one named. */
  | {
      readonly kind: "run step";
      readonly feature: string;
      readonly step?: StepName;
      readonly arguments?: JsonObject;
    };

type RunIntention =
  | { readonly kind: "show run"; readonly run: string }
  | { readonly kind: "cancel run"; readonly run: string }
  | { readonly kind: "retry run"; readonly run: string }
  | {
      readonly kind: "fill question";
      readonly question: string;
      readonly field: string;
      readonly text: string;
    }
  /** Opens the page a server asks for in the browser, which is a yes to it. */
  | { readonly kind: "open page"; readonly question: string }
  /** `accept` sends what the form has; with mistakes in it, they are shown and nothing is sent. */
  | {
      readonly kind: "answer question";
      readonly question: string;
      readonly action: "accept" | "decline" | "cancel";
    };

type ToolIntention =
  | { readonly kind: "search tools"; readonly text: string }
  | { readonly kind: "select tool"; readonly name: string | undefined }
  | { readonly kind: "fill tool"; readonly field: string; readonly text: string }
  /** Calls the selected tool with what its form has; with mistakes in it, they are shown and nothing is called. */
  | { readonly kind: "call tool" }
  | { readonly kind: "select agent"; readonly name: string }
  | { readonly kind: "type task"; readonly text: string }
  /** Gives the selected agent the task that was typed. */
  | { readonly kind: "ask agent" }
  | { readonly kind: "type lisp"; readonly text: string }
  | { readonly kind: "evaluate" }
  | { readonly kind: "lisp mode"; readonly mode: "explore" | "act" };

type HallIntention =
  | { readonly kind: "select server"; readonly name: string }
  | { readonly kind: "restart server"; readonly name: string }
  | { readonly kind: "show logs"; readonly server: string }
  | { readonly kind: "hide logs" }
  | { readonly kind: "select approval"; readonly token: string }
  | { readonly kind: "approve"; readonly token: string; readonly answer: Answer };

type WorktreeIntention =
  /** Works in the worktree of the feature's branch from now on; it is made where there is none. Undefined for the project's own folder. */
  | { readonly kind: "switch worktree"; readonly feature: string | undefined }
  /** Asks first. */
  | { readonly kind: "delete worktree"; readonly path: string };

/** What was tried, for the sentence that says it went wrong. */
export function subjectOf(intention: Intention): string {
  switch (intention.kind) {
    case "run step":
      return intention.step ?? "the next step";
    case "restart server":
      return `restarting ${intention.name}`;
    case "show logs":
      return `the log of ${intention.server}`;
    case "approve":
      return "the approval";
    case "delete worktree":
    case "switch worktree":
      return "the worktree";
    case "call tool":
      return "the call";
    case "open page":
      return "opening the page";
    default:
      return intention.kind;
  }
}
