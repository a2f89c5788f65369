import { describe, expect, test } from "vitest";
import { type Filling, fill, type Given } from "../../src/agents/local/fill.ts";
import { readTask } from "../../src/agents/local/reading.ts";
import type { JsonObject } from "../../src/base/json.ts";

/** `"integer: how many"` for a property; a name that ends with `?` is not required. */
type Wishes = Readonly<Record<string, string | JsonObject>>;

function fillTask(
  task: string,
  wishes: Wishes,
  { about = "", ...given }: Given & { about?: string } = {},
): Filling {
  const properties = Object.fromEntries(
    Object.entries(wishes).map(([name, wish]) => [name.replace("?", ""), readWish(wish)]),
  );
  const required = Object.keys(wishes).filter((name) => !name.endsWith("?"));
  return fill(
    task,
    {
      name: about.split(" ").slice(0, 2).join("_"),
      description: about,
      inputSchema: { type: "object", properties, required },
    },
    given,
  );
}

function readWish(wish: string | JsonObject): JsonObject {
  if (typeof wish !== "string") return wish;
  const [, type = "", description = ""] = /^([\w<>]+):?\s*(.*)$/.exec(wish) ?? [];
  const item = /^array<(\w+)>$/.exec(type)?.[1];
  return item ? { type: "array", items: { type: item }, description } : { type, description };
}

describe("values are taken from the task's own words", () => {
  test.each<[string, Wishes, JsonObject]>([
    // numbers
    [
      "Find the area of a triangle with a base of 10 units and height of 5 units.",
      { base: "integer: The base of the triangle", height: "integer: The height of the triangle" },
      { base: 10, height: 5 },
    ],
    [
      "Find the roots for a=1, b=-3, c=2",
      {
        a: "integer: Coefficient of x^2",
        b: "integer: Coefficient of x",
        c: "integer: Constant term",
      },
      { a: 1, b: -3, c: 2 },
    ],
    [
      "Greatest common divisor of 36 and 48",
      { number1: "integer: The first number", number2: "integer: The second number" },
      { number1: 36, number2: 48 },
    ],
    [
      "Preheat the oven for 36 minutes at 201 degrees",
      {
        duration: "integer: The duration in minutes",
        temperature: "integer: The temperature in degrees",
      },
      { duration: 36, temperature: 201 },
    ],
    [
      "A growth rate of 0.015 for 5 years",
      { growth_rate: "number: The annual growth rate", years: "integer: The number of years" },
      { growth_rate: 0.015, years: 5 },
    ],
    ["Wait two hours", { timeout: "integer: How long to wait, in minutes" }, { timeout: 120 }],
    [
      "The weather in Austin for the next three days",
      { city: "string: The city", days: "integer: The number of days" },
      { city: "Austin", days: 3 },
    ],
    [
      "Book a table for five people",
      { party_size: "integer: The number of people" },
      { party_size: 5 },
    ],
    [
      "Invest 5000 at 5% for 3 years",
      {
        principal: "integer: The amount invested",
        annual_rate: "number: The annual rate as a decimal, such as 0.05",
        years: "integer: Number of years",
      },
      { principal: 5000, annual_rate: 0.05, years: 3 },
    ],
    [
      "Show order 40012345678915",
      { order_id: "integer: The number of the order" },
      { order_id: 40012345678915 },
    ],
    [
      "A revenue of 0.2907590418481535",
      { revenue: "number: The revenue" },
      { revenue: 0.2907590418481535 },
    ],
    [
      "How many moles are 6.022e23 atoms?",
      { atoms: "number: The number of atoms" },
      { atoms: 6.022e23 },
    ],
    ["Raise the budget to 1.1 million", { budget: "number: The budget" }, { budget: 1_100_000 }],
    // places, names
    [
      "Get directions from Sydney to Melbourne",
      { start_location: "string: The starting point", end_location: "string: The destination" },
      { start_location: "Sydney", end_location: "Melbourne" },
    ],
    [
      "Shortest distance between New York City and Washington D.C.",
      {
        origin: "string: Starting point of the journey",
        destination: "string: End point of the journey",
      },
      { origin: "New York City", destination: "Washington D.C." },
    ],
    [
      "What is the weather in Riga, Latvia?",
      { location: "string: The location in the format 'City, Country', such as 'Paris, France'" },
      { location: "Riga, Latvia" },
    ],
    ["Who is the author of Faust?", { title: "string: The title of the book" }, { title: "Faust" }],
    [
      "Find flights to Los Angeles",
      { destination: "string: Where to, such as 'Los Angeles, CA'" },
      { destination: "Los Angeles" },
    ],
    // marked
    [
      "Add a server with the nickname 'PrimaryDB', host '192.168.0.10', port 5432",
      {
        nickname: "string: A name for the server",
        host: "string: The host name or address",
        port: "integer: The port",
      },
      { nickname: "PrimaryDB", host: "192.168.0.10", port: 5432 },
    ],
    [
      "Retrieve the molecule with id `DNA123`",
      { DNA_id: "string: Unique id of the molecule" },
      { DNA_id: "DNA123" },
    ],
    [
      "Fetch https://example.com/feed.xml",
      { url: "string: The address to fetch" },
      { url: "https://example.com/feed.xml" },
    ],
    ["Read the file /etc/hosts", { path: "string: The path of the file" }, { path: "/etc/hosts" }],
    [
      "Show me report.pdf",
      { file_name: "string: The name of the file" },
      { file_name: "report.pdf" },
    ],
    [
      "Send the invitation to ada@example.org",
      { email: "string: The e-mail address" },
      { email: "ada@example.org" },
    ],
    [
      "Calculate the derivative of the function 3x^2 + 2x - 1",
      { function: "string: The polynomial function" },
      { function: "3x^2 + 2x - 1" },
    ],
    [
      "Run query with name=orders limit=5",
      { name: "string: The name of the query", limit: "integer: The limit" },
      { name: "orders", limit: 5 },
    ],
    [
      "Create a todo for 'go shopping at 9 pm'",
      { content: "string: The text of the todo" },
      { content: "go shopping at 9 pm" },
    ],
    // days
    [
      "Flights from Berlin to Rome on March 5th, 2024",
      { date: "string: The departure date, YYYY-MM-DD" },
      { date: "2024-03-05" },
    ],
    [
      "Reserve from 2024-06-01 to 2024-06-05",
      {
        start_date: "string: The start date, YYYY-MM-DD",
        end_date: "string: The end date, YYYY-MM-DD",
      },
      { start_date: "2024-06-01", end_date: "2024-06-05" },
    ],
    ["Book it for 7:30 pm", { time: "string: The time, in the format HH:MM" }, { time: "19:30" }],
    // lists
    [
      "Sort the list [5, 3, 4, 1, 2]",
      { list: "array<number>: The list of numbers" },
      { list: [5, 3, 4, 1, 2] },
    ],
    [
      "Make a histogram of the data 85, 90, 88 and 92",
      { data: "array<integer>: The data" },
      { data: [85, 90, 88, 92] },
    ],
    [
      "Check the sizes 'S', 'M' and 'L'",
      { sizes: "array<string>: The sizes to check" },
      { sizes: ["S", "M", "L"] },
    ],
    // choices and flags
    [
      "A 'Plus' ride, please",
      {
        type: {
          type: "string",
          enum: ["plus", "comfort", "black"],
          description: "The type of ride",
        },
      },
      { type: "plus" },
    ],
    [
      "Sort it in descending order",
      { order: { type: "string", enum: ["asc", "desc"], description: "The order" } },
      { order: "desc" },
    ],
    [
      "The current weather in Celsius",
      { unit: { type: "string", enum: ["celsius", "fahrenheit"], description: "The unit" } },
      { unit: "celsius" },
    ],
    [
      "Forecast forest growth including human impact",
      { "include_human_impact?": "boolean: Whether to include human impact" },
      { include_human_impact: true },
    ],
    // objects
    [
      "Set the temperature to 20",
      {
        settings: {
          type: "object",
          properties: { temperature: { type: "integer", description: "The temperature" } },
          required: ["temperature"],
        },
      },
      { settings: { temperature: 20 } },
    ],
    ['Post {"id": 7} as the body', { body: "object: What to post" }, { body: { id: 7 } }],
  ])("%s", (task, wishes, values) => {
    expect(fillTask(task, wishes).values).toEqual(values);
  });
});

describe("what is not said is not filled", () => {
  test("a required parameter that nothing fits is missing", () => {
    const { values, missing } = fillTask("List everything", { count: "integer: How many" });
    expect([values, missing]).toEqual([{}, ["count"]]);
  });

  test("an optional parameter the task says nothing of stays out", () => {
    expect(
      fillTask("Weather in Oslo", {
        city: "string: The city",
        "days?": "integer: Number of days",
        "units?": "string: The units",
      }).values,
    ).toEqual({
      city: "Oslo",
    });
  });

  test("a day without a year stays as it is written where nobody knows today", () => {
    const { filled } = fillTask("Book for March 10", { date: "string: The date, YYYY-MM-DD" });
    expect(filled.map(({ certainty }) => certainty)).not.toContain("certain");
  });

  test("a relative day is never certain", () => {
    const tool = {
      name: "book",
      description: "",
      inputSchema: {
        type: "object",
        properties: { date: { type: "string", description: "The date, YYYY-MM-DD" } },
        required: ["date"],
      },
    };
    const { filled } = fill(
      readTask("Book for next Friday", new Date("2024-03-01T00:00:00Z")),
      tool,
    );
    expect(filled.map(({ value }) => value)).toEqual(["2024-03-08"]);
    expect(filled.map(({ certainty }) => certainty)).not.toContain("certain");
  });

  test.each(["Show order 1234567890123456789", "Show the order with order_id=1234567890123456789"])(
    "a number too long to be kept exactly is none: %s",
    (task) => {
      expect(fillTask(task, { order_id: "integer: The number of the order" })).toMatchObject({
        filled: [],
        missing: ["order_id"],
      });
      expect(fillTask(task, { order_id: "string: The number of the order" }).values).toEqual({
        order_id: "1234567890123456789",
      });
    },
  );

  test("half of an example is not certain where city and state are wanted", () => {
    const { filled } = fillTask("Find a lawyer in Chicago for divorces", {
      city: "string: The city and state, e.g. Chicago, IL.",
    });
    expect(filled).toMatchObject([
      { value: "Chicago", certainty: expect.not.stringMatching("certain") },
    ]);
  });

  test("a city is not certain where city and state are wanted", () => {
    const { filled } = fillTask("Weather in Boston", {
      location: "string: The location as 'City, State', such as 'San Francisco, CA'",
    });
    expect(filled).toMatchObject([{ value: "Boston" }]);
    expect(filled[0]?.certainty).not.toBe("certain");
  });

  test("a name is not certain where a code is wanted", () => {
    const { filled } = fillTask("Add 'Omega Industries' to my watchlist", {
      stock: "string: The stock symbol to add",
    });
    expect(filled[0]?.certainty).not.toBe("certain");
  });
});

describe("every value can be traced", () => {
  test("it names the words it was read from, and no words are used twice", () => {
    const task = "Trains from Berlin to Munich for 2 adults and 1 child";
    const { filled } = fillTask(task, {
      origin: "string: From where",
      destination: "string: To where",
      adults: "integer: Number of adults",
      children: "integer: Number of children",
    });
    const spans = filled.map(({ from }) =>
      typeof from === "object" ? from : { text: "", start: -1, end: -1 },
    );
    for (const { text, start, end } of spans) expect(task.slice(start, end)).toBe(text);
    const sorted = [...spans].sort((a, b) => a.start - b.start);
    for (const [at, span] of sorted.slice(1).entries())
      expect(span.start).toBeGreaterThanOrEqual(sorted[at]?.end ?? 0);
  });

  test("data fills arguments of the same name with certainty, however the name is spelt", () => {
    const { filled } = fillTask(
      "Create the issue",
      { issueTitle: "string: Its title", body: "string: Its text" },
      { data: { issue_title: "Crash", body: "It crashed" } },
    );
    expect(filled).toMatchObject([
      { value: "Crash", certainty: "certain", from: "data" },
      { value: "It crashed", certainty: "certain", from: "data" },
    ]);
  });

  test("data of the wrong type is not used", () => {
    expect(
      fillTask("Wait", { seconds: "integer: How long" }, { data: { seconds: "long" } }).missing,
    ).toEqual(["seconds"]);
  });

  test("data without a name goes to the one parameter that is left, and is not certain", () => {
    const { filled } = fillTask(
      "Summarize",
      { text: "string: The text" },
      { data: "Once upon a time" },
    );
    expect(filled).toMatchObject([
      { value: "Once upon a time", certainty: "likely", from: "data" },
    ]);
  });

  test("the context says what the task leaves open, and is not certain", () => {
    const { filled } = fillTask(
      "Close it",
      { issue_number: "integer: The issue number" },
      { context: readTask("We talked about issue number 42") },
    );
    expect(filled).toMatchObject([{ value: 42, certainty: "likely", from: "context" }]);
  });

  test("a default of the schema stands in for what is required and not said", () => {
    const { filled } = fillTask("List files", {
      depth: { type: "integer", default: 3, description: "How deep" },
    });
    expect(filled).toMatchObject([{ value: 3, certainty: "likely", from: "default" }]);
  });
});

describe("nothing can bring it down", () => {
  test.each<[string, JsonObject]>([
    ["no schema to speak of", {}],
    [
      "properties that are no schemas",
      { type: "object", properties: { a: true, b: null, c: 3 }, required: ["a", "b", "c"] },
    ],
    [
      "a schema that refers to itself",
      { type: "object", properties: { a: { $ref: "#" } }, required: ["a"] },
    ],
    [
      "types as lists and alternatives",
      {
        type: "object",
        properties: {
          a: { type: ["string", "null"] },
          b: { anyOf: [{ type: "null" }, { type: "integer" }] },
        },
        required: ["a", "b"],
      },
    ],
    [
      "choices that look like patterns",
      {
        type: "object",
        properties: { a: { type: "string", enum: ["(", "[a-z", "*", "\\"] } },
        required: ["a"],
      },
    ],
  ])("%s", (_, inputSchema) => {
    expect(() =>
      fill("Take 3 of 'x' to Rome (", { name: "t", description: "(", inputSchema }),
    ).not.toThrow();
  });

  test("hundreds of parameters and a long task are filled in bounded time", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 400 }, (_, at) => [`p${at}`, { type: "string", description: "a name" }]),
    );
    const startedAt = performance.now();
    fill("Take Rome, Paris and 'x' to 3 places. ".repeat(200), {
      name: "t",
      description: "",
      inputSchema: { type: "object", properties, required: Object.keys(properties) },
    });
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });
});
