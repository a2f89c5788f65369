/** Time, through the clock the host hands in. */
import { defineConstant, defineFunction } from "../define.ts";
import type { Machine } from "../machine.ts";
import { isNumber, toDouble } from "../numbers.ts";
import { NIL } from "../symbol.ts";
import type { Value } from "../values.ts";

/** Seconds from 1900, where universal time begins, to 1970. */
const epoch = 2_208_988_800;
const unitsPerSecond = 1_000_000;

export function defineTime(): void {
  defineConstant("INTERNAL-TIME-UNITS-PER-SECOND", unitsPerSecond);
  defineFunction("GET-UNIVERSAL-TIME", "", (m) => Math.floor(m.host.clock()) + epoch);
  defineFunction("GET-INTERNAL-REAL-TIME", "", (m) =>
    Math.floor((m.host.timer() * unitsPerSecond) / 1000),
  );
  defineFunction("GET-INTERNAL-RUN-TIME", "", (m) =>
    Math.floor((m.host.timer() * unitsPerSecond) / 1000),
  );
  defineFunction(
    "DECODE-UNIVERSAL-TIME",
    "universal-time &optional time-zone",
    (m, time: Value, zone?: Value) => decode(m, seconds(m, time), zone),
    {
      values: true,
    },
  );
  defineFunction(
    "GET-DECODED-TIME",
    "",
    (m) => decode(m, Math.floor(m.host.clock()) + epoch, undefined),
    { values: true },
  );
  defineFunction(
    "ENCODE-UNIVERSAL-TIME",
    "second minute hour date month year &optional time-zone",
    (
      m,
      second: Value,
      minute: Value,
      hour: Value,
      date: Value,
      month: Value,
      year: Value,
      zone?: Value,
    ) => {
      const [s, min, h, d, mon, y] = [second, minute, hour, date, month, year].map((part) =>
        seconds(m, part),
      ) as [number, number, number, number, number, number];
      const days = Date.UTC(y, mon - 1, d) / 86_400_000;
      return days * 86_400 + h * 3600 + min * 60 + s + zoneSeconds(m, zone) + epoch;
    },
  );
  defineFunction("SLEEP", "seconds", (m, time: Value) => {
    const wanted = isNumber(time) ? toDouble(m, time) : m.typeError(time, "(REAL 0)");
    if (wanted < 0) return m.typeError(time, "(REAL 0)");
    // Never longer than the evaluation may last; the budget then ends it.
    m.host.sleep(Math.min(wanted * 1000, Math.max(0, m.deadline - m.host.now()) + 1));
    m.refuel();
    return NIL;
  });
  defineFunction("LISP-IMPLEMENTATION-TYPE", "", (m) => m.string("Guildhall Lisp"));
  defineFunction("LISP-IMPLEMENTATION-VERSION", "", (m) => m.string("1"));
  // Nothing about the machine a session runs on is told.
  for (const name of [
    "MACHINE-TYPE",
    "MACHINE-VERSION",
    "MACHINE-INSTANCE",
    "SOFTWARE-TYPE",
    "SOFTWARE-VERSION",
    "SHORT-SITE-NAME",
    "LONG-SITE-NAME",
  ])
    defineFunction(name, "", () => NIL);
}

function seconds(m: Machine, value: Value): number {
  return typeof value === "number" && value >= 0 ? value : m.typeError(value, "UNSIGNED-BYTE");
}

/** Hours west of Greenwich; without one, Greenwich: where a session runs is nobody's business. */
function zoneSeconds(m: Machine, zone: Value | undefined): number {
  if (zone === undefined || zone === NIL) return 0;
  return isNumber(zone) ? Math.round(toDouble(m, zone) * 3600) : m.typeError(zone, "RATIONAL");
}

function decode(m: Machine, time: number, zone: Value | undefined): Value {
  const date = new Date((time - epoch - zoneSeconds(m, zone)) * 1000);
  const weekday = (date.getUTCDay() + 6) % 7;
  const clock = [date.getUTCSeconds(), date.getUTCMinutes(), date.getUTCHours()];
  return m.values(
    ...clock,
    date.getUTCDate(),
    date.getUTCMonth() + 1,
    date.getUTCFullYear(),
    weekday,
    NIL,
    zone ?? 0,
  );
}
