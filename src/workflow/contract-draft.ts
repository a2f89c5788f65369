import { type Design, type DesignedAction, outcomeOf } from "./design.ts";
import { pluralOf } from "./statement.ts";
import { fill, meaningOf } from "./story-draft.ts";
import { meanings } from "./verbs.ts";

/** contracts/actions.md: the actions of a feature, each as whoever calls it sees it. */
export function draftContract(design: Design): string {
  const sections = design.actions.map((designed) => {
    const { id, name, action, requirement, story, entity } = designed;
    const edges = design.spec.edgeCases.filter((edge) => concerns(edge, designed));
    const rules = design.rules.filter(
      (rule) =>
        entity !== undefined &&
        rule.text.toLowerCase().includes(entity.toLowerCase().split(" ").at(-1) ?? ""),
    );
    return `## ${id}: ${name}

- **Covers**: ${requirement.id}${story === undefined ? "" : `, User Story ${story}`}
- **Who**: ${/^(.+?) (?:MUST|SHOULD|SHALL)/.exec(requirement.text)?.[1] ?? "whoever uses the feature"}
- **Takes**: ${action.attributes.length > 0 ? action.attributes.join(", ") : action.rest === "" ? "nothing the spec names" : action.rest}
- **Gives**: ${outcomeOf(action) ?? "open: the spec does not say what can be seen afterwards"}
- **Held to**: ${rules.length > 0 ? rules.map((rule) => rule.id).join(", ") : "nothing beyond its requirement"}
- **To settle**: ${edges.length > 0 ? edges.map((edge) => edge.replace(/ \(User Story \d+\)$/, "")).join(" ") : "nothing the spec asks"}${proposeForm(designed, design)}`;
  });
  return `# Contract: ${design.spec.title}\n\nThe actions of the feature, each as whoever calls it sees it.\n\n${sections.join("\n\n")}\n`;
}

/** Whether an edge case is about an action: asked for its kind, or, where people wrote it, about what the action is done to. */
function concerns(edge: string, { action, story }: DesignedAction): boolean {
  // "a" or "an" stands before what it is about.
  const ours = Object.values(meanings).some((meaning) =>
    edge.startsWith((meaning.edge.split("{")[0] ?? "").replace(/a $/, "a")),
  );
  const isNamed = action.things.some((thing) =>
    edge.toLowerCase().includes(thing.split(" ").at(-1) ?? ""),
  );
  const isOfStory =
    story === undefined || !edge.includes("User Story") || edge.includes(`User Story ${story})`);
  const meaning = meaningOf(action);
  return isOfStory && (ours && meaning ? edge.startsWith(fill(meaning.edge, action)) : isNamed);
}

/** A form that fits what the repository is, marked as proposed. */
function proposeForm({ action, entity }: DesignedAction, { projectType, survey }: Design): string {
  const noun = (entity ?? action.things[0] ?? action.verb).toLowerCase().replace(/\s+/g, "-");
  if (projectType?.startsWith("web service"))
    return `\n- **Proposed form**: \`${routeOf(action, pluralOf(noun))}\``;
  if (projectType === "command-line tool")
    return `\n- **Proposed form**: \`${
      survey.manifests
        .find(({ name }) => name !== undefined)
        ?.name?.split("/")
        .at(-1) ?? "tool"
    } ${noun === action.verb ? action.verb : `${noun} ${action.verb}`}\``;
  if (projectType === "library")
    return `\n- **Proposed form**: a function \`${camel(`${action.verb} ${noun}`)}\``;
  return "";
}

function routeOf({ kind, verb }: DesignedAction["action"], path: string): string {
  switch (kind) {
    case "create":
    case "upload":
      return `POST /${path}`;
    case "view":
      return `GET /${path}`;
    case "find":
      return `GET /${path}?q=`;
    case "edit":
      return `PATCH /${path}/{id}`;
    case "remove":
      return `DELETE /${path}/{id}`;
    case "arrange":
      return `PUT /${path}/arrangement`;
    case "export":
      return `GET /${path}/export`;
    case undefined:
      return `POST /${path}`;
    default:
      return `POST /${path}/{id}/${verb}`;
  }
}

function camel(words: string): string {
  return words.replace(/[^\p{L}\p{N}]+(\p{L})/gu, (_found, letter: string) => letter.toUpperCase());
}
