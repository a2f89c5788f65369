import type { Sentence } from "./language.ts";

export interface Sentiment {
  readonly label: "positive" | "negative" | "neutral";
  /** From -1 to 1. */
  readonly score: number;
  readonly positive_sentences: number;
  readonly negative_sentences: number;
  readonly neutral_sentences: number;
  /** The sentences with the highest scores. */
  readonly strongest: readonly { readonly text: string; readonly score: number }[];
}

const threshold = 0.2;
const strongestMax = 5;

/** Sums word scores, inverted by negations and scaled by the words before them. Does not detect irony. */
export function scoreSentiment(sentences: readonly Sentence[]): Sentiment {
  const scored = sentences.map(({ text, words }) => ({
    text: text.slice(0, 300),
    score: round(squash(sumWords(words))),
  }));
  const opinionated = scored.filter(({ score }) => Math.abs(score) >= threshold);
  const total = opinionated.reduce((sum, { score }) => sum + score, 0);
  // One unhappy sentence does not make a long report negative.
  const share = Math.min(1, (opinionated.length / scored.length) * 3);
  const score = opinionated.length === 0 ? 0 : round((total / opinionated.length) * share);
  return {
    label: labelOf(score),
    score,
    positive_sentences: opinionated.filter((sentence) => sentence.score > 0).length,
    negative_sentences: opinionated.filter((sentence) => sentence.score < 0).length,
    neutral_sentences: scored.length - opinionated.length,
    strongest: opinionated
      .sort((a, b) => Math.abs(b.score) - Math.abs(a.score))
      .slice(0, strongestMax),
  };
}

function sumWords(words: readonly string[]): number {
  let sum = 0;
  for (const [index, word] of words.entries()) {
    if (contrasts.has(word) && index > 0) sum *= 0.5;
    let valence = intensities.has(word) ? 0 : valenceOf(word);
    if (valence === 0) continue;
    const before = words.slice(Math.max(0, index - 3), index);
    for (const previous of before) valence *= intensities.get(previous) ?? 1;
    // "Not good" is negative, but less than "bad".
    if (before.some((previous) => negations.has(previous.replaceAll("’", "'")))) valence *= -0.75;
    sum += valence;
  }
  // "…, but it does not." withdraws the praise before it.
  const contrast = words.findLastIndex((word, index) => index > 0 && contrasts.has(word));
  if (
    contrast >= 0 &&
    sum > 0 &&
    words.slice(contrast).some((word) => negations.has(word)) &&
    words.slice(contrast).every((word) => valenceOf(word) === 0)
  )
    return -sum - 1;
  return sum;
}

function squash(sum: number): number {
  return sum / Math.sqrt(sum * sum + 8);
}

function labelOf(score: number): Sentiment["label"] {
  if (score >= threshold) return "positive";
  return score <= -threshold ? "negative" : "neutral";
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Sentiment of English and German words, from -3 to 3. Endings are stripped before a word counts as unknown. */
const valences = byWord([
  [
    3,
    `amazing awesome beautiful best brilliant delightful excellent exceptional exquisite extraordinary fabulous fantastic flawless gorgeous incredible love magnificent
    marvelous marvellous masterpiece outstanding perfect phenomenal remarkable sensational splendid stunning superb terrific thrilled triumph unbeatable wonderful
    ausgezeichnet begeistert bezaubernd brillant exzellent fabelhaft fantastisch genial großartig grandios hervorragend herrlich liebe perfekt sensationell traumhaft
    überragend unübertroffen wunderbar wunderschön wundervoll`,
  ],
  [
    2,
    `admire adore advantage affordable appealing appreciate attractive award benefit bless bright celebrate charming cheerful clean clever comfortable confident
    convenient courage creative cute dedicated delicious delight dependable dream eager easy effective efficient elegant encourage energetic engaging enjoy enjoyable
    enthusiastic favorite favourite friendly fun generous genuine glad good graceful grateful great happy hero honest hope impress impressive improve improvement innovative
    inspire inspiring intelligent joy kind laugh lively lovely loyal luck lucky nice optimistic passionate peace peaceful pleasant pleasantly please pleased pleasure polite
    positive praise pretty profit progress promising proud recommend refreshing reliable relief rescue respect reward rich safe satisfied satisfy satisfying sincere
    smart smile smooth smoothly strong strongly success successful support supportive sweet talented thank thanks thoughtful thrive tasty trust trustworthy useful valuable
    victory vibrant warm welcome win winner wise worthwhile worthy
    angenehm beeindruckend beliebt bequem dankbar effektiv effizient elegant empfehlen empfehlenswert erfolg erfolgreich erfreulich erfreut faszinierend freude freuen
    freundlich froh gelungen gern gerne glücklich gut herzlich hilfreich hilfsbereit hübsch klasse köstlich lecker lieb lob loben lustig nett nützlich optimistisch positiv
    praktisch prima reizend ruhig schön sicher spannend stark stolz super sympathisch tapfer toll überzeugend verlässlich vertrauen vorteil wertvoll willkommen zufrieden
    zuverlässig`,
  ],
  [
    1,
    `able accept accessible accurate active agree agreeable ample assist balanced better calm capable care careful clear clearly comfort complete cooperative correct decent
    durable ease fair fast fine fit flexible fresh gain gentle grow growth healthy help helpful helpfully interested interesting light like modern natural neat
    patient patiently popular powerful precise prefer quick quickly quiet ready reasonable reassure recover resolve responsive robust secure simple solid solve stable steady
    suitable sufficient thorough tidy top true upgrade value versatile vivid worth
    besser bessern deutlich einfach fair fleißig frisch gesund helfen hilfe interessant klar leicht modern neugierig ordentlich ruhe sauber schnell sinnvoll solide sorgfältig
    stabil treu verbessern verbesserung vernünftig wachsen wachstum`,
  ],
  [
    -1,
    `absence alone annoy apologise apologize bland bored boring burden busy careless cheap cold complain complaint complicated concern confuse confused
    confusing cost crowded delay deny difficult difficulty dirty disagree discomfort doubt drain drop dull error excuse expensive fall fault forget fragile hard
    hesitate ignore impatient inconvenient lack late leak limit loud mediocre mess messy miss mistake monotonous narrow nervous noise noisy obsolete odd old outdated overpriced
    pale poor problem question reject restrict rough sad shortage slow slowly smell sorry stale stop strange stress strict stuck tedious tight tired tiring trouble
    uncertain unclear uncomfortable unexpected unfamiliar unsure vague wait warn warning weak weird wrong
    alt anstrengend aufwendig fehler fehlt kalt kompliziert langsam langweilig laut mangel mühsam müde problem schwach schwierig seltsam teuer traurig umständlich unangenehm
    unbequem unklar unordentlich unsicher verspätet verspätung verwirrend vermissen warten zweifel`,
  ],
  [
    -2,
    `abandon abuse accident accuse ache afraid aggressive alarm anger angry annoyed annoying anxious argue arrogant ashamed attack bad badly ban bankrupt betray bitter blame
    bleak block blood boycott break breach broke broken bug bully burn cancel cheat chaos clumsy collapse conflict corrupt corruption crash crime crisis critic criticise criticize
    critical cruel cry cursed damage danger dangerous dead debt deceive decline defeat defect deficit delayed denied depress depressed depressing desperate destroy disadvantage
    disappear disappoint disappointed disappointing disappointment dislike dispute distress disturb embarrass embarrassing enemy exploit expose fail failure fake fear fight filthy
    flaw flood foolish fraud frighten frustrate frustrated frustrating frustration fury greedy grief guilty harass harm harmful harsh hate headache heartless homeless hostile hurt
    ill illegal illness inadequate incompetent inferior injure injury insecure insult irritate irritating jealous kill lazy liar lie lonely lose loser losing loss lost mad mislead
    misleading miserable mourn negative negligent offend offensive outrage pain painful panic pathetic poison pollute pollution poverty protest rage reckless regret resign
    ridiculous risk rude ruin sabotage scam scandal scare scream severe shame shock shocking sick sinister spoil steal stolen struggle stupid suffer suffering terrified
    threat threaten toxic tragic trash ugly unable unacceptable unfair unfortunate unfortunately unhappy unhelpful unjust unpleasant unreliable unsafe upset useless
    victim violate violence violent vulnerable war waste weep worry worse worthless wound
    absturz abstürzen angst ärger ärgerlich ärgern bedrohen bedrohung beleidigen beschädigt beschweren beschwerde betrug dreckig dumm einsam enttäuscht enttäuschend enttäuschung
    falsch feind furcht gefahr gefährlich gescheitert hässlich hass kaputt katastrophal konflikt krank krieg krise kritik leid leiden leider lügen mangelhaft minderwertig
    misslungen nachteil nervig peinlich pleite sauer schaden schädlich scheitern schlecht schlimm schmerz schmutzig schuld sorge streit trauer überteuert unbrauchbar unfähig
    unfall unfreundlich ungerecht unglücklich unhöflich unmöglich unverschämt unzufrieden unzuverlässig verärgert verletzt verlieren verlust verloren versagen verschwendung
    wertlos wut wütend zerstören zerstört`,
  ],
  [
    -3,
    `abysmal appalling atrocious awful catastrophe catastrophic despicable devastate devastating dire disaster disastrous disgrace disgust disgusted disgusting dreadful evil garbage
    ghastly hell hideous horrendous horrible horrid horrific horrify murder nightmare outrageous pitiful repulsive revolting terrible terror torture tragedy unbearable vile worst
    abscheulich desaster ekelhaft entsetzlich erbärmlich furchtbar grauenhaft grausam katastrophe miserabel schrecklich scheußlich unerträglich widerlich`,
  ],
]);

const endings = /(?:ingly|edly|ing|ies|ied|ily|ed|es|er|est|ly|s|d|en|em|e|te|ten|t|n)$/;

/** 0 for a word that says nothing, or is not known. */
function valenceOf(word: string): number {
  const exact = valences.get(word);
  if (exact !== undefined || word.length < 5) return exact ?? 0;
  const stem = word.replace(endings, "");
  if (stem === word || stem.length < 3) return 0;
  const doubled = /([a-z])\1$/.test(stem) ? stem.slice(0, -1) : stem;
  return (
    valences.get(stem) ??
    valences.get(`${stem}e`) ??
    valences.get(`${stem}y`) ??
    valences.get(doubled) ??
    0
  );
}

const negations = new Set(
  `not no never none nobody nothing neither nor without hardly barely scarcely rarely cannot can't don't doesn't didn't isn't wasn't aren't weren't won't wouldn't shouldn't
  couldn't hasn't haven't hadn't ain't nicht kein keine keinen keinem keiner nie niemals nichts niemand ohne kaum weder`.split(
    /\s+/,
  ),
);

const intensities = byWord([
  [
    1.4,
    `very really extremely absolutely completely totally incredibly so too highly deeply especially truly utterly far much constantly sharply ever
    sehr äußerst besonders absolut völlig total richtig wirklich extrem viel einfach ungemein höchst zutiefst`,
  ],
  [
    0.6,
    "somewhat slightly rather fairly quite partly mostly relatively etwas ziemlich recht einigermaßen teilweise",
  ],
]);

/** The part after one of these words outweighs the part before. */
const contrasts = new Set("but however yet although aber jedoch doch dennoch".split(" "));

function byWord(table: readonly (readonly [number, string])[]): ReadonlyMap<string, number> {
  return new Map(
    table.flatMap(([value, words]) => words.split(/\s+/).map((word) => [word, value] as const)),
  );
}
