import type { Design } from "./design.ts";
import { lowerCase } from "./english.ts";
import { oneLine } from "./markdown.ts";
import { pluralOf } from "./statement.ts";

/** data-model.md: what is kept, as far as the spec names it. */
export function draftDataModel({ entities, actions, rules, spec }: Design): string {
  const sections = entities.map(({ name, attributes, partOf, stories, text }) => {
    const own = actions.filter(
      ({ entity, action: { kind } }) =>
        entity === name && kind !== "view" && kind !== "find" && kind !== "export",
    );
    const rows = attributes.map((attribute) => `| ${oneLine(attribute)} | named in the spec |`);
    const relation = partOf === undefined ? (/\bcontains (.+?)[;.]/.exec(text)?.[1] ?? "") : "";
    const validations = rules.filter((rule) =>
      rule.text.toLowerCase().includes(name.toLowerCase().split(" ").at(-1) ?? ""),
    );
    return `## ${name}

${rows.length > 0 ? `| Field | From |\n|---|---|\n${rows.join("\n")}` : "Fields: open; the spec names none."}

- **Identity**: open; the spec names nothing that tells two ${pluralOf(lowerCase(name))} apart.
- **Relations**: ${partOf !== undefined ? `belongs to ${partOf}` : relation !== "" ? `contains ${relation}` : "none named"}
- **Changed by**: ${own.length > 0 ? own.map(({ id, action }) => `${action.verb} (${id})`).join(", ") : "no action of this feature"}
- **Rules**: ${validations.length > 0 ? validations.map(({ id }) => id).join(", ") : "none named"}
- **Used in**: ${stories.length > 0 ? stories.map((number) => `User Story ${number}`).join(", ") : "no story by name"}`;
  });
  return `# Data Model: ${spec.title}\n\n${sections.join("\n\n")}\n`;
}
