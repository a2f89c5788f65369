/**
 * Time formats: three named ones, or a pattern of tokens. A letter that is not a token must be in
 * brackets, so that a misspelt format name is rejected instead of read as a pattern ("iso" would print
 * the second in its middle).
 */
import type { Temporal } from "temporal-polyfill";
import type { HallError } from "../../base/errors.ts";
import { findNear } from "../../base/text.ts";
import { invalidField } from "../toolkit.ts";

interface TimeFormat {
  /** The canonical name, or the pattern. */
  readonly name: string;
  format(time: Temporal.ZonedDateTime): string | number;
}

/** Throws VALIDATION if the text is neither a named format nor a pattern. */
export function parseFormat(text: string): TimeFormat {
  const plain = text.toLowerCase().replace(/[\s_-]/g, "");
  const named = namedFormats.find(({ name }) => name.toLowerCase() === plain);
  return named ?? { name: text, format: parsePattern(text) };
}

export const monthNames =
  "January February March April May June July August September October November December".split(
    " ",
  );
export const weekdayNames = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(" ");

type FormatPart = (time: Temporal.ZonedDateTime) => string;

const tokens: Readonly<Record<string, FormatPart>> = {
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

/** Bounds the work for hostile input. */
const patternLengthMax = 200;

const namedFormats: readonly TimeFormat[] = [
  { name: "ISO8601", format: formatIso },
  { name: "RFC2822", format: parsePattern("ddd, DD MMM YYYY HH:mm:ss ZZ") },
  { name: "unix", format: (time) => Math.floor(time.epochMilliseconds / 1000) },
];

function formatIso(time: Temporal.ZonedDateTime): string {
  const text = time.toString({ fractionalSecondDigits: 3, timeZoneName: "never" });
  const isUtc = time.equals(time.withTimeZone("UTC"));
  return isUtc ? text.replace("+00:00", "Z") : text;
}

function parsePattern(pattern: string): FormatPart {
  if (pattern.length > patternLengthMax)
    throw badFormat(pattern, "the pattern exceeds the limit of 200 characters");
  let tokenCount = 0;
  const parts = [...pattern.matchAll(/\[([^\]]*)\]|([a-z])\2*|[^a-z]/gis)].map(
    ([part, literal]): FormatPart => {
      if (part === "[") throw badFormat(pattern, 'unclosed "["');
      const token = tokens[part];
      if (token) tokenCount++;
      else if (isBareLetter(part, literal))
        throw badFormat(pattern, `unknown token "${part}"; put literal text in [brackets]`);
      return token ?? (() => literal ?? part);
    },
  );
  if (tokenCount === 0) throw badFormat(pattern, "it contains no token");
  return (time) => parts.map((part) => part(time)).join("");
}

/** "T" is allowed: it separates date and time in ISO-like patterns. */
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
  const nearest = near.length > 0 ? `; near: ${near.join(", ")}` : "";
  const message = `invalid format ${JSON.stringify(format.slice(0, 80))}: ${reason} (expected: ${accepted}${nearest})`;
  return invalidField("format", message, [], { near });
}

function pad(value: number, width = 2): string {
  return `${value}`.padStart(width, "0");
}
