import { isObject } from "../../base/json.ts";
import { findChoices, findMeaning } from "./choices.ts";
import type { Mention, MentionKind, Reading } from "./mention.ts";
import { writeMoment } from "./moments.ts";
import type { Parameter, ParameterType } from "./parameters.ts";
import { convert, isTooLong } from "./quantities.ts";

/** A value a parameter could have, and the words of the task it comes from. */
export interface Option {
  readonly value: unknown;
  readonly start: number;
  readonly end: number;
  readonly kind: OptionKind;
  readonly mention?: Mention | undefined;
  /** What was done to the words to make the value: nothing, or a turn that may be wrong. */
  readonly turn?: Turn | undefined;
  /** For choices and flags: how it was found. */
  readonly how?: string | undefined;
  /** A flag leaves its words to others. */
  readonly isShared?: boolean;
}

export type OptionKind = MentionKind | "choice" | "example" | "meaning" | "flag" | "pair";
export type Turn =
  | "share"
  | "unit"
  | "sign"
  | "shape"
  | "one"
  | "digits"
  | "unscaled"
  | "relative"
  | "zone";

/** Every value the task offers to a parameter, whether it makes sense there or not: that is weighed later. */
export function optionsFor(parameter: Parameter, reading: Reading): readonly Option[] {
  const { type, itemType, choices } = parameter;
  if (choices && type !== "boolean") return choicesFor(parameter, choices, reading);
  switch (type) {
    case "boolean":
      return flagsFor(parameter, reading);
    case "integer":
    case "number":
      return [
        ...meaningsFor(parameter, reading),
        ...reading.mentions.flatMap((mention) => numbersFrom(mention, parameter, reading, type)),
      ];
    case "array":
      return listsFor(parameter, reading, itemType ?? "any");
    case "object":
      return reading.mentions.flatMap((mention) =>
        mention.kind === "json" && isObject(mention.json)
          ? [optionFrom(mention, mention.json)]
          : [],
      );
    case "string":
    case "any":
      return [
        ...meaningsFor(parameter, reading),
        ...examplesFor(parameter, reading),
        ...reading.mentions.flatMap((mention) => stringsFrom(mention, parameter)),
      ];
  }
}

const optionFrom = (mention: Mention, value: unknown, turn?: Turn): Option => ({
  value,
  start: mention.start,
  end: mention.end,
  kind: mention.kind,
  mention,
  turn,
  ...(mention.isCounted ? { isShared: true } : {}),
});

function choicesFor(parameter: Parameter, choices: readonly unknown[], reading: Reading): Option[] {
  const { type, description } = parameter;
  const named = findChoices(choices, description, reading).map(
    (found): Option => ({ ...found, kind: "choice" }),
  );
  const numbers = reading.mentions.flatMap((mention): Option[] => {
    const value = mention.quantity?.value;
    return value !== undefined && choices.includes(value)
      ? [{ ...optionFrom(mention, value), kind: "choice", how: "exact" }]
      : [];
  });
  if (type !== "array") return [...named, ...numbers, ...yesOrNo(parameter, choices, reading)];
  const [first] = named;
  const sure = named.filter(({ how }) => how === "exact" || how === "form");
  const all = sure.length > 0 ? sure : named;
  return first
    ? [
        {
          kind: "choice",
          how: all[0]?.how,
          value: all.map(({ value }) => value),
          start: Math.min(...all.map(({ start }) => start)),
          end: Math.max(...all.map(({ end }) => end)),
          isShared: true,
        },
      ]
    : [];
}

/** Choices that are yes and no in letters are found like a flag. */
function yesOrNo(parameter: Parameter, choices: readonly unknown[], reading: Reading): Option[] {
  const [yes, no] = [/^(?:true|yes)$/i, /^(?:false|no)$/i].map((pattern) =>
    choices.find((value) => typeof value === "string" && pattern.test(value)),
  );
  if (yes === undefined || no === undefined) return [];
  return flagsFor(parameter, reading).map((flag) => ({ ...flag, value: flag.value ? yes : no }));
}

/** Words of a flag's name that say that it is one, and not what about. */
const flagWords = new Set(
  "includ is has hav with whether flag enabl return show allow us want need should do can only requir option add get be".split(
    " ",
  ),
);
const noes = new Set(
  "no not without don't dont exclude excluding except never skip disable disabled off false isn't doesn't avoid omit non".split(
    " ",
  ),
);

/** True where the task speaks of what the flag is about, false where it says no to it. */
function flagsFor(parameter: Parameter, { tokens, text }: Reading): Option[] {
  const own = parameter.words.filter((word) => !flagWords.has(word));
  const words = own.length > 0 ? own : parameter.words;
  const places = words
    .flatMap((word) => tokens.findIndex(({ stem }) => stem === word))
    .filter((at) => at >= 0);
  const options: Option[] = [];
  if (places.length > 0) {
    const [first, last] = [Math.min(...places), Math.max(...places)];
    const share = places.length / words.length;
    const said = tokens.slice(Math.max(0, first - 4), last + 4);
    const isDenied =
      tokens.slice(Math.max(0, first - 4), last).some(({ lower }) => noes.has(lower)) ||
      said.some(({ lower }) => lower === "false");
    const how = `${share === 1 ? "all" : share >= 0.5 ? "half" : "some"}${isDenied ? "-no" : ""}${said.some(({ lower }) => lower === "true") ? "-true" : ""}`;
    const [start, end] = [tokens[first]?.start ?? 0, tokens[last]?.end ?? text.length];
    options.push({ value: !isDenied, kind: "flag", how, start, end, isShared: true });
  }
  const word = tokens.find(({ lower }) => lower === "true" || lower === "false");
  if (word && options.length === 0)
    options.push({
      value: word.lower === "true",
      kind: "flag",
      how: "word",
      start: word.start,
      end: word.end,
      isShared: true,
    });
  return options;
}

function numbersFrom(
  mention: Mention,
  { unit, sort }: Parameter,
  { text }: Reading,
  type: ParameterType,
): Option[] {
  const { quantity } = mention;
  if (!quantity || isTooLong(mention.text.slice(0, quantity.numberEnd - mention.start))) return [];
  const converted =
    unit && quantity.unit && unit.name !== quantity.unit.name
      ? convert(quantity.value, quantity.unit, unit)
      : undefined;
  // The unit stays free: "3.5 miles" may fill a value and a unit.
  const option = (value: number, turn?: Turn): Option => ({
    ...optionFrom(mention, value, turn),
    end: quantity.numberEnd,
  });
  const options = [
    converted === undefined || converted === quantity.value
      ? option(quantity.value)
      : option(converted, "unit"),
  ];
  if (quantity.unscaled !== undefined) options.push(option(quantity.unscaled, "unscaled"));
  if (quantity.isPercent)
    options.push(option(Number((quantity.value / 100).toPrecision(12)), "share"));
  if (sort === "place" || /^\s?°?\s?[SW](?![\p{L}])/u.test(text.slice(quantity.numberEnd))) {
    if (/^\s?°?\s?(?:[SW](?!\p{L})|south\b|west\b)/iu.test(text.slice(quantity.numberEnd)))
      options.push(option(-quantity.value, "sign"));
  }
  return type === "integer" ? options.filter(({ value }) => Number.isInteger(value)) : options;
}

function stringsFrom(mention: Mention, { shape, sort }: Parameter): Option[] {
  switch (mention.kind) {
    case "json":
    case "list":
      return [];
    case "number": {
      const { quantity } = mention;
      const digits = mention.text.slice(0, (quantity?.numberEnd ?? mention.end) - mention.start);
      return digits === mention.text
        ? [optionFrom(mention, mention.text)]
        : [optionFrom(mention, mention.text), optionFrom(mention, digits, "digits")];
    }
    case "moment": {
      const { moment } = mention;
      const isWanted = sort === "day" || sort === "time" || shape !== undefined;
      const written =
        moment && isWanted
          ? writeMoment(
              moment,
              shape ??
                (moment.day ? (moment.time ? "YYYY-MM-DDTHH:MM:SS" : "YYYY-MM-DD") : "HH:MM"),
            )
          : undefined;
      const turned =
        written === undefined || written === mention.text
          ? []
          : [optionFrom(mention, written, moment?.isRelative ? "relative" : "shape")];
      return [optionFrom(mention, mention.text), ...turned];
    }
    default:
      return [optionFrom(mention, mention.text)];
  }
}

/** Values of which the description says what they stand for, where the task says that. */
function meaningsFor({ glossary, type }: Parameter, reading: Reading): Option[] {
  return glossary.flatMap(([value, meaning]): Option[] => {
    const isNumber = type === "integer" || type === "number";
    if (isNumber && !/^\d+$/.test(value)) return [];
    const place = findMeaning(meaning, reading);
    return place ? [{ ...place, value: isNumber ? Number(value) : value, kind: "meaning" }] : [];
  });
}

/** Values the description gives as examples, where the task says one of them: its own words, in the spelling of the description. */
function examplesFor({ examples, description }: Parameter, reading: Reading): Option[] {
  return findChoices(examples, description, reading)
    .filter(({ how }) => how === "exact")
    .map((found): Option => ({ ...found, kind: "example" }));
}

function listsFor(parameter: Parameter, reading: Reading, itemType: ParameterType): Option[] {
  const item: Parameter = { ...parameter, type: itemType };
  return reading.mentions.flatMap((mention): Option[] => {
    if (mention.kind === "json")
      return Array.isArray(mention.json) && mention.json.every((value) => fitsType(value, itemType))
        ? [optionFrom(mention, mention.json)]
        : [];
    if (itemType === "array" || itemType === "object") return [];
    const single = (part: Mention): Option | undefined =>
      itemType === "integer" || itemType === "number"
        ? numbersFrom(part, item, reading, itemType)[0]
        : stringsFrom(part, item)[0];
    if (!mention.items) {
      const only = single(mention);
      return only ? [{ ...only, value: [only.value], turn: "one" }] : [];
    }
    const parts = mention.items.map(single);
    if (!parts.every((part) => part !== undefined)) return [];
    const shares = mention.items.every(({ quantity }) => quantity?.isPercent)
      ? mention.items.map(({ quantity }) => Number(((quantity?.value ?? 0) / 100).toPrecision(12)))
      : undefined;
    return [
      optionFrom(
        mention,
        parts.map(({ value }) => value),
      ),
      ...(shares && itemType === "number" ? [optionFrom(mention, shares, "share")] : []),
    ];
  });
}

function fitsType(value: unknown, type: ParameterType): boolean {
  switch (type) {
    case "any":
      return true;
    case "integer":
      return Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    default:
      return typeof value === type;
  }
}
