import { type Design, nameWithVersion, outcomeOf } from "./design.ts";
import { countOf } from "./english.ts";
import type { OpenPoint } from "./open-points.ts";

interface ResearchInput {
  readonly design: Design;
  readonly branch: string;
  readonly date: string;
}

/** research.md: what was decided and why, and what was not. */
export function draftResearch(
  { design, branch, date }: ResearchInput,
  points: readonly OpenPoint[],
): string {
  const { language, survey, technologies } = design;
  const decided = [
    ...(language
      ? [
          decision(
            `Language: ${language.name}`,
            language.from === "the caller"
              ? "The caller asked for it."
              : `The repository has ${language.from} of it${
                  survey.languages.length > 1
                    ? `, and ${survey.languages
                        .slice(1, 3)
                        .map(({ name, files }) => `${files} of ${name}`)
                        .join(", ")}`
                    : ""
                }.`,
            "None were examined: a second language would stand beside the first.",
          ),
        ]
      : []),
    ...technologies
      .filter(({ role }) => role !== "test")
      .map((technology) =>
        decision(
          nameWithVersion(technology),
          technology.from === "the caller"
            ? "The caller asked for it."
            : `Already a dependency (${technology.from}).`,
          "None were examined: the plan adds nothing where something is there.",
        ),
      ),
    ...technologies
      .filter(({ role }) => role === "test")
      .map(({ name, from }) =>
        decision(
          `Tests with ${name}`,
          from === "the caller"
            ? "The caller asked for it."
            : `Already a dependency (${from})${survey.tests ? `; there ${survey.tests.files === 1 ? "is" : "are"} ${countOf(survey.tests.files, "test file", "test files")}` : ""}.`,
          "None were examined.",
        ),
      ),
  ];
  return `# Research: ${design.spec.title}

**Feature**: \`${branch}\` | **Date**: ${date}

## Decisions

${decided.join("\n\n") || "None could be taken from the repository."}

## Open points

${points.map(({ id, subject, text }) => `- **${id}** (${subject}): ${text}. Decision: open.`).join("\n") || "None about the technology."}${leftOpen(design)}
`;
}

/** What other documents leave to whoever builds it. */
function leftOpen({ entities, actions }: Design): string {
  const unseen = actions
    .filter(({ action }) => outcomeOf(action) === undefined)
    .map(({ id }) => id);
  const lines = [
    ...(entities.length > 0
      ? [
          `- What tells two of a kind apart (${entities.map(({ name }) => name).join(", ")}): see [data-model.md](./data-model.md).`,
        ]
      : []),
    ...(unseen.length > 0
      ? [
          `- What can be seen after ${unseen.join(", ")}: see [contracts/actions.md](./contracts/actions.md).`,
        ]
      : []),
  ];
  return lines.length > 0 ? `\n\nLeft to whoever builds it:\n\n${lines.join("\n")}` : "";
}

function decision(what: string, why: string, others: string): string {
  return `### ${what}\n\n- **Decision**: ${what}\n- **Rationale**: ${why}\n- **Alternatives considered**: ${others}`;
}
