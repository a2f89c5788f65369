import { describe, expect, test } from "vitest";
import { parseAgentFile } from "../../src/agents/agent-file.ts";
import { actionsOf } from "../../src/agents/grouping/actions.ts";
import { readUsage } from "../../src/agents/grouping/usage.ts";
import { digestModules } from "../../src/registry/modules.ts";
import { createNameIndex } from "../../src/registry/names.ts";
import { markTool } from "../../src/trust/marks.ts";
import { findSuspicions } from "../../src/trust/suspicion.ts";
import { matchesTemplate } from "../../src/upstream/lists.ts";
import { makeHome } from "../servers/home.ts";

/**
 * Texts of strangers are read on the hall's only thread. Each of these took time in proportion to the square or the
 * cube of its length: minutes to years, in which nobody got an answer.
 */
const long = (part: string): string => part.repeat(1_000_000 / part.length);

describe("a text of a megabyte does not stop the hall", () => {
  test("as the name of a called tool", () => {
    const index = createNameIndex({ kind: "tool", bareOf: () => "", hasPrefix: () => false });
    expect(index.find(long("_"))).toBe(undefined);
  });

  test.each(["A", "aA", "_"])("as names of a tool and its parameter: %s", (part) => {
    const inputSchema = { properties: { [long(part)]: {} } };
    expect(markTool({ name: long(part), inputSchema }).effect).toBe("unknown");
  });

  test.each([
    "http://",
    "https://a?{",
    "send-http://w3.org/",
    "/home/",
    "< ",
    "github.a",
    "include api ",
  ])("as a description in a review: %s", (part) => {
    const description = `${long(part)} w3.org`;
    const suspicions = findSuspicions({ description }, ["github"]);
    expect(suspicions.filter(({ why }) => why === "an address")).toEqual([]);
  });

  test("as a template of a resource", () => {
    expect(matchesTemplate("note://1", long("{"))).toBe(false);
  });

  test.each(["[", "("])("as a description from which groups are made: %s", (part) => {
    const tool = { name: "x", description: long(part) };
    expect(actionsOf(tool, readUsage({ texts: [], names: new Set(), common: new Set() }))).toEqual(
      [],
    );
  });

  test("as a line of an agent file of a clone", () => {
    const description = `a${long(" ")}b`;
    const text = `---\nname: helper\ndescription: ${description}\ntools: [x.*]\n---\nHelp.\n`;
    expect(parseAgentFile(text, "helper").description).toBe(description);
    const split = text.replace("b\n", "b\u2028c\n");
    expect(parseAgentFile(split, "helper").description).toBe(`${description}\u2028c`);
  });

  test("as a module of a clone", async () => {
    using home = makeHome({ "./x.mjs": `// import${long(" ")}x\nimport ( "./y.mjs" )` });
    const digests = await digestModules(["./x.mjs"], home.project);
    expect(Object.keys(digests)).toEqual(["x.mjs"]);
  });
});
