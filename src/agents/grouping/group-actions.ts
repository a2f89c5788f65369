// The actions of a group in a few words: the phrases that together cover its tools best.

import type { CorpusSnapshot } from "../../ranking/corpus.ts";
import type { ToolText } from "../../ranking/document.ts";
import { likenessOf, profileOfText, type TextProfile } from "../../ranking/likeness.ts";
import type { Vectors } from "../../ranking/vectors.ts";
import { wordsOf } from "../../ranking/words.ts";
import { actionsOf, type ToolAction } from "./actions.ts";
import type { WordUsage } from "./usage.ts";

/** A tool of a group. */
export interface Member extends Pick<ToolText, "name" | "description"> {
  readonly toolkit: string;
  readonly profile: TextProfile;
}

export interface ActionOptions {
  readonly reading: CorpusSnapshot;
  readonly vectors: Vectors | undefined;
  readonly usage: WordUsage;
  readonly charactersMax: number;
}

const limits = { candidates: 120, sample: 200, actions: 12, sameVerb: 8 };
/** Weight of a tool's second phrase. */
const secondShare = 0.85;

/** A tool's own phrase describes it better than a similar one. */
const ownBonus = 0.15;

/** First as many different objects as fit, then more verbs for them. */
export function chooseActions(
  members: readonly Member[],
  { reading, vectors, usage, charactersMax }: ActionOptions,
): ToolAction[] {
  const sample = thin(members, limits.sample);
  const sizes = new Map<string, number>();
  for (const { toolkit } of sample) sizes.set(toolkit, (sizes.get(toolkit) ?? 0) + 1);
  // The weight of a toolkit grows with the square root of its size.
  const weights = sample.map(({ toolkit }) => 1 / Math.sqrt(sizes.get(toolkit) ?? 1));
  const candidates = findCandidates(thin(members, limits.candidates), usage).map((candidate) => {
    const profile = profileOfText(textOf(candidate.action), reading, vectors);
    return {
      ...candidate,
      stems: new Set(wordsOf(candidate.action.object)),
      likeness: sample.map(
        (member) =>
          likenessOf(profile, member.profile) + (candidate.owners.has(member) ? ownBonus : 0),
      ),
    };
  });
  const covered = new Float64Array(sample.length);
  const chosen: Scored[] = [];
  let room = charactersMax;
  for (const mayFollow of [isNewObject, isNewVerb]) {
    while (chosen.length < limits.actions) {
      const best = candidates
        .filter((candidate) => mayFollow(candidate, chosen))
        .map((candidate) => ({
          candidate,
          cost: costOf(candidate.action, chosen),
          gain: candidate.worth * gainOf(candidate.likeness, covered, weights),
        }))
        .filter(({ cost, gain }) => cost <= room && gain > 0)
        .sort((a, b) => b.gain / Math.sqrt(b.cost) - a.gain / Math.sqrt(a.cost))[0];
      if (best === undefined) break;
      chosen.push(best.candidate);
      room -= best.cost;
      best.candidate.likeness.forEach((value, at) => {
        covered[at] = Math.max(covered[at] as number, value);
      });
    }
  }
  return chosen.map(({ action }) => action);
}

interface Scored {
  readonly action: ToolAction;
  readonly stems: ReadonlySet<string>;
}

function isNewObject({ action, stems }: Scored, chosen: readonly Scored[]): boolean {
  const isSame = (other: Scored): boolean => {
    const [small, large] =
      stems.size < other.stems.size ? [stems, other.stems] : [other.stems, stems];
    return [...small].every((stem) => large.has(stem));
  };
  return (
    chosen.filter(({ action: { verb } }) => verb === action.verb).length < limits.sameVerb &&
    !chosen.some(isSame)
  );
}

/** The same object with another verb; "get" adds nothing to it. */
function isNewVerb({ action }: Scored, chosen: readonly Scored[]): boolean {
  const same = chosen.filter((other) => other.action.object === action.object);
  return (
    same.length > 0 &&
    action.verb !== "get" &&
    same.every((other) => other.action.verb !== action.verb && other.action.verb !== "get")
  );
}

/** An evenly spaced sample. */
export function thin<T>(items: readonly T[], countMax: number): readonly T[] {
  const step = items.length / countMax;
  return step <= 1
    ? items
    : Array.from({ length: countMax }, (_, at) => items[Math.floor(at * step)] as T);
}

interface Candidate {
  readonly action: ToolAction;
  readonly worth: number;
  /** The tools that have this action. */
  readonly owners: ReadonlySet<Member>;
}

function findCandidates(members: readonly Member[], usage: WordUsage): Candidate[] {
  const found = new Map<string, Candidate>();
  for (const member of members) {
    actionsOf(member, usage).forEach((action, at) => {
      const worth = at === 0 ? 1 : secondShare;
      const before = found.get(textOf(action));
      found.set(textOf(action), {
        action,
        worth: Math.max(worth, before?.worth ?? 0),
        owners: new Set([...(before?.owners ?? []), member]),
      });
    });
  }
  return [...found.values()].sort((a, b) => (textOf(a.action) < textOf(b.action) ? -1 : 1));
}

const textOf = ({ verb, object }: ToolAction): string => `${verb} ${object}`;

/** Repeated verbs and objects are written once. */
function costOf({ verb, object }: ToolAction, chosen: readonly Scored[]): number {
  if (chosen.some(({ action: other }) => other.object === object)) return verb.length + 2;
  return (
    object.length +
    2 +
    (chosen.some(({ action: other }) => other.verb === verb) ? 0 : verb.length + 1)
  );
}

function gainOf(
  likeness: readonly number[],
  covered: Float64Array,
  weights: readonly number[],
): number {
  return likeness.reduce(
    (sum, value, at) =>
      sum + Math.max(0, value - (covered[at] as number)) * (weights[at] as number),
    0,
  );
}

/** "read, write and move files, create documents and charts, and search the web" */
export function formatActions(actions: readonly ToolAction[]): string {
  const phrases = gather(actions).map(
    ({ verbs, objects }) => `${joinWords(verbs.sort(deleteLast))} ${joinWords(objects)}`,
  );
  const isPlain =
    phrases.length < 2 || !phrases.slice(-2).some((phrase) => phrase.includes(" and "));
  return isPlain ? joinWords(phrases) : `${phrases.slice(0, -1).join(", ")}, and ${phrases.at(-1)}`;
}

const deleteLast = (a: string, b: string): number =>
  Number(a === "delete") - Number(b === "delete");

/** Joins the verbs of one object, then the objects of one verb. */
function gather(
  actions: readonly ToolAction[],
): { readonly verbs: string[]; readonly objects: string[] }[] {
  const phrases: { verbs: string[]; objects: string[] }[] = [];
  const isShared = (object: string): boolean =>
    actions.filter((other) => other.object === object).length > 1;
  for (const { verb, object } of actions) {
    const same = phrases.find(({ verbs, objects }) =>
      isShared(object)
        ? objects[0] === object
        : verbs[0] === verb && verbs.length === 1 && !isShared(objects[0] ?? ""),
    );
    if (same === undefined) phrases.push({ verbs: [verb], objects: [object] });
    else if (isShared(object)) same.verbs.push(verb);
    else same.objects.push(object);
  }
  return phrases;
}

export function joinWords(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}
