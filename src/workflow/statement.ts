import { lowerCase } from "./english.ts";
import { baseVerb, isVerb, kindOf, type VerbKind } from "./verbs.ts";

/**
 * A description, sentence by sentence: who may do what to what, which rules hold, which figures are named. Grammar by rule, in English;
 * what the rules do not understand stays as its author wrote it.
 */
export interface Statement {
  /** The sentence as it was written, without its full stop. */
  readonly text: string;
  /** Who does it, in the singular and without an article; undefined when the sentence names nobody. */
  readonly actor: string | undefined;
  readonly kind: "capability" | "rule";
  readonly actions: readonly Action[];
  readonly isForbidden: boolean;
  /** What follows "so that". */
  readonly purpose: string | undefined;
  /** What follows "when" or "if"; which of the actions it belongs to, they say themselves. */
  readonly condition: string | undefined;
  /** Of a rule: what it is about, such as "Albums". */
  readonly subject: string | undefined;
}

export interface Action {
  readonly verb: string;
  readonly kind: VerbKind | undefined;
  /** Everything behind the verb, pronouns replaced: "photos into albums". */
  readonly rest: string;
  /** What it is done to, in the singular: "photo". */
  readonly things: readonly string[];
  /** What those become part of: "album". */
  readonly into: string | undefined;
  /** What the description says they have: "title", "due date". */
  readonly attributes: readonly string[];
  /** What it is done upon: what the sentence says first, or behind this action. */
  readonly condition?: string | undefined;
  /** What it is done to is said only behind a later verb: "edit" in "edit and delete photos". */
  readonly sharesObject?: boolean;
}

const charactersMax = 20_000;
const statementsMax = 60;

export function parseStatements(description: string): readonly Statement[] {
  return splitSentences(description.slice(0, charactersMax))
    .flatMap(splitSubjects)
    .slice(0, statementsMax)
    .map(parseStatement);
}

/** "Admins can export orders, and customers get an email": somebody else does something else. A condition in front holds for both, so they stay together. */
function splitSubjects(sentence: string): readonly string[] {
  if (/^(?:when|if|whenever|once|after|as an?) /i.test(sentence)) return [sentence];
  for (const { index, 0: between } of sentence.matchAll(/,? (?:and|but|while) /gi)) {
    const head = sentence.slice(0, index);
    const tail = sentence.slice(index + between.length);
    const isSaid = head
      .split(" ")
      .slice(1, -1)
      .some((word) => baseVerb(word) !== undefined);
    if (isSaid && beginsAnew(tail, between.startsWith(",")))
      return [head, ...splitSubjects(upperFirst(tail))];
  }
  return [sentence];
}

function beginsAnew(tail: string, isApart: boolean): boolean {
  const ruled = modal.exec(tail);
  if (ruled && isPerson(ruled[1] ?? "")) return true;
  return isApart && findPersonAtStart(tail) !== undefined;
}

/** Whether a description has anything that a spec could be made of: an action, or a rule. */
export function saysSomething(description: string): boolean {
  return parseStatements(description).some(
    ({ kind, actions, subject, text }) =>
      (kind === "capability" && actions.length > 0) ||
      subject !== undefined ||
      modal.test(text) ||
      measure.test(text) ||
      text
        .split(" ")
        .slice(1)
        .some((word) => /^(?:is|are|has|have)$/i.test(word) || baseVerb(word) !== undefined),
  );
}

function splitSentences(text: string): readonly string[] {
  return text
    .replace(/\r/g, "")
    .replace(/\b(e\.g|i\.e|etc|vs|approx)\./gi, (found) => found.replaceAll(".", "\u0001"))
    .split(/\n\s*\n|\n(?=\s*(?:[-*•]|\d+[.)])\s)|(?<=[.!?;])\s+(?=\S)/)
    .map((sentence) =>
      sentence
        .replace(/^\s*(?:[-*•]|\d+[.)])\s+/, "")
        .replace(/^#+\s*/, "")
        .replace(/\s+/g, " ")
        .replaceAll("\u0001", ".")
        .trim()
        .replace(/[.!;:]+$/, ""),
    )
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
}

const people = new Set(
  "user admin administrator customer visitor developer operator member owner team editor author student teacher patient doctor driver manager agent client moderator guest buyer seller reader maintainer reviewer employee people person someone anyone everyone staff colleague parent child player participant organizer organiser subscriber analyst engineer librarian nurse chef host renter tenant landlord applicant candidate recruiter cashier accountant".split(
    " ",
  ),
);

const modal =
  /^(.{1,60}?)\s+(can(?:not|'t)?|could|may(?: not)?|must(?: not|n't)?|should(?: not|n't)?|shall(?: not)?|will(?: not)?|won't|needs? to|wants? to|(?:is|are) able to|never|always)\s+(.+)$/i;

/** "Rate limit 100 requests per minute": a measure and its figure, whatever verb its first word may be elsewhere. */
export const measure =
  /^((?:the |an? )?(?:[\w-]+ ){0,2}(?:limit|timeout|quota|size|length|window|interval|period|budget|threshold|ttl|retention|maximum|minimum|latency))(?: of| is| at|:)? (\d.*)$/i;

function parseStatement(text: string): Statement {
  const { body, purpose, condition, isBehind } = takeClauses(text);
  const statement = parseBody(text, body, { purpose, condition });
  const { actions } = statement;
  if (condition === undefined || actions.length === 0) return statement;
  // Behind several actions it belongs to the last, and to those that share its object: "edit and delete photos when …".
  const from = isBehind
    ? actions.findLastIndex(({ sharesObject }, at) => at < actions.length - 1 && !sharesObject) + 1
    : 0;
  return {
    ...statement,
    actions: actions.map((action, at) => (at >= from ? { ...action, condition } : action)),
  };
}

function parseBody(
  text: string,
  body: string,
  { purpose, condition }: Pick<Statement, "purpose" | "condition">,
): Statement {
  if (measure.test(body)) return rule(text, { subject: undefined, work: body, purpose, condition });
  const story =
    /^as an? (.+?),? (?:i|we) (?:want|would like|need|wish)(?: to)?(?: be able to)? (.+)$/i.exec(
      body,
    );
  if (story)
    return capability(text, {
      actor: singularOf(bare(story[1] ?? "")),
      work: story[2] ?? "",
      purpose,
      condition,
    });
  const allowed =
    /^(?:we (?:need|want) to )?(?:allow|let|enable|permit)s? (?:the )?([\w -]{2,40}?) (?:to )?(\w[\w-]*)\b(.*)$/i.exec(
      body,
    );
  if (allowed && isPerson(allowed[1] ?? "") && isVerb(allowed[2] ?? "")) {
    return capability(text, {
      actor: singularOf(bare(allowed[1] ?? "")),
      work: `${allowed[2]}${allowed[3]}`,
      purpose,
      condition,
    });
  }
  // "Only the owner sees a note" says what others may not.
  if (/^only /i.test(body))
    return rule(text, { subject: undefined, work: body, purpose, condition });
  const ruled = modal.exec(body);
  if (ruled && !/ (?:is|are|has|have) /i.test(ruled[1] ?? "")) {
    const [, subject = "", word = "", raw = ""] = ruled;
    const isForbidden = /not|n't|cannot|never/i.test(word) || /^not /i.test(raw);
    const work = raw.replace(/^(?:not |also |only |be able to |always )+/i, "");
    if (/^(?:i|we|you|it should be possible|one)$/i.test(subject))
      return capability(text, { actor: undefined, work, purpose, condition, isForbidden });
    if (isPerson(subject))
      return capability(text, {
        actor: singularOf(bare(subject)),
        work,
        purpose,
        condition,
        isForbidden,
      });
    return rule(text, { subject, work, purpose, condition, isForbidden });
  }
  const wish = /^(?:i|we) (?:want|need|would like)(?: to)? (.+)$/i.exec(body);
  // "a command that summarizes log files": what it does is what is wanted.
  const doer =
    /^(?:(?:add|create|build|write|make|implement|provide) )?(?:an? |the )?[\w -]{2,40}? (?:that|which) (\w+)\b(.*)$/i.exec(
      wish?.[1] ?? body,
    );
  const does = doer && /s$/.test(doer[1] ?? "") ? baseVerb(doer[1] ?? "") : undefined;
  if (does !== undefined)
    return capability(text, {
      actor: undefined,
      work: `${does}${doer?.[2]}`,
      purpose,
      condition,
      isThirdPerson: true,
    });
  // "We need a relay" names a thing; what it does is said elsewhere.
  if (wish && !isVerb(wish[1]?.split(" ")[0] ?? ""))
    return rule(wish[1] ?? text, { subject: undefined, work: wish[1] ?? "", purpose, condition });
  if (wish) return capability(text, { actor: undefined, work: wish[1] ?? "", purpose, condition });
  const [first = ""] = body.split(" ");
  if (isVerb(first))
    return capability(text, { actor: undefined, work: lowerFirst(body), purpose, condition });
  const doing = /^([A-Za-z][\w -]{1,40}?) (\w+)\b(.*)$/.exec(body);
  if (doing) {
    const plural = findPersonAtStart(body);
    const verb = plural && baseVerb(plural.rest.split(" ")[0] ?? "");
    if (plural && verb !== undefined) {
      return capability(text, {
        actor: singularOf(bare(plural.actor)),
        work: [verb, ...plural.rest.split(" ").slice(1)].join(" "),
        purpose,
        condition,
      });
    }
  }
  return rule(text, { subject: undefined, work: body, purpose, condition });
}

interface Parts {
  readonly actor?: string | undefined;
  readonly subject?: string | undefined;
  readonly work: string;
  readonly purpose: string | undefined;
  readonly condition: string | undefined;
  readonly isForbidden?: boolean;
  /** "summarizes … and shows …". */
  readonly isThirdPerson?: boolean;
}

function capability(
  text: string,
  { actor, work, purpose, condition, isForbidden = false, isThirdPerson = false }: Parts,
): Statement {
  return {
    text,
    actor,
    kind: "capability",
    actions: parseActions(work, isThirdPerson),
    isForbidden,
    purpose,
    condition,
    subject: undefined,
  };
}

function rule(
  text: string,
  { subject, work, purpose, condition, isForbidden = false }: Parts,
): Statement {
  return {
    text,
    actor: undefined,
    kind: "rule",
    actions: [],
    isForbidden,
    purpose,
    condition,
    subject: subject ?? subjectOf(work),
  };
}

/** "Albums are grouped by date" is about albums. */
function subjectOf(text: string): string | undefined {
  return /^((?:the |an? |each |every |all )?[\w -]{2,40}?) (?:is|are|has|have|contains?|consists?|belongs?)\b/i.exec(
    text,
  )?.[1];
}

interface Clauses extends Pick<Statement, "purpose" | "condition"> {
  readonly body: string;
  /** The condition stands at the end. */
  readonly isBehind?: boolean;
}

function takeClauses(text: string): Clauses {
  const [before = text, purpose] = splitOnce(
    text,
    /,?\s+(?:so that|in order to|so (?=they|users|people|it|we|nobody|everyone))\s*/i,
  );
  const leading = /^(?:when|if|whenever|once|after) (.+?), (?:then )?(.+)$/i.exec(before);
  if (leading) return { body: leading[2] ?? before, purpose, condition: leading[1] };
  const trailing = /^(.{8,}?),? (?:when|if|whenever|unless) (.+)$/i.exec(before);
  if (trailing)
    return {
      body: trailing[1] ?? before,
      purpose,
      condition: `${/ unless /i.test(before) ? "not: " : ""}${trailing[2]}`,
      isBehind: true,
    };
  return { body: before, purpose, condition: undefined };
}

function splitOnce(text: string, at: RegExp): readonly [string, string | undefined] {
  const found = at.exec(text);
  return found
    ? [text.slice(0, found.index), text.slice(found.index + found[0].length)]
    : [text, undefined];
}

function findPersonAtStart(
  text: string,
): { readonly actor: string; readonly rest: string } | undefined {
  const parts = text.split(" ");
  for (let count = 1; count <= 3 && count < parts.length; count++) {
    const actor = parts.slice(0, count).join(" ");
    if (isPerson(actor) && baseVerb(parts[count] ?? "") !== undefined)
      return { actor, rest: parts.slice(count).join(" ") };
  }
  return undefined;
}

/** "logged-in users" are people because their last word is. */
function isPerson(subject: string): boolean {
  const head = singularOf(bare(subject)).split(" ").at(-1)?.toLowerCase() ?? "";
  return subject.split(" ").length <= 5 && people.has(head);
}

/** "upload photos and organize them into albums" is two; "create, edit and delete tasks" are three, all done to tasks. */
function parseActions(work: string, isThirdPerson: boolean): readonly Action[] {
  const [main = work] = splitOnce(work, /:\s/);
  // Every other part is what stood between.
  const parts = main.split(
    /(,\s+(?:and\s+|or\s+|then\s+)?|\s+and\s+(?:then\s+)?|\s+or\s+|\s+then\s+)/i,
  );
  const pieces: string[] = [parts[0] ?? ""];
  for (let at = 2; at < parts.length; at += 2) {
    const piece = parts[at] ?? "";
    const [first = ""] = piece.split(" ");
    const verb = isVerb(first)
      ? first
      : isThirdPerson && first.endsWith("s")
        ? baseVerb(first)
        : undefined;
    if (verb !== undefined && !isNounHere(piece))
      pieces.push(`${verb}${piece.slice(first.length)}`);
    else pieces[pieces.length - 1] += `${parts[at - 1]}${piece}`;
  }
  const actions: Action[] = [];
  for (const piece of pieces) {
    const last = actions.at(-1);
    const [verb = "", ...behind] = (
      last ? nameAgain(piece, phraseOf(last.rest).replace(determiners, "")) : piece
    )
      .trim()
      .split(" ");
    actions.push(readAction(verb.toLowerCase(), behind.join(" ").trim()));
  }
  return actions
    .map((action, at) => {
      const later =
        action.rest === "" ? actions.slice(at + 1).find(({ rest }) => rest !== "") : undefined;
      return later ? { ...readAction(action.verb, later.rest), sharesObject: true } : action;
    })
    .map((action) => {
      // What something is made with is not what it is edited or deleted with.
      const plain = action.rest.replace(/ with .+$/, "");
      return action.kind === "create" ||
        action.kind === "upload" ||
        action.rest === plain ||
        !actions.some(({ kind }) => kind === "create")
        ? action
        : { ...action, rest: plain };
    });
}

/** "replay any of them" is "replay any of the deliveries". */
function nameAgain(piece: string, phrase: string): string {
  return piece
    .replace(/\bof (?:them|those|these)\b/, `of the ${phrase}`)
    .replace(/\b(?:them|it|those|these)\b/, phrase);
}

/** Words that are verbs and nouns: after "and" a noun has no object behind it. */
function isNounHere(piece: string): boolean {
  return /^(?:order|comment|tag|label|rate|message|email|report|log|record|list|filter|search|plan|review|start|stop|alert|print|copy|share|export|update|change|draft|note|link|group|sort|set|test|cache|limit)s?$/i.test(
    piece.trim(),
  );
}

const stops =
  /\s+(?:of|into|in|inside|on|onto|to|from|by|with|for|at|via|using|through|per|within|after|before|until|so|that|which|who|without|as|over|under|based|up|between|across|against|during|about|is|are)\b/i;

export function readAction(verb: string, rest: string): Action {
  const phrase = phraseOf(rest);
  const kind = kindOf(verb);
  const things = phrase
    .split(/,\s*(?:and\s+|or\s+)?|\s+and\s+|\s+or\s+/)
    .map((part) => singularOf(bare(part)))
    .filter(isThing);
  const joined =
    / (?:into|to|inside|in) ((?:an? |the |their |one or more )?[\w-]+(?: [\w-]+)?)/i.exec(rest);
  const into =
    joined && (kind === "arrange" || kind === "create" || kind === "upload")
      ? singularOf(bare(phraseOf(joined[1] ?? "")))
      : undefined;
  return {
    verb,
    kind,
    rest,
    things,
    into: into !== undefined && isThing(into) ? into : undefined,
    attributes: attributesOf(rest),
  };
}

function isThing(phrase: string): boolean {
  const head = phrase.split(" ").at(-1) ?? "";
  const isDoing =
    head.endsWith("ing") &&
    !/^(?:meeting|booking|listing|setting|recording|building|painting|drawing|rating|ping|thing|posting|reading)$/.test(
      head,
    );
  return phrase !== "" && !abstract.has(head) && !isDoing && !/^\d/.test(head);
}

function phraseOf(rest: string): string {
  const whole = rest.replace(
    /^(?:any|all|one|some|each|most|none) of (?:the |their |these )?/i,
    "",
  );
  return (whole.split(stops)[0] ?? whole)
    .replace(/[,;:].*$/, (tail) => (/^,\s*\w+(?:,| and| or|$)/.test(tail) ? tail : ""))
    .trim();
}

/** "with a title, a due date and tags", "by date". */
function attributesOf(rest: string): readonly string[] {
  const named =
    / with (?:an? |the |its |their )?(.+?)(?= (?:so|that|when|if|for|on|in|to|from|by)\b|$)/i.exec(
      rest,
    )?.[1];
  const sorted = / by ((?:[\w-]+(?:, | and | or )?){1,6})$/i.exec(rest)?.[1];
  return [named, sorted]
    .filter((text) => text !== undefined)
    .flatMap((text) => text.split(/,\s*(?:and\s+|or\s+)?|\s+and\s+|\s+or\s+/))
    .map((part) => bare(part).replace(/\b[A-Z]?[a-z]+\b/g, (word) => word.toLowerCase()))
    .filter((part) => part !== "" && part.split(" ").length <= 3 && !/ing$/.test(part));
}

/** Words that name no thing one could keep. */
const abstract = new Set(
  "access ability support option way button screen data performance error time flag view thing lot kind place it them this that one everything something anything whether how what when more less all mode feature functionality behaviour behavior logic api system app application ui interface command output input result progress status process which who".split(
    " ",
  ),
);

export const determiners =
  /^(?:(?:an?|the|their|his|her|its|my|our|your|all|any|each|every|some|several|multiple|many|new|existing|own|other|one or more|at least one|up to \d+|\d+|different|various|only|also|both|single|individual|past|current|previous|own|last|latest|first|most recent)\s+)+/i;

function bare(phrase: string): string {
  return (
    phrase
      .trim()
      .replace(determiners, "")
      .replace(/[^\p{L}\p{N}\s'-]/gu, " ")
      .replace(/\s+/g, " ")
      .trim()
      .split(" ")
      // A number counts things; it names none.
      .filter((word) => !/^\d+$/.test(word))
      .slice(-2)
      .join(" ")
  );
}

/** "stories" to "story"; the last word decides. */
export function singularOf(phrase: string): string {
  const lower = lowerCase(phrase);
  if (/(ss|us|is|ous|news|series|status)$/.test(lower)) return lower;
  if (lower.endsWith("people")) return lower.replace(/people$/, "person");
  if (lower.endsWith("children")) return lower.replace(/children$/, "child");
  if (/[^aeiou]ies$/.test(lower)) return lower.replace(/ies$/, "y");
  if (/(ch|sh|x|ss|z)es$/.test(lower)) return lower.slice(0, -2);
  return lower.endsWith("s") ? lower.slice(0, -1) : lower;
}

export function pluralOf(phrase: string): string {
  if (/(?:staff|people|news|series)$/.test(phrase)) return phrase;
  if (phrase.endsWith("person")) return phrase.replace(/person$/, "people");
  if (/[^aeiou]y$/.test(phrase)) return `${phrase.slice(0, -1)}ies`;
  return /(s|x|z|ch|sh)$/.test(phrase) ? `${phrase}es` : `${phrase}s`;
}

function lowerFirst(text: string): string {
  return /^[A-Z]{2}/.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1);
}

export function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What follows a colon. */
export function splitDetails(text: string): readonly string[] {
  const behind = /:\s+(.+)$/.exec(text)?.[1];
  return behind === undefined
    ? []
    : behind.split(/[,;]\s+(?:then\s+|and\s+)?/).filter((detail) => detail.trim() !== "");
}
