import { set } from "./events.ts";
import type { FeatureView, TuiState, WorkflowStep } from "./state.ts";
import { bindingsFrom, type KeyBinding, on } from "./view.ts";

/** The steps of the workflow as the client offers them: a key, and the argument that a person may type. */
export type ShownStepName =
  | WorkflowStep
  | "constitution"
  | "checklist"
  | "analyze"
  | "converge"
  | "taskstoissues";

interface Step {
  readonly key: string;
  readonly label: string;
  readonly input?: ShownStepInput;
  /** The documents it reads, and the steps that write them. */
  readonly needs: readonly { readonly file: string; readonly step: WorkflowStep }[];
}

export interface ShownStepInput {
  readonly argument: string;
  readonly title: string;
  readonly placeholder: string;
  /** One value per line. */
  readonly isList?: boolean;
}

const spec = { file: "spec.md", step: "specify" } as const;
const plan = { file: "plan.md", step: "plan" } as const;
const tasks = { file: "tasks.md", step: "tasks" } as const;

export const steps: Readonly<Record<ShownStepName, Step>> = {
  specify: {
    key: "u",
    label: "update the spec",
    input: {
      argument: "feature_description",
      title: "What should the feature do, for whom, and why?",
      placeholder: "a description in plain words",
    },
    needs: [],
  },
  clarify: {
    key: "c",
    label: "clarify",
    input: {
      argument: "questions",
      title: "Which questions should be clarified?",
      placeholder: "one per line (Alt-Enter); empty: the open ones",
      isList: true,
    },
    needs: [spec],
  },
  plan: {
    key: "p",
    label: "plan",
    input: {
      argument: "technical_context",
      title: "Which technology should be used?",
      placeholder: "such as TypeScript with Fastify; empty: that of the repository",
    },
    needs: [spec],
  },
  tasks: { key: "t", label: "tasks", needs: [spec, plan] },
  implement: {
    key: "i",
    label: "implement",
    input: {
      argument: "task_filter",
      title: "Which tasks?",
      placeholder: "such as US1, T003,T007-T010, phase:2, next; empty: all",
    },
    needs: [tasks],
  },
  constitution: {
    key: "o",
    label: "constitution",
    input: {
      argument: "principles",
      title: "Which principles does every plan follow?",
      placeholder: '"Name: rule", one per line; empty: from AGENTS.md and the like',
      isList: true,
    },
    needs: [],
  },
  checklist: {
    key: "x",
    label: "checklist",
    input: {
      argument: "domain",
      title: "A checklist for what?",
      placeholder: "such as security, ux, api; empty: quality",
    },
    needs: [spec],
  },
  analyze: { key: "a", label: "analyze", needs: [spec] },
  converge: { key: "v", label: "converge", needs: [tasks] },
  taskstoissues: { key: "f", label: "file tasks as issues", needs: [tasks] },
};

export const allSteps = Object.keys(steps) as readonly ShownStepName[];

/** The keys of all steps that the server offers; the constitution needs no feature. */
export function stepBindings(
  { features: { missing } }: TuiState,
  feature: FeatureView | undefined,
): readonly KeyBinding[] {
  return bindingsFrom(
    ...allSteps
      .filter((step) => !missing.includes(`speckit.${step}`))
      .filter((step) => feature !== undefined || step === "constitution")
      .map((step) => {
        const { key, label, input } = steps[step];
        const name = feature?.name;
        return on(
          key,
          label,
          input
            ? set("features", { draft: { step, feature: name, text: "" } })
            : { kind: "run step", feature: name, step },
        );
      }),
  );
}
