import { HallError } from "../base/errors.ts";
import type { Prompt, PromptSource } from "../tool.ts";
import { type StepName, stepNames } from "./tool-list.ts";

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
