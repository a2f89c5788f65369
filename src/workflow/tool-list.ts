import type { Tool } from "../tool.ts";

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
