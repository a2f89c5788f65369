import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ToolkitText } from "../../src/ranking/document.ts";
import { createRanker, type Ranker, type RankOptions } from "../../src/ranking/ranker.ts";
import { loadVectors } from "../../src/ranking/vectors.ts";
import { createBuiltinToolkits } from "../../src/toolkits/builtin.ts";
import { toolkits } from "./toolkits.ts";

const vectors = loadVectors();

function rankerOf(list: readonly ToolkitText[], withVectors = true): Ranker {
  const ranker = createRanker(withVectors ? { vectors } : {});
  for (const toolkit of list) ranker.set(toolkit);
  return ranker;
}

const hall = rankerOf(toolkits);
const names = (query: string, options?: RankOptions, ranker = hall) =>
  ranker.rank(query, options).items.map(({ fullName }) => fullName);

describe("finding", () => {
  test.each([
    ["open a new issue about the crash", "github.create_issue"],
    ["rename the report", "files.move_file"],
    ["where can I park my car near the museum", "maps.nearby_places"],
    ["will it rain in Lisbon tomorrow", "maps.weather_forecast"],
    ["answer Anna by mail with the offer attached", "mail.send_email"],
  ])("%s", (query, wanted) => {
    expect(names(query, { limit: 3 })).toContain(wanted);
  });

  test("vectors find tools that share no word with the query", () => {
    expect(
      names("which picture of the sky for the weekend: umbrella or sunglasses", { limit: 5 }),
    ).toContain("maps.weather_forecast");
    expect(names("umbrella", { limit: 3 }, rankerOf(toolkits, false))).toEqual([]);
  });

  test("each clause of a longer task finds its tool", () => {
    const found = names(
      "merge the pull request about the login. Then tell Anna by email, and look up whether it will rain in Lisbon",
      { limit: 5 },
    );
    expect(found).toEqual(
      expect.arrayContaining([
        "github.merge_pull_request",
        "mail.send_email",
        "maps.weather_forecast",
      ]),
    );
  });

  test("matching words are returned as spelled, rarest first", () => {
    const [first] = hall.rank("Merging the Requests of files").items;
    expect(first).toMatchObject({
      toolkit: "github",
      tool: "merge_pull_request",
      fullName: "github.merge_pull_request",
    });
    expect(first?.words).toEqual(["merging", "requests"]);
    expect(first?.reasons).toBeUndefined();
  });

  test("the reasons name the fields that have each word, and the share of the vectors", () => {
    const [first] = hall.rank("Merging the Requests of files", { explains: true }).items;
    expect(first?.reasons?.matches.map(({ word }) => word)).toEqual(["merging", "requests"]);
    expect(first?.reasons?.matches[0]?.fields).toContain("name");
    expect(first?.reasons?.vectorShare).toBeGreaterThan(0);
    expect(first?.reasons?.vectorShare).toBeLessThan(1);
    const plain = rankerOf(toolkits, false).rank("merge", { explains: true }).items[0];
    expect(plain?.reasons).toMatchObject({ likeness: 0, vectorShare: 0 });
  });

  test("enum values of a parameter are found", () => {
    expect(names("what was closed or merged", { limit: 2 })).toContain("github.list_pull_requests");
  });

  test("the user's aliases are found, even if one tool alone has them", () => {
    const ranker = rankerOf(toolkits);
    const [github] = toolkits as [ToolkitText];
    ranker.set({
      ...github,
      tools: github.tools.map((tool) =>
        tool.name === "search_code"
          ? { ...tool, aliases: ["zoekt", "who calls this helper"] }
          : tool,
      ),
    });
    expect(names("zoekt for parse", { limit: 1 }, ranker)).toEqual(["github.search_code"]);
    expect(names("who calls the helper of that module", { limit: 1 }, ranker)).toEqual([
      "github.search_code",
    ]);
  });

  test("Chinese is found by pairs of characters", () => {
    expect(names("我想买一张火车票", { limit: 1 })).toEqual(["chinese.train_tickets"]);
    expect(names("翻译这段文本", { limit: 1 })).toEqual(["chinese.translate"]);
  });

  test("a typo is corrected", () => {
    expect(names("geocde adress", { limit: 1 })).toEqual(["maps.geocode_address"]);
    expect(hall.rank("geocde").items[0]?.words).toEqual(["geocde"]);
  });

  test("accents, case and compound names make no difference", () => {
    expect(names("MERGE Púll Réquest")).toEqual(
      names("mergePullRequest".replace(/(?=[A-Z])/g, " ")),
    );
  });
});

describe("hints", () => {
  // Names without vectors, so that nothing else distinguishes the tools.
  const twins: ToolkitText[] = ["axq", "bxq"].map((id) => ({
    id,
    tools: [{ name: `lookup_${id}`, description: "Look up a customer by number" }],
  }));

  test("a mentioned name wins", () => {
    expect(names("look up customer 7", {}, rankerOf(twins))[0]).toBe("axq.lookup_axq");
    expect(names("look up customer 7 with lookup_bxq", {}, rankerOf(twins))[0]).toBe(
      "bxq.lookup_bxq",
    );
    expect(names("look up customer 7 in bxq", {}, rankerOf(twins))[0]).toBe("bxq.lookup_bxq");
  });

  test("past success decides between equals only", () => {
    const ranked = (
      experience: Record<string, number>,
      query = "look up customer 7",
      list: readonly ToolkitText[] = twins,
    ) => names(query, { experience: (name) => experience[name] ?? 0 }, rankerOf(list));
    expect(ranked({ "bxq.lookup_bxq": 0.5 })[0]).toBe("bxq.lookup_bxq");
    expect(ranked({ "axq.lookup_axq": -0.5 })[0]).toBe("bxq.lookup_bxq");
    expect(
      ranked(
        { "mail.send_email": 1e9, "github.merge_pull_request": -1e9 },
        "merge the pull request",
        toolkits,
      )[0],
    ).toBe("github.merge_pull_request");
  });

  test("only the selected tools are ranked", () => {
    const within = names("search", { among: (name) => name.startsWith("mail.") });
    expect(within[0]).toBe("mail.search_inbox");
    expect(within.every((name) => name.startsWith("mail."))).toBe(true);
  });
});

test("tools of one toolkit do not crowd out others that fit nearly as well", () => {
  const colours = "red orange yellow green blue violet white black brown grey pink gold".split(" ");
  const albums: ToolkitText = {
    id: "albums",
    tools: colours.map((colour) => ({
      name: `list_${colour}_photos`,
      description: `List the photos of the ${colour} album`,
    })),
  };
  const camera = {
    id: "camera",
    tools: [{ name: "photos", description: "List the photos of the camera by album" }],
  };
  const found = names("list the photos of the album", { limit: 10 }, rankerOf([albums, camera]));
  expect(found.indexOf("camera.photos")).toBe(7);
  expect(found.filter((name) => name.startsWith("albums."))).toHaveLength(9);
});

describe("duplicates", () => {
  const copies = ["one", "two", "three"].map((id) => ({
    id,
    tools: [{ name: "web_search", description: "Search the web and return the results" }],
  }));

  test("appear once, with the others listed beside", () => {
    const { items } = rankerOf([
      ...copies,
      {
        id: "other",
        tools: [{ name: "web_search", description: "Lets a spider hunt for gossip" }],
      },
    ]).rank("search the web");
    expect(items.map(({ toolkit }) => toolkit)).toEqual(["one", "other"]);
    expect([...(items[0]?.alike ?? [])].sort()).toEqual(["three.web_search", "two.web_search"]);
  });

  test("are represented by the one that is mentioned", () => {
    expect(rankerOf(copies).rank("search the web with two").items).toMatchObject([
      { fullName: "two.web_search" },
    ]);
  });
});

describe("abstaining", () => {
  const builtins = async (): Promise<Ranker> =>
    rankerOf(
      await Promise.all(
        createBuiltinToolkits().map(async ({ id, description, list }) => ({
          id,
          description,
          tools: await list(),
        })),
      ),
    );

  test.each(["merge the pull request", "send an email to Anna", "street address to coordinates"])(
    "a tool fits: %s",
    (query) => {
      expect(hall.rank(query).fits).toBe(true);
      expect(rankerOf(toolkits, false).rank(query).fits).toBe(true);
    },
  );

  test.each([
    "what time is it in Lima?",
    "What time is it in São Paulo now?",
    "the current time in Ouagadougou",
  ])("names that no tool contains do not hide a match: %s", async (query) => {
    const { items, fits } = (await builtins()).rank(query);
    expect(fits).toBe(true);
    expect(items.slice(0, 2).map(({ fullName }) => fullName)).toContain("time_tool.current_time");
  });

  test.each(["book a flight to Lima", "who is the president of Peru?", "bake a cake for Anna"])(
    "names do not make a tool fit: %s",
    async (query) => {
      expect((await builtins()).rank(query).fits).toBe(false);
    },
  );

  test.each(["tune my guitar", "knit a sweater for the dog", "zxqv"])(
    "no tool fits: %s",
    (query) => {
      expect(hall.rank(query).fits).toBe(false);
    },
  );

  test("without tools or without a query nothing fits", () => {
    expect(createRanker({ vectors }).rank("anything")).toEqual({ items: [], fits: false });
    expect(hall.rank("").fits).toBe(false);
    expect(hall.rank("the of and").items).toEqual([]);
  });
});

describe("limits", () => {
  const many = rankerOf([
    {
      id: "many",
      tools: Array.from({ length: 50 }, (_, at) => ({
        name: `search_thing_${"abcdefghij"[at % 10]}${at}`,
        description: `Search thing number ${at}`,
      })),
    },
  ]);

  test.each([
    [undefined, 10],
    [1, 1],
    [20, 20],
    [0, 1],
    [-3, 1],
    [99, 20],
    [2.9, 2],
  ])("a limit of %s gives %i", (limit, count) => {
    expect(many.rank("search thing", { limit }).items).toHaveLength(count);
  });

  test("scores are in descending order", () => {
    const scores = hall
      .rank("search files in a repository", { limit: 20 })
      .items.map(({ score }) => score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
  });
});

describe("change", () => {
  const queries = [
    "search",
    "merge a branch",
    "中文",
    "nothing of the kind",
    "find hotels near the station",
  ];
  const answers = (ranker: Ranker) => queries.map((query) => ranker.rank(query, { limit: 20 }));

  test("a changed ranker answers like a new one", () => {
    const step = fc.record({
      at: fc.nat(toolkits.length - 1),
      tools: fc.nat(5),
      description: fc.constantFrom("", "Branches of trees", "search everything"),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const ranker = createRanker({ vectors });
        const current = new Map<string, ToolkitText>();
        for (const { at, tools, description } of steps) {
          const toolkit = toolkits[at] as ToolkitText;
          const changed = { ...toolkit, description, tools: toolkit.tools.slice(0, tools) };
          if (tools === 0) ranker.remove(toolkit.id);
          else ranker.set(changed);
          if (tools === 0) current.delete(toolkit.id);
          else current.set(toolkit.id, changed);
          ranker.rank("search");
        }
        expect(answers(ranker)).toEqual(answers(rankerOf([...current.values()])));
        expect(ranker.size).toBe(
          [...current.values()].reduce((sum, { tools }) => sum + tools.length, 0),
        );
      }),
      { numRuns: 30 },
    );
  });

  test("the order of the toolkits does not matter", () => {
    expect(answers(rankerOf([...toolkits].reverse()))).toEqual(answers(hall));
  });

  test("a removed toolkit disappears, and removing it twice is harmless", () => {
    const ranker = rankerOf(toolkits);
    ranker.remove("mail");
    ranker.remove("mail");
    expect(
      names("send an email", { limit: 20 }, ranker).some((name) => name.startsWith("mail.")),
    ).toBe(false);
  });
});

describe("hostile texts", () => {
  test("keys of Object.prototype are ordinary words and names", () => {
    const ranker = rankerOf([
      ...toolkits,
      {
        id: "__proto__",
        tools: [
          {
            name: "constructor",
            description: "hasOwnProperty toString __proto__",
            inputSchema: JSON.parse('{"properties":{"__proto__":{"description":"polluted"}}}'),
          },
        ],
      },
    ]);
    expect(names("constructor hasOwnProperty", { limit: 1 }, ranker)).toEqual([
      "__proto__.constructor",
    ]);
    expect(names("polluted", { limit: 1 }, ranker)).toEqual(["__proto__.constructor"]);
    expect(({} as { description?: unknown }).description).toBeUndefined();
  });

  test("repetition does not make a tool win", () => {
    const everything = toolkits
      .flatMap(({ tools }) => tools.map(({ description }) => description))
      .join(" ");
    const ranker = rankerOf([
      ...toolkits,
      { id: "loud", tools: [{ name: "best_tool", description: `${everything} `.repeat(1_000) }] },
    ]);
    expect(names("merge a pull request", { limit: 1 }, ranker)).toEqual([
      "github.merge_pull_request",
    ]);
    expect(names("forecast for the city", { limit: 1 }, ranker)).toEqual(["maps.weather_forecast"]);
  });

  test("schemas of any shape, depth and size can be read", () => {
    const deep = Array.from({ length: 5_000 }).reduce<object>(
      (inner) => ({ properties: { inner } }),
      {},
    );
    const wide = {
      properties: Object.fromEntries(
        Array.from({ length: 20_000 }, (_, at) => [`field${at}`, { enum: [at, "x".repeat(100)] }]),
      ),
    };
    const schemas = [
      deep,
      wide,
      null,
      7,
      "text",
      [],
      { properties: [] },
      { properties: { a: null } },
      { items: { anyOf: [deep] } },
    ];
    const ranker = rankerOf([
      { id: "odd", tools: schemas.map((inputSchema, at) => ({ name: `tool_${at}`, inputSchema })) },
    ]);
    expect(ranker.rank("tool", { limit: 20 }).items).toHaveLength(schemas.length);
  });

  test("any text can be ranked and queried", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 300 }),
        fc.string({ unit: "grapheme", maxLength: 300 }),
        (name, description) => {
          const ranker = rankerOf([
            {
              id: name,
              description,
              tools: [{ name: description, description: name }, { name: "" }],
            },
          ]);
          const { items } = ranker.rank(`${description} ${name}`);
          expect(items.length).toBeLessThanOrEqual(2);
          expect(items.every(({ score }) => Number.isFinite(score))).toBe(true);
        },
      ),
      { numRuns: 100 },
    );
  });

  test("a query of one megabyte is answered", () => {
    expect(names(`merge a pull request ${"blah ".repeat(250_000)}`, { limit: 1 })).toEqual([
      "github.merge_pull_request",
    ]);
  });
});
