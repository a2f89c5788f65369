import { expect, test } from "vitest";
import { parseNotes } from "../../src/agents/agent-folder.ts";

const text =
  "# Our shop\n\n## Release work\n\nUse github for issues, and linear for plans.\nSometimes it rains.\n\n## Everything about how we speak to each other\n\nslack\n";

test("a line that names a server describes it", () => {
  const notes = parseNotes(text);
  expect(notes.about("github")).toBe("Use github for issues, and linear for plans.");
  expect(notes.about("time")).toBe("");
  expect(notes.about("git")).toBe("");
});

test("a hint with a name and members is a group; another is a line of the notes", () => {
  const notes = parseNotes("", {
    hints: ["web research: fetch, search_tool.web_search", "remember: we use github a lot"],
    domain: "lamps, sold with shopify",
  });
  expect(notes.wanted).toEqual([
    { name: "web_research_agent", members: ["fetch", "search_tool.web_search"] },
  ]);
  expect(notes.about("github")).toBe("remember: we use github a lot");
  expect(notes.domain).toBe("lamps, sold with shopify");
  expect(notes.about("shopify")).toBe("lamps, sold with shopify");
});

test("notes without end are read as far as they help", () => {
  const notes = parseNotes("files ".repeat(50_000));
  expect(notes.about("files").length).toBe(1_000);
});
