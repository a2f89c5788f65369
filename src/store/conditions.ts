import type { SqlValue } from "./sqlite.ts";
import type { CallFilter } from "./store.ts";

/** A filter as SQL, with a `?` for each value. */
export interface Conditions {
  /** Empty where everything is wanted. */
  readonly where: string;
  readonly values: readonly SqlValue[];
}

export function callConditions({ since, tool, outcome, after }: CallFilter): Conditions {
  return join(
    since !== undefined && ["at >= ?", since],
    tool !== undefined && ["(tool = ? OR toolkit = ?)", tool, tool],
    outcome !== undefined && ["(outcome = ? OR code = ?)", outcome, outcome],
    after !== undefined && ["seq > ?", after],
  );
}

export function auditConditions({ since, tool, outcome, after }: CallFilter): Conditions {
  return join(
    since !== undefined && ["at >= ?", since],
    tool !== undefined && ["subject = ?", tool],
    outcome !== undefined && ["kind = ?", outcome],
    after !== undefined && ["seq > ?", after],
  );
}

function join(...wanted: readonly (false | readonly [string, ...SqlValue[]])[]): Conditions {
  const parts = wanted.filter((part) => part !== false);
  return {
    where: parts.length === 0 ? "" : `WHERE ${parts.map(([text]) => text).join(" AND ")}`,
    values: parts.flatMap(([, ...values]) => values),
  };
}
