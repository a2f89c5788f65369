import type { OfferedTool } from "../planner.ts";
import type { Choice } from "./choose.ts";

export type Chosen = Choice & { readonly tool: OfferedTool };

/** How much likelier than all others together the first tool must be. */
const aheadFrom = 0.9;

/** Why a choice must not be acted on without anybody looking; undefined when it may. */
export function findDoubt(
  choice: Chosen | undefined,
  { fits }: { readonly fits: boolean },
): string | undefined {
  if (!choice) return "no tool here has anything to do with it";
  const { tool, filling, likelihood, leftOver } = choice;
  if (!fits && !isSaidOutright(choice)) return "nothing here seems made for it";
  if (likelihood < aheadFrom) return "more than one tool could be meant";
  if (filling.missing.length > 0) return `it does not say ${listOf(filling.missing)}`;
  const open = filling.filled
    .filter(({ certainty }) => certainty !== "certain")
    .map(({ name }) => name);
  if (open.length > 0) return `${listOf(open)} ${open.length === 1 ? "is" : "are"} not certain`;
  if (filling.unclear.length > 0) return `it may say something of ${listOf(filling.unclear)}`;
  if (leftOver.length > 0)
    return `${tool.name} would ignore ${listOf(leftOver.slice(0, 4).map((text) => JSON.stringify(text.slice(0, 60))))}`;
  if (tool.unavailable !== undefined)
    return `${tool.name} is not available right now (${tool.unavailable})`;
  if (tool.asks !== undefined) return `a person has to be asked first: ${tool.asks}`;
  return tool.isDestructive ? `${tool.name} may change or send something` : undefined;
}

/** All that the tool must have is said for it and no other, and nothing else is said: then it is made for the task, however few words they share. */
export function isSaidOutright({
  filling: { filled, missing },
  leftOver,
}: Pick<Choice, "filling" | "leftOver">): boolean {
  return (
    missing.length === 0 &&
    leftOver.length === 0 &&
    filled.length > 0 &&
    filled.every(({ isOutright }) => isOutright)
  );
}

function listOf(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
