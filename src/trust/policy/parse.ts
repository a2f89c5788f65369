import type { DetailedError, PolicyJson } from "@cedar-policy/cedar-wasm/nodejs";
import {
  type Conditions,
  hasInexactNumber,
  readsUnnamedArgument,
  splitConditions,
} from "./expression.ts";
import { policySchema } from "./schema.ts";

export type Cedar = typeof import("@cedar-policy/cedar-wasm/nodejs");

/** A policy file as it was read. A project's file may only forbid. */
export interface PolicyFile {
  readonly file: string;
  readonly text: string;
  readonly isProject: boolean;
  /** Why it could not be read. */
  readonly problem?: string | undefined;
}

export interface Policy extends Omit<PolicyFile, "problem"> {
  /** Its `@id`, else `file.cedar:line`; of a project's policy with `project/` before it. */
  readonly name: string;
  readonly line: number;
  readonly effect: PolicyJson["effect"];
  readonly scope: Pick<PolicyJson, "principal" | "action" | "resource">;
  readonly conditions: Conditions;
}

/** All policies, or everything that is wrong with them, as `file:line: …; next step`. */
export interface ParsedPolicies {
  readonly policies: readonly Policy[];
  readonly problems: readonly string[];
}

export function parsePolicies(files: readonly PolicyFile[], cedar: Cedar): ParsedPolicies {
  const statements = files.flatMap(splitStatements);
  const parsed = statements.map((statement) => parseStatement(statement, cedar));
  const policies = parsed.flatMap((found) => ("problem" in found ? [] : [found]));
  const problems = [
    ...files.flatMap(({ problem }) => problem ?? []),
    ...parsed.flatMap((found) => ("problem" in found ? [found.problem] : [])),
  ];
  if (problems.length > 0) return { policies, problems };
  return { policies, problems: [...validate(statements, cedar), ...findTwins(policies)] };
}

interface Statement {
  readonly file: PolicyFile;
  readonly text: string;
  /** Where it begins in the file, in characters. */
  readonly start: number;
}

/** The statements of a file, each up to its semicolon. Cedar has strings and line comments only. */
function splitStatements(file: PolicyFile): readonly Statement[] {
  const found: Statement[] = [];
  const { text } = file;
  let start = -1;
  const token = /\/\/[^\n]*|"(?:[^"\\]|\\[\s\S])*"|\S/g;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const [part] = match;
    if (part.startsWith("//")) continue;
    if (start === -1) start = match.index;
    if (part !== ";") continue;
    found.push({ file, text: text.slice(start, token.lastIndex), start });
    start = -1;
  }
  return start === -1 ? found : [...found, { file, text: text.slice(start), start }];
}

function parseStatement(statement: Statement, cedar: Cedar): Policy | { readonly problem: string } {
  const { file, isProject } = statement.file;
  const parsed = cedar.policyToJson(statement.text);
  if (parsed.type === "failure") return { problem: explain(statement, parsed.errors[0]) };
  const { json } = parsed;
  const line = lineAt(statement, 0);
  const refuse = (what: string) => ({ problem: `${file}:${line}: ${what}` });
  if (isProject && json.effect === "permit")
    return refuse("a project's policy may only forbid; move it to the policies of your own config");
  if (readsUnnamedArgument(json))
    return refuse('an argument is read without its name; write getTag("name") and hasTag("name")');
  if (hasInexactNumber(json))
    return refuse(`a number is larger than ${Number.MAX_SAFE_INTEGER}; write a smaller one`);
  const id = json.annotations?.id ?? `${file.replace(/^.*[\\/]/, "")}:${line}`;
  if (!idPattern.test(id))
    return refuse(
      `${JSON.stringify(id.slice(0, 80))} is not a name; use A–Z, a–z, 0–9, _, - and .`,
    );
  return {
    name: isProject ? `project/${id}` : id,
    file,
    line,
    isProject,
    text: statement.text,
    effect: json.effect,
    scope: json,
    conditions: splitConditions(json),
  };
}

/** Denials name it, and models read them. */
const idPattern = /^[\w.-]{1,64}(:\d+)?$/;

/** All at once: reading the schema takes longer than checking a policy. */
function validate(statements: readonly Statement[], cedar: Cedar): readonly string[] {
  const texts = statements.map(({ text }, at) => [`${at}`, text]);
  const checked = cedar.validate({
    schema: policySchema,
    policies: { staticPolicies: Object.fromEntries(texts) },
  });
  if (checked.type === "failure") return checked.errors.map(({ message }) => message);
  // A warning means that a policy never applies, or that it reads otherwise than it looks.
  const faults = [...checked.validationErrors, ...checked.validationWarnings];
  const first = new Map(faults.reverse().map(({ policyId, error }) => [policyId, error]));
  return statements.flatMap((statement, at) => {
    const error = first.get(`${at}`);
    return error ? [explain(statement, error)] : [];
  });
}

function findTwins(policies: readonly Policy[]): readonly string[] {
  const seen = new Map<string, Policy>();
  return policies.flatMap((policy) => {
    const { name, file, line } = policy;
    const twin = seen.get(name);
    seen.set(name, policy);
    const where = twin && `${twin.file}:${twin.line}`;
    return twin ? [`${file}:${line}: "${name}" is also the id of ${where}; choose another`] : [];
  });
}

function explain(statement: Statement, error: DetailedError | undefined): string {
  const [place] = error?.sourceLocations ?? [];
  // Cedar counts bytes of UTF-8.
  const before = Buffer.from(statement.text)
    .subarray(0, place?.start ?? 0)
    .toString();
  const where = `${statement.file.file}:${lineAt(statement, before.length)}`;
  const message = (error?.message ?? "cannot be read").replace(cedarPrefix, "");
  return `${where}: ${message}; ${error?.help ?? place?.label ?? "correct the policy"}`;
}

/** Cedar's own words for the policy that it means. */
const cedarPrefix = /^(for policy `\d+`, |failed to parse policy from string: )/;

function lineAt({ file, start }: Statement, offset: number): number {
  return file.text.slice(0, start + offset).split("\n").length;
}
