import { clip, lowerCase } from "./english.ts";
import { measure, pluralOf, type Statement, splitDetails, upperFirst } from "./statement.ts";
import { describeActions, providing } from "./story-draft.ts";
import { pastForm } from "./verbs.ts";

export function findRequirements(statements: readonly Statement[]): readonly string[] {
  return statements
    .flatMap((statement) =>
      statement.kind === "capability" ? requireCapability(statement) : [requireRule(statement)],
    )
    .map((text) => `${text}.`);
}

function requireCapability(statement: Statement): readonly string[] {
  const { actor, actions, isForbidden, text } = statement;
  const details = splitDetails(text);
  const own = actions.map(({ verb, kind, rest, condition }) => {
    const when =
      condition === undefined
        ? ""
        : condition.startsWith("not: ")
          ? `Unless ${condition.slice(5)}, `
          : `When ${condition}, `;
    if (actor !== undefined && /^(?:get|receive)$/.test(verb))
      return `${when}${when === "" ? upperFirst(pluralOf(actor)) : pluralOf(actor)} MUST ${verb} ${rest}`;
    if (actor !== undefined)
      return `${when}${when === "" ? upperFirst(pluralOf(actor)) : pluralOf(actor)} ${isForbidden ? "MUST NOT" : "MUST"} be able to ${verb} ${rest}`.trim();
    const system = `${when}${when === "" ? "The" : "the"} system ${isForbidden ? "MUST NOT" : "MUST"}`;
    if (kind === "repair") return upperFirst(`${rest} MUST be ${pastForm(verb)}`);
    if (providing.test(verb))
      return `${system} provide ${rest.replace(/ to (?=the |an? )/, " for ")}`;
    return `${system} ${verb} ${rest}`.trim();
  });
  return [
    ...own,
    ...details.map(
      (detail) => `For “${clip(describeActions(actions), 60)}” this MUST hold: ${detail}`,
    ),
  ];
}

function requireRule({ text, isForbidden }: Statement): string {
  if (/^only /i.test(text)) {
    return /\b(?:can|may)\b/.test(text)
      ? text.replace(/\b(?:can|may)\b/, "MUST be able to")
      : `The system MUST make sure that ${text.charAt(0).toLowerCase()}${text.slice(1)}`;
  }
  const measured = measure.exec(text);
  if (measured)
    return `The ${lowerCase(measured[1] ?? "").replace(/^(?:the|an?) /, "")} MUST be ${measured[2]}`;
  const subjectFirst = text.replace(/^It\b/, "The feature");
  const modal =
    /\b(?:must not|must|shall not|shall|should not|should|will not|will|needs? to|cannot|can't|never|may not)\b/i.exec(
      subjectFirst,
    );
  if (modal)
    return subjectFirst.replace(
      modal[0],
      isForbidden
        ? /^cannot|can't$/i.test(modal[0])
          ? "MUST NOT be able to"
          : "MUST NOT"
        : "MUST",
    );
  if (/\b(?:is|are)\b/.test(subjectFirst))
    return subjectFirst.replace(
      /\b(?:is|are)\b( not)?/,
      (_found, not?: string) => `MUST${not ? " NOT" : ""} be`,
    );
  if (/\b(?:has|have)\b/.test(subjectFirst))
    return subjectFirst.replace(/\b(?:has|have)\b/, "MUST have");
  if (/\bcontains?\b/.test(subjectFirst))
    return subjectFirst.replace(/\bcontains?\b/, "MUST contain");
  const isPhrase = !/\b\w+s\b \w/.test(subjectFirst) || subjectFirst.split(" ").length <= 8;
  return isPhrase
    ? `The system MUST provide ${subjectFirst.charAt(0).toLowerCase()}${subjectFirst.slice(1)}`
    : `The system MUST satisfy: ${subjectFirst}`;
}
