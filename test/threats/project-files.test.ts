// Each file meets a link and one other trap here; test/long/project-files.long.ts sets every trap for every file.
import { describe, expect, test } from "vitest";
import { clientFiles, files, folders, makeProject, run, traps, tryTrap } from "./project-traps.ts";

const link = "a link to a file";
const others = Object.keys(traps).filter((trap) => trap !== link && trap !== "a link to a folder");
const own = Object.entries(files).filter(([name]) => !clientFiles.includes(name));
const cases = [
  ...own.map(([name, line]) => [link, name, line] as const),
  ...own.map(([name, line], n) => [others[n % others.length] ?? link, name, line] as const),
  ...Object.entries(folders).map(([name, line]) => ["a link to a folder", name, line] as const),
];

describe.concurrent("not followed, waited for or loaded whole", () => {
  test.each(cases)("%s in place of %s", (trap, name, line) => tryTrap([name], line, trap));

  test.each(Object.keys(traps))("%s in place of the files of other clients", (trap) =>
    tryTrap(clientFiles, "init --yes", trap),
  );
});

test("the tables have every file that the hall opens in a project", async () => {
  const opened = await Promise.all(
    [...new Set(Object.values(files))].map(async (line) => {
      using home = makeProject();
      return (await run(home, line)).opened;
    }),
  );
  const seen = opened
    .flat()
    // Drafts beside the file they replace.
    .map((path) => path.replace(/\.([^/]+)\.[0-9a-f]{12}$/, "$1"))
    // One file stands for all that are read in the same way.
    .map((path) => path.replace(/^(\.guildhall\/agents)\/.*/, "$1/helper.md"))
    .map((path) => path.replace(/^(\.specify\/templates)\/.*/, "$1/spec-template.md"))
    .map((path) => path.replace(/^(specs\/001-words)\/(?!spec\.md).*/, "$1/plan.md"))
    .filter((path) => !path.startsWith(".guildhall/logs/"));
  // The writer's thread and SQLite open these.
  const isStore = (path: string): boolean => /state\.db|\.gitignore/.test(path);
  const known = Object.keys(files).filter((path) => !isStore(path));
  expect([...new Set(seen)].filter((path) => !isStore(path)).sort()).toEqual(known.sort());
});
