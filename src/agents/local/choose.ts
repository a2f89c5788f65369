import type { OfferedTool } from "../planner.ts";
import type { Certainty } from "./certainty.ts";
import { type Filling, fill, type Given } from "./fill.ts";
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

/** How many tools are read against the task: what ranks lower is seldom meant, and each takes about a millisecond. */
const readMax = 6;

/** The tools by how well they fit and how well their arguments can be filled, best first. */
export function chooseTool<Tool extends Offered>(
  reading: Reading,
  tools: readonly Tool[],
  given: Given = {},
): readonly (Choice & { readonly tool: Tool })[] {
  const best = [...tools].sort((a, b) => b.score - a.score).slice(0, readMax);
  const marked = reading.mentions.filter(isMarked);
  const wordCount = reading.tokens.filter(({ isWord }) => isWord).length;
  const scoreMax = Math.max(1e-9, ...best.map(({ score }) => score));
  const read = best.map((tool) => {
    const filling = fill(reading, tool, given);
    const leftOver = findLeftOver(reading, tool, filling);
    const usedShare =
      marked.filter((mention) => isUsed(mention, filling)).length / Math.max(1, marked.length);
    const worth =
      judgeRank(tool.score, scoreMax) +
      judgeFilling(filling) +
      judgeWords(usedShare, leftOver.length / Math.max(1, wordCount)) -
      (isDeprecated(tool) ? weights.deprecated : 0);
    return { tool, filling, leftOver, worth };
  });
  const most = Math.max(...read.map(({ worth }) => worth));
  const total = read.reduce((sum, { worth }) => sum + Math.exp(worth - most), 0);
  return read
    .map(({ worth, ...choice }) => ({ ...choice, likelihood: Math.exp(worth - most) / total }))
    .sort((a, b) => b.likelihood - a.likelihood);
}

/** Fitted on the seen halves of BFCL and of its conversations, then rounded. */
const weights = {
  score: 6,
  ofBest: 2.3,
  first: 0.8,
  certain: 1,
  likely: 0.55,
  guess: 0.9,
  bare: 0.8,
  optional: 0.55,
  wants: 1.15,
  used: 1.3,
  left: 1,
  deprecated: 3,
};

function judgeRank(score: number, scoreMax: number): number {
  return (
    weights.score * score +
    (weights.ofBest * score) / scoreMax +
    (score === scoreMax ? weights.first : 0)
  );
}

function judgeFilling({ filled, missing }: Filling): number {
  const required = filled.filter(({ isRequired }) => isRequired);
  const count = required.length + missing.length;
  if (count === 0) return weights.optional * filled.length - weights.bare;
  const shareOf = (certainty: Certainty): number =>
    required.filter((each) => each.certainty === certainty).length / count;
  return (
    weights.certain * shareOf("certain") +
    weights.likely * shareOf("likely") -
    weights.guess * shareOf("guess") +
    weights.optional * (filled.length - required.length) -
    // A tool that wants much finds much to fill: that alone says nothing for it.
    weights.wants * Math.log(1 + count)
  );
}

/** Of what the task marks, the share that is used; of its words, the share that is left over. */
function judgeWords(usedShare: number, leftShare: number): number {
  return weights.used * usedShare - weights.left * leftShare;
}

/** Says of itself that another has taken its place. */
const isDeprecated = ({ description }: Offered): boolean =>
  /\bDEPRECATED\b|(?:^|[.!([]\s*)deprecated\b|\b(?:tool|function|method) is deprecated\b/i.test(
    description,
  );

const markedKinds = new Set<Mention["kind"]>([
  "quoted",
  "link",
  "email",
  "path",
  "code",
  "moment",
  "json",
  "number",
]);

function isMarked({ kind, quantity, isPart }: Mention): boolean {
  return markedKinds.has(kind) && !isPart && !quantity?.isVague && !quantity?.isOrdinal;
}

function isUsed({ start, end }: Mention, { filled }: Filling): boolean {
  return filled.some(
    ({ from }) => typeof from === "object" && from.start < end && start < from.end,
  );
}
