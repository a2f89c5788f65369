import type { Tool } from "../tool.ts";

/** The tools of the workflow, as clients see them. Beyond what is required every property is optional, so that older callers stay right. */
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
  description: "Replace files that were edited by hand and cannot be merged",
};
const facts = { timeoutMs: 600_000 };

const steps: readonly Tool[] = [
  {
    name: "specify",
    title: "Specify a feature",
    description:
      "Create or update feature specification: writes spec.md and its requirements checklist from a description. `spec_directory` is the feature's folder, or the folder `specs`, in which the next number is taken.",
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
          description: "Words for the folder's name; default: from the description",
        },
        number: {
          type: "integer",
          minimum: 1,
          description: "The folder's number; default: the next one",
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
      "Ask what the specification leaves open, at most five questions, one at a time, and write each answer into spec.md at once. Where the user cannot be asked, the questions are returned: call again with `answers`.",
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
          description: "Answers in the order the questions were asked",
        },
      },
      required: ["spec_directory"],
    },
  },
  {
    name: "plan",
    title: "Plan a feature",
    description:
      "Generate implementation plan: plan.md, research.md, data-model.md, contracts and quickstart.md, from spec.md and what the repository shows.",
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
    title: "Break a plan down",
    description:
      "Generate tasks.md from spec.md and plan.md: numbered tasks by phase and user story, each with the file it is done in.",
    inputSchema: {
      type: "object",
      properties: {
        spec_directory: specDirectory,
        tests: {
          type: "boolean",
          description: "With or without test tasks; default: as description and constitution say",
        },
        completed: {
          type: "array",
          items: { type: "string", pattern: "^T[0-9]+$" },
          description: "Only mark these tasks as done",
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
      "Work through tasks.md phase by phase: an agent does the tasks, or they are returned to you one batch at a time; do them, then call again with `completed`. Marks tasks as they are done and goes on where it stopped.",
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
          description: "Go on although checklists have open items",
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
      "Create or amend .specify/memory/constitution.md, the principles every plan is checked against. Without `principles` the rules in AGENTS.md, CLAUDE.md and CONTRIBUTING.md are taken.",
    inputSchema: {
      type: "object",
      properties: {
        spec_directory: {
          type: "string",
          description: "A folder of the project; default: the hall's",
        },
        principles: {
          type: "array",
          items: { type: "string" },
          description: 'Each as "Name: what must hold"',
        },
        project_name: { type: "string", maxLength: 200 },
      },
    },
  },
  {
    name: "checklist",
    title: "Question the requirements",
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
      "Report what contradicts, what is missing and which requirement has no task, across spec.md, plan.md and tasks.md. Changes none of them.",
    inputSchema: {
      type: "object",
      properties: { spec_directory: specDirectory },
      required: ["spec_directory"],
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: "status",
    title: "Features and their state",
    description:
      "List the features of the project, or one of them: how far each is, what comes next, and runs that were interrupted.",
    inputSchema: {
      type: "object",
      properties: {
        spec_directory: {
          ...specDirectory,
          description: "One feature's folder; default: all of them",
        },
      },
    },
    annotations: { readOnlyHint: true },
  },
];

/** Only where the config lets tasks run commands. A person is asked for each. */
const command: Tool = {
  name: "command",
  title: "Run a task's command",
  description:
    "Run one program with its arguments in the project's folder, without a shell. For tasks that declare a command; a person is asked for each call.",
  inputSchema: {
    type: "object",
    properties: {
      // As long as a person can be shown whole.
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
