import { isObject, type JsonObject } from "../base/json.ts";
import type { CallContext, Target } from "../tool.ts";
import type { Registry } from "./registry.ts";
import type { PromptTarget } from "./toolkit-entry.ts";

/** How the hall lists names: `server__tool`, which every model API accepts, or `server.tool`. Calls may use either. */
export type NameStyle = "underscore" | "dot";

/** How one client sees them: `strict` has no exceptions. */
export type Spelling = NameStyle | "strict";

/** Clients that fail over one name with a dot, by the name they report. */
const refuseDots: ReadonlySet<string> = new Set([
  "claude-ai",
  "anthropic/claudeai",
  "codex-mcp-client",
  "github-copilot-developer",
  "openai-mcp",
  "visual studio code",
]);

/** How a request wants names spelled in its answer. Config and audit write dots, so our own commands ask for them. */
export const dottedNames: JsonObject = { "guildhall/names": "dot" };

/** `client` is name and version. */
export function spellingFor(names: NameStyle, meta: unknown, client: string): Spelling {
  if (names === "dot" || (isObject(meta) && meta["guildhall/names"] === "dot")) return "dot";
  const name = client.toLowerCase().replace(/ [^ ]*$/, "");
  return refuseDots.has(name) || refuseDots.has(client.toLowerCase()) ? "strict" : "underscore";
}

export function spellName(
  item: Target | PromptTarget,
  spelling: Spelling,
  { shownName }: Pick<Registry, "shownName">,
): string {
  const { toolkit, fullName } = item;
  const keepsDot = spelling === "underscore" && toolkit.keepsDot;
  return spelling === "dot" || keepsDot || toolkit.source === "hall" ? fullName : shownName(item);
}

/** The reader of an answer: the client of a call. */
export type NameReader = Pick<CallContext, "meta" | "caller">;

export type SpellingOf = (reader: NameReader) => Spelling;

/** A tool's name as the reader sees it in its list. */
export type Spell = (item: Target | PromptTarget, reader: NameReader) => string;

export function createSpelling(
  registry: Pick<Registry, "shownName">,
  names: NameStyle,
): { readonly spell: Spell; readonly spellingOf: SpellingOf } {
  const spellingOf: SpellingOf = ({ meta, caller }) =>
    spellingFor(names, meta, caller?.client ?? "");
  return { spellingOf, spell: (item, reader) => spellName(item, spellingOf(reader), registry) };
}
