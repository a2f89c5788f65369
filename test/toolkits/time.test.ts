import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { Ajv } from "ajv";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { Scope } from "../../src/base/scope.ts";
import type { CallContext, Toolkit } from "../../src/tool.ts";
import { createTimeToolkit } from "../../src/toolkits/time/time.ts";

const context: CallContext = {
  scope: new Scope(),
  progress: () => {},
  log: () => {},
  ask: async () => ({}),
};

/** Fills in defaults as the gateway does, and checks every result against the tool's outputSchema. */
async function call(
  toolkit: Toolkit,
  name: string,
  args: JsonObject,
): Promise<{ text: unknown; structured: JsonObject }> {
  const tool = (await toolkit.list()).find((candidate) => candidate.name === name);
  if (!tool?.outputSchema) throw new Error(`no tool "${name}" with an outputSchema`);
  const defaults =
    name === "current_time" ? { timezone: "UTC", format: "ISO8601" } : { unit: "hours" };
  const outcome = await toolkit.call(tool, { ...defaults, ...args }, context);
  if (!isObject(outcome.structuredContent)) throw new Error("no structuredContent");
  const validate = ajv.compile(tool.outputSchema);
  expect(validate(outcome.structuredContent), ajv.errorsText(validate.errors)).toBe(true);
  expect(outcome.content).toHaveLength(1);
  return { text: outcome.content[0]?.text, structured: outcome.structuredContent };
}
const ajv = new Ajv({ strict: true });

const formatTime = async (iso: string, args: JsonObject) =>
  (await call(createTimeToolkit({ now: () => Date.parse(iso) }), "current_time", args)).text;
const difference = async (start_time: string, end_time: string, unit = "hours") =>
  (await call(createTimeToolkit(), "time_difference", { start_time, end_time, unit })).structured
    .difference;
const instantOf = async (start_time: string) =>
  (await call(createTimeToolkit(), "time_difference", { start_time, end_time: start_time }))
    .structured.start_time;

async function failure(
  name: string,
  args: JsonObject,
): Promise<{ message: string; path: unknown; near: unknown }> {
  const error: unknown = await call(createTimeToolkit(), name, args).catch(
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof HallError))
    throw new Error(
      `expected a HallError for ${JSON.stringify(args)}, got ${JSON.stringify(error)}`,
    );
  expect(error.code).toBe("VALIDATION");
  const [first] = Array.isArray(error.details?.errors) ? error.details.errors : [];
  expect(first?.message).toBe(error.message);
  return { message: error.message, path: first?.path, near: error.details?.near };
}

const sunday = "2026-11-15T21:04:14.123Z";

describe("the toolkit", () => {
  test("offers two tools with exactly the documented parameters", async () => {
    const toolkit = createTimeToolkit();
    expect(toolkit.id).toBe("time_tool");
    expect((await toolkit.list()).map(({ name, inputSchema }) => ({ name, inputSchema }))).toEqual([
      {
        name: "current_time",
        inputSchema: {
          type: "object",
          properties: {
            timezone: { type: "string", default: "UTC" },
            format: { type: "string", default: "ISO8601" },
          },
        },
      },
      {
        name: "time_difference",
        inputSchema: {
          type: "object",
          properties: {
            start_time: { type: "string" },
            end_time: { type: "string" },
            unit: {
              type: "string",
              enum: ["seconds", "minutes", "hours", "days"],
              default: "hours",
            },
          },
          required: ["start_time", "end_time"],
        },
      },
    ]);
  });

  test("marks both tools as read-only with a short timeout and is always available", async () => {
    const toolkit = createTimeToolkit();
    for (const tool of await toolkit.list()) {
      expect(tool.annotations).toEqual({
        readOnlyHint: true,
        idempotentHint: true,
        openWorldHint: false,
      });
      expect(tool.facts).toEqual({ timeoutMs: 10_000 });
    }
    expect(await toolkit.health()).toEqual({ state: "available" });
    await toolkit.close();
  });

  test("an unknown tool is NOT_FOUND", async () => {
    await expect(
      createTimeToolkit().call({ name: "sundial", inputSchema: {} }, {}, context),
    ).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("listing does not load the polyfill, the first call does", async () => {
    let loads = 0;
    vi.resetModules();
    vi.doMock("temporal-polyfill", (importOriginal) => {
      loads++;
      return importOriginal();
    });
    try {
      const fresh = await import("../../src/toolkits/time/time.ts");
      const toolkit = fresh.createTimeToolkit();
      await toolkit.list();
      expect(loads).toBe(0);
      await call(toolkit, "current_time", {});
      expect(loads).toBe(1);
    } finally {
      vi.doUnmock("temporal-polyfill");
      vi.resetModules();
    }
  });
});

describe("current_time", () => {
  test("returns the current time in UTC by default", async () => {
    const before = Date.now();
    const { text, structured } = await call(createTimeToolkit(), "current_time", {});
    expect(structured.unix_ms).toBeGreaterThanOrEqual(before);
    expect(structured.unix_ms).toBeLessThanOrEqual(Date.now());
    expect(text).toBe(new Date(Number(structured.unix_ms)).toISOString());
    expect(structured).toEqual({
      time: text,
      timezone: "UTC",
      format: "ISO8601",
      unix_ms: structured.unix_ms,
    });
  });

  test.each([
    ["UTC", "2026-11-15T21:04:14.123Z"],
    ["utc", "2026-11-15T21:04:14.123Z"],
    ["Etc/UTC", "2026-11-15T21:04:14.123Z"],
    ["Europe/London", "2026-11-15T21:04:14.123+00:00"],
    ["Europe/Berlin", "2026-11-15T22:04:14.123+01:00"],
    ["europe/berlin", "2026-11-15T22:04:14.123+01:00"],
    ["Asia/Kathmandu", "2026-11-16T02:49:14.123+05:45"],
    ["Europe/Kyiv", "2026-11-15T23:04:14.123+02:00"],
    ["+05:30", "2026-11-16T02:34:14.123+05:30"],
  ])("in %s ISO 8601 reads %s", async (timezone, expected) => {
    expect(await formatTime(sunday, { timezone })).toBe(expected);
  });

  test("returns the canonical spelling of the zone", async () => {
    expect(
      (await call(createTimeToolkit(), "current_time", { timezone: "america/new_york" })).structured
        .timezone,
    ).toBe("America/New_York");
  });

  test.each(["RFC2822", "rfc2822", "RFC-2822", "rfc_2822", "RFC 2822"])(
    "the format %s is RFC 2822",
    async (format) => {
      const toolkit = createTimeToolkit({ now: () => Date.parse(sunday) });
      const { structured } = await call(toolkit, "current_time", {
        timezone: "Europe/Berlin",
        format,
      });
      expect(structured).toMatchObject({
        time: "Sun, 15 Nov 2026 22:04:14 +0100",
        format: "RFC2822",
      });
    },
  );

  test.each(["ISO8601", "iso8601", "ISO-8601", "iso_8601", "ISO 8601"])(
    "the format %s is ISO 8601",
    async (format) => {
      expect(await formatTime(sunday, { format })).toBe(sunday);
    },
  );

  test.each([
    [sunday, 1794776654],
    ["1969-12-31T23:59:59.500Z", -1],
    ["1970-01-01T00:00:00.999Z", 0],
  ])("unix time at %s is the whole second %d, a number and its text", async (iso, seconds) => {
    const { text, structured } = await call(
      createTimeToolkit({ now: () => Date.parse(iso) }),
      "current_time",
      { format: "Unix", timezone: "Asia/Tokyo" },
    );
    expect(text).toBe(`${seconds}`);
    expect(structured).toEqual({
      time: seconds,
      timezone: "Asia/Tokyo",
      format: "unix",
      unix_ms: Date.parse(iso),
    });
  });

  test.each([
    ["YYYY-MM-DDTHH:mm:ss.SSSZ", "2026-11-15T22:04:14.123+01:00"],
    ["YYYYMMDD[T]HHmmssZZ", "20261115T220414+0100"],
    ["dddd, D MMMM YYYY", "Sunday, 15 November 2026"],
    ["ddd D MMM", "Sun 15 Nov"],
    ["M/D H:m:s", "11/15 22:4:14"],
    ["hh:mm A | h:mm a", "10:04 PM | 10:04 pm"],
    ["HH:mm [in] z", "22:04 in Europe/Berlin"],
    ["[HH is] HH", "HH is 22"],
    ["[]YYYY年MM月", "2026年11月"],
  ])("the pattern %s writes %s", async (format, expected) => {
    const toolkit = createTimeToolkit({ now: () => Date.parse(sunday) });
    const { structured } = await call(toolkit, "current_time", {
      timezone: "Europe/Berlin",
      format,
    });
    expect(structured).toMatchObject({ time: expected, format });
  });

  test.each([
    ["2026-01-05T00:07:09.004Z", "12:07 AM 05 5 01 1 Mon Monday 004"],
    ["2026-07-04T12:07:09.040Z", "12:07 PM 04 4 07 7 Sat Saturday 040"],
    ["2026-05-20T09:07:09.400Z", "09:07 AM 20 20 05 5 Wed Wednesday 400"],
  ])("midnight, noon and single digits are right at %s", async (iso, expected) => {
    expect(await formatTime(iso, { format: "hh:mm A DD D MM M ddd dddd SSS" })).toBe(expected);
  });

  test.each(["---", "", "[YYYY]", "12:00", "T"])(
    "the pattern %j without a token is refused with the list of formats",
    async (format) => {
      const { message, path } = await failure("current_time", { format });
      expect(path).toBe("/format");
      expect(message).toContain(JSON.stringify(format));
      expect(message).toContain("contains no token");
      expect(message).toContain("ISO8601, RFC2822, unix, or a pattern of YYYY");
    },
  );

  test.each([
    ["iso", "i", ["ISO8601"]],
    ["ISO8602", "I", ["ISO8601"]],
    ["yyyy-MM-dd", "yyyy", ["YYYY-MM-DD"]],
    ["%Y-%m-%d", "Y", []],
    ["YYYY-MM-DD at HH:mm", "t", ["YYYY-MM-DD HH:mm"]],
    ["HH:mmm", "mmm", ["HH:mm"]],
    ["timestamp", "t", []],
  ])("the format %s is rejected because of %s", async (format, letter, near) => {
    const error = await failure("current_time", { format });
    expect(error.message).toContain(`unknown token "${letter}"`);
    expect(error.near).toEqual(expect.arrayContaining(near));
  });

  test("an unclosed bracket and a too long pattern are rejected", async () => {
    expect((await failure("current_time", { format: "[at HH:mm" })).message).toContain("unclosed");
    const { message } = await failure("current_time", { format: "[".repeat(1_000_000) });
    expect(message).toContain("limit of 200");
    expect(message.length).toBeLessThan(600);
  });

  test.each([
    ["berlin", "Europe/Berlin"],
    ["Europe/Berln", "Europe/Berlin"],
    ["Berln", "Europe/Berlin"],
    ["Pacific/Berlin", "Europe/Berlin"],
    ["New York", "America/New_York"],
    ["America/New York", "America/New_York"],
    ["kolkata", "Asia/Kolkata"],
    ["Kyv", "Europe/Kyiv"],
    ["UCT1", "UTC"],
    ["Z", "UTC"],
    ["", "UTC"],
  ])("the unknown zone %j is rejected and %s is suggested first", async (timezone, nearest) => {
    const { message, path, near } = await failure("current_time", { timezone });
    expect(path).toBe("/timezone");
    expect(message).toContain(JSON.stringify(timezone));
    expect(message).toContain(nearest);
    expect(near).toEqual(expect.arrayContaining([nearest]));
    expect(Array.isArray(near) && near[0]).toBe(nearest);
  });

  test.each([
    "PST",
    "IST",
    "2026-11-15T22:04:14[Europe/Berlin]",
    "2026-11-15T22:04:14Z",
    "+1",
    "../etc/passwd",
  ])("%s is not accepted as a zone", async (timezone) => {
    expect((await failure("current_time", { timezone })).message).toContain(
      `unknown time zone "${timezone}"`,
    );
  });

  test("a value of the wrong type is rejected without schema validation, too", async () => {
    expect((await failure("current_time", { timezone: 1 })).path).toBe("/timezone");
  });
});

describe("time_difference", () => {
  test("returns text and structure with both moments in UTC", async () => {
    const { text, structured } = await call(createTimeToolkit(), "time_difference", {
      start_time: "2026-11-15T22:04:14+01:00",
      end_time: "2026-11-15T22:34:14Z",
    });
    expect(text).toBe("1.5 hours");
    expect(structured).toEqual({
      difference: 1.5,
      unit: "hours",
      start_time: "2026-11-15T21:04:14Z",
      end_time: "2026-11-15T22:34:14Z",
    });
  });

  test.each([
    ["seconds", 129_600],
    ["minutes", 2160],
    ["hours", 36],
    ["days", 1.5],
  ])("counts in %s, negative backwards", async (unit, expected) => {
    expect(await difference("2026-01-01", "2026-01-02T12:00Z", unit)).toBe(expected);
    expect(await difference("2026-01-02T12:00Z", "2026-01-01", unit)).toBe(-expected);
  });

  test("keeps fractions down to the nanosecond, and equal moments give zero", async () => {
    expect(
      await difference("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000001Z", "seconds"),
    ).toBe(1e-9);
    expect(await difference("0.25", "0", "seconds")).toBe(-0.25);
    expect(await difference("2026-01-01T00:00Z", "2026-01-01T00:20Z")).toBe(1 / 3);
    expect(await difference("1900-01-01", "2100-01-01T00:00:00.5Z", "seconds")).toBe(
      6_311_433_600.5,
    );
    expect(await difference("2026-01-01", "2026-01-01T00:00Z")).toBe(0);
  });

  test.each([
    ["Europe/Berlin", "2026-03-28T12:00", "2026-03-29T12:00", 23],
    ["Europe/Berlin", "2026-10-24T12:00", "2026-10-25T12:00", 25],
    ["America/New_York", "2026-03-08T00:00", "2026-03-09T00:00", 23],
    ["America/New_York", "2026-11-01T00:00", "2026-11-02T00:00", 25],
    ["Australia/Lord_Howe", "2026-04-05T00:00", "2026-04-06T00:00", 24.5],
    ["Australia/Sydney", "2026-10-04T00:00", "2026-10-05T00:00", 23],
    ["Asia/Kolkata", "2026-03-29T00:00", "2026-03-30T00:00", 24],
  ])("one calendar day in %s from %s to %s lasts %d hours", async (zone, start, end, hours) => {
    expect(await difference(`${start}[${zone}]`, `${end}[${zone}]`)).toBe(hours);
    expect(await difference(`${end}[${zone}]`, `${start}[${zone}]`)).toBe(-hours);
  });

  test("a difference across a clock change is the elapsed time", async () => {
    expect(
      await difference("2026-03-29T01:59:00+01:00", "2026-03-29T03:00:00+02:00", "minutes"),
    ).toBe(1);
    expect(
      await difference("2026-03-08T01:59:00-05:00", "2026-03-08T03:00:00-04:00", "minutes"),
    ).toBe(1);
  });

  test("a skipped wall time moves forward and a repeated one is the first", async () => {
    expect(await instantOf("2026-03-29T02:30[Europe/Berlin]")).toBe("2026-03-29T01:30:00Z");
    expect(await instantOf("2026-10-25T02:30[Europe/Berlin]")).toBe("2026-10-25T00:30:00Z");
    expect(await instantOf("2026-10-25T02:30+01:00[Europe/Berlin]")).toBe("2026-10-25T01:30:00Z");
  });

  test.each([
    ["2026-11-15T22:04:14+01:00", "2026-11-15T21:04:14Z"],
    ["2026-11-15T22:04:14.123+0100", "2026-11-15T21:04:14.123Z"],
    ["2026-11-15T22:04:14-05", "2026-11-16T03:04:14Z"],
    ["2026-11-15T22:04:14Z", "2026-11-15T22:04:14Z"],
    ["2026-11-15 22:04:14z", "2026-11-15T22:04:14Z"],
    ["20261115T220414Z", "2026-11-15T22:04:14Z"],
    ["2026-11-15T22:04:14", "2026-11-15T22:04:14Z"],
    ["2026-11-15 22:04", "2026-11-15T22:04:00Z"],
    ["2026-11-15", "2026-11-15T00:00:00Z"],
    ["2026-11-15T22:04:14[Europe/Berlin]", "2026-11-15T21:04:14Z"],
    ["2026-11-15T22:04:14+01:00[Europe/Berlin]", "2026-11-15T21:04:14Z"],
    ["2026-11-15T22:04:14Z[Europe/Berlin]", "2026-11-15T22:04:14Z"],
    ["2026-11-15[Asia/Kathmandu]", "2026-11-14T18:15:00Z"],
    ["-000044-03-15", "-000044-03-15T00:00:00Z"],
    ["Sun, 15 Nov 2026 22:04:14 +0100", "2026-11-15T21:04:14Z"],
    ["sun, 15 nov 2026 22:04:14 +0100", "2026-11-15T21:04:14Z"],
    ["15 Nov 2026 22:04 -0330", "2026-11-16T01:34:00Z"],
    ["Thu, 1 Jan 1970 00:00:00 GMT", "1970-01-01T00:00:00Z"],
    ["Thu, 01 Jan 1970 00:00:00 -0000", "1970-01-01T00:00:00Z"],
    ["Thu, 01 Jan 1970 00:00:00 EST", "1970-01-01T05:00:00Z"],
    ["Sun, 15 Nov 2026 22:04:14 +0100 (CET)", "2026-11-15T21:04:14Z"],
    ["1794776654", "2026-11-15T21:04:14Z"],
    ["+1794776654.5", "2026-11-15T21:04:14.5Z"],
    ["-1.25", "1969-12-31T23:59:58.75Z"],
    ["0", "1970-01-01T00:00:00Z"],
    ["  2026-11-15  ", "2026-11-15T00:00:00Z"],
  ])("%j is understood as %s", async (text, expected) => {
    expect(await instantOf(text)).toBe(expected);
  });

  test("accepts its own results and those of current_time", async () => {
    const toolkit = createTimeToolkit({ now: () => Date.parse("2026-11-15T21:04:14Z") });
    for (const format of ["ISO8601", "RFC2822", "unix"]) {
      const { text } = await call(toolkit, "current_time", { timezone: "Asia/Kathmandu", format });
      expect(await instantOf(String(text))).toBe("2026-11-15T21:04:14Z");
    }
  });

  test.each([
    ["2026-02-30", ["2026-02-28"]],
    ["2026-13-01T00:00Z", ["2026-12-01"]],
    ["2026/11/15", ["2026-11-15"]],
    ["2026-11-15T25:00Z", ["2026-11-15"]],
    ["2026-11-15T22:04:14+1:00", ["2026-11-15"]],
    ["2026-11-15T22:04:14+05:00[Europe/Berlin]", ["2026-11-15"]],
    ["1794776654123", ["1794776654.123"]],
    ["Mon, 15 Nov 2026 22:04:14 +0100", []],
    ["Tue, 31 Feb 2026 22:04:14 +0100", []],
    ["Sun, 15 Nov 2026 22:04:14 XYZ", []],
    ["15 Foo 2026 22:04:14 +0100", []],
    ["2026-11", []],
    ["tomorrow", []],
    ["", []],
    ["1e9", []],
    ["22:04", []],
  ])("%j is rejected with near dates", async (end_time, near) => {
    const error = await failure("time_difference", { start_time: "2026-01-01", end_time });
    expect(error.path).toBe("/end_time");
    expect(error.message).toContain(JSON.stringify(end_time));
    expect(error.near).toEqual(near);
    for (const name of near) expect(error.message).toContain(name);
  });

  test("an unknown zone inside a date is reported as a zone", async () => {
    const { message, path, near } = await failure("time_difference", {
      start_time: "2026-11-15T22:04[Europe/Berln]",
      end_time: "0",
    });
    expect(path).toBe("/start_time");
    expect(message).toContain('unknown time zone "Europe/Berln"');
    expect(Array.isArray(near) && near[0]).toBe("Europe/Berlin");
  });

  test("an unknown unit and a too long date are rejected", async () => {
    expect(
      await failure("time_difference", { start_time: "0", end_time: "0", unit: "hour" }),
    ).toMatchObject({ path: "/unit", near: ["hours"] });
    const { message } = await failure("time_difference", {
      start_time: "9".repeat(1_000_000),
      end_time: "0",
    });
    expect(message.length).toBeLessThan(400);
  });
});

/**
 * GNU date reads the system's zone data, we read ICU's: two independent sources. Zones whose future
 * is a forecast rather than a rule are left out, since the two sources may be of different age:
 * Morocco (Ramadan tables), Gaza, Chile, Paraguay, Greenland, Kazakhstan, Mexico. So is Monrovia,
 * whose offset had seconds in 1970, which neither ISO 8601 nor RFC 2822 can write.
 */
describe("current_time against GNU date", () => {
  const zones = [
    "UTC",
    "Europe/Berlin",
    "Europe/London",
    "Europe/Dublin",
    "America/New_York",
    "America/Los_Angeles",
    "America/St_Johns",
    "America/Sao_Paulo",
    "Africa/Johannesburg",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Australia/Sydney",
    "Australia/Adelaide",
    "Australia/Lord_Howe",
    "Australia/Eucla",
    "Pacific/Auckland",
    "Pacific/Chatham",
    "Pacific/Kiritimati",
  ];

  const clockChanges = [
    ...["2026-03-29T01:00Z", "2026-10-25T01:00Z"], // Europe
    ...["2026-03-08T07:00Z", "2026-11-01T06:00Z"], // New York
    ...["2026-03-08T10:00Z", "2026-11-01T09:00Z"], // Los Angeles
    ...["2026-03-08T05:30Z", "2026-11-01T04:30Z"], // St John's
    ...["2018-02-18T02:00Z", "2018-11-04T03:00Z"], // São Paulo, the last year with both
    ...["2026-04-04T16:00Z", "2026-10-03T16:00Z"], // Sydney
    ...["2026-04-04T16:30Z", "2026-10-03T16:30Z"], // Adelaide
    ...["2026-04-04T15:00Z", "2026-10-03T15:30Z"], // Lord Howe, half an hour
    ...["2026-04-04T14:00Z", "2026-09-26T14:00Z"], // Auckland and Chatham
    ...["2099-03-29T01:00Z", "2100-03-28T01:00Z", "2100-10-31T01:00Z"], // Europe, far ahead
  ];
  const others = [
    ...[
      "1969-12-31T23:59:59Z",
      "1970-01-01T00:00:00Z",
      "1970-07-01T12:00:00Z",
      "1974-01-06T07:00:00Z",
      "1985-06-15T03:30:00Z",
    ],
    ...[
      "1999-12-31T23:59:59Z",
      "2000-02-29T12:00:00Z",
      "2008-08-08T08:08:08Z",
      "2011-12-30T09:59:59Z",
      "2016-12-31T23:59:59Z",
    ],
    ...[
      "2024-02-29T23:59:59Z",
      "2026-01-01T00:00:00Z",
      "2026-07-01T00:00:00Z",
      "2038-01-19T03:14:07Z",
      "2038-01-19T03:14:08Z",
    ],
    ...[
      "2050-07-01T12:00:00Z",
      "2099-12-31T23:59:59Z",
      "2100-02-28T23:59:59Z",
      "2100-03-01T00:00:00Z",
      "2100-07-01T12:00:00Z",
    ],
  ];
  const seconds = [
    ...clockChanges.flatMap((iso) => [-1, 0, 1].map((step) => Date.parse(iso) / 1000 + step)),
    ...others.map((iso) => Date.parse(iso) / 1000),
  ];

  beforeAll(() => {
    // Without zone data GNU date takes every zone for UTC and says nothing.
    const missing = zones.filter((zone) => !existsSync(`/usr/share/zoneinfo/${zone}`));
    if (missing.length > 0)
      throw new Error(
        `this test needs the system's zone data: install tzdata (missing in /usr/share/zoneinfo: ${missing.join(", ")})`,
      );
    if (!execFileSync("date", ["--version"], { encoding: "utf8" }).includes("GNU"))
      throw new Error("this test needs GNU date (coreutils)");
  });

  /** One process for all lines. */
  const gnuDate = (
    zone: string,
    format: string,
    lines = seconds.map((second) => `@${second}`),
  ): string[] => {
    const env = { PATH: process.env.PATH, TZ: zone, LC_ALL: "C" };
    return execFileSync("date", ["-f", "-", format], {
      input: lines.join("\n"),
      encoding: "utf8",
      env,
    })
      .trimEnd()
      .split("\n");
  };

  test.each(zones)("agrees in %s at every instant", async (timezone) => {
    let nowMs = 0;
    const toolkit = createTimeToolkit({ now: () => nowMs });
    const [tool] = await toolkit.list();
    if (!tool) throw new Error("no tool");
    const tellAll = async (format: string) => {
      const calls = seconds.map((second) => {
        nowMs = second * 1000;
        return toolkit.call(tool, { timezone, format }, context);
      });
      return (await Promise.all(calls)).map(({ content }) => content[0]?.text);
    };
    expect(seconds.length).toBeGreaterThanOrEqual(40);
    expect(await tellAll("ISO8601")).toEqual(
      gnuDate(timezone, `+%Y-%m-%dT%H:%M:%S.000${timezone === "UTC" ? "Z" : "%:z"}`),
    );
    expect(await tellAll("RFC2822")).toEqual(gnuDate(timezone, "-R"));
    expect(await tellAll("dddd D MMMM hh A Z")).toEqual(gnuDate(timezone, "+%A %-d %B %I %p %:z"));
  });

  test.each(zones)("reads back what GNU date writes in %s", async (zone) => {
    const read = await Promise.all(
      gnuDate(zone, "-R").map((text) => difference("0", text, "seconds")),
    );
    expect(read).toEqual(seconds);
  });

  test("agrees on the named offsets of RFC 2822", async () => {
    const written = [
      "UT",
      "UTC",
      "GMT",
      "Z",
      "EST",
      "EDT",
      "CST",
      "CDT",
      "MST",
      "MDT",
      "PST",
      "PDT",
    ].map((name) => `Sun, 15 Nov 2026 22:04:14 ${name}`);
    const read = await Promise.all(written.map((text) => difference("0", text, "seconds")));
    expect(read.map(String)).toEqual(gnuDate("UTC", "+%s", written));
  });
});
