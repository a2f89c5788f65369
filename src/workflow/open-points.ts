import type { Design } from "./design.ts";

/** Something a person decides before it is built, since neither spec nor repository says it. */
export interface OpenPoint {
  readonly id: string;
  readonly subject: Subject;
  readonly text: string;
}
type Subject = "language" | "storage" | "testing" | "interface" | "performance";

export function findOpenPoints({
  language,
  entities,
  technologies,
  survey,
  projectType,
  spec,
}: Design): readonly OpenPoint[] {
  const has = (role: string): boolean =>
    technologies.some((technology) => technology.role === role);
  const points: [Subject, string][] = [];
  if (!language)
    points.push([
      "language",
      "the folder has no source files, and nothing says which language the feature is written in",
    ]);
  if (entities.length > 0 && !has("storage"))
    points.push([
      "storage",
      `${entities.map(({ name }) => name).join(", ")} must be kept, and no manifest names a database or another store`,
    ]);
  if (!has("test") && survey.commands.test === undefined)
    points.push(["testing", "no test tool and no test command was found"]);
  if (projectType === undefined)
    points.push([
      "interface",
      "nothing says how people reach the feature: a web page, an API, a command, a library",
    ]);
  if (![...spec.criteria, ...spec.requirements].some(({ text }) => namesFigure(text)))
    points.push(["performance", "the spec names no figure for speed or size"]);
  return points.map(([subject, text], at) => ({ id: `O${at + 1}`, subject, text }));
}

/** A figure for speed or size, as criteria or answers give one. */
export function namesFigure(text: string): boolean {
  const plain = text.replace(/\b(?:FR|SC)-\d+|User Story \d+/g, "");
  return (
    /\d\s?(?:ms|s\b|sec|min|hour|%|percent|kb|mb|gb|requests|per )|\b(?:up to|at most|under|within|this many [^:]+):? \d|\bwithin:? an? (?:second|minute|hour)/i.test(
      plain,
    ) || /\bmillions\b/i.test(plain)
  );
}

/** Empty where nothing is open about it. */
export function tellOpen(points: readonly OpenPoint[], subject: Subject): string {
  const point = points.find((candidate) => candidate.subject === subject);
  return point ? `Open (${point.id}): ${point.text}` : "";
}
