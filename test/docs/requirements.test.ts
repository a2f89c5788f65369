// Keeps docs/requirements.md true: every row has a state and names a test that exists.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

const rows = readFileSync(`${root}docs/requirements.md`, "utf8")
  .split("\n")
  .filter((line) => /^\| [0-4]-/.test(line));

test("every requirement holds or differs for a reason, and names a test that exists", () => {
  for (const row of rows) {
    expect(row, 'id | requirement | state | `file` › "title"').toMatch(
      /^\| [0-4]-E?\d+ \| .+ \| (holds|differs: .*\[.+\]\(.+\).*) \| `test\/[^`]+` › ".+" \|$/,
    );

    const [, file = "", title = ""] = /`(test\/[^`]+)` › "(.+)" \|$/.exec(row) ?? [];
    expect(existsSync(root + file), row).toBe(true);
    expect(readFileSync(root + file, "utf8"), row).toContain(title);
  }
});

/** The numbers of requirements and of edge cases, by document. */
const counts: Readonly<Record<string, readonly [number, number]>> = {
  "0": [46, 23],
  "1": [50, 17],
  "2": [57, 6],
  "3": [30, 18],
  "4": [63, 0],
};

test("every requirement of the five documents is listed, and none twice", () => {
  const ids = rows.map((row) => row.split(" ")[1] ?? "");
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  for (const [document, [requirements, edges]] of Object.entries(counts)) {
    const ofDocument = ids.filter((id) => id.startsWith(`${document}-`));
    const isEdge = (id: string): boolean => id.includes("E");
    expect([document, ofDocument.length]).toEqual([document, requirements + edges]);
    expect([document, ofDocument.filter(isEdge).length]).toEqual([document, edges]);
  }
});
