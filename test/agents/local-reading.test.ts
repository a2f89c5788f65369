import { describe, expect, test } from "vitest";
import { findChoices } from "../../src/agents/local/choices.ts";
import { momentsOf, shapeOf, writeMoment } from "../../src/agents/local/moments.ts";
import { convert, findUnit, quantitiesOf, type Unit } from "../../src/agents/local/quantities.ts";
import { readTask } from "../../src/agents/local/reading.ts";
import { leansBack, stepsOf } from "../../src/agents/local/steps.ts";

describe("numbers are read as people write them", () => {
  test.each<[string, number, string?]>([
    ["a base of 10 units", 10, "units"],
    ["-4 degrees", -4, "degrees"],
    ["about 1,250,000 people", 1_250_000, "people"],
    ["at 3.5 km", 3.5, "km"],
    ["6cm wide", 6, "cm"],
    ["a 10-minute walk", 10, "minute"],
    ["3.5k followers", 3_500],
    ["$5m in funding", 5_000_000, "money"],
    ["5m of rope", 5, "m"],
    ["2 million records", 2_000_000],
    ["1e-9 coulombs", 1e-9, "coulombs"],
    [".5 litres", 0.5, "litres"],
    ["20% off", 20],
    ["five percent", 5],
    ["twenty-five guests", 25, "guests"],
    ["two hundred and five pages", 205, "pages"],
    ["three thousand", 3_000],
    ["a dozen eggs", 12],
    ["two dozen", 24],
    ["half a dozen", 6],
    ["a couple of rooms", 2, "rooms"],
    ["twice", 2],
    ["the 3rd chapter", 3],
    ["for a week", 1, "week"],
    ["in the next week", 1, "week"],
  ])("%s: %d %s", (text, value, unit) => {
    const [found] = quantitiesOf(text);
    expect([found?.value, found?.unit?.name]).toEqual([value, unit]);
  });

  test.each(["x^2", "the MP3 player", "rs6034464", "version 2.1.3", "a radius", "12abc"])(
    "there is no number in %s",
    (text) => {
      expect(quantitiesOf(text)).toEqual([]);
    },
  );

  test("a percentage and an ordinal say that they are", () => {
    expect(quantitiesOf("20 percent")[0]?.isPercent).toBe(true);
    expect(quantitiesOf("the second one")[0]?.isOrdinal).toBe(true);
  });

  test.each<[number, string, string, number | undefined]>([
    [10, "minutes", "seconds", 600],
    [2, "weeks", "days", 14],
    [1, "mile", "km", 1.609344],
    [3, "kg", "grams", 3_000],
    [5, "GB", "MB", 5_000],
    [20, "celsius", "fahrenheit", undefined],
    [3, "hours", "km", undefined],
  ])("%d %s in %s is %s", (value, from, to, expected) => {
    expect(convert(value, findUnit(from) as Unit, findUnit(to) as Unit)).toBe(expected);
  });
});

describe("days and times are read, and written as a schema wants them", () => {
  const friday = new Date("2024-03-01T00:00:00Z");

  test.each<[string, string, string]>([
    ["on 2024-03-05", "YYYY-MM-DD", "2024-03-05"],
    ["on March 5th, 2024", "YYYY-MM-DD", "2024-03-05"],
    ["on 5 March 2024", "DD/MM/YYYY", "05/03/2024"],
    ["the 5th of Mar 2024", "MM-DD-YYYY", "03-05-2024"],
    ["Jun.20,2023", "YYYY-MM-DD", "2023-06-20"],
    ["due 3/15/2024", "YYYY-MM-DD", "2024-03-15"],
    ["due 15/3/2024", "YYYY-MM-DD", "2024-03-15"],
    ["at 9 pm", "HH:MM", "21:00"],
    ["at 12:30 a.m.", "HH:MM", "00:30"],
    ["at 15:45", "HH:MM:SS", "15:45:00"],
    ["5 in the afternoon", "HH:MM", "17:00"],
    ["at noon", "HH:MM", "12:00"],
    ["November 1, 2024 at 4pm", "YYYY-MM-DDTHH:MM:SS", "2024-11-01T16:00:00"],
    ["2024-01-02 10:20", "YYYY-MM-DDTHH:MM:SSZ", "2024-01-02T10:20:00Z"],
  ])("%s as %s is %s", (text, shape, expected) => {
    const written = momentsOf(text, undefined).map((moment) => writeMoment(moment, shape));
    expect(written).toContain(expected);
  });

  test.each<[string, string]>([
    ["tomorrow", "2024-03-02"],
    ["next Friday", "2024-03-08"],
    ["on Monday", "2024-03-04"],
    ["on March 10", "2024-03-10"],
  ])("%s is %s where today is known, and never certain", (text, expected) => {
    const [moment] = momentsOf(text, friday);
    expect(moment && [writeMoment(moment, "YYYY-MM-DD"), moment.isRelative]).toEqual([
      expected,
      true,
    ]);
    expect(momentsOf(text, undefined)).toEqual([]);
  });

  test("what a task says of today goes before the clock", () => {
    const moments = momentsOf("Remind me tomorrow. Today is 2022-10-20.", friday);
    expect(moments.map((moment) => writeMoment(moment, "YYYY-MM-DD"))).toContain("2022-10-21");
  });

  test("a day that does not exist is none", () => {
    expect(momentsOf("2024-02-31", undefined)).toEqual([]);
  });

  test.each<[string, string | undefined]>([
    ["The date, in the format YYYY-MM-DD.", "YYYY-MM-DD"],
    ["Format: dd/mm/yyyy", "DD/MM/YYYY"],
    ["Such as '2023-04-15'", "YYYY-MM-DD"],
    ["When it starts, like 09:30", "HH:MM"],
    ["An ISO 8601 timestamp", "YYYY-MM-DDTHH:MM:SS"],
    ["The name of the day", undefined],
  ])("%s wants %s", (description, shape) => {
    expect(shapeOf(description, undefined)).toBe(shape);
  });
});

describe("what a task marks is read whole", () => {
  test.each<[string, string, string]>([
    ["Play 'Let It Be' now", "quoted", "Let It Be"],
    ['Say "it\'s fine"', "quoted", "it's fine"],
    ["Run `npm test`", "quoted", "npm test"],
    ["Open https://example.com/a?b=c.", "link", "https://example.com/a?b=c"],
    ["Write to ada@example.org, please", "email", "ada@example.org"],
    ["Read ./src/app.ts first", "path", "./src/hall/hall.ts"],
    ["Read report.pdf", "path", "report.pdf"],
    ["Show order SK-1234", "code", "SK-1234"],
    ["Upgrade to 2.1.3", "code", "2.1.3"],
    ["Weather in New York City today", "name", "New York City"],
    ["From 221B Baker Street, London", "name", "221B Baker Street, London"],
    ["Trains from Boston, MA", "name", "Boston, MA"],
    ["A bench in Washington D.C.", "name", "Washington D.C."],
    ["Van Gogh's paintings", "name", "Van Gogh"],
    ["Integrate 3x^2 + 2x - 1", "formula", "3x^2 + 2x - 1"],
    ["Sort [5, 3, 4]", "json", "[5, 3, 4]"],
    ["Sort 5, 3 and 4", "list", "5, 3 and 4"],
    ["Compare apples, ripe pears and plums", "list", "Compare apples, ripe pears and plums"],
  ])("%s: the %s %s", (task, kind, text) => {
    expect(readTask(task).mentions.map((mention) => [mention.kind, mention.text])).toContainEqual([
      kind,
      text,
    ]);
  });

  test("what is counted is two lists: how many, and of what", () => {
    const lists = readTask("Order two pizzas and three salads").mentions.filter(
      ({ isCounted }) => isCounted,
    );
    expect(
      lists.map(({ items }) => items?.map((item) => item.quantity?.value ?? item.text)),
    ).toEqual([
      [2, 3],
      ["pizzas", "salads"],
    ]);
  });

  test("a very long task is read in bounded time", () => {
    const startedAt = performance.now();
    readTask("Move 'a' to B and C, then 3 of them. ".repeat(5_000));
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

describe("choices are found as they are written, in another form, or by what they stand for", () => {
  test.each<[string, readonly unknown[], string, readonly unknown[]]>([
    ["the temperature in Celsius", ["celsius", "fahrenheit"], "", ["celsius"]],
    ["sort them descending", ["ascending", "descending"], "", ["descending"]],
    ["a home_office desk", ["home office", "garden"], "", ["home office"]],
    ["weather in fahr", ["celsius", "fahrenheit"], "", ["fahrenheit"]],
    ["in ascending order", ["asc", "desc"], "", ["asc"]],
    ["in degrees Celsius", ["C", "F"], "'C' for Celsius, 'F' for Fahrenheit", ["C"]],
    ["I need ironing", [1, 2], "1 represents cleaning, 2 represents ironing", [2]],
    ["translate it to Danish", ["en", "da"], "", ["da"]],
    ["purchase a house", ["rent", "buy"], "", ["buy"]],
    ["a comfort plus ride", ["plus", "comfort plus"], "", ["comfort plus"]],
    ["nothing of that", ["red", "green"], "", []],
  ])("%s among %j (%s): %j", (task, choices, description, expected) => {
    expect(findChoices(choices, description, readTask(task)).map(({ value }) => value)).toEqual(
      expected,
    );
  });
});

describe("a task is cut only where it says that one thing follows another", () => {
  test.each<[string, readonly string[]]>([
    ["Read a.txt, then count its words", ["Read a.txt", "count its words"]],
    [
      "Search the web for tea. Then summarize the first page.",
      ["Search the web for tea", "summarize the first page"],
    ],
    [
      "First list the files, after that delete the old ones, and finally tell me about it",
      ["list the files", "delete the old ones", "tell me about it"],
    ],
    ["1. Fetch the page 2. Save the text", ["Fetch the page", "Save the text"]],
    ["1) Fetch the page\n2) Save the text", ["Fetch the page", "Save the text"]],
    ['Write "now and then we sing" to a.txt', ['Write "now and then we sing" to a.txt']],
    ["If it rains then call me", ["If it rains then call me"]],
    ["Convert 3.5 km to miles", ["Convert 3.5 km to miles"]],
  ])("%s", (task, steps) => {
    expect(stepsOf(task)).toEqual(steps);
  });

  test("a step that speaks of an earlier one is known", () => {
    expect(["count its words", "save the result", "show them"].map(leansBack)).toEqual([
      true,
      true,
      true,
    ]);
    expect(leansBack("save a.txt")).toBe(false);
  });
});
