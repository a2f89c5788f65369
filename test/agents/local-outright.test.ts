import { expect, test } from "vitest";
import { chooseTool } from "../../src/agents/local/choose.ts";
import { isSaidOutright } from "../../src/agents/local/decision.ts";
import { fill } from "../../src/agents/local/fill.ts";
import { findLeftOver } from "../../src/agents/local/left-over.ts";
import { readTask } from "../../src/agents/local/reading.ts";
import type { JsonObject } from "../../src/base/json.ts";

/** What a task says outright: zones, sums, conversions, folders, the one thing a tool is to have. */
const string = (description = ""): JsonObject => ({ type: "string", description });
const object = (
  properties: JsonObject,
  required: readonly string[] = Object.keys(properties),
): JsonObject => ({ type: "object", properties, required });
const offer = (name: string, description: string, inputSchema: JsonObject) => ({
  name,
  description,
  inputSchema,
  score: 0.5,
});

const time = offer(
  "clock.current_time",
  "The current time in a time zone. `timezone`: an IANA name such as Europe/Berlin, or an offset such as +05:30.",
  object({ timezone: { type: "string", default: "UTC" } }, []),
);
const calculate = offer(
  "sums.calculate",
  "Evaluates an arithmetic expression exactly: 0.1+0.2 is 0.3.",
  object({ expression: string("Such as 2*(3+4)^2, 15% * 80 or 100!") }),
);
const convert = offer(
  "sums.convert_units",
  "Converts a value between units.",
  object({ value: { type: "number" }, from_unit: string(), to_unit: string() }),
);
const echo = offer(
  "everything.echo",
  "Echoes back the input string",
  object({ message: string("Message to echo") }),
);
const list = offer(
  "files.list_directory",
  "Get a listing of all files in a specified path.",
  object({ path: string() }),
);

test.each<[string, typeof time, JsonObject]>([
  ["current time in Europe/Berlin", time, { timezone: "Europe/Berlin" }],
  ["what is the time in Asia/Tokyo?", time, { timezone: "Asia/Tokyo" }],
  ["compute 2+2", calculate, { expression: "2+2" }],
  ["what is 17 * 23?", calculate, { expression: "17 * 23" }],
  ["calculate 2*(3+4)^2", calculate, { expression: "2*(3+4)^2" }],
  ["convert 5 miles to km", convert, { value: 5, from_unit: "miles", to_unit: "km" }],
  ["echo hello", echo, { message: "hello" }],
  ["list the directory docs", list, { path: "docs" }],
])("%s: certain, and nothing is left over", (task, tool, expected) => {
  const reading = readTask(task);
  const filling = fill(reading, tool);
  expect(filling.values).toEqual(expected);
  expect(filling.filled.map(({ certainty }) => certainty)).toEqual(
    Object.keys(expected).map(() => "certain"),
  );
  expect(findLeftOver(reading, tool, filling)).toEqual([]);
});

test("a city stands for the zone that is named after it, and is not certain", () => {
  expect(fill("what time is it in Lima?", time).filled).toMatchObject([
    { value: "America/Lima", certainty: "likely", from: { text: "Lima" } },
  ]);
});

test("where nothing is written with a capital, a city is what a small word leads to", () => {
  for (const [task, zone] of [
    ["time in lima", "America/Lima"],
    ["what time is it in new york?", "America/New_York"],
  ] as const)
    expect(fill(task, time).filled).toMatchObject([{ value: zone, certainty: "likely" }]);
  // Easter is an island too, and Resolute a place in Canada.
  for (const task of ["is easter in april", "a resolute answer to Bob"])
    expect(fill(task, time).filled).toEqual([]);
});

test("a task that says what a tool needs and nothing else is one for it, however few words they share", () => {
  const isPlain = (task: string): boolean =>
    chooseTool(readTask(task), [calculate]).some(isSaidOutright);
  for (const task of ["what is 2+2", "(3 + 4) * 2"]) expect(isPlain(task), task).toBe(true);
  for (const task of ["buy milk for 2+2", "what is new", "is 16/11/2026 a holiday"])
    expect(isPlain(task), task).toBe(false);
});

test("a name no argument took is left over, though the description has it as an example", () => {
  const tool = { ...time, inputSchema: object({}) };
  for (const [task, left] of [
    ["current time in Europe/Berlin", "Europe/Berlin"],
    ["current time in europe/berlin", "europe/berlin"],
    ["current time in Berlin", "Berlin"],
  ] as const)
    expect(findLeftOver(readTask(task), tool, fill(task, tool))).toEqual([left]);
});

test("two zones go to the two ends they are said of, and to none where that is not said", () => {
  const tool = offer(
    "clock.convert_time",
    "Converts a time.",
    object({ source_timezone: string(), target_timezone: string() }),
  );
  expect(fill("convert the time from Europe/Berlin to Asia/Tokyo", tool).values).toEqual({
    source_timezone: "Europe/Berlin",
    target_timezone: "Asia/Tokyo",
  });
});

test("no value comes from an example, and a day is no sum", () => {
  const { filled } = fill("add 2 and 3", calculate);
  expect(
    filled.every(
      ({ value, certainty }) => "add 2 and 3".includes(String(value)) && certainty !== "certain",
    ),
  ).toBe(true);
  expect(
    fill("calculate the days since 2026-11-16", calculate).filled.filter(
      ({ certainty }) => certainty === "certain",
    ),
  ).toEqual([]);
});

test("a guess is never the whole task", () => {
  for (const task of ["list files", "list all the files we have"])
    expect(fill(task, list).values.path).not.toBe(task);
});

test("a tool that is deprecated loses against one that is not", () => {
  const path = object({ path: string() });
  const tools = [
    offer(
      "files.read_file",
      "Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead.",
      path,
    ),
    offer(
      "files.read_text_file",
      "Read the complete contents of a file from the file system as text.",
      { ...path },
    ),
  ];
  const [first] = chooseTool(readTask("read docs/a.md"), tools);
  expect(first).toMatchObject({
    tool: { name: "files.read_text_file" },
    filling: { values: { path: "docs/a.md" } },
  });
  expect(first?.likelihood).toBeGreaterThan(0.9);
});
