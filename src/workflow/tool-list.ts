import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { PromptSource, Tool, ToolFacts } from "../tool.ts";

const words = (description: string, maxLength?: number) => ({
  type: "string",
  ...(maxLength !== undefined && { maxLength }),
  description,
});
const flag = (description: string) => ({ type: "boolean", default: false, description });
const list = (description: string, pattern?: string) => ({
  type: "array",
  items: { type: "string", ...(pattern !== undefined && { pattern }) },
  description,
});
const specDirectory = words("Absolute path to specification directory");
const content = (documents: string) =>
  words(
    `The whole text of ${documents}, written by you. Without it, rules or a configured model write; the result then has the template.`,
    256 * 1024,
  );
const force = flag("Replace files with hand edits that cannot be merged");
const taskId = "^T[0-9]+$";
/** The steps read and write the documents of the project, nothing that is private or foreign. */
const facts: ToolFacts = { timeoutMs: 600_000, flow: () => ({}) };

interface StepText {
  readonly title: string;
  readonly description: string;
  /** Beside the usual `spec_directory`. Those beyond the original contract are optional. */
  readonly properties?: Readonly<Record<string, JsonObject>>;
  readonly required?: readonly string[];
  readonly annotations?: JsonObject;
  /** The tool writes what rules can write, the client's model does the rest. Arguments are in braces. */
  readonly prompt: string;
}

const steps = {
  constitution: {
    title: "Write the constitution",
    description:
      "Create or amend .specify/memory/constitution.md, the principles that every plan is checked against. Without `principles`, rules are taken from AGENTS.md, CLAUDE.md and CONTRIBUTING.md.",
    properties: {
      spec_directory: words("A folder of the project (default: the hall's folder)"),
      principles: list('Each as "Name: rule"'),
      project_name: words("Name of the project (default: its folder)", 200),
    },
    required: [],
    prompt:
      'Help me write this project\'s constitution from these principles: {principles}. If there are none, ask me for three to seven. Write each as "Name: rule", testable, then call speckit.constitution with them and show me the file.',
  },
  specify: {
    title: "Specify a feature",
    description:
      "Create or update feature specification: writes spec.md and its requirements checklist from a description. `spec_directory` is the feature's folder, or the folder `specs` for a new feature with the next number.",
    properties: {
      feature_description: words("Natural language description of the feature"),
      short_name: words("Words for the folder name (default: from the description)", 200),
      number: {
        type: "integer",
        minimum: 1,
        description: "Number of the feature (default: the next one)",
      },
      content: content("spec.md"),
      force,
    },
    required: ["feature_description", "spec_directory"],
    prompt:
      "Call speckit.specify for this feature, with {spec_directory} as spec_directory (the project's specs folder gets the next number):\n\n{feature_description}\n\nIt writes a draft and returns a template. Write spec.md by that template from what I said: real user stories, testable requirements, measurable success criteria, no technology, at most three [NEEDS CLARIFICATION: …] marks. Call speckit.specify again with it as content, then call speckit.clarify.",
  },
  clarify: {
    title: "Clarify a specification",
    description:
      "Ask the user up to five open questions, one at a time, and write each answer into spec.md. If the client cannot ask, the questions are returned; call again with `answers`.",
    properties: {
      questions: list("Specific questions to clarify (optional)"),
      answers: list("Answers in the order of the questions"),
    },
    prompt:
      "Call speckit.clarify with spec_directory {spec_directory}. If it returns questions, ask me one at a time, the recommended answer first, then call it again with my answers in order.",
  },
  plan: {
    title: "Plan a feature",
    description:
      "Generate implementation plan: plan.md, research.md, quickstart.md, and data-model.md if the spec names entities, from spec.md and the facts of the repository.",
    properties: {
      technical_context: words(
        "Technology to use, such as: TypeScript with Fastify and PostgreSQL",
        10_000,
      ),
      content: content('plan.md, or of several documents, each after a line "==== path"'),
      force,
    },
    prompt:
      "Call speckit.plan with spec_directory {spec_directory}. The technical_context is: {technical_context}. It writes drafts and returns templates. Write the documents by them: decide every open point in research.md with a rationale and the alternatives, and do not invent requirements. Call speckit.plan again with them as content, then call speckit.tasks.",
  },
  tasks: {
    title: "Write the tasks",
    description:
      "Generate tasks.md from spec.md and plan.md: numbered tasks by phase and user story.",
    properties: {
      tests: {
        type: "boolean",
        description:
          "Add test tasks (default: if the description or the constitution asks for them)",
      },
      completed: list("Only tick these tasks", taskId),
      content: content("tasks.md"),
      force,
    },
    prompt:
      "Call speckit.tasks with spec_directory {spec_directory}. It writes a draft and returns a template. Write tasks.md by it, with small tasks and the files they change, and call speckit.tasks again with it as content. Then call speckit.analyze and fix its findings.",
  },
  checklist: {
    title: "Check the requirements",
    description:
      "Append questions about the quality of the requirements to checklists/<domain>.md, such as security, ux, api or performance.",
    properties: {
      domain: {
        ...words("Such as security, ux, api or performance", 100),
        default: "quality",
      },
    },
    prompt:
      "Call speckit.checklist with spec_directory {spec_directory}. The domain is: {domain}. Go through its items with me, one at a time, and check those the specification answers.",
  },
  analyze: {
    title: "Compare spec, plan and tasks",
    description:
      "Report contradictions, gaps and requirements without a task across spec.md, plan.md and tasks.md. Changes nothing.",
    annotations: { readOnlyHint: true },
    prompt:
      "Call speckit.analyze with spec_directory {spec_directory} and list the changes you suggest, most severe first. Change nothing before I agree.",
  },
  implement: {
    title: "Implement tasks",
    description:
      "Work through tasks.md phase by phase. An agent does the tasks, or they are returned to you in batches: do them, then call again with `completed`. Ticks finished tasks and continues after the last one.",
    properties: {
      task_filter: words("Such as T003,T007-T010, US1, phase:2, next, unchecked (default: all)"),
      completed: list("Tasks you have done since the last call", taskId),
      agent: words("The agent that does the tasks, such as coding_agent", 100),
      force: flag("Continue although checklists have open items"),
    },
    annotations: { destructiveHint: true },
    prompt:
      "Call speckit.implement with spec_directory {spec_directory}. The task_filter is: {task_filter}. Do the tasks it returns, in the files they name, then call it again with their ids as completed, until none is left. Stop if one fails.",
  },
  converge: {
    title: "Find what is still missing",
    description:
      "After all tasks are done, append missing work to tasks.md as a phase Convergence: requirements without a task, files that were not made, and the `gaps` you found in the code.",
    properties: { gaps: list("Missing work you found, one sentence each, with its requirement") },
    prompt:
      "Call speckit.converge with spec_directory {spec_directory}. Then compare the code with every requirement and acceptance scenario of spec.md, and call it again with what is missing as gaps. If it added tasks, call speckit.implement.",
  },
  taskstoissues: {
    title: "Turn tasks into issues",
    description:
      "One issue for each open task. With `tool`, the hall creates them and adds their numbers to tasks.md; without it, they are returned for you to create.",
    properties: {
      tool: words("The tool that creates an issue, such as github.create_issue", 200),
      repository: words("owner/name (default: the GitHub remote of the project)", 200),
      task_filter: words("Such as US1 or phase:2 (default: all open tasks)"),
    },
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
    prompt:
      "Call speckit.taskstoissues with spec_directory {spec_directory}. Show me the issues it lists and the repository. When I agree, create them there.",
  },
} satisfies Readonly<Record<string, StepText>>;

export type StepName = keyof typeof steps;
export const stepNames = Object.keys(steps) as readonly StepName[];

const status: Tool = {
  name: "status",
  title: "Show features",
  description:
    "List the features of the project, or one of them, with phase, next step and interrupted runs.",
  inputSchema: {
    type: "object",
    properties: { spec_directory: words("Folder of one feature (default: all features)") },
  },
  annotations: { readOnlyHint: true },
  facts,
};

/** Listed only if the config allows commands. Each call needs approval. */
const command: Tool = {
  name: "command",
  title: "Run a task's command",
  description:
    "Run the command of a task in the project's folder, without a shell. Each call needs approval.",
  inputSchema: {
    type: "object",
    properties: {
      // Short enough to be shown in full for approval.
      argv: {
        type: "array",
        items: { type: "string", maxLength: 1_000 },
        minItems: 1,
        maxItems: 40,
        description: "The program and its arguments",
      },
      spec_directory: specDirectory,
      task: words("The task that declares it"),
    },
    required: ["argv", "spec_directory"],
    additionalProperties: false,
  },
  annotations: { destructiveHint: true, openWorldHint: true },
  facts: { ...facts, asksEachTime: true },
};

export function listWorkflowTools({ commands }: { readonly commands: boolean }): readonly Tool[] {
  return [...stepNames.map(toolOf), status, ...(commands ? [command] : [])];
}

/** It writes documents and keeps what people changed in them. */
const writes = { readOnlyHint: false, destructiveHint: false };

function toolOf(name: StepName): Tool {
  const step: StepText = steps[name];
  const { title, description, annotations = writes, required = ["spec_directory"] } = step;
  const inputSchema = {
    type: "object",
    properties: propertiesOf(name),
    ...(required.length > 0 && { required }),
  };
  return { name, title, description, inputSchema, annotations, facts };
}

function propertiesOf(name: StepName): Readonly<Record<string, JsonObject>> {
  const { properties }: StepText = steps[name];
  return { spec_directory: specDirectory, ...properties };
}

/** A prompt has the arguments that its text names. */
export function createStepPrompts(): PromptSource {
  return {
    list: async () =>
      stepNames.map((name) => {
        const { title, description, prompt } = steps[name];
        const properties = propertiesOf(name);
        const named = [...prompt.matchAll(/\{(\w+)\}/g)].map(([, argument = ""]) => ({
          name: argument,
          description: properties[argument]?.description,
          required: argument === "feature_description",
        }));
        return { name, title, description, arguments: named };
      }),
    async get(name, args) {
      const step = stepNames.find((known) => known === name);
      if (!step) throw new HallError("NOT_FOUND", `unknown prompt "speckit.${name}"`);
      const { description, prompt } = steps[step];
      const given: Readonly<Record<string, string>> = {
        spec_directory: "the feature's folder (speckit.status names it)",
        ...args,
      };
      const text = prompt.replace(/\{(\w+)\}/g, (_, argument) => given[argument] ?? "(not given)");
      return { description, messages: [{ role: "user", content: { type: "text", text } }] };
    },
  };
}
