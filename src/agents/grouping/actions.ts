// The action of a tool as a phrase, such as "merge pull requests", from its name if that begins
// with a verb, else from the first sentence of its description.

import type { ToolText } from "../../ranking/document.ts";
import type { WordUsage } from "./usage.ts";

const setOf = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

export interface ToolAction {
  /** In its base form: "search". */
  readonly verb: string;
  /** The object, in lower case except names: "pull requests". */
  readonly object: string;
}

/** Phrases for a tool, best first; none if nothing reads well. */
export function actionsOf(
  { name, description = "" }: Pick<ToolText, "name" | "description">,
  usage: WordUsage,
): ToolAction[] {
  const sentence = readSentence(description);
  const found = [readName(name, sentence?.[0]), sentence].flatMap((words) =>
    words === undefined ? [] : (build(words, usage) ?? []),
  );
  return found.filter(
    ({ verb, object }, at) =>
      found.findIndex((other) => other.verb === verb && other.object === object) === at,
  );
}

/** `said` is the verb of the description, if it begins with one. */
function readName(name: string, said: string | undefined): string[] | undefined {
  const words = name
    .replace(/([a-z0-9])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, "$1$2 ")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "" && !fillers.has(word));
  const verb = words.findIndex((word) => verbs.has(word));
  // In `browser_take_screenshot` the word before the verb is a place. `web_search` has its object first.
  if (verb === -1 || verb > 1 || verb === words.length - 1) return undefined;
  const [first = "", last = "", ...rest] = words.slice(verb);
  // `acme_monitor_checks` does not monitor if it "lists checks of a monitor", and `post-search` does not post.
  if (verb === 1 && nouns.has(first) && said !== undefined && said !== first) return undefined;
  if (rest.length === 0 && /^(?:get|patch|post|put)$/.test(first) && verbs.has(last))
    return undefined;
  // `monitor_update` updates monitors.
  const isNounFirst = rest.length === 0 && nouns.has(first) && endVerbs.has(last);
  return isNounFirst ? [last, first] : words.slice(verb);
}

const endVerbs = setOf("create delete get list read run save start stop update write");
const fillers = new Set(["mcp", "tool", "api", "server", "func", "function"]);

const openings =
  /^(?:(?:use|call) (?:this|it)(?: \w+)? (?:to|for|when you (?:need|want) to)|(?:this|the) (?:tool|function|endpoint|command|operation)(?: (?:is used|can be used|is designed|allows|enables|lets|helps|will|can))?(?: (?:you|users?|agents?|the user))?(?: to)?|(?:a|the) (?:\w+ )?tool (?:to|that|for|which)|(?:allows|enables|lets|helps)(?: (?:you|users?|agents?|the user|the llm))? ?(?:to)?|tool (?:to|for|that)|(?:powerful|simple|easily|quickly|efficiently))\s+/i;

/** Longer than any first sentence that says what a tool does. */
const charactersMax = 4_000;

function readSentence(description: string): string[] | undefined {
  const [sentence = ""] = description
    .slice(0, charactersMax)
    .replace(/[`*_"'“”‘’]|\[[^\]]*\]|\([^)]*\)/g, "")
    .replace(/^[^\p{L}]+/u, "")
    .split(/[.!?\n;:,]|\s[-–—]\s|[^\x20-\x7e]/);
  const words = sentence.replace(openings, "").trim().toLowerCase().split(/\s+/);
  const verb = plainVerb(words[0] ?? "");
  return verb === undefined ? undefined : [verb, ...words.slice(1)];
}

function plainVerb(word: string): string | undefined {
  const forms = [
    word,
    word.replace(/s$/, ""),
    word.replace(/es$/, ""),
    word.replace(/ies$/, "y"),
    word.replace(/ing$/, ""),
    word.replace(/ing$/, "e"),
  ];
  return forms.find((form) => verbs.has(form));
}

const wordsMax = 4;

function build([first = "", ...rest]: readonly string[], usage: WordUsage): ToolAction | undefined {
  const { verb, rest: said } = withoutHead(synonyms.get(first) ?? first, rest);
  const particle = particles.get(verb);
  const object = trim(cut(said[0] === particle ? said.slice(1) : said, verb));
  if (
    object.length === 0 ||
    object.length > wordsMax ||
    !object.every(isPlain) ||
    object.every((word) => vagueNouns.has(word)) ||
    !endsInNoun(object.at(-1) as string)
  )
    return undefined;
  const [only = ""] = object;
  if (object.length === 1 && usage.isName(only) && plainVerbs.has(verb)) return undefined;
  const last = object.at(-1) as string;
  const several = usage.plural(last);
  const isOne =
    several === usage.spell(last) &&
    (superlatives.has(only) || (object.length === 1 && /^(?:web|internet)$/.test(only)));
  return {
    verb: spoken.has(verb) ? `${verb} ${particle}` : verb,
    object: [...(isOne ? ["the"] : []), ...object.slice(0, -1).map(usage.spell), several].join(" "),
  };
}

/** "extract structured" and "run code unsafe" have lost their noun. */
const endsInNoun = (word: string): boolean =>
  !/^(?:unsafe|self|safe|raw|full|new|out)$|[^e]ed$|(?:ting|ling|ring|sing)$/.test(word) ||
  nounEndings.test(word);
const nounEndings =
  /(?:feed|seed|speed|embed|meeting|setting|listing|rating|string|recording|mapping|billing|meter)$/;

/** "Search Wikipedia" is useful, "get Wikipedia" is not. */
const plainVerbs = setOf("add create delete fetch get list open read save set show update write");

/** Up to a word that begins another clause. */
function cut(words: readonly string[], verb: string): readonly string[] {
  const end = words.findIndex(
    (word, at) => boundaries.has(word) && !(verb === "convert" && word === "to" && at > 0),
  );
  return (end === -1 ? words : words.slice(0, end)).filter((word) => !fillers.has(word));
}

/** An ordinary word: no digits, and no verb unless it is also a noun. */
function isPlain(word: string): boolean {
  return (
    /^\p{L}[\p{L}-]*$/u.test(word) && word.length <= 20 && (!verbs.has(word) || nouns.has(word))
  );
}

/** "Get a list of files" becomes "list files", "get the details of a trip" "get trips". */
function withoutHead(
  verb: string,
  words: readonly string[],
): { readonly verb: string; readonly rest: readonly string[] } {
  const at = words.findIndex(
    (word) => word === "of" || word === "about" || word === "for" || word === "on",
  );
  const head = at === -1 ? undefined : words[at - 1];
  if (at > 0 && at < 5 && head !== undefined && lightHeads.has(head))
    return {
      verb: /^lists?$/.test(head) && verb === "get" ? "list" : verb,
      rest: words.slice(at + 1),
    };
  return { verb, rest: words };
}

/** Without leading articles and trailing words such as "info". */
function trim(words: readonly string[]): string[] {
  let [from, to] = [0, words.length];
  while (from < to && leading.has(words[from] as string)) from++;
  while (
    to - 1 > from &&
    (trailing.has(words[to - 1] as string) || /ly$/.test(words[to - 1] as string))
  )
    to--;
  return words.slice(from, to).filter((word) => !articles.has(word));
}

const articles = new Set(["a", "an", "the"]);

const leading = setOf(
  `a an the all any each every some one single multiple several various your their its this these that new existing specific specified given particular
  available different detailed comprehensive complete full basic simple general current-user user's my list raw related relevant recent up-to-date my an more`,
);
const trailing = setOf(
  `info information detail details data id ids name names list lists result results by url all tool item items related contained nearby loaded exists to stats wrapper format formats as trending`,
);
export const vagueNouns = setOf(
  `info information detail details data content contents id ids name names item items result results tool tools status value values back forward
  batch up down all it them object objects url urls thing things type types input output request requests response responses one ones parameters action actions`,
);
const lightHeads = setOf(
  `list lists details detail information info content contents data set collection overview summary description metadata`,
);
const superlatives = setOf(`current latest next first last best top whole default most`);
const boundaries = setOf(
  `for from with without by in on at to into onto using based via that which who when where while if and or as between across about within given including such like
  through over under after before only then so per against along of than also is are was be it them you has have not optionally what how whether why @ & | / + -> =`,
);
/** Verbs with a particle. */
const particles = new Map([
  ["search", "for"],
  ["fill", "out"],
  ["look", "up"],
  ["wait", "for"],
  ["navigate", "to"],
  ["connect", "to"],
  ["subscribe", "to"],
  ["respond", "to"],
  ["reply", "to"],
]);
/** Verbs that always keep their particle. */
const spoken = setOf("wait navigate connect subscribe respond reply look");
const synonyms = new Map(
  Object.entries({
    retrieve: "get",
    return: "get",
    obtain: "get",
    gather: "get",
    lookup: "find",
    locate: "find",
    discover: "find",
    display: "show",
    modify: "edit",
    execute: "run",
    remove: "delete",
  }),
);

const verbs = setOf(
  `add analyze append apply assign book build calculate cancel capture check click clone close compare compile complete compute configure connect
  convert copy count crawl create crop decode delete deploy describe detect disable discover display download draft draw edit enable encode estimate evaluate execute explain explore export
  extract fetch fill filter find follow format forward gather generate geocode get identify import insert inspect install invite launch list load locate lock log lookup manage
  merge modify monitor move navigate obtain open parse pause perform place play plot post predict press preview process publish push put query read record
  reload remove rename render reorder replace reply reset resize resolve restart restore resume retrieve return review rotate run save scan schedule scrape
  search select send set share show solve sort split start stop store submit subscribe suggest summarize switch sync take test track train transcribe translate trigger type
  unlock update upload validate verify view visualize wait watch write`,
);
/** Verbs that are also nouns: "run database queries", "read test results". */
const nouns = setOf(
  `book build check click clone copy count crop display draft draw export estimate filter format import insert invite list load lock log match merge monitor move order place play plot post
  press preview process push query read record render reply review run scan schedule search select share show sort split start stop store switch sync take test track
  train trigger type update upload view watch`,
);
