import { isObject, type JsonObject } from "../base/json.ts";
import type { PromptTarget, Registry } from "../registry/registry.ts";
import type { Target } from "../tool.ts";

/** How the hall lists names: `server__tool`, which every model API accepts, or `server.tool`. Calls may use either. */
export type NameStyle = "dot" | "underscore";

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

/** `client` is name and version. Our own commands ask for dots, as config and audit write names. */
export function spellingFor(names: NameStyle, { _meta }: JsonObject, client: string): Spelling {
  if (names === "dot" || (isObject(_meta) && _meta["guildhall/names"] === "dot")) return "dot";
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
