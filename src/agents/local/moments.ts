// Days and times as people write them, and as a schema wants them.

export interface Moment {
  readonly start: number;
  readonly end: number;
  readonly day?: Day | undefined;
  readonly time?: Time | undefined;
  /** Depends on what day it is today, or on a guess which year is meant. */
  readonly isRelative: boolean;
}
interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}
interface Time {
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** What a text says of today ("today is 2024-03-06") goes before what the caller knows. */
export function momentsOf(text: string, clock: Date | undefined): readonly Moment[] {
  const today = findToday(text) ?? clock;
  const days = [
    ...readIso(text),
    ...readNamed(text, today),
    ...readSlashed(text),
    ...(today ? readRelative(text, today) : []),
  ];
  const kept = days.filter(
    (moment, at) =>
      !days.some(
        (other, place) => place < at && other.start < moment.end && moment.start < other.end,
      ),
  );
  const times = readTimes(text).filter(
    ({ start, end }) => !kept.some((day) => day.start < end && start < day.end),
  );
  return [...kept, ...times, ...joinTimes(kept, times, text)].sort((a, b) => a.start - b.start);
}

function findToday(text: string): Date | undefined {
  const said = /\b(?:today(?:'s date)?|current date|it) is (?:the )?(?:\w+day,? )?/i.exec(text);
  if (!said) return undefined;
  const rest = text.slice(said.index + said[0].length, said.index + said[0].length + 24);
  const [found] = [...readIso(rest), ...readNamed(rest, undefined), ...readSlashed(rest)];
  return found?.day && found.start < 3
    ? new Date(Date.UTC(found.day.year, found.day.month - 1, found.day.day))
    : undefined;
}

const monthNames =
  "january february march april may june july august september october november december".split(
    " ",
  );
const months =
  "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?";
const monthOf = (word: string): number =>
  monthNames.findIndex((name) => name.startsWith(word.slice(0, 3).toLowerCase())) + 1;

function* readIso(text: string): Generator<Moment> {
  for (const match of text.matchAll(
    /\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?Z?)?(?![\d-])/g,
  )) {
    const [whole, year, month, day, hour, minute, second] = match;
    const time =
      hour === undefined
        ? undefined
        : { hour: Number(hour), minute: Number(minute), second: Number(second ?? 0) };
    const date = checkDay(Number(year), Number(month), Number(day));
    if (date)
      yield {
        start: match.index,
        end: match.index + whole.length,
        day: date,
        time,
        isRelative: false,
      };
  }
}

/** "March 5th, 2024", "5 March 2024", "March 2024" is no day. Without a year it is one only where today is known. */
function* readNamed(text: string, today: Date | undefined): Generator<Moment> {
  const monthFirst = new RegExp(
    String.raw`\b(${months})\.?\s*(?:the\s+)?(\d{1,2})(?:st|nd|rd|th)?(?!\d)(?:(?:\s*,\s*|\s+of\s+|\s+)(\d{4})\b)?`,
    "gi",
  );
  const dayFirst = new RegExp(
    String.raw`\b(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?(${months})\b\.?(?:,?\s*(?:of\s+)?(\d{4})\b)?`,
    "gi",
  );
  for (const [pattern, monthAt, dayAt] of [
    [monthFirst, 1, 2],
    [dayFirst, 2, 1],
  ] as const) {
    for (const match of text.matchAll(pattern)) {
      const year = match[3] === undefined ? today?.getUTCFullYear() : Number(match[3]);
      const date =
        year === undefined
          ? undefined
          : checkDay(year, monthOf(match[monthAt] ?? ""), Number(match[dayAt]));
      if (date)
        yield {
          start: match.index,
          end: match.index + match[0].length,
          day: date,
          isRelative: match[3] === undefined,
        };
    }
  }
}

/** 3/15/2024 is clear, 3/4/2024 is not: it is read the American way and counts as a guess. */
function* readSlashed(text: string): Generator<Moment> {
  for (const match of text.matchAll(/\b(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})\b/g)) {
    const [first, second, year] = [Number(match[1]), Number(match[2]), Number(match[3])];
    const date = first > 12 ? checkDay(year, second, first) : checkDay(year, first, second);
    if (date)
      yield {
        start: match.index,
        end: match.index + match[0].length,
        day: date,
        isRelative: first <= 12 && second <= 12 && first !== second,
      };
  }
}

const weekdays = "sunday monday tuesday wednesday thursday friday saturday".split(" ");

function* readRelative(text: string, today: Date): Generator<Moment> {
  const dayMs = 86_400_000;
  for (const match of text.matchAll(
    /\b(?:(today|tonight|tomorrow|yesterday)|(?:(next|this|coming|on)\s+)?(sunday|monday|tuesday|wednesday|thursday|friday|saturday))\b/gi,
  )) {
    const [whole, word, , weekday] = match;
    const ahead = weekday
      ? (weekdays.indexOf(weekday.toLowerCase()) - today.getUTCDay() + 7) % 7 || 7
      : 0;
    const offset = word ? ({ tomorrow: 1, yesterday: -1 }[word.toLowerCase()] ?? 0) : ahead;
    const date = new Date(today.getTime() + offset * dayMs);
    const day = {
      year: date.getUTCFullYear(),
      month: date.getUTCMonth() + 1,
      day: date.getUTCDate(),
    };
    yield { start: match.index, end: match.index + whole.length, day, isRelative: true };
  }
}

function readTimes(text: string): Moment[] {
  const found: Moment[] = [];
  for (const match of text.matchAll(
    /\b(\d{1,2})(?::(\d{2})(?::(\d{2}))?)?\s*(?:([ap])\.?m\b\.?|(?:in the |o'clock in the )(morning|afternoon|evening)\b)|\b(\d{1,2}):(\d{2})(?::(\d{2}))?(?![\d:])|\b(noon|midday|midnight)\b/gi,
  )) {
    const [whole, hour12, minute12, second12, letter, dayPart, hour, minute, second, word] = match;
    const half =
      letter ??
      (dayPart === undefined ? undefined : dayPart.toLowerCase() === "morning" ? "a" : "p");
    const time =
      word !== undefined
        ? { hour: word.toLowerCase() === "midnight" ? 0 : 12, minute: 0, second: 0 }
        : half !== undefined
          ? {
              hour: (Number(hour12) % 12) + (half.toLowerCase() === "p" ? 12 : 0),
              minute: Number(minute12 ?? 0),
              second: Number(second12 ?? 0),
            }
          : { hour: Number(hour), minute: Number(minute), second: Number(second ?? 0) };
    if (time.hour < 24 && time.minute < 60 && time.second < 60)
      found.push({ start: match.index, end: match.index + whole.length, time, isRelative: false });
  }
  return found;
}

/** "March 5, 2024 at 4pm": one moment. */
function joinTimes(days: readonly Moment[], times: readonly Moment[], text: string): Moment[] {
  return days.flatMap((day) =>
    times.flatMap((time) => {
      const [first, second] = day.start < time.start ? [day, time] : [time, day];
      const between = text.slice(first.end, second.start);
      if (!/^[\s,]*(?:at|from|on|by|around|@|T)?\s*$/i.test(between)) return [];
      return [
        {
          start: first.start,
          end: second.end,
          day: day.day,
          time: time.time,
          isRelative: day.isRelative,
        },
      ];
    }),
  );
}

function checkDay(year: number, month: number, day: number): Day | undefined {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day && year > 0
    ? { year, month, day }
    : undefined;
}

/** How a description wants days and times written: `YYYY-MM-DD`, `HH:MM`, or after its example. */
export function shapeOf(description: string, format: unknown): string | undefined {
  if (format === "date") return "YYYY-MM-DD";
  if (format === "date-time") return "YYYY-MM-DDTHH:MM:SSZ";
  if (format === "time") return "HH:MM:SS";
  const said =
    /(?<![A-Za-z])(?:[YyDdMmHh]{2,4})(?:[-/.: T,]{1,2}(?:[YyDdMmHhSs]{2,4}))+Z?(?![A-Za-z])/.exec(
      description,
    )?.[0];
  if (said && /[Yy]{2}|[Hh]{2}/.test(said)) return said.toUpperCase();
  const example =
    /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z?|\b\d{4}-\d{2}-\d{2}\b|\b\d{2}:\d{2}(?::\d{2})?\b|\b\d{1,2}\/\d{1,2}\/\d{4}\b/.exec(
      description,
    )?.[0];
  if (example) {
    if (example.includes("T"))
      return example.endsWith("Z") ? "YYYY-MM-DDTHH:MM:SSZ" : "YYYY-MM-DDTHH:MM:SS";
    if (example.includes("/"))
      return Number(example.split("/")[0]) > 12 ? "DD/MM/YYYY" : "MM/DD/YYYY";
    if (example.includes(":")) return example.length > 5 ? "HH:MM:SS" : "HH:MM";
    return "YYYY-MM-DD";
  }
  return /\bISO[- ]?8601\b/i.test(description)
    ? /time/i.test(description)
      ? "YYYY-MM-DDTHH:MM:SS"
      : "YYYY-MM-DD"
    : undefined;
}

/** Undefined when the shape wants what the moment does not say. */
export function writeMoment({ day, time }: Moment, shape: string): string | undefined {
  const wantsDay = /Y|D/.test(shape);
  const wantsTime = /H/.test(shape);
  if ((wantsDay && !day) || (wantsTime && !time) || (!wantsDay && !wantsTime)) return undefined;
  const two = (value: number): string => String(value).padStart(2, "0");
  let sawHour = false;
  return shape.replace(/Y+|M+|D+|H+|S+/g, (part) => {
    if (part.startsWith("H")) sawHour = true;
    switch (part[0]) {
      case "Y":
        return part.length === 2 ? two((day?.year ?? 0) % 100) : String(day?.year);
      case "D":
        return two(day?.day ?? 0);
      case "H":
        return two(time?.hour ?? 0);
      case "S":
        return two(time?.second ?? 0);
      default:
        return two(sawHour ? (time?.minute ?? 0) : (day?.month ?? 0));
    }
  });
}
