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

test("no requirement is listed twice", () => {
  const ids = rows.map((row) => row.split(" ")[1]);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});
