import { isSpelling } from "../../registry/names.ts";
import type { ToldTool } from "../../toolkits/find/answer.ts";
import type { Group } from "../groups.ts";
import { chooseTools, isReady } from "./choose.ts";

/** Which group gets a task that names none. */
export interface Votes {
  readonly fits: boolean;
  /** Best first. */
  readonly votes: readonly {
    readonly name: string;
    readonly score: number;
    readonly tools: readonly ToldTool[];
  }[];
}

/**
 * A tool that the task names decides. Otherwise a group is as good as its best tool, as one tool does the work; if no tool clearly
 * fits by its words, groups with a tool for which nothing is open come first.
 */
export function countVotes(
  task: string,
  groups: readonly Group[],
  { fits, tools }: { readonly fits: boolean; readonly tools: readonly ToldTool[] },
): Votes {
  const votes = groups.map(({ file: { name }, tools: members }) => {
    const offered = [...members].map(({ fullName, tool }) => {
      const told = tools.find((each) => isSpelling(each.name, fullName));
      const { description = "", inputSchema } = tool;
      return { name: fullName, description, inputSchema, score: told?.score ?? 0, told };
    });
    const usable = offered.filter(({ told }) => told?.unavailable === undefined);
    const [best] = chooseTools(task, usable, { agent: name });
    const found = offered.flatMap(({ told }) => told ?? []).sort((a, b) => b.score - a.score);
    return {
      name,
      score: Math.max(0, ...found.map(({ score }) => score)),
      tools: found,
      isNamed: best?.isNamed === true,
      isReady: best !== undefined && isReady(best),
    };
  });
  const place = (vote: (typeof votes)[number]): number => {
    if (vote.isNamed) return 0;
    return fits || vote.isReady ? 1 : 2;
  };
  return {
    fits: fits || votes.some(({ isNamed, isReady }) => isNamed || isReady),
    votes: votes
      .filter(({ tools: found, isNamed, isReady }) => found.length > 0 || isNamed || isReady)
      .sort((a, b) => place(a) - place(b) || b.score - a.score || (a.name < b.name ? -1 : 1))
      .map(({ name, score, tools: found }) => ({ name, score, tools: found })),
  };
}
