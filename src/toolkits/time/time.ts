/** The current time in a zone, and differences between exact instants, which clock changes do not affect. */
import type { Temporal } from "temporal-polyfill";
import type { HallError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { findNear } from "../../base/text.ts";
import type { Outcome, Tool, Toolkit } from "../../tool.ts";
import {
  answer,
  choiceSchema,
  createToolkit,
  integerSchema,
  invalidField,
  numberSchema,
  objectSchema,
  readText,
  textSchema,
} from "../toolkit.ts";

/** `now`: milliseconds since 1970. Default `Date.now`. */
export function createTimeToolkit({
  now = Date.now,
}: {
  readonly now?: () => number;
} = {}): Toolkit {
  return createToolkit(
    { id: "time_tool", category: "TIME", description: "Time and date utilities" },
    [
      [currentTime, (args) => formatTime(now(), args), loadTemporal],
      [timeDifference, computeDifference, loadTemporal],
    ],
  );
}

const units = ["seconds", "minutes", "hours", "days"] as const;

const facts = { timeoutMs: 10_000 };
const annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

const currentTime: Tool = {
  name: "current_time",
  title: "Current time",
  description:
    "Returns the current time in a time zone. `timezone`: an IANA name such as Europe/Berlin, or an offset such as +05:30. " +
    "`format`: ISO8601, RFC2822, unix (whole seconds), or a pattern such as `dddd, D MMMM YYYY HH:mm [in] z`. " +
    "Tokens: YYYY, MMMM MMM MM M (month), DD D (day), dddd ddd (weekday), HH H (24 hours), hh h (12 hours), A a (AM, am), mm m (minute), ss s, " +
    "SSS (milliseconds), Z (+01:00), ZZ (+0100), z (zone name). Put other letters except T in [brackets].",
  inputSchema: objectSchema(
    {
      timezone: { type: "string", default: "UTC" },
      format: { type: "string", default: "ISO8601" },
    },
    ["timezone", "format"],
  ),
  outputSchema: objectSchema({
    time: {
      description: "A number for unix, else text.",
      anyOf: [{ type: "string" }, { type: "integer" }],
    },
    timezone: textSchema(),
    format: textSchema(),
    unix_ms: integerSchema("The same moment in milliseconds since 1970."),
  }),
  annotations,
  facts,
};

const timeDifference: Tool = {
  name: "time_difference",
  title: "Time difference",
  description:
    "Computes the duration from start_time to end_time with fractions, negative if the end comes first; a day is 24 hours. Both accept ISO 8601 with an offset, Z " +
    "or a zone (2026-11-15T22:04:14[Europe/Berlin]); without one they are in UTC, and a date alone is midnight UTC. " +
    "Also RFC 2822 (Sun, 15 Nov 2026 22:04:14 +0100) and unix seconds (digits only, such as 1794780254.5).",
  inputSchema: objectSchema(
    {
      start_time: textSchema(),
      end_time: textSchema(),
      unit: { ...choiceSchema(units), default: "hours" },
    },
    ["unit"],
  ),
  outputSchema: objectSchema({
    difference: numberSchema(),
    unit: choiceSchema(units),
    start_time: textSchema("In UTC."),
    end_time: textSchema("In UTC."),
  }),
  annotations,
  facts,
};

const loadTemporal = () => import("temporal-polyfill");

async function formatTime(nowMs: number, args: JsonObject): Promise<Outcome> {
  const { Temporal } = await loadTemporal();
  const format = parseFormat(readText(args, "format"));
  const time = inZone(
    Temporal.Instant.fromEpochMilliseconds(nowMs),
    readText(args, "timezone"),
    "timezone",
  );
  const text = format.format(time);
  return answer(`${text}`, {
    time: text,
    timezone: time.timeZoneId,
    format: format.name,
    unix_ms: nowMs,
  });
}

async function computeDifference(args: JsonObject): Promise<Outcome> {
  const { Temporal } = await loadTemporal();
  const unit = units.find((known) => known === args.unit);
  if (!unit)
    throw invalidField(
      "unit",
      `unknown unit ${quote(`${args.unit}`)} (expected: ${units.join(", ")})`,
      findNear(`${args.unit}`, units),
    );
  const start = parseMoment(Temporal, readText(args, "start_time"), "start_time");
  const end = parseMoment(Temporal, readText(args, "end_time"), "end_time");
  const difference = start.until(end).total({ unit });
  return answer(`${difference} ${unit}`, {
    difference,
    unit,
    start_time: start.toString(),
    end_time: end.toString(),
  });
}

function inZone(instant: Temporal.Instant, zone: string, field: string): Temporal.ZonedDateTime {
  // Temporal would also accept a whole date-time and use the zone in it.
  const isZoneLike = /^(?:[a-z][\w+/-]*|[+-]\d\d:\d\d)$/i.test(zone);
  try {
    if (isZoneLike) return instant.toZonedDateTimeISO(zone);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
  }
  throw invalidField(
    field,
    `unknown time zone ${quote(zone)} (expected: an IANA name such as Europe/Berlin, or UTC)`,
    findNearZones(zone),
  );
}

/** ICU lists these only under their old names. */
const renamedZones = "Asia/Ho_Chi_Minh Asia/Kathmandu Asia/Kolkata Asia/Yangon Europe/Kyiv".split(
  " ",
);

function findNearZones(wanted: string): string[] {
  if (wanted.length < 2) return ["UTC"];
  const zones = ["UTC", ...Intl.supportedValuesOf("timeZone"), ...renamedZones];
  const path = wanted.replaceAll(" ", "_");
  const places = new Map(zones.map((zone) => [lastSegment(zone), zone]));
  const findPlace = (place: string): string[] => [places.get(place) ?? []].flat();
  const near = [
    ...findPlace(lastSegment(path)),
    ...findNear(path, zones),
    ...findNear(lastSegment(path), places.keys()).flatMap(findPlace),
  ];
  return [...new Set(near)].slice(0, 3);
}

function lastSegment(zone: string): string {
  return zone.slice(zone.lastIndexOf("/") + 1).toLowerCase();
}

/** The longest accepted form, with a zone and nanoseconds, is shorter. */
const momentLengthMax = 120;

function parseMoment(api: typeof Temporal, text: string, field: string): Temporal.Instant {
  try {
    if (text.length <= momentLengthMax)
      return parseUnix(api, text, field) ?? parseRfc2822(api, text) ?? parseIso(api, text, field);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
  }
  const forms =
    "ISO 8601 (2026-11-15T22:04:14+01:00), RFC 2822 (Sun, 15 Nov 2026 22:04:14 +0100) or unix seconds (1794780254)";
  throw invalidField(
    field,
    `unknown date or time ${quote(text)} (expected: ${forms})`,
    findNearDates(api, text),
  );
}

/** The last second of the year 9999; larger values are probably milliseconds. */
const unixMax = 253_402_300_799;

function parseUnix(
  api: typeof Temporal,
  text: string,
  field: string,
): Temporal.Instant | undefined {
  const [, sign, seconds, fraction = ""] = text.match(/^([+-]?)(\d+)(?:\.(\d{1,9}))?$/) ?? [];
  if (seconds === undefined) return undefined;
  if (Number(seconds) > unixMax)
    throw invalidField(field, `${quote(text)} is too large for unix seconds`, [
      `${Number(text) / 1000}`,
    ]);
  const nanoseconds = BigInt(seconds + fraction.padEnd(9, "0"));
  return new api.Instant(sign === "-" ? -nanoseconds : nanoseconds);
}

const rfc2822 =
  /^(?:([a-z]{3}),\s*)?(\d{1,2})\s+([a-z]{3})\s+(\d{4})\s+(\d\d:\d\d(?::\d\d)?)\s+([+-]\d{4}|[a-z]{1,3})(?:\s*\([^()]*\))?$/i;

/** The names defined in RFC 2822, section 4.3, and UTC. */
const namedOffsets = new Map(
  "UT:Z UTC:Z GMT:Z EST:-05 EDT:-04 CST:-06 CDT:-05 MST:-07 MDT:-06 PST:-08 PDT:-07"
    .split(" ")
    .map((pair) => pair.split(":") as [name: string, offset: string]),
);

function parseRfc2822(api: typeof Temporal, text: string): Temporal.Instant | undefined {
  const parts = text.match(rfc2822);
  if (!parts) return undefined;
  const [, weekday, day, month = "", year, time, zone = ""] = parts;
  const date = api.PlainDate.from(
    { year: Number(year), month: indexByStart(monthNames, month) + 1, day: Number(day) },
    { overflow: "reject" },
  );
  if (weekday && indexByStart(weekdayNames, weekday) + 1 !== date.dayOfWeek)
    throw new RangeError("the weekday does not fit the date");
  return api.Instant.from(`${date}T${time}${namedOffsets.get(zone.toUpperCase()) ?? zone}`);
}

function indexByStart(names: readonly string[], start: string): number {
  return names.findIndex((name) => name.slice(0, 3).toLowerCase() === start.toLowerCase());
}

function parseIso(api: typeof Temporal, text: string, field: string): Temporal.Instant {
  const zone = text.match(/\[!?([^\]=]+)\]/)?.[1];
  if (zone !== undefined) {
    inZone(new api.Instant(0n), zone, field);
    // Rejects an offset the zone did not have then; skipped or repeated wall times follow RFC 5545.
    return api.ZonedDateTime.from(text).toInstant();
  }
  if (/^[+-]?\d+-\d\d-\d\d$/.test(text)) return api.Instant.from(`${text}T00:00Z`);
  const hasOffset = /[t ].*(?:z|[+-]\d\d(?::?\d\d)?)$/i.test(text);
  return api.Instant.from(hasOffset ? text : `${text}Z`);
}

/** The nearest existing day, for "2026-02-30" and "2026/2/3". */
function findNearDates(api: typeof Temporal, text: string): string[] {
  const parts = text.match(/^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)/);
  if (!parts) return [];
  const [year = 0, month = 0, day = 0] = parts.slice(1).map(Number);
  const date = { year, month: Math.max(1, month), day: Math.max(1, day) };
  return [api.PlainDate.from(date).toString()];
}

function quote(value: string): string {
  return JSON.stringify(value.slice(0, 80));
}

/**
 * Time formats: three named ones, or a pattern of tokens. A letter that is not a token must be in
 * brackets, so that a misspelt format name is rejected instead of read as a pattern ("iso" would print
 * the second in its middle).
 */

interface TimeFormat {
  /** The canonical name, or the pattern. */
  readonly name: string;
  format(time: Temporal.ZonedDateTime): string | number;
}

/** Throws VALIDATION if the text is neither a named format nor a pattern. */
function parseFormat(text: string): TimeFormat {
  const plain = text.toLowerCase().replace(/[\s_-]/g, "");
  const named = namedFormats.find(({ name }) => name.toLowerCase() === plain);
  return named ?? { name: text, format: parsePattern(text) };
}

const monthNames =
  "January February March April May June July August September October November December".split(
    " ",
  );
const weekdayNames = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(" ");

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
