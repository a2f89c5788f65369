import type { Design } from "./design.ts";
import type { OpenPoint } from "./open-points.ts";

/** quickstart.md: how to see that the feature works. */
export function draftQuickstart(
  { design, branch }: { readonly design: Design; readonly branch: string },
  points: readonly OpenPoint[],
): string {
  const { survey, spec } = design;
  const kinds = ["install", "build", "test", "run"] as const;
  const commands = kinds.flatMap((kind) => {
    const command = survey.commands[kind];
    return command ? [`${command.text.padEnd(36)}# ${kind}, from ${command.from}`] : [];
  });
  const stories = spec.stories.map(
    ({ number, title, independentTest, scenarios }) =>
      `### User Story ${number}: ${title}\n\n${independentTest === "" ? "" : `${independentTest}\n\n`}${scenarios.map((scenario, at) => `${at + 1}. ${scenario}`).join("\n") || "The spec has no scenarios for it."}`,
  );
  return `# Quickstart: ${spec.title}

How to see that \`${branch}\` works, from a fresh checkout.

## Prepare

${commands.length > 0 ? `\`\`\`sh\n${commands.join("\n")}\n\`\`\`` : `No commands were found in the repository${points.some(({ subject }) => subject === "language") ? "; they follow from the language (see research.md)" : ""}.`}

## Check

${stories.join("\n\n")}
`;
}
