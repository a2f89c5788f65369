// Numbers as people write them: 1,200 and 3.5k and 20% and "two dozen", with the unit that follows.

export interface Quantity {
  readonly start: number;
  readonly end: number;
  readonly value: number;
  readonly unit?: Unit | undefined;
  readonly isPercent: boolean;
  /** "3rd", "second". */
  readonly isOrdinal: boolean;
  /** "a", "an", "another": a number only where one is wanted. */
  readonly isVague: boolean;
  readonly isMoney: boolean;
  /** Where the number itself ends; `end` counts the unit too. */
  readonly numberEnd: number;
  /** Without the K, which may be thousands or kelvins. */
  readonly unscaled?: number | undefined;
}

export interface Unit {
  readonly name: string;
  readonly kind: string;
  /** How many of the kind's first unit it is; undefined where units of the kind cannot be turned into each other by a factor. */
  readonly factor?: number | undefined;
}

export function quantitiesOf(text: string): readonly Quantity[] {
  const found: Quantity[] = [];
  for (const match of text.matchAll(digits)) {
    const quantity = readDigits(text, match);
    if (quantity) found.push(quantity);
  }
  for (const match of text.matchAll(spelled)) {
    const quantity = readSpelled(text, match);
    if (quantity && !found.some(({ start, end }) => start < quantity.end && quantity.start < end))
      found.push(quantity);
  }
  return found.sort((a, b) => a.start - b.start);
}

const digits =
  /(?<![\p{L}\p{N}_^]|\d\.)([$€£¥₹]\s?)?([-+−](?=[.\d]))?(\d{1,3}(?:,\d{3})+(?!\d)|\d+)?(\.\d+)?(e[-+]?\d+)?/giu;
const scales: Readonly<Record<string, number>> = {
  hundred: 100,
  k: 1e3,
  thousand: 1e3,
  m: 1e6,
  mn: 1e6,
  million: 1e6,
  millions: 1e6,
  b: 1e9,
  bn: 1e9,
  billion: 1e9,
  trillion: 1e12,
  dozen: 12,
};

function readDigits(text: string, match: RegExpExecArray): Quantity | undefined {
  const [whole, money, sign = "", integer, fraction, exponent] = match;
  if (integer === undefined && fraction === undefined) return undefined;
  // 2.1.3 is a version.
  if (fraction !== undefined && /^\.\d/.test(text.slice(match.index + whole.length)))
    return undefined;
  const start = match.index + (money?.length ?? 0);
  let end = match.index + whole.length;
  const before = text[start - 1] ?? " ";
  // The dash of a range or of a name is no minus, and neither is the one in 2024-01-05.
  const isMinus = (sign === "-" || sign === "−") && !/[\p{L}\p{N})]/u.test(before);
  const bare = Number(`${(integer ?? "0").replaceAll(",", "")}${fraction ?? ""}${exponent ?? ""}`);
  if (!Number.isFinite(bare)) return undefined;
  let value = bare;
  const scale =
    /^(?:(k|bn|mn|m|b)(?![\p{L}\p{N}])|\s?(hundred|thousand|millions?|billion|trillion|dozen)\b)/iu.exec(
      text.slice(end, end + 12),
    );
  const letter = scale?.[1];
  // 5m are five metres, $5m five millions.
  if (scale && (letter === undefined || /k|bn|mn/i.test(letter) || money !== undefined)) {
    value = clean(value * (scales[(scale[1] ?? scale[2] ?? "").toLowerCase()] ?? 1));
    end += scale[0].length;
  }
  const ordinal = /^(?:st|nd|rd|th)\b/i.exec(text.slice(end, end + 3));
  if (ordinal) end += 2;
  const after = text.slice(end, end + 24);
  if (!ordinal && glued.test(after) && !unitAfter(text, end)) return undefined;
  const percent = /^\s?(?:%|percent\b|per cent\b)/i.exec(after);
  const unit = percent ? undefined : unitAfter(text, end);
  return {
    start,
    end: percent ? end + percent[0].length : (unit?.end ?? end),
    numberEnd: end,
    value: isMinus ? -value : value,
    unit: unit?.unit ?? (money ? money_ : undefined),
    isPercent: percent !== null,
    isOrdinal: ordinal !== null,
    isVague: false,
    isMoney: money !== undefined || unit?.unit.kind === "money",
    unscaled: letter === "K" && money === undefined ? (isMinus ? -bare : bare) : undefined,
  };
}

/** Letters right after digits make a name of them (`12abc`), unless they are a unit. */
const glued = /^[\p{L}\p{N}_]/u;
const money_: Unit = { name: "money", kind: "money" };

/** For what was worked out: 0.1 + 0.2 must not show. A number as it is written stays as it is, however long. */
const clean = (value: number): number => Number(value.toPrecision(12));

const small =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const tens = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const ordinals = "first second third fourth fifth sixth seventh eighth ninth tenth".split(" ");
const numberWord = new Map<string, number>([
  ...small.map((word, at) => [word, at] as const),
  ...tens.map((word, at) => [word, 20 + 10 * at] as const),
]);
const multiplier = new Map<string, number>([
  ["dozen", 12],
  ["hundred", 100],
  ["thousand", 1e3],
  ["million", 1e6],
  ["billion", 1e9],
]);
const wordList = [...numberWord.keys(), ...multiplier.keys()].join("|");
const spelled = new RegExp(
  String.raw`\b(?:(?:an?|half a|another|single|couple of|once|twice|half|(?:the )?(?:next|past|last|coming|upcoming|per|each|every))\b(?:\s+(?:${[...multiplier.keys()].join("|")})\b)?|(?:${wordList})(?:[\s-]+(?:and\s+)?(?:${wordList}))*\b|(?:${ordinals.join("|")})\b)`,
  "gi",
);
const loose = new Map<string, number>([
  ["a", 1],
  ["an", 1],
  ["another", 1],
  ["single", 1],
  ["once", 1],
  ["twice", 2],
  ["couple of", 2],
  ["half", 0.5],
  ["half a", 0.5],
  ...["next", "past", "last", "coming", "upcoming", "per", "each", "every"].flatMap(
    (word): [string, number][] => [
      [word, 1],
      [`the ${word}`, 1],
    ],
  ),
]);

const exactly = new Set<string | undefined>(["single", "once", "twice", "half", "couple of"]);

function readSpelled(text: string, match: RegExpExecArray): Quantity | undefined {
  const words = match[0].toLowerCase();
  const opening = [...loose.keys()]
    .sort((a, b) => b.length - a.length)
    .find((word) => words === word || words.startsWith(`${word} `));
  const ordinal = ordinals.indexOf(words);
  const rest = opening === undefined ? words : words.slice(opening.length).trim();
  const value =
    ordinal >= 0
      ? ordinal + 1
      : (opening === undefined ? 1 : (loose.get(opening) ?? 1)) * (rest === "" ? 1 : addUp(rest));
  const numberEnd = match.index + match[0].length;
  const unit = unitAfter(text, numberEnd);
  const isVague = opening !== undefined && rest === "";
  // "a radius" is no number; "a week" is.
  if (isVague && !exactly.has(opening) && !unit) return undefined;
  const percent = /^\s?(?:%|percent\b|per cent\b)/i.exec(text.slice(numberEnd, numberEnd + 12));
  return {
    start: match.index,
    end: percent ? numberEnd + percent[0].length : (unit?.end ?? numberEnd),
    numberEnd,
    value,
    unit: unit?.unit,
    isPercent: percent !== null,
    isOrdinal: ordinal >= 0,
    isVague,
    isMoney: unit?.unit.kind === "money",
  };
}

function addUp(words: string): number {
  let [total, current] = [0, 0];
  for (const word of words.split(/[\s-]+/)) {
    const times = multiplier.get(word);
    if (times === undefined) current += numberWord.get(word) ?? 0;
    else if (times >= 1_000) [total, current] = [total + Math.max(1, current) * times, 0];
    else current = Math.max(1, current) * times;
  }
  return total + current;
}

/** Kind by kind; the number says how many of the first one it is. */
const kinds: Readonly<Record<string, string>> = {
  time: "second=1 seconds=1 sec=1 secs=1 s=1 millisecond=0.001 milliseconds=0.001 ms=0.001 minute=60 minutes=60 min=60 mins=60 hour=3600 hours=3600 hr=3600 hrs=3600 h=3600 day=86400 days=86400 week=604800 weeks=604800",
  years: "month=1 months=1 year=12 years=12 yr=12 yrs=12 decade=120 decades=120",
  length:
    "meter=1 meters=1 metre=1 metres=1 m=1 kilometer=1000 kilometers=1000 kilometre=1000 kilometres=1000 km=1000 kms=1000 centimeter=0.01 centimeters=0.01 cm=0.01 millimeter=0.001 millimeters=0.001 mm=0.001 mile=1609.344 miles=1609.344 mi=1609.344 foot=0.3048 feet=0.3048 ft=0.3048 inch=0.0254 inches=0.0254 yard=0.9144 yards=0.9144",
  mass: "gram=1 grams=1 g=1 kilogram=1000 kilograms=1000 kg=1000 kgs=1000 milligram=0.001 milligrams=0.001 mg=0.001 pound=453.59237 pounds=453.59237 lbs=453.59237 lb=453.59237 ounce=28.349523125 ounces=28.349523125 oz=28.349523125 ton=1000000 tons=1000000",
  volume: "liter=1 liters=1 litre=1 litres=1 l=1 milliliter=0.001 milliliters=0.001 ml=0.001",
  bytes:
    "byte=1 bytes=1 kb=1000 mb=1000000 gb=1000000000 tb=1000000000000 kib=1024 mib=1048576 gib=1073741824",
  money: "dollar dollars usd euro euros eur pound_sterling gbp yen jpy inr rupees rs bucks cents",
  temperature: "degree degrees celsius fahrenheit kelvin c f k",
  electric:
    "volt volts v ampere amperes amp amps a ohm ohms watt watts w coulomb coulombs farad farads tesla",
  people:
    "people person persons ppl guest guests adult adults passenger passengers traveler travelers traveller travellers child children kid kids",
  stay: "night nights",
  other:
    "times pages page items results units bpm mph kmh hz joules j newtons n pa atm mol moles points rooms bedrooms seats tickets shares copies bases steps iterations calories",
};
const units = new Map<string, Unit>(
  Object.entries(kinds).flatMap(([kind, words]) =>
    words.split(" ").map((entry): [string, Unit] => {
      const [name = "", factor] = entry.split("=");
      return [name, { name, kind, factor: factor === undefined ? undefined : Number(factor) }];
    }),
  ),
);

export function findUnit(word: string): Unit | undefined {
  return units.get(word.toLowerCase());
}

function unitAfter(
  text: string,
  place: number,
): { readonly unit: Unit; readonly end: number } | undefined {
  const match = /^[\s-]{0,2}°?([A-Za-z]+)(?![\p{L}\p{N}_])/u.exec(text.slice(place, place + 24));
  const word = match?.[1];
  const unit = word === undefined ? undefined : findUnit(word);
  if (!match || !word || !unit) return undefined;
  // A lone letter is a unit only where it touches the number.
  if (word.length === 1 && match[0].length > 1 && !match[0].includes("°") && !/[A-Z]/.test(word))
    return undefined;
  if (/^[A-Z]$/.test(word) && match[0].length > 1 && unit.kind !== "temperature") return undefined;
  return { unit, end: place + match[0].length };
}

/** Digits that no number of JSON keeps: an id of twenty of them would become another one. */
export function isTooLong(digits: string): boolean {
  return (
    /^[-+−]?[\d,]+$/.test(digits) && !Number.isSafeInteger(Number(digits.replace(/[-+−,]/g, "")))
  );
}

/** The same amount in another unit of its kind. */
export function convert(value: number, from: Unit, to: Unit): number | undefined {
  if (from.kind !== to.kind || from.factor === undefined || to.factor === undefined)
    return undefined;
  return clean((value * from.factor) / to.factor);
}
