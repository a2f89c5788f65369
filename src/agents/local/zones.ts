import type { Reading } from "./mention.ts";
import type { Option } from "./options.ts";
import type { Parameter } from "./parameters.ts";

/** The time zone a task names, for a parameter that wants one: `Asia/Tokyo` as it is written, or a city that only one zone is named after. */
export function findZone(
  parameter: Parameter,
  { text }: Reading,
  parameters: readonly Parameter[],
): Option | undefined {
  if (!wantsZone(parameter)) return undefined;
  const places = zonesOf(text);
  const wanting = parameters.filter(wantsZone);
  if (wanting.length === 1) return places.length === 1 ? places[0] : undefined;
  // Of several, only what stands before a zone says whose it is.
  const cue =
    parameter.role === "start"
      ? /\bfrom\s+$/i
      : parameter.role === "end"
        ? /\b(?:to|into)\s+$/i
        : undefined;
  const said = cue ? places.filter(({ start }) => cue.test(text.slice(0, start))) : [];
  return said.length === 1 ? said[0] : undefined;
}

function wantsZone({ path, type, choices, description }: Parameter): boolean {
  if (type !== "string" || choices) return false;
  return (
    /(?:^|_)(?:time_?zone|tz|zone_?id)(?:$|_)/i.test(
      (path.at(-1) ?? "").replace(/(\p{Ll})(\p{Lu})/gu, "$1_$2"),
    ) || /\bIANA\b/.test(description)
  );
}

function zonesOf(text: string): readonly Option[] {
  const found: Option[] = [];
  for (const match of text.matchAll(
    /(?<![\p{L}\p{N}/])(?:[A-Z][A-Za-z]+(?:\/[A-Z][A-Za-z_+-]+){1,2}|UTC|GMT)(?![\p{L}\p{N}/])/gu,
  ))
    if (isZone(match[0]))
      found.push({
        value: match[0],
        kind: "pair",
        start: match.index,
        end: match.index + match[0].length,
      });
  if (found.length > 0) return found;
  // Where somebody writes no capitals, a city is what stands after a small word and nothing else is: "time in new york".
  const cities = isCapital.test(text) ? text.matchAll(capitalised) : text.matchAll(afterSmallWord);
  for (const match of cities) {
    const zone = zoneOf(match[0]);
    // The city may be another of that name.
    if (zone !== undefined)
      found.push({
        value: zone,
        kind: "pair",
        turn: "zone",
        start: match.index,
        end: match.index + match[0].length,
      });
  }
  return found;
}

const isCapital = /(?<!^\s*)\p{Lu}/u;
const capitalised = /(?<![\p{L}\p{N}/])\p{Lu}\p{L}+(?: \p{Lu}\p{L}+){0,2}(?![\p{L}\p{N}/])/gu;
const afterSmallWord =
  /(?<=\b(?:in|at|for|from|to) )\p{Ll}{3,}(?: \p{Ll}{2,}){0,2}?(?=\s*(?:[?!.,;]|$| (?:now|today|and|to|right)\b))/gu;

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function zoneOf(city: string): string | undefined {
  const ending = `/${city.replaceAll(" ", "_")}`.toLowerCase();
  const [only, another] = Intl.supportedValuesOf("timeZone").filter((zone) =>
    zone.toLowerCase().endsWith(ending),
  );
  return another === undefined ? only : undefined;
}
