import { bodyUnder } from "./markdown.ts";
import { parseSpec, type Spec } from "./spec.ts";
import { openQuestionsMax, type SpecInput, writeSpec } from "./spec-draft.ts";
import { parseTasks } from "./tasks.ts";
import type { DocumentForm } from "./writer.ts";

/**
 * The documents a model may write: their templates, and the form that later steps need. Only that
 * is checked; the words are the author's business.
 */
export function specForm(input: SpecInput, draft: string): DocumentForm {
  return { path: "spec.md", template: writeSpec(specTemplate, input), draft, check: checkSpec };
}

const specTemplate = {
  title: "<title>",
  stories: `### User Story 1 - <title> (Priority: P1)

<who does what, and why>

**Why this priority**: <reason>

**Independent Test**: <how to test this story alone>

**Acceptance Scenarios**:

1. **Given** <state>, **When** <action>, **Then** <result>

<more stories by priority, with --- between two>`,
  edgeCases: "- <a boundary or a failure, and what happens>",
  requirements:
    "- **FR-001**: <testable, without technology>\n- **FR-002**: [NEEDS CLARIFICATION: <what must not be guessed; at most three in the document>]",
  entities: "- **<Name>**: <what it is; its attributes and relations>",
  criteria: "- **SC-001**: <measurable, without technology>",
  assumptions: "- <what was assumed; what is out of scope>",
};

function checkSpec(text: string): readonly string[] {
  const { title, stories, requirements, criteria, openQuestions } = parseSpec(text);
  const withoutScenario = stories.filter(({ scenarios }) => scenarios.length === 0);
  return [
    ...faultIf(title === "", "it needs `# Feature Specification: title`"),
    ...faultIf(stories.length === 0, "it needs `### User Story 1 - title (Priority: P1)`"),
    ...withoutScenario.map(
      ({ number }) => `User Story ${number} needs \`1. **Given** …, **When** …, **Then** …\``,
    ),
    ...faultIf(requirements.length === 0, "it needs `- **FR-001**: …` under Requirements"),
    ...faultIf(criteria.length === 0, "it needs `- **SC-001**: …` under Success Criteria"),
    ...faultIf(
      openQuestions.length > openQuestionsMax,
      `it has ${openQuestions.length} open questions; at most ${openQuestionsMax} are allowed`,
    ),
  ];
}

const planHeadings = ["Summary", "Technical Context", "Constitution Check", "Project Structure"];

export const planTemplate =
  "<the headings and facts of the draft; write Summary, Structure Decision and Complexity Tracking>";

export function checkPlan(text: string): readonly string[] {
  return planHeadings
    .filter((title) => bodyUnder(text, new RegExp(`^${title}`, "i")) === "")
    .map((title) => `it needs the section \`## ${title}\``);
}

export const researchTemplate =
  "# Research: <title>\n\n## Decisions\n\n### <title>\n\n- **Decision**: <what>\n- **Rationale**: <why>\n- **Alternatives considered**: <what else>\n\n## Open points\n\n<those of the draft that are still open>";

export const dataModelTemplate =
  "# Data Model: <title>\n\n## <entity of the spec>\n\n<a table of fields, relations, rules and states; no field without a reason in the spec>";

export const contractTemplate =
  "# Contract: <title>\n\n## FR-001: <name>\n\n<input, result and failures, for each requirement that has an interface>";

export const tasksTemplate =
  "<the head of the draft>\n\n## Phase 1: Setup\n\n- [ ] T001 <text with a file path>\n\n## Phase 2: Foundational\n\n## Phase 3: User Story 1 - <title> (Priority: P1) 🎯 MVP\n\n**Goal**: <what it delivers>\n\n- [ ] T002 [P] [US1] <text with a file path; [P] if it shares no file with others of its phase; name the requirement>\n\n**Checkpoint**: <what works now>\n\n<one phase for each story, then Polish & Cross-Cutting Concerns>\n\n<the end of the draft>";

/** Faults of a task list by the form of tasks.md and the stories of the spec. */
export function checkTasks({ stories }: Spec): (text: string) => readonly string[] {
  return (text) => {
    const { tasks, faults } = parseTasks(text);
    const withoutTask = stories.filter(
      ({ number }) => !tasks.some(({ story }) => story === `US${number}`),
    );
    return [
      ...faults,
      ...faultIf(tasks.length === 0, "it has no tasks such as `- [ ] T001 text`"),
      ...withoutTask.map(({ number }) => `User Story ${number} has no task with [US${number}]`),
    ];
  };
}

function faultIf(isWrong: boolean, fault: string): readonly string[] {
  return isWrong ? [fault] : [];
}
