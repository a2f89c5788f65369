import type { OfferedTool } from "../planner.ts";
import { type Filling, fill } from "./fill.ts";
import { findLeftOver } from "./left-over.ts";
import type { Mention, Reading } from "./mention.ts";

/** A tool for a task, with what the task says for its arguments. */
export interface Choice {
  readonly tool: Offered;
  readonly filling: Filling;
  /** How likely it is that this one of the tools is meant. */
  readonly likelihood: number;
  /** What the task says and neither the tool's own words nor its arguments account for. */
  readonly leftOver: readonly string[];
}

type Offered = Pick<OfferedTool, "name" | "description" | "inputSchema" | "score">;

/** How many tools are read against the task. What ranks lower was never right in any measurement that mattered. */
const readMax = 8;

/** The tools by how well they fit and how well their arguments can be filled, best first. */
export function chooseTool<Tool extends Offered>(reading: Reading, tools: readonly Tool[], data?: unknown): readonly (Choice & { readonly tool: Tool })[] {
  const best = [...tools].sort((a, b) => b.score - a.score).slice(0, readMax);
  const marked = reading.mentions.filter(isMarked);
  const scoreMax = Math.max(1e-9, ...best.map(({ score }) => score));
  const read = best.map((tool) => {
    const filling = fill(reading, tool, data);
    const unused = marked.filter((mention) => !isUsed(mention, filling));
    return {
      tool,
      filling,
      leftOver: findLeftOver(reading, tool, filling),
      worth: judge(filling, tool.score, tool.score / scoreMax) - weights.unused * (unused.length / Math.max(1, marked.length)),
    };
  });
  const most = Math.max(...read.map(({ worth }) => worth));
  const total = read.reduce((sum, { worth }) => sum + Math.exp(worth - most), 0);
  return read.map(({ worth, ...choice }) => ({ ...choice, likelihood: Math.exp(worth - most) / total })).sort((a, b) => b.likelihood - a.likelihood);
}

/** Fitted on half of BFCL's tasks with several functions, then rounded. */
const weights = { score: 4.5, ofBest: 1.6, missing: 1, certain: 1.5, likely: 0.8, guess: 0.6, bare: 0.6, optional: 0.4, wants: 2, unused: 0.3 };

function judge({ filled, missing }: Filling, score: number, ofBest: number): number {
  const required = filled.filter(({ isRequired }) => isRequired);
  const count = required.length + missing.length;
  const shareOf = (certainty: string): number => (count === 0 ? 0 : required.filter((each) => each.certainty === certainty).length / count);
  return (
    weights.score * score +
    weights.ofBest * ofBest -
    (count === 0 ? weights.bare : (weights.missing * missing.length) / count) +
    weights.certain * shareOf("certain") +
    weights.likely * shareOf("likely") -
    weights.guess * shareOf("guess") +
    weights.optional * (filled.length - required.length) -
    // A tool that wants much finds much to fill: that alone says nothing for it.
    weights.wants * Math.log(1 + count)
  );
}

const markedKinds = new Set<Mention["kind"]>(["quoted", "link", "email", "path", "code", "moment", "json", "number"]);

function isMarked({ kind, quantity, isPart }: Mention): boolean {
  return markedKinds.has(kind) && !isPart && !quantity?.isVague && !quantity?.isOrdinal;
}

function isUsed({ start, end }: Mention, { filled }: Filling): boolean {
  return filled.some(({ from }) => typeof from === "object" && from.start < end && start < from.end);
}
