import { HallError } from "../base/errors.ts";
import type { Prompt, PromptSource, Tool } from "../tool.ts";

/** The tools of the workflow. Properties beyond those of the original contract are optional. */
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

const specDirectory = { type: "string", description: "Absolute path to specification directory" };
const force = {
  type: "boolean",
  default: false,
  description: "Replace files with hand edits that cannot be merged",
};
const facts = { timeoutMs: 600_000 };

const steps: readonly Tool[] = [
  {
    name: "specify",
    title: "Specify a feature",
    description:
      "Create or update feature specification: writes spec.md and its requirements checklist from a description. `spec_directory` is the feature's folder, or the folder `specs` for a new feature with the next number.",
    inputSchema: {
      type: "object",
      properties: {
        feature_description: {
          type: "string",
          description: "Natural language description of the feature",
        },
        spec_directory: specDirectory,
        short_name: {
          type: "string",
          maxLength: 200,
          description: "Words for the folder name (default: from the description)",
        },
        number: {
          type: "integer",
          minimum: 1,
          description: "Number of the feature (default: the next one)",
        },
        force,
      },
      required: ["feature_description", "spec_directory"],
    },
  },
  {
    name: "clarify",
    title: "Clarify a specification",
    description:
      "Ask the user up to five open questions, one at a time, and write each answer into spec.md. If the client cannot ask, the questions are returned; call again with `answers`.",
    inputSchema: {
      type: "object",
      properties: {
        spec_directory: specDirectory,
        questions: {
          type: "array",
          items: { type: "string" },
          description: "Specific questions to clarify (optional)",
        },
        answers: {
          type: "array",
          items: { type: "string" },
          description: "Answers in the order of the questions",
        },
      },
      required: ["spec_directory"],
    },
  },
  {
    name: "plan",
    title: "Plan a feature",
    description:
      "Generate implementation plan: plan.md, research.md, quickstart.md, and data-model.md if the spec names entities, from spec.md and the facts of the repository.",
    inputSchema: {
      type: "object",
      properties: {
        spec_directory: specDirectory,
        technical_context: {
          type: "string",
          maxLength: 10_000,
          description: "Technology to use, such as: TypeScript with Fastify and PostgreSQL",
        },
        force,
      },
      required: ["spec_directory"],
    },
  },
  {
    name: "tasks",
    title: "Write the tasks",
    description:
      "Generate tasks.md from spec.md and plan.md: numbered tasks by phase and user story.",
    inputSchema: {
      type: "object",
      properties: {
        spec_directory: specDirectory,
        tests: {
          type: "boolean",
          description:
            "Add test tasks (default: if the description or the constitution asks for them)",
        },
        completed: {
          type: "array",
          items: { type: "string", pattern: "^T[0-9]+$" },
          description: "Only tick these tasks",
        },
        force,
      },
      required: ["spec_directory"],
    },
  },
  {
    name: "implement",
    title: "Implement tasks",
    description:
      "Work through tasks.md phase by phase. An agent does the tasks, or they are returned to you in batches: do them, then call again with `completed`. Ticks finished tasks and continues after the last one.",
    inputSchema: {
      type: "object",
      properties: {
        spec_directory: specDirectory,
        task_filter: {
          type: "string",
          description: "Optional filter for specific tasks to implement",
        },
        completed: {
          type: "array",
          items: { type: "string", pattern: "^T[0-9]+$" },
          description: "Tasks you have done since the last call",
        },
        agent: {
          type: "string",
          maxLength: 100,
          description: "The agent that does the tasks, such as coding_agent",
        },
        force: {
          type: "boolean",
          default: false,
          description: "Continue although checklists have open items",
        },
      },
      required: ["spec_directory"],
    },
    annotations: { destructiveHint: true },
  },
  {
    name: "constitution",
    title: "Write the constitution",
    description:
      "Create or amend .specify/memory/constitution.md, the principles that every plan is checked against. Without `principles`, rules are taken from AGENTS.md, CLAUDE.md and CONTRIBUTING.md.",
    inputSchema: {
      type: "object",
      properties: {
        spec_directory: {
          type: "string",
          description: "A folder of the project (default: the hall's folder)",
        },
        principles: {
          type: "array",
          items: { type: "string" },
          description: 'Each as "Name: rule"',
        },
        project_name: { type: "string", maxLength: 200 },
      },
    },
  },
  {
    name: "checklist",
    title: "Check the requirements",
    description:
      "Append questions about the quality of the requirements to checklists/<domain>.md, such as security, ux, api or performance.",
    inputSchema: {
      type: "object",
      properties: {
        spec_directory: specDirectory,
        domain: { type: "string", maxLength: 100, default: "quality" },
      },
      required: ["spec_directory"],
    },
  },
  {
    name: "analyze",
    title: "Compare spec, plan and tasks",
    description:
      "Report contradictions, gaps and requirements without a task across spec.md, plan.md and tasks.md. Changes nothing.",
    inputSchema: {
      type: "object",
      properties: { spec_directory: specDirectory },
      required: ["spec_directory"],
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: "status",
    title: "Show features",
    description:
      "List the features of the project, or one of them, with phase, next step and interrupted runs.",
    inputSchema: {
      type: "object",
      properties: {
        spec_directory: {
          ...specDirectory,
          description: "Folder of one feature (default: all features)",
        },
      },
    },
    annotations: { readOnlyHint: true },
  },
];

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
      task: { type: "string", description: "The task that declares it" },
    },
    required: ["argv", "spec_directory"],
    additionalProperties: false,
  },
  annotations: { destructiveHint: true, openWorldHint: true },
  facts: { ...facts, asksEachTime: true },
};

export function listWorkflowTools({ commands }: { readonly commands: boolean }): readonly Tool[] {
  return [...steps.map((tool) => ({ facts, ...tool })), ...(commands ? [command] : [])];
}

/** A prompt for each step: the tool writes what rules can write, the client's model does the rest. */
export function createStepPrompts(): PromptSource {
  return {
    list: async () =>
      stepNames.map((name) => ({ name, ...described[name], arguments: described[name].arguments })),
    async get(name, args) {
      const step = stepNames.find((known) => known === name);
      if (!step) throw new HallError("NOT_FOUND", `unknown prompt "speckit.${name}"`);
      const text = described[step].write({
        ...args,
        spec_directory: args.spec_directory ?? "the feature's folder (speckit.status names it)",
      });
      return {
        description: described[step].description,
        messages: [{ role: "user", content: { type: "text", text } }],
      };
    },
  };
}

interface StepPrompt {
  readonly title: string;
  readonly description: string;
  readonly arguments: NonNullable<Prompt["arguments"]>;
  write(args: Readonly<Record<string, string>>): string;
}

const directory = { name: "spec_directory", description: "The feature's folder", required: false };

const described: Readonly<Record<StepName, StepPrompt>> = {
  constitution: {
    title: "Write the constitution",
    description: "Agree on the principles that every plan is checked against",
    arguments: [
      { name: "principles", description: "The principles, in plain words", required: false },
    ],
    write: ({ principles = "" }) =>
      `Help me write this project's constitution.${principles === "" ? " Ask me for three to seven principles." : ` My principles: ${principles}`} Write each as "Name: rule", testable, then call speckit.constitution with them and show me the file.`,
  },
  specify: {
    title: "Specify a feature",
    description: "Turn a description into a specification",
    arguments: [
      { name: "feature_description", description: "What the feature does", required: true },
      {
        name: "spec_directory",
        description: "Its folder (default: the project's specs folder)",
        required: false,
      },
    ],
    write: ({ feature_description: description = "", spec_directory: given = "" }) =>
      `Call speckit.specify for this feature, with ${given} as spec_directory (the project's specs folder gets the next number):\n\n${description}\n\nThen read the spec.md it names and improve it: real user stories, testable requirements, measurable success criteria, no technology. Keep its headings and ids, and at most three [NEEDS CLARIFICATION: …] marks. Then call speckit.clarify.`,
  },
  clarify: {
    title: "Clarify a specification",
    description: "Answer the open questions of the specification",
    arguments: [directory],
    write: ({ spec_directory: given = "" }) =>
      `Call speckit.clarify with spec_directory ${given}. If it returns questions, ask me one at a time, the recommended answer first, then call it again with my answers in order.`,
  },
  plan: {
    title: "Plan a feature",
    description: "Turn a specification into an implementation plan",
    arguments: [
      directory,
      { name: "technical_context", description: "Technology to use", required: false },
    ],
    write: ({ spec_directory: given = "", technical_context: context = "" }) =>
      `Call speckit.plan with spec_directory ${given}${context === "" ? "" : ` and technical_context "${context}"`}. Read what it wrote. Decide every open point in research.md with a decision, a rationale and the alternatives; complete data-model.md and contracts/ from the specification; do not invent requirements. Then call speckit.tasks.`,
  },
  tasks: {
    title: "Break a plan down",
    description: "Turn a plan into tasks",
    arguments: [directory],
    write: ({ spec_directory: given = "" }) =>
      `Call speckit.tasks with spec_directory ${given}. Read tasks.md: split tasks that are too large, keep the line grammar and the ids sequential, then call speckit.analyze and fix its findings.`,
  },
  checklist: {
    title: "Check the requirements",
    description: "Write a checklist for the quality of the requirements",
    arguments: [
      directory,
      { name: "domain", description: "security, ux, api, performance …", required: false },
    ],
    write: ({ spec_directory: given = "", domain = "quality" }) =>
      `Call speckit.checklist with spec_directory ${given} and domain "${domain}". Go through its items with me, one at a time, and check those the specification answers.`,
  },
  analyze: {
    title: "Compare spec, plan and tasks",
    description: "Find contradictions and gaps before building",
    arguments: [directory],
    write: ({ spec_directory: given = "" }) =>
      `Call speckit.analyze with spec_directory ${given} and list the changes you suggest, most severe first. Change nothing before I agree.`,
  },
  implement: {
    title: "Implement a feature",
    description: "Work through the tasks",
    arguments: [
      directory,
      {
        name: "task_filter",
        description: "T003,T007-T010, US1, phase:2, next, unchecked",
        required: false,
      },
    ],
    write: ({ spec_directory: given = "", task_filter: filter = "" }) =>
      `Call speckit.implement with spec_directory ${given}${filter === "" ? "" : ` and task_filter "${filter}"`}. Do the tasks it returns, in the files they name, then call it again with their ids as completed, until none is left. Stop if one fails.`,
  },
};
