import { HallError } from "../base/errors.ts";

const units: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** `30m`, `24h`, `7d`, `2w` ago, or a date. Milliseconds since 1970. */
export function parseSince(text: string, now: number = Date.now()): number {
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const at =
    count !== undefined && unit !== undefined
      ? now - Number(count) * (units[unit] ?? 0)
      : Date.parse(text);
  if (Number.isNaN(at))
    throw new HallError("INVALID_PARAMS", `"${text}" is no time`, {
      hint: "Write 30m, 24h, 7d, or a date such as 2026-01-31.",
    });
  return at;
}
