const problemsMax = 10;

/** An invalid config. Each problem names location, field, expected value and next step. Commands exit with 78. */
export class ConfigError extends Error {
  constructor(problems: string | readonly string[]) {
    super(typeof problems === "string" ? problems : listed(problems));
    this.name = "ConfigError";
  }
}

/** Path of a field from the root: keys, and indexes of lists. */
export type Path = readonly PropertyKey[];

/** A problem of one field: "is text; expected a whole number; write for example 30". */
export interface Problem {
  readonly path: Path;
  readonly text: string;
  /** The variable that has no value, if that is the problem. */
  readonly unset?: UnsetVariable;
}

export interface UnsetVariable {
  readonly name: string;
  /** A predicate: "is not set: …". */
  readonly why: string;
}

/**
 * The problems that are shown, and one more to know that there are more. Locating each one takes a
 * pass over the file.
 */
export function shownProblems<T>(problems: readonly T[]): readonly T[] {
  return problems.slice(0, problemsMax + 1);
}

/** A path for display: `mcpServers.github.args[1]`. */
export function fieldOf(path: Path): string {
  return path.reduce<string>(
    (field, key) =>
      typeof key === "number"
        ? `${field}[${key}]`
        : `${field}${field && "."}${keyText(String(key))}`,
    "",
  );
}

/** Untrusted text for a message: quoted, short, without control characters. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text).replace(
    /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    "?",
  );
}

function keyText(key: string): string {
  return /^[\w$-]{1,60}$/.test(key) ? key : quote(key);
}

function listed(problems: readonly string[]): string {
  if (problems.length === 1) return problems[0] ?? "";
  const shown = problems.slice(0, problemsMax);
  const rest = problems.length > problemsMax ? ["and more; fix these first"] : [];
  return [
    `${problems.length > problemsMax ? `more than ${problemsMax}` : problems.length} problems in the config:`,
    ...shown,
    ...rest,
  ].join("\n  ");
}
