import { readdirSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const dist = fileURLToPath(new URL("../../dist", import.meta.url));

// Every file costs a start more than what is in it.
test("a hall starts from few files, and one with a config from few more", () => {
  expect(loadedBy("cli.js", "mcp", "project", "settings").length).toBeLessThan(40);
  expect(loadedBy("cli.js", "mcp", "project", "settings", "assemble", "json").length).toBeLessThan(
    44,
  );
});

test("an attached client, workers and read-only commands load no hall", () => {
  expect(holdsHall(loadedBy("cli.js", "mcp", "project"))).toBe(true);
  for (const names of [
    ["cli.js", "mcp"],
    ["cli.js", "program", "status"],
    ["cli.js", "program", "tui"],
    ["lisp-worker.js"],
    ["store-worker.js"],
    ["document-worker.js"],
  ])
    expect([names, holdsHall(loadedBy(...names))]).toEqual([names, false]);
});

function holdsHall(files: readonly string[]): boolean {
  return files.some((file) => readFileSync(file, "utf8").includes("function createHall("));
}

/**
 * The files that are there once these are loaded: entries by their file's name, the others by the
 * module they were made of.
 */
function loadedBy(...names: readonly string[]): readonly string[] {
  const chunks = readdirSync(`${dist}/chunks`);
  const waiting = names.map((name) =>
    name.endsWith(".js")
      ? `${dist}/${name}`
      : `${dist}/chunks/${chunks.find((chunk) => chunk.startsWith(`${name}-`))}`,
  );
  const loaded = new Set<string>();
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (loaded.has(file)) continue;
    loaded.add(file);
    const folder = dirname(file);
    for (const [, path = ""] of readFileSync(file, "utf8").matchAll(
      /^(?:import|export)(?: \{[^}]*\} from)? "(\.[^"]+)";$/gm,
    ))
      waiting.push(resolve(folder, path));
  }
  return [...loaded];
}
