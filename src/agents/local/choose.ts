import { escapePattern } from "../../base/text.ts";
import { isDeprecated } from "../../ranking/document.ts";
import { maskValues } from "../../ranking/values.ts";
import { type VerbClass, verbClassesOf } from "../../ranking/verbs.ts";
import { splitRuns, wordsOf } from "../../ranking/words.ts";
import { isSpelling, safeNameOf } from "../../registry/names.ts";
import type { ToldTool } from "../../toolkits/find/answer.ts";
import type { Group } from "../groups.ts";
import { type OfferedTool, shownName } from "../planner.ts";
import { type Filling, fill, type Given, searchStems } from "./fill.ts";
import {
  type FindDates,
  findCondition,
  hasFile,
  isHere,
  overlaps,
  readTask,
  type TaskSpan,
  type TaskText,
  type Word,
} from "./task.ts";

/** A tool for a step, with the arguments that the step gives it. */
export interface Choice<Tool extends ScoredTool = OfferedTool> {
  readonly tool: Tool;
  readonly filling: Filling;
  /** Words that neither the tool's own text nor its arguments account for: running it would ignore them. */
  readonly leftOver: readonly string[];
  /** True if the step names the tool. */
  readonly isNamed: boolean;
  /** True if the step has every word of the tool's name. */
  readonly isCovered: boolean;
  /** True if some of these words are in the agent's name only. */
  readonly isCoveredByAgent: boolean;
  /** True if its name only says that it searches, such as `lookup`, and not what. */
  readonly isGeneral: boolean;
  /** True if the verbs of the step and of the tool's name say different things, such as delete and read. */
  readonly isContrary: boolean;
}

type ScoredTool = Pick<OfferedTool, "name" | "description" | "inputSchema" | "score" | "isGuest">;

interface ChooseOptions extends Given {
  /** Its words count as part of every step. */
  readonly agent?: string | undefined;
  readonly findDates?: FindDates | undefined;
}

/** The best tools for a step: one that it names, then those that it fits completely, then by score. */
export function chooseTools<Tool extends ScoredTool>(
  step: string,
  tools: readonly Tool[],
  { agent = "", findDates, ...given }: ChooseOptions = {},
): readonly Choice<Tool>[] {
  const task = readTask(step, findDates);
  const own = stemsOf(step);
  const stems = new Set([...own, ...wordsOf(agent)]);
  const verbs = verbClassesOf(splitRuns(maskValues(step)));
  const choices = tools.map((tool) => {
    const named = findName(task, tool.name, tools);
    const filling = fill(task, tool, given, named);
    const words = wordsOf(bareName(tool));
    return {
      tool,
      filling,
      leftOver: findLeftOver(task, tool, filling, named),
      isNamed: named !== undefined,
      isCovered: words.every((word) => stems.has(word)),
      isCoveredByAgent: !words.every((word) => own.has(word)),
      isGeneral: words.every((word) => searchStems.has(word)),
      isContrary: isContrary(verbs, tool),
    };
  });
  return choices
    .filter((choice) => choice.tool.score > 0 || choice.isNamed || isStatedOutright(choice))
    .sort(
      (a, b) =>
        placeOf(a) - placeOf(b) ||
        Number(isSpokenOf(b)) - Number(isSpokenOf(a)) ||
        b.tool.score - a.tool.score,
    );
}

const isSpokenOf = ({ isCovered, isGeneral }: Choice<ScoredTool>): boolean =>
  isCovered && !isGeneral;

/**
 * The stems of a step and of what its words imply: README.md is a text file, "find" means search, "show" a file
 * means read it, "what files are in" a folder means list it, and a question means "get".
 */
function stemsOf(step: string): Set<string> {
  const stems = new Set(wordsOf(`${step} ${maskValues(step)}`));
  const add = (words: Iterable<string>): void => {
    for (const word of words) stems.add(word);
  };
  if ([...searchStems].some((stem) => stems.has(stem))) add(searchStems);
  if (hasFile.test(step)) {
    if (!/\.(?:png|jpe?g|gif|webp|mp3|wav|mp4|pdf|zip)\b/i.test(step)) add(wordsOf("text"));
    if (/\b(?:show|open|view|display|print|cat|contents?|what(?:'s| is) in)\b/i.test(step))
      add(wordsOf("read"));
    if (/\bhow (?:big|large|old)\b/i.test(step)) add(wordsOf("info"));
  }
  if (/\b(?:what|which) (?:files|folders|directories)\b.*\bin\b/i.test(step))
    add(wordsOf("list directory"));
  if (isHere.test(step)) add(wordsOf("directory"));
  // "What is the weather in Oslo?" asks to get it.
  const [verb] = verbClassesOf(splitRuns(maskValues(step)));
  if (verb === undefined || verb === "read") add(wordsOf("get"));
  return stems;
}

/** A tool whose name has no verb does what its description says first. */
function isContrary(verbs: readonly VerbClass[], tool: ScoredTool): boolean {
  const [own] = verbClassesOf([
    ...splitRuns(bareName(tool)),
    ...splitRuns(tool.description).slice(0, 1),
  ]);
  const [asked] = verbs;
  return (
    own !== undefined && asked !== undefined && own !== asked && [own, asked].includes("remove")
  );
}

function placeOf(choice: Choice<ScoredTool>): number {
  if (choice.isNamed) return 0;
  if (choice.isContrary) return 9;
  if (isDeprecated(choice.tool.description) || choice.leftOver.length > 0) return 8;
  if (choice.filling.missing.length > 0) return 7;
  if (!isComplete(choice)) return 6;
  if (!choice.isCovered) return 5;
  if (choice.tool.isGuest) return 4;
  if (choice.isGeneral) return 3;
  return choice.isCoveredByAgent ? 2 : 1;
}

/** Nothing is open: the tool clearly fits, and every argument is known for sure. */
function isReady(choice: Choice<ScoredTool>): boolean {
  return (choice.isCovered || isStatedOutright(choice)) && isComplete(choice);
}

/** Every required argument is known for sure, and nothing in the step would be ignored. */
function isComplete({ filling, leftOver }: Pick<Choice, "filling" | "leftOver">): boolean {
  const { filled, missing, unusedData } = filling;
  const isOpen = missing.length + unusedData.length + leftOver.length > 0;
  return !isOpen && filled.every(({ isSure }) => isSure);
}

/** The step consists of the tool's arguments and nothing else, such as "2+2": right even if they share no word. */
function isStatedOutright(choice: Pick<Choice, "filling" | "leftOver">): boolean {
  const { filled } = choice.filling;
  return isComplete(choice) && filled.length > 0 && filled.every(({ isExplicit }) => isExplicit);
}

/** How far ahead of the next complete tool the first one must be. */
const leadFactor = 1.2;
/** A complete tool may rank lower than an incomplete one, but not by more than this. */
const scoreShareMin = 0.4;

/** Why the first choice must not run before a person or a model has looked at it; undefined when it may. */
export function findDoubt(
  step: string,
  choices: readonly Choice[],
  { fits }: { readonly fits: boolean },
): string | undefined {
  const [first, second] = choices;
  const condition = findCondition(step);
  if (!first) return "no tool here fits it";
  if (condition !== undefined) return `"${condition}" needs judgement`;

  const { tool, filling, leftOver, isNamed, isCovered, isContrary } = first;
  const name = shownName(tool);
  if (isNamed && second?.isNamed) return `it names ${name} and ${shownName(second.tool)}`;
  if (!isNamed && (isContrary || !(fits || isCovered || isStatedOutright(first))))
    return "no tool here clearly fits it";
  const unsure = filling.filled.filter(({ isSure }) => !isSure).map(({ name }) => name);
  if (filling.missing.length > 0) return `the task does not give ${listWords(filling.missing)}`;
  if (unsure.length > 0) return `${listWords(unsure)} must be checked`;
  if (filling.unusedData.length > 0)
    return `${name} has no parameter for ${listWords(filling.unusedData)}`;
  if (leftOver.length > 0)
    return `${name} would ignore ${listWords(leftOver.slice(0, 4).map((text) => `"${text}"`))}`;
  if (!isNamed && !leads(first, choices)) return "more than one tool could be meant";
  if (tool.asks !== undefined) return `${name} requires approval: ${tool.asks}`;
  return tool.isReadOnly ? undefined : `${name} may change something`;
}

function leads(first: Choice, choices: readonly Choice[]): boolean {
  const best = Math.max(...choices.map(({ tool }) => tool.score));
  const isFar = first.tool.score < best * scoreShareMin;
  if (isFar && !first.isCovered && !isStatedOutright(first)) return false;
  const rivals = choices.filter((other) => other !== first && placeOf(other) === placeOf(first));
  return rivals.every(
    ({ tool }) =>
      bareName(tool) !== bareName(first.tool) && tool.score * leadFactor < first.tool.score,
  );
}

function listWords(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

const bareName = ({ name }: Pick<ScoredTool, "name">): string => name.slice(name.indexOf(".") + 1);

/**
 * The place where a step names a tool: by its full name, by a bare name that is no ordinary word, or by any
 * bare name in quotes or as the first word.
 */
function findName(
  { text, mentions }: TaskText,
  fullName: string,
  tools: readonly ScoredTool[],
): TaskSpan | undefined {
  const find = (name: string, flags = ""): TaskSpan | undefined => {
    const match = new RegExp(String.raw`(?<![\w.])${escapePattern(name)}(?!\w|\.\w)`, flags).exec(
      text,
    );
    return match ? { start: match.index, end: match.index + match[0].length } : undefined;
  };
  const full = find(fullName, "i") ?? find(safeNameOf(fullName), "i");
  const bare = bareName({ name: fullName });
  if (full || tools.some((tool) => tool.name !== fullName && bareName(tool) === bare)) return full;
  if (/[_-]|\p{Ll}\p{Lu}/u.test(bare)) return find(bare);
  const quoted = mentions.find((each) => each.kind === "quoted" && each.text === bare);
  const first = find(bare, "i");
  return quoted ?? (first && text.slice(0, first.start).trim() === "" ? first : undefined);
}

/** Words that ask for something and do not say what. */
const askingWords = new Set(
  wordsOf(
    `find show give tell want need like know help look get provide me please thanks hello could would let make see check out
    right now given using use compute calculate evaluate what's i'm i'd current currently exactly about up call run try tool`,
  ),
);

function findLeftOver(
  { words, text }: TaskText,
  { name, description }: ScoredTool,
  { filled }: Filling,
  named: TaskSpan | undefined,
): readonly string[] {
  const [firstSentence = ""] = description
    .replace(/\b(?:e\.g\.|such as|for example|for instance)[^.;)]{0,200}/gi, " ")
    .split(/(?<=[.!?])\s+|\n/);
  const names = new Set(wordsOf(`${name} ${filled.map((each) => each.name).join(" ")}`));
  const known = new Set([...names, ...wordsOf(firstSentence), ...askingWords]);
  const used: readonly TaskSpan[] = named ? [...filled, named] : filled;
  // A name or a number says which one is meant: that a description mentions it is not enough.
  const isName = (word: Word): boolean =>
    /[\d/@]/.test(word.text) ||
    /(?<!(?:^|[.!?:]\s+)["'(]?)\p{Lu}$/u.test(text.slice(0, word.start + 1));
  return words
    .filter((word) => !used.some((span) => overlaps(span, word)))
    .filter((word) => wordsOf(word.text).some((stem) => !(isName(word) ? names : known).has(stem)))
    .map((word) => word.text);
}

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
 * The group with a tool that the task names wins. Otherwise a group ranks as high as its best tool. If no tool
 * clearly fits, groups come first whose tool has all arguments for sure.
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
