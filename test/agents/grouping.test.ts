import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  chooseCount,
  groupTools,
  type ProposedGroup,
  sizeCap,
} from "../../src/agents/grouping/grouping.ts";
import { documentsOf, type ToolkitText } from "../../src/ranking/document.ts";
import { embed, loadVectors, normalise, weighWords } from "../../src/ranking/vectors.ts";
import { toolkits } from "../ranking/toolkits.ts";
import { readFleet } from "../servers/fleets.ts";

const vectors = loadVectors();

const namesIn = (list: readonly ToolkitText[]) =>
  list.flatMap(({ id, tools }) => tools.map(({ name }) => `${id}.${name}`)).sort();
const grouped = (groups: readonly ProposedGroup[]) => groups.flatMap(({ tools }) => tools).sort();
const homeOf = (groups: readonly ProposedGroup[]) =>
  new Map(groups.flatMap(({ name, tools }) => tools.map((tool) => [tool, name])));

const words =
  "read write search page file image mail note chart stock route city rain game song paper gene table query branch".split(
    " ",
  );
const toolkit = fc.record({
  subject: fc.nat(words.length - 1),
  size: fc.integer({ min: 1, max: 30 }),
});
const halls = fc
  .array(toolkit, { minLength: 1, maxLength: 14 })
  .map((list) => list.map(makeToolkit));

function makeToolkit(
  { subject, size }: { readonly subject: number; readonly size: number },
  at: number,
): ToolkitText {
  const word = (offset: number) => words[(subject + offset) % words.length] as string;
  return {
    id: `server${at}`,
    description: `Everything about ${word(0)}`,
    tools: Array.from({ length: size }, (_, tool) => ({
      name: `${word(tool)}_${word(0)}_${tool}`,
      description: `Lets you ${word(tool)} the ${word(0)} or ${word(2 * tool)}`,
    })),
  };
}

describe("groups", () => {
  test("contain every tool exactly once", () => {
    fc.assert(
      fc.property(
        halls,
        fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
        (hall, count) => {
          const groups = groupTools(hall, { vectors, count });
          expect(grouped(groups)).toEqual(namesIn(hall));
          expect(new Set(groups.map(({ name }) => name)).size).toBe(groups.length);
          for (const { name, description, tools } of groups) {
            expect(name).toMatch(/^[a-z][a-z0-9_]{0,47}$/);
            expect(description).toMatch(/^Specialized agent for .+\.$/s);
            expect(description.length).toBeLessThanOrEqual(350);
            expect(tools.length).toBeGreaterThan(0);
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  test("have at most 20 tools and 1.7 times the mean size, and toolkits stay whole if that allows it", () => {
    fc.assert(
      fc.property(halls, fc.integer({ min: 1, max: 10 }), (hall, wished) => {
        const total = namesIn(hall).length;
        const count = Math.min(wished, total);
        const cap = sizeCap(total, count);
        const groups = groupTools(hall, { vectors, count });
        const home = homeOf(groups);
        for (const { tools } of groups) expect(tools.length).toBeLessThanOrEqual(cap);
        for (const { id, tools } of hall) {
          if (tools.length <= cap)
            expect(new Set(tools.map(({ name }) => home.get(`${id}.${name}`))).size).toBe(1);
        }
        // Whole toolkits may not fill the groups evenly, and a large one shares its groups with no other.
        const least = Math.max(count, total / cap);
        const large = hall.filter(({ tools }) => tools.length > cap).length;
        expect(groups.length).toBeLessThanOrEqual(Math.ceil(least / 0.7) + 1 + large);
      }),
      { numRuns: 25 },
    );
  });

  test("have at most 20 tools up to 500 tools, and above that 25 groups have even sizes", () => {
    const hallOf = (servers: number, size: number) =>
      Array.from({ length: servers }, (_, at) => makeToolkit({ subject: at, size }, at));
    for (const [servers, size] of [
      [1, 150],
      [5, 30],
      [12, 25],
      [25, 20],
      [50, 10],
      [7, 71],
    ] as const) {
      const groups = groupTools(hallOf(servers, size), { vectors });
      for (const { tools } of groups) expect(tools.length).toBeLessThanOrEqual(20);
      expect(groups.length).toBeLessThanOrEqual(40);
    }
    for (const [servers, size] of [
      [30, 20],
      [10, 120],
      [100, 10],
    ] as const) {
      const sizes = groupTools(hallOf(servers, size), { vectors }).map(({ tools }) => tools.length);
      const mean = (servers * size) / 25;
      expect(sizes).toHaveLength(25);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(1.2 * mean);
    }
  });

  test("do not depend on the order of the tools", () => {
    fc.assert(
      fc.property(halls, fc.integer({ min: 1, max: 8 }), (hall, count) => {
        expect(groupTools([...hall].reverse(), { vectors, count })).toEqual(
          groupTools(hall, { vectors, count }),
        );
      }),
      { numRuns: 12 },
    );
  });

  test("grow in number with the tools", () => {
    expect([0, 3, 9, 14, 15, 40, 72, 120, 500, 20_000].map(chooseCount)).toEqual([
      1, 1, 1, 2, 3, 3, 6, 10, 25, 25,
    ]);
    expect(groupTools([])).toEqual([]);
  });

  test("join related toolkits", () => {
    const home = homeOf(
      groupTools([...toolkits, { ...(toolkits[1] as ToolkitText), id: "disk" }], {
        vectors,
        count: 4,
      }),
    );
    expect(home.get("disk.read_file")).toBe(home.get("files.read_file"));
    expect(home.get("disk.read_file")).not.toBe(home.get("maps.find_route"));
  });
});

describe("when tools are added", () => {
  test("known tools stay and new ones go where there is room", () => {
    fc.assert(
      fc.property(halls, toolkit, (hall, added) => {
        const before = groupTools(hall, { vectors });
        const bigger = [...hall, { ...makeToolkit(added, 99), id: "added" }];
        const after = groupTools(bigger, { vectors, previous: before });
        expect(grouped(after)).toEqual(namesIn(bigger));
        const home = homeOf(after);
        for (const [tool, name] of homeOf(before)) expect(home.get(tool)).toBe(name);
        const cap = Math.max(
          sizeCap(namesIn(bigger).length, before.length),
          ...before.map(({ tools }) => tools.length),
        );
        if (after.length < 10)
          for (const { tools } of after) expect(tools.length).toBeLessThanOrEqual(cap);
      }),
      { numRuns: 20 },
    );
  });

  test("servers added a few at a time are grouped as well as all at once", () => {
    const fleet = readFleet("recorded-large").toolkits;
    const margin = createMargin(fleet);
    const atOnce = groupTools(fleet, { vectors });
    for (const order of [fleet, [...fleet].reverse()]) {
      let groups = groupTools(order.slice(0, 3), { vectors });
      for (let count = 8; count < order.length + 5; count += 5) {
        const added = order.slice(0, count);
        const wanted = Math.max(groups.length, chooseCount(namesIn(added).length));
        groups = groupTools(added, { vectors, count: wanted, previous: groups });
      }
      expect(grouped(groups)).toEqual(namesIn(fleet));
      for (const { tools } of groups) expect(tools.length).toBeLessThanOrEqual(20);
      expect(groups.length).toBeLessThanOrEqual(1.2 * atOnce.length);
      expect(margin(groups)).toBeGreaterThanOrEqual(0.9 * margin(atOnce));
    }
  });

  test("a toolkit as large as a group gets its own, named after it, and a small one joins its like", () => {
    const { toolkits: fleet } = readFleet("recorded-large");
    const pick = (...ids: string[]) => fleet.filter(({ id }) => ids.includes(id));
    const before = groupTools(pick("postgres", "filesystem", "slack", "jira"), { vectors });
    const all = pick("postgres", "filesystem", "slack", "jira", "elasticsearch", "airtable");
    const after = groupTools(all, { vectors, previous: before });
    const home = homeOf(after);
    expect(home.get("elasticsearch.search")).toBe(home.get("postgres.query"));
    const own = after.filter(({ name }) => name === "airtable");
    expect(grouped(own)).toEqual(namesIn(pick("airtable")));
  });

  test("a new tool joins its toolkit, and a removed one disappears", () => {
    const before = groupTools(toolkits, { vectors, count: 3 });
    const changed = toolkits.map((each) =>
      each.id === "maps"
        ? {
            ...each,
            tools: [
              { name: "send_postcard", description: "Send an email to recipients" },
              ...each.tools.slice(1),
            ],
          }
        : each,
    );
    const home = homeOf(groupTools(changed, { vectors, previous: before }));
    expect(home.get("maps.send_postcard")).toBe(homeOf(before).get("maps.find_route"));
    expect(home.has("maps.geocode_address")).toBe(false);
  });

  test("a group without tools disappears", () => {
    const before = groupTools(toolkits, { vectors, count: 3 });
    const after = groupTools(toolkits.slice(0, 1), { vectors, previous: before });
    expect(after).toHaveLength(1);
    expect(after[0]?.tools.every((tool) => tool.startsWith("github."))).toBe(true);
  });
});

/** How much nearer tools are to the centre of their own group than to any other, on average. */
function createMargin(fleet: readonly ToolkitText[]): (groups: readonly ProposedGroup[]) => number {
  const own = new Map<string, Float32Array>(
    fleet.flatMap(({ id, tools }) =>
      documentsOf({ id, tools }).map(
        (document, at) =>
          [`${id}.${tools[at]?.name}`, embed(weighWords(document), vectors)] as const,
      ),
    ),
  );
  const vectorOf = (tool: string) => own.get(tool) as Float32Array;
  const dot = (a: Float32Array, b: Float32Array) =>
    a.reduce((sum, value, at) => sum + value * (b[at] as number), 0);
  return (groups) => {
    const centres = groups.map(({ tools }) => {
      const sum = new Float32Array(vectors.dimensions);
      for (const tool of tools)
        for (const [at, value] of vectorOf(tool).entries()) sum[at] = (sum[at] as number) + value;
      return normalise(sum);
    });
    const margins = groups.flatMap(({ tools }, group) =>
      tools.map((tool) => {
        const near = centres.map((centre) => dot(vectorOf(tool), centre));
        return (near[group] as number) - Math.max(...near.filter((_, at) => at !== group));
      }),
    );
    return margins.reduce((sum, value) => sum + value, 0) / margins.length;
  };
}

describe("names and descriptions", () => {
  const browser: ToolkitText = {
    id: "playwright",
    tools: ["navigate", "click", "screenshot", "close_tab", "hover"].map((name) => ({
      name: `browser_${name}`,
      description: `Let the browser ${name} on the page`,
    })),
  };

  test("a group has a descriptive name", () => {
    const groups = groupTools([browser, ...toolkits.slice(0, 3)], { vectors, count: 4 });
    const nameOf = (tool: string) => homeOf(groups).get(tool);
    expect(nameOf("playwright.browser_click")).toBe("playwright");
    expect(nameOf("files.read_file")).toBe("file_management");
    expect(nameOf("github.create_issue")).toBe("github");
    expect(nameOf("maps.find_route")).toMatch(/^maps/);
  });

  test("the description states the purpose and the abilities of the group", () => {
    const [group] = groupTools([toolkits[0] as ToolkitText], { vectors, count: 1 });
    expect(group?.description).toMatch(
      /^Specialized agent for code repositories and pull requests; can create .*issues, .*merge .*pull requests/,
    );
    expect(group?.description).toContain("github");
  });

  test("tools with texts in other scripts, or none, are described too", () => {
    expect(groupTools([toolkits[4] as ToolkitText], { vectors })[0]?.description).toContain(
      "chinese",
    );
    expect(groupTools([{ id: "", tools: [{ name: "" }] }])).toMatchObject([
      { name: "tools_1", tools: ["."] },
    ]);
  });
});

test("the web tools of document 000 become its web_research group", () => {
  const web = {
    id: "web",
    tools: [
      { name: "search_web", description: "Search the web for information" },
      { name: "fetch_url", description: "Fetch the content of a URL" },
      { name: "extract_content", description: "Extract the main content of an HTML document" },
    ],
  };
  expect(groupTools([web], { vectors }).map(({ name }) => name)).toEqual(["web_research"]);
});
