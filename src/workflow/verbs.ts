/**
 * What a verb of a description promises: what can be seen afterwards, what can go wrong, and what kind of action it is. A draft says no more
 * about a verb than this table does; for a verb without a row the outcome is left open, and said to be.
 */
export type VerbKind =
  | "create"
  | "upload"
  | "view"
  | "find"
  | "edit"
  | "remove"
  | "share"
  | "send"
  | "export"
  | "arrange"
  | "decide"
  | "enter"
  | "limit"
  | "convert"
  | "run"
  | "repair"
  | "receive"
  | "pay";

export interface VerbMeaning {
  readonly verbs: readonly string[];
  /** What can be seen after it; `{one}` and `{many}` are what it is done to. */
  readonly outcome: string;
  /** What must be there before. */
  readonly given: string;
  /** What a description seldom says. */
  readonly edge: string;
  /** Whether what it is done to is kept. */
  readonly keeps: boolean;
}

export const meanings: Readonly<Record<VerbKind, VerbMeaning>> = {
  create: {
    verbs: words(
      "create add register submit post open book reserve write define compose draft enter record track store save collect make build plan introduce",
    ),
    outcome: "the new {one} exists and shows what was entered",
    given: "no such {one} exists yet",
    edge: "What happens when a {one} is created with something missing, or a second time?",
    keeps: true,
  },
  upload: {
    verbs: words("upload import attach ingest"),
    outcome: "the {many} are kept and can be opened again",
    given: "{many} are at hand that are not in the system yet",
    edge: "What happens when one of the {many} is empty, too large, or of a kind that is not accepted?",
    keeps: true,
  },
  view: {
    verbs: words(
      "view see list browse show display read check preview watch monitor inspect visualize visualise present",
    ),
    outcome: "the {many} are shown as they are now",
    given: "at least one {one} exists",
    edge: "What is shown when there are no {many} yet, and when there are very many?",
    keeps: true,
  },
  find: {
    verbs: words("search find filter look locate query suggest recommend"),
    outcome: "only {many} that match are shown",
    given: "some {many} match and others do not",
    edge: "What is shown when no {many} match?",
    keeps: true,
  },
  edit: {
    verbs: words(
      "edit update change rename modify configure set customize customise adjust mark tag label toggle complete archive pin annotate comment rate assign choose select pick disable enable activate deactivate restore undo",
    ),
    outcome: "the change is kept and seen the next time the {one} is viewed",
    given: "at least one {one} exists",
    edge: "What happens when two people change the same {one} at the same time?",
    keeps: true,
  },
  remove: {
    verbs: words("delete remove cancel clear revoke unsubscribe discard drop erase uninstall"),
    outcome: "the {one} is gone and no longer shown",
    given: "at least one {one} exists",
    edge: "Can a removed {one} be brought back, and what becomes of whatever refers to it?",
    keeps: true,
  },
  share: {
    verbs: words("share invite publish grant delegate expose"),
    outcome: "those it was shared with can open the {one}, and nobody else can",
    given: "at least one {one} exists that only its owner can open",
    edge: "What happens to access that was given when it is taken back?",
    keeps: true,
  },
  send: {
    verbs: words(
      "send email notify remind alert message reply forward inform warn deliver report tell",
    ),
    outcome: "the recipient gets it exactly once",
    given: "there is a recipient who can be reached",
    edge: "What happens when the recipient cannot be reached?",
    keeps: false,
  },
  export: {
    verbs: words("export download print copy dump generate produce output render"),
    outcome: "what is delivered holds all of the {many}, complete and readable",
    given: "at least one {one} exists",
    edge: "What is delivered when there are no {many}?",
    keeps: true,
  },
  arrange: {
    verbs: words(
      "organize organise group sort reorder move drag arrange merge split link categorize categorise rank prioritize prioritise re-organize",
    ),
    outcome: "the new arrangement of the {many} is still there the next time they are viewed",
    given: "at least two {many} exist",
    edge: "What happens to the arrangement when one of the {many} is removed?",
    keeps: true,
  },
  decide: {
    verbs: words(
      "approve reject accept decline confirm review verify moderate vote sign-off resolve close reopen",
    ),
    outcome: "the decision about the {one} is kept and visible to whoever waits for it",
    given: "a {one} waits for a decision",
    edge: "What happens to a {one} that nobody decides on?",
    keeps: true,
  },
  enter: {
    verbs: words("login log sign authenticate authorize authorise"),
    outcome: "access is given to whoever may have it and refused to everybody else",
    given: "one person who may have access and one who may not",
    edge: "What happens after several failed attempts?",
    keeps: false,
  },
  limit: {
    verbs: words("limit throttle restrict block cap prevent protect reject deny forbid"),
    outcome: "whatever goes past the limit is refused, and the refusal says why",
    given: "the limit is almost reached",
    edge: "What exactly counts against the limit, and when does it start anew?",
    keeps: false,
  },
  convert: {
    verbs: words(
      "convert parse transform format translate compress resize validate calculate compute summarize summarise analyze analyse detect extract normalize normalise encrypt compare count measure read",
    ),
    outcome: "the result for a known input is the expected one",
    given: "an input whose right result is known",
    edge: "What happens with an input that is empty, malformed, or far larger than usual?",
    keeps: false,
  },
  run: {
    verbs: words(
      "run execute schedule retry sync synchronize synchronise backup deploy trigger migrate cache resume pause stop start restart refresh poll replace replay resend automate test switch upgrade",
    ),
    outcome: "it has run, and how it ended, well or not, can be seen",
    given: "everything it needs is there",
    edge: "What happens when it is interrupted half-way?",
    keeps: false,
  },
  repair: {
    verbs: words("fix repair correct debug harden refactor clean"),
    outcome: "what was wrong does not happen any more when the steps that showed it are repeated",
    given: "the steps that show what is wrong",
    edge: "What else relies on the behaviour as it is now?",
    keeps: false,
  },
  receive: {
    verbs: words("get receive"),
    outcome: "it reaches them exactly once",
    given: "somebody it concerns who can be reached",
    edge: "What happens when they cannot be reached?",
    keeps: false,
  },
  pay: {
    verbs: words("pay buy purchase checkout refund subscribe charge bill donate"),
    outcome: "the amount changes hands exactly once and there is a record of it",
    given: "something with a price",
    edge: "What happens when the payment fails or is made twice?",
    keeps: true,
  },
};

/** Verbs a sentence may begin with that promise nothing one could see. */
const plainVerbs = words(
  "support provide use keep handle allow include enable let have ensure improve extend integrate connect work access give offer implement",
);

const kindByVerb = new Map<string, VerbKind | undefined>(
  plainVerbs.map((verb) => [verb, undefined]),
);
for (const [kind, { verbs }] of Object.entries(meanings)) {
  for (const verb of verbs)
    if (kindByVerb.get(verb) === undefined) kindByVerb.set(verb, kind as VerbKind);
}

export function isVerb(word: string): boolean {
  return kindByVerb.has(word.toLowerCase());
}

export function kindOf(verb: string): VerbKind | undefined {
  return kindByVerb.get(verb.toLowerCase());
}

/** The base form of a word that may be a verb in the third person, or undefined. */
export function baseVerb(word: string): string | undefined {
  const lower = word.toLowerCase();
  const bases = [
    lower,
    lower.replace(/ies$/, "y"),
    lower.replace(/es$/, ""),
    lower.replace(/s$/, ""),
  ];
  return bases.find((base) => kindByVerb.has(base));
}

/** "upload" to "uploads": what somebody does. */
export function thirdPerson(verb: string): string {
  if (/[^aeiou]y$/.test(verb)) return `${verb.slice(0, -1)}ies`;
  return /(s|x|z|ch|sh|o)$/.test(verb) ? `${verb}es` : `${verb}s`;
}

/** "upload" to "uploaded": what was done. */
export function pastForm(verb: string): string {
  const known: Readonly<Record<string, string>> = {
    send: "sent",
    write: "written",
    see: "seen",
    read: "read",
    find: "found",
    buy: "bought",
    pay: "paid",
    build: "built",
    make: "made",
    set: "set",
    run: "run",
    show: "shown",
    split: "split",
    choose: "chosen",
    give: "given",
    keep: "kept",
    tell: "told",
    hide: "hidden",
  };
  const irregular = known[verb];
  if (irregular !== undefined) return irregular;
  if (/e$/.test(verb)) return `${verb}d`;
  if (/[^aeiou]y$/.test(verb)) return `${verb.slice(0, -1)}ied`;
  return /^(log|plan|tag|stop|drop|drag|pin|cap|ship|map|submit)$/.test(verb)
    ? `${verb}${verb.slice(-1)}ed`
    : `${verb}ed`;
}

function words(text: string): readonly string[] {
  return text.split(" ");
}
