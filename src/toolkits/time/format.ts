/**
 * How a moment is written: three named formats, or a pattern of tokens.
 * Patterns are strict: a letter that is no token must stand in brackets, so a misspelt format name is refused
 * rather than read as a pattern ("iso" would otherwise print the second in its middle).
 */
import type { Temporal } from "temporal-polyfill";
import { HallError } from "../../base/errors.ts";
import { findNear } from "../../base/near.ts";

interface TimeFormat {
  /** The named format as we spell it, or the pattern as it came. */
  readonly name: string;
  write(time: Temporal.ZonedDateTime): string | number;
}

/** Throws VALIDATION when the text is neither a named format nor a pattern. */
export function parseFormat(text: string): TimeFormat {
  const plain = text.toLowerCase().replace(/[\s_-]/g, "");
  return (
    namedFormats.find(({ name }) => name.toLowerCase() === plain) ?? {
      name: text,
      write: parsePattern(text),
    }
  );
}

export const monthNames = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
export const weekdayNames = [
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
  "Sunday",
];

type Write = (time: Temporal.ZonedDateTime) => string;

const tokens: Readonly<Record<string, Write>> = {
  YYYY: (time) => pad(time.year, 4),
  MMMM: (time) => monthNames[time.month - 1] ?? "",
  MMM: (time) => (monthNames[time.month - 1] ?? "").slice(0, 3),
  MM: (time) => pad(time.month),
  M: (time) => `${time.month}`,
  DD: (time) => pad(time.day),
  D: (time) => `${time.day}`,
  dddd: (time) => weekdayNames[time.dayOfWeek - 1] ?? "",
  ddd: (time) => (weekdayNames[time.dayOfWeek - 1] ?? "").slice(0, 3),
  HH: (time) => pad(time.hour),
  H: (time) => `${time.hour}`,
  hh: (time) => pad(time.hour % 12 || 12),
  h: (time) => `${time.hour % 12 || 12}`,
  mm: (time) => pad(time.minute),
  m: (time) => `${time.minute}`,
  ss: (time) => pad(time.second),
  s: (time) => `${time.second}`,
  SSS: (time) => pad(time.millisecond, 3),
  A: (time) => (time.hour < 12 ? "AM" : "PM"),
  a: (time) => (time.hour < 12 ? "am" : "pm"),
  Z: (time) => time.offset.slice(0, 6),
  ZZ: (time) => time.offset.slice(0, 6).replace(":", ""),
  z: (time) => time.timeZoneId,
};

/** Bounds the work for hostile input; the longest sensible pattern is far shorter. */
const patternLengthMax = 200;

const namedFormats: readonly TimeFormat[] = [
  { name: "ISO8601", write: writeIso },
  { name: "RFC2822", write: parsePattern("ddd, DD MMM YYYY HH:mm:ss ZZ") },
  { name: "unix", write: (time) => Math.floor(time.epochMilliseconds / 1000) },
];

function writeIso(time: Temporal.ZonedDateTime): string {
  const text = time.toString({ fractionalSecondDigits: 3, timeZoneName: "never" });
  const isUtc = time.equals(time.withTimeZone("UTC"));
  return isUtc ? text.replace("+00:00", "Z") : text;
}

function parsePattern(pattern: string): Write {
  if (pattern.length > patternLengthMax)
    throw badFormat(pattern, `a pattern has at most ${patternLengthMax} characters`);
  let tokenCount = 0;
  const writers = [...pattern.matchAll(/\[([^\]]*)\]|([a-z])\2*|[^a-z]/gis)].map(
    ([part, literal]): Write => {
      if (part === "[") throw badFormat(pattern, 'a "[" is not closed');
      const token = tokens[part];
      if (token) tokenCount++;
      else if (isBareLetter(part, literal))
        throw badFormat(pattern, `"${part}" is no token; literal text stands in [brackets]`);
      return token ?? (() => literal ?? part);
    },
  );
  if (tokenCount === 0) throw badFormat(pattern, "it has no token");
  return (time) => writers.map((write) => write(time)).join("");
}

/** "T" alone is let through: it is what stands between date and time in ISO-like patterns. */
function isBareLetter(part: string, literal: string | undefined): boolean {
  return literal === undefined && part !== "T" && /^[a-z]/i.test(part);
}

const commonPatterns = [
  "YYYY-MM-DD",
  "YYYY-MM-DD HH:mm",
  "YYYY-MM-DD HH:mm:ss",
  "YYYY-MM-DDTHH:mm:ssZ",
  "HH:mm",
  "HH:mm:ss",
];

function badFormat(format: string, reason: string): HallError {
  const names = namedFormats.map(({ name }) => name);
  const near = findNear(format, [...names, ...commonPatterns]);
  const accepted = `${names.join(", ")}, or a pattern of ${Object.keys(tokens).join(" ")} and [literal text]`;
  const nearest = near.length > 0 ? `. Near: ${near.join(", ")}` : "";
  const message = `bad format ${JSON.stringify(format.slice(0, 80))}: ${reason}. Formats: ${accepted}${nearest}`;
  return new HallError("VALIDATION", message, {
    details: { errors: [{ path: "/format", message }], near },
  });
}

function pad(value: number, width = 2): string {
  return `${value}`.padStart(width, "0");
}
