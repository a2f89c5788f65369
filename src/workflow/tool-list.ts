import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { PromptSource, Tool } from "../tool.ts";

export const stepNames = [
  "constitution",
  "specify",
  "clarify",
  "plan",
  "tasks",
  "checklist",
  "analyze",
  "implement",
] as const;
export type StepName = (typeof stepNames)[number];

const flag = (description: string) => ({ type: "boolean", default: false, description });
const words = (description: string, maxLength?: number) => ({
  type: "string",
  ...(maxLength === undefined ? {} : { maxLength }),
  description,
});
const list = (description: string, pattern?: string) => ({
  type: "array",
  items: { type: "string", ...(pattern === undefined ? {} : { pattern }) },
  description,
});
const specDirectory = words("Absolute path to specification directory");
const force = flag("Replace files with hand edits that cannot be merged");
const taskId = "^T[0-9]+$";
const facts = { timeoutMs: 600_000 };

interface StepText {
  readonly title: string;
  /** Of the tool. */
  readonly description: string;
  /** Those beyond the original contract are optional. */
  readonly properties: JsonObject;
  readonly required: readonly string[];
  readonly annotations?: JsonObject;
  readonly prompt: StepPrompt;
}

/** The tool writes what rules can write, the client's model does the rest. */
interface StepPrompt {
  readonly description: string;
  /** Descriptions by name. */
  readonly arguments: Readonly<Record<string, string>>;
  write(args: Readonly<Record<string, string>>): string;
}

const directory = "The feature's folder";

const steps: Readonly<Record<StepName, StepText>> = {
  constitution: {
    title: "Write the constitution",
    description:
      "Create or amend .specify/memory/constitution.md, the principles that every plan is checked against. Without `principles`, rules are taken from AGENTS.md, CLAUDE.md and CONTRIBUTING.md.",
    properties: {
      spec_directory: words("A folder of the project (default: the hall's folder)"),
      principles: list('Each as "Name: rule"'),
      project_name: { type: "string", maxLength: 200 },
    },
    required: [],
    prompt: {
      description: "Agree on the principles that every plan is checked against",
      arguments: { principles: "The principles, in plain words" },
      write: ({ principles = "" }) =>
        `Help me write this project's constitution.${principles === "" ? " Ask me for three to seven principles." : ` My principles: ${principles}`} Write each as "Name: rule", testable, then call speckit.constitution with them and show me the file.`,
    },
  },
  specify: {
    title: "Specify a feature",
    description:
      "Create or update feature specification: writes spec.md and its requirements checklist from a description. `spec_directory` is the feature's folder, or the folder `specs` for a new feature with the next number.",
    properties: {
      feature_description: words("Natural language description of the feature"),
      spec_directory: specDirectory,
      short_name: words("Words for the folder name (default: from the description)", 200),
      number: {
        type: "integer",
        minimum: 1,
        description: "Number of the feature (default: the next one)",
      },
      force,
    },
    required: ["feature_description", "spec_directory"],
    prompt: {
      description: "Turn a description into a specification",
      arguments: {
        feature_description: "What the feature does",
        spec_directory: "Its folder (default: the project's specs folder)",
      },
      write: ({ feature_description: description = "", spec_directory: given = "" }) =>
        `Call speckit.specify for this feature, with ${given} as spec_directory (the project's specs folder gets the next number):\n\n${description}\n\nThen read the spec.md it names and improve it: real user stories, testable requirements, measurable success criteria, no technology. Keep its headings and ids, and at most three [NEEDS CLARIFICATION: …] marks. Then call speckit.clarify.`,
    },
  },
  clarify: {
    title: "Clarify a specification",
    description:
      "Ask the user up to five open questions, one at a time, and write each answer into spec.md. If the client cannot ask, the questions are returned; call again with `answers`.",
    properties: {
      spec_directory: specDirectory,
      questions: list("Specific questions to clarify (optional)"),
      answers: list("Answers in the order of the questions"),
    },
    required: ["spec_directory"],
    prompt: {
      description: "Answer the open questions of the specification",
      arguments: { spec_directory: directory },
      write: ({ spec_directory: given = "" }) =>
        `Call speckit.clarify with spec_directory ${given}. If it returns questions, ask me one at a time, the recommended answer first, then call it again with my answers in order.`,
    },
  },
  plan: {
    title: "Plan a feature",
    description:
      "Generate implementation plan: plan.md, research.md, quickstart.md, and data-model.md if the spec names entities, from spec.md and the facts of the repository.",
    properties: {
      spec_directory: specDirectory,
      technical_context: words(
        "Technology to use, such as: TypeScript with Fastify and PostgreSQL",
        10_000,
      ),
      force,
    },
    required: ["spec_directory"],
    prompt: {
      description: "Turn a specification into an implementation plan",
      arguments: { spec_directory: directory, technical_context: "Technology to use" },
      write: ({ spec_directory: given = "", technical_context: context = "" }) =>
        `Call speckit.plan with spec_directory ${given}${context === "" ? "" : ` and technical_context "${context}"`}. Read what it wrote. Decide every open point in research.md with a decision, a rationale and the alternatives; complete data-model.md and contracts/ from the specification; do not invent requirements. Then call speckit.tasks.`,
    },
  },
  tasks: {
    title: "Write the tasks",
    description:
      "Generate tasks.md from spec.md and plan.md: numbered tasks by phase and user story.",
    properties: {
      spec_directory: specDirectory,
      tests: {
        type: "boolean",
        description:
          "Add test tasks (default: if the description or the constitution asks for them)",
      },
      completed: list("Only tick these tasks", taskId),
      force,
    },
    required: ["spec_directory"],
    prompt: {
      description: "Turn a plan into tasks",
      arguments: { spec_directory: directory },
      write: ({ spec_directory: given = "" }) =>
        `Call speckit.tasks with spec_directory ${given}. Read tasks.md: split tasks that are too large, keep the line grammar and the ids sequential, then call speckit.analyze and fix its findings.`,
    },
  },
  checklist: {
    title: "Check the requirements",
    description:
      "Append questions about the quality of the requirements to checklists/<domain>.md, such as security, ux, api or performance.",
    properties: {
      spec_directory: specDirectory,
      domain: { type: "string", maxLength: 100, default: "quality" },
    },
    required: ["spec_directory"],
    prompt: {
      description: "Write a checklist for the quality of the requirements",
      arguments: { spec_directory: directory, domain: "security, ux, api, performance …" },
      write: ({ spec_directory: given = "", domain = "quality" }) =>
        `Call speckit.checklist with spec_directory ${given} and domain "${domain}". Go through its items with me, one at a time, and check those the specification answers.`,
    },
  },
  analyze: {
    title: "Compare spec, plan and tasks",
    description:
      "Report contradictions, gaps and requirements without a task across spec.md, plan.md and tasks.md. Changes nothing.",
    properties: { spec_directory: specDirectory },
    required: ["spec_directory"],
    annotations: { readOnlyHint: true },
    prompt: {
      description: "Find contradictions and gaps before building",
      arguments: { spec_directory: directory },
      write: ({ spec_directory: given = "" }) =>
        `Call speckit.analyze with spec_directory ${given} and list the changes you suggest, most severe first. Change nothing before I agree.`,
    },
  },
  implement: {
    title: "Implement tasks",
    description:
      "Work through tasks.md phase by phase. An agent does the tasks, or they are returned to you in batches: do them, then call again with `completed`. Ticks finished tasks and continues after the last one.",
    properties: {
      spec_directory: specDirectory,
      task_filter: words("Optional filter for specific tasks to implement"),
      completed: list("Tasks you have done since the last call", taskId),
      agent: words("The agent that does the tasks, such as coding_agent", 100),
      force: flag("Continue although checklists have open items"),
    },
    required: ["spec_directory"],
    annotations: { destructiveHint: true },
    prompt: {
      description: "Work through the tasks",
      arguments: {
        spec_directory: directory,
        task_filter: "T003,T007-T010, US1, phase:2, next, unchecked",
      },
      write: ({ spec_directory: given = "", task_filter: filter = "" }) =>
        `Call speckit.implement with spec_directory ${given}${filter === "" ? "" : ` and task_filter "${filter}"`}. Do the tasks it returns, in the files they name, then call it again with their ids as completed, until none is left. Stop if one fails.`,
    },
  },
};

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

function toolOf(name: StepName): Tool {
  const { title, description, properties, required, annotations } = steps[name];
  return {
    name,
    title,
    description,
    inputSchema: { type: "object", properties, ...(required.length > 0 ? { required } : {}) },
    ...(annotations ? { annotations } : {}),
    facts,
  };
}

export function createStepPrompts(): PromptSource {
  return {
    list: async () =>
      stepNames.map((name) => {
        const { title, prompt } = steps[name];
        return {
          name,
          title,
          description: prompt.description,
          arguments: Object.entries(prompt.arguments).map(([argument, description]) => ({
            name: argument,
            description,
            required: argument === "feature_description",
          })),
        };
      }),
    async get(name, args) {
      const step = stepNames.find((known) => known === name);
      if (!step) throw new HallError("NOT_FOUND", `unknown prompt "speckit.${name}"`);
      const { description, write } = steps[step].prompt;
      const text = write({
        ...args,
        spec_directory: args.spec_directory ?? "the feature's folder (speckit.status names it)",
      });
      return { description, messages: [{ role: "user", content: { type: "text", text } }] };
    },
  };
}
