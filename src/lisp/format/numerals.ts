/** Integers in English words (`~r` and `~:r`) and Roman numerals. Undefined above vigintillions. */

const ones = [
  "",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
].concat([
  "eleven",
  "twelve",
  "thirteen",
  "fourteen",
  "fifteen",
  "sixteen",
  "seventeen",
  "eighteen",
  "nineteen",
]);
const tens = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const periods = [
  "",
  "thousand",
  "million",
  "billion",
  "trillion",
  "quadrillion",
  "quintillion",
  "sextillion",
  "septillion",
].concat(
  [
    "octillion",
    "nonillion",
    "decillion",
    "undecillion",
    "duodecillion",
    "tredecillion",
    "quattuordecillion",
    "quindecillion",
  ],
  ["sexdecillion", "septendecillion", "octodecillion", "novemdecillion", "vigintillion"],
);
const irregularOrdinals = new Map([
  ["one", "first"],
  ["two", "second"],
  ["three", "third"],
  ["five", "fifth"],
  ["eight", "eighth"],
  ["nine", "ninth"],
  ["twelve", "twelfth"],
]);

/** `forty-two` */
export function cardinal(value: bigint): string | undefined {
  if (value === 0n) return "zero";
  if (value < 0n) {
    const rest = cardinal(-value);
    return rest === undefined ? undefined : `negative ${rest}`;
  }
  const parts: string[] = [];
  let rest = value;
  for (let period = 0; rest > 0n; period += 1) {
    const name = periods[period];
    if (name === undefined) return undefined;
    const here = Number(rest % 1000n);
    if (here > 0)
      parts.unshift(name === "" ? belowThousand(here) : `${belowThousand(here)} ${name}`);
    rest /= 1000n;
  }
  return parts.join(" ");
}

/** `forty-second` */
export function ordinal(value: bigint): string | undefined {
  if (value === 0n) return "zeroth";
  const text = cardinal(value);
  if (text === undefined) return undefined;
  const cut = Math.max(text.lastIndexOf(" "), text.lastIndexOf("-")) + 1;
  return text.slice(0, cut) + ordinalWord(text.slice(cut));
}

function ordinalWord(word: string): string {
  const irregular = irregularOrdinals.get(word);
  if (irregular !== undefined) return irregular;
  return word.endsWith("y") ? `${word.slice(0, -1)}ieth` : `${word}th`;
}

function belowThousand(value: number): string {
  const hundreds = Math.trunc(value / 100);
  const rest = value % 100;
  const parts = hundreds > 0 ? [`${ones[hundreds]} hundred`] : [];
  if (rest > 0) parts.push(belowHundred(rest));
  return parts.join(" ");
}

function belowHundred(value: number): string {
  if (value < 20) return ones[value] ?? "";
  const unit = value % 10;
  const ten = tens[Math.trunc(value / 10)] ?? "";
  return unit === 0 ? ten : `${ten}-${ones[unit]}`;
}

/** Roman numerals: `~@r` (IV) for 1…3999, `~:@r` (IIII) for 1…4999. */

const numerals: readonly (readonly [number, string])[] = [
  [1000, "M"],
  [900, "CM"],
  [500, "D"],
  [400, "CD"],
  [100, "C"],
  [90, "XC"],
  [50, "L"],
  [40, "XL"],
  [10, "X"],
  [9, "IX"],
  [5, "V"],
  [4, "IV"],
  [1, "I"],
];

export function roman(value: number, isOld: boolean): string {
  let text = "";
  let rest = value;
  for (const [worth, letters] of numerals) {
    if (isOld && letters.length > 1) continue;
    while (rest >= worth) {
      text += letters;
      rest -= worth;
    }
  }
  return text;
}
