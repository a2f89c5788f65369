import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Scope } from "../base/scope.ts";
import { isSpelling } from "../registry/names.ts";
import type { CallContext, Outcome, Progress, Target } from "../tool.ts";
import { type AnswerParts, findOutage, isShownTo } from "../toolkits/find/answer.ts";
import type { Finder, Found } from "../toolkits/find/finder.ts";
import { markTool } from "../trust/marks.ts";
import type { Group, Groups } from "./groups.ts";
import { type OfferedTool, offeredMax, shownName, type ToolOffer } from "./planner.ts";

/** The tools a run works with: those of a group, or of the record of an earlier run. */
export interface Workbench extends ToolOffer {
  /** Other tools of the group. */
  find(query: string, limit: number): Promise<readonly OfferedTool[]>;
  /** By the full name, the shown name, `toolkit__tool`, or an unambiguous bare name. */
  get(name: string): OfferedTool | undefined;
  /** Throws HallError. */
  call(tool: OfferedTool, args: JsonObject, how: CallHow): Promise<Outcome>;
}

export interface CallHow {
  readonly scope: Scope;
  readonly planner: string;
  progress(progress: Progress): void;
}

export interface WorkbenchOptions {
  readonly group: Group;
  readonly groups: Groups;
  readonly finder: Finder;
  readonly parts: AnswerParts;
  readonly context: CallContext;
  /** The task and its context. */
  readonly words: string;
}

export async function openWorkbench({
  group,
  groups,
  finder,
  parts,
  context,
  words,
}: WorkbenchOptions): Promise<Workbench> {
  const isShown = isShownTo(parts, context);
  const members = [...group.tools].filter(isShown);
  const among = (target: Target): boolean => group.tools.has(target) && isShown(target);
  const offer = (target: Target, score: number): OfferedTool => ({
    ...describeTool(target, parts),
    shown: parts.spell(target, context),
    score,
    isGuest: group.guests.has(target),
  });
  const offerAll = (found: readonly Found[]): readonly OfferedTool[] =>
    found.flatMap(({ target, alike, score }) =>
      [target, ...alike].map((each) => offer(each, score)),
    );
  /** Another agent whose tools fit the task. */
  const findBetter = async (): Promise<string | undefined> => {
    const all = await finder.find(words, { limit: 1, among: isShown });
    const [best] = all.fits ? all.found : [];
    const owner = best && groups.all().find(({ tools }) => tools.has(best.target));
    return owner?.file.name === group.file.name ? undefined : owner?.file.name;
  };
  const { found, fits } = await finder.find(words, { limit: offeredMax, among });
  const ranked = new Set(found.flatMap(({ target, alike }) => [target, ...alike]));
  // A small group is offered completely: a tool that was not found may still be the right one.
  const rest =
    members.length > offeredMax
      ? []
      : members.filter((target) => mayBeSeen(target, parts) && !ranked.has(target));
  return {
    tools: [...offerAll(found), ...rest.map((target) => offer(target, 0))],
    fits,
    toolCount: members.length,
    better: fits ? undefined : await findBetter(),
    async find(query, limit) {
      return offerAll((await finder.find(query, { limit, among })).found);
    },
    get(name) {
      const exact =
        members.find((target) => parts.spell(target, context) === name) ??
        members.find(({ fullName }) => isSpelling(name, fullName));
      const bare = exact ? [] : members.filter(({ tool }) => tool.name === name);
      const target = exact ?? (bare.length === 1 ? bare[0] : undefined);
      return target && mayBeSeen(target, parts) ? offer(target, 0) : undefined;
    },
    async call(tool, args, { scope, planner, progress }) {
      if (!context.call) throw new HallError("EXECUTION", "agents only work inside the gateway");
      // Errors quote the name as it is called, and the answer quotes errors.
      return context.call(shownName(tool), args, scope, { planner, progress });
    },
  };
}

/** Text of held tools must not reach a model. */
function mayBeSeen(target: Target, { trust }: AnswerParts): boolean {
  return trust?.heldBecause(target) === undefined;
}

function describeTool(
  target: Target,
  { health, trust }: AnswerParts,
): Omit<OfferedTool, "shown" | "score" | "isGuest"> {
  const { tool, fullName } = target;
  const verdict = trust?.judge(target);
  const { effect, sendsOut } = verdict?.marks ?? markTool(tool);
  return {
    name: fullName,
    description: tool.description ?? tool.title ?? "",
    inputSchema: tool.inputSchema,
    isReadOnly: effect === "reads" && !sendsOut,
    asks: verdict?.askInside,
    unavailable: findOutage(target, health),
  };
}
