import type { FindDates, Mention } from "./task.ts";

/** Finds dates in English text, seen from `now`. The parser is loaded when it is first needed. */
export async function loadDates(now: Date): Promise<FindDates> {
  const { casual } = await import("chrono-node/en");
  return (text) =>
    casual.parse(text, now).flatMap(({ index, text: written, start, end }) => {
      // A bare time or a duration such as "5 minutes" names no day.
      if (!start.isCertain("day") && !start.isCertain("weekday")) return [];
      if (!end) return [toMention(start, index, written)];
      // "1 May 2026 to 5 May 2026"
      const joint = /\s*(?:to|until|till|through|and|–|-)\s+/i.exec(written);
      if (!joint) return [];
      const second = joint.index + joint[0].length;
      return [
        toMention(start, index, written.slice(0, joint.index)),
        toMention(end, index + second, written.slice(second)),
      ];
    });
}

interface ParsedDate {
  get(component: "day" | "month" | "year" | "hour" | "minute"): number | null;
  isCertain(component: "day" | "month" | "year" | "hour"): boolean;
}

function toMention(date: ParsedDate, start: number, text: string): Mention {
  const two = (part: "day" | "month" | "hour" | "minute"): string =>
    String(date.get(part) ?? 0).padStart(2, "0");
  const value = `${date.get("year")}-${two("month")}-${two("day")}`;
  // 3/4/2026 is a day in March in one country and in April in another.
  const isAmbiguous = /\b(?:0?\d|1[0-2])[/.](?:0?\d|1[0-2])[/.]\d{2,4}\b/.test(text);
  return {
    kind: "date",
    text,
    start,
    end: start + text.length,
    value,
    moment: date.isCertain("hour") ? `${value}T${two("hour")}:${two("minute")}:00` : undefined,
    isExact:
      !isAmbiguous && (["day", "month", "year"] as const).every((part) => date.isCertain(part)),
  };
}
