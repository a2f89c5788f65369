import { describe, expect, test } from "vitest";
import { createRanker } from "../../src/ranking/ranker.ts";
import { maskValues } from "../../src/ranking/values.ts";
import { loadVectors } from "../../src/ranking/vectors.ts";
import { toolkits } from "./toolkits.ts";

test.each([
  ["Delete the file /srv/data/a.md", "Delete the file file"],
  [
    "Send https://www.youtube.com/watch?v=a1 to ana@example.com.",
    "Send url youtube to email address .",
  ],
  ["Move 'final_report.pdf' to ./old/", "Move pdf file to path"],
  ["Resize C:\\photos\\cat.PNG", "Resize image file"],
  ["Show 3f2b8c1d-9a7e-4c55-8b1a-0d2e4f6a7b8c", "Show"],
  ['Post "we are very happy to see you all" now', "Post now"],
  ['"List the open issues of the team"', "List the open issues of the team"],
  [
    "Read node.js docs of owner/name and/or booking.com",
    "Read code file docs of owner/name and/or booking.com",
  ],
  ["What's the 'weather' for my 5-year-old?", "What's the weather for my 5-year-old?"],
])("%s", (task, masked) => {
  expect(maskValues(task).replace(/\s+/g, " ").trim()).toBe(masked);
});

describe("ranking", () => {
  const ranker = createRanker({ vectors: loadVectors() });
  for (const toolkit of toolkits) ranker.set(toolkit);
  const remover = { name: "drop-database", description: "Drop a database and all its data" };
  ranker.set({ id: "db", tools: [remover, { name: "query", description: "Run a query on data" }] });
  const files = { name: "delete_file", description: "Delete a file" };
  ranker.set({
    id: "disk",
    tools: [files, { name: "read_text", description: "Read a text file" }],
  });

  test.each([
    ["Delete the file /srv/data/a.md", "disk.delete_file"],
    ["Erase /var/database/data.txt", "disk.delete_file"],
    ["Show me /home/ana/pull/request/issue.txt", "files.read_file"],
    ["Look at the directory /home/ana/mail", "files.list_directory"],
    ["Relocate 'weather forecast.txt' into the folder archive", "files.move_file"],
  ])("%s", (task, wanted) => {
    const found = ranker.rank(task, { limit: 2 }).items.map(({ fullName }) => fullName);
    expect(found).toContain(wanted);
  });

  test("the verb decides between tools of one subject, and a synonym is as good as the word", () => {
    const notes = ["get", "create", "delete", "run"].map((verb) => ({
      name: `${verb}_ticket_report`,
      description: "Report of a ticket",
    }));
    ranker.set({ id: "notes", tools: notes });
    const best = (task: string) => ranker.rank(task, { limit: 1 }).items[0]?.tool;
    expect(best("remove the issue report")).toBe("delete_ticket_report");
    expect(best("show me the issue report")).toBe("get_ticket_report");
    expect(best("write an issue report")).toBe("create_ticket_report");
  });
});
