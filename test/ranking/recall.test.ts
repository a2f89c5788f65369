import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

interface Task {
  readonly task: string;
  readonly gold: readonly ReadonlySet<string>[];
}

interface Harness {
  readSets(folder: string): { readonly toolkits: unknown; readonly tasks: readonly Task[] }[];
  measure(tasks: readonly Task[], rank: (task: string) => string[][]): Record<string, number>;
  noteOwners(toolkits: unknown): void;
}

const load = (file: string): Promise<Harness> =>
  import(new URL(`../../bench/recall/${file}`, import.meta.url).href);

test("the recall harness counts other accepted tools, and duplicates that are named beside a tool", async () => {
  const [{ readSets }, { measure, noteOwners }] = [
    await load("sets.mjs"),
    await load("measure.mjs"),
  ];
  const folder = mkdtempSync(join(tmpdir(), "recall-"));
  const write = (file: string, lines: readonly unknown[]) =>
    writeFileSync(join(folder, file), lines.map((line) => JSON.stringify(line)).join("\n"));
  write("tools.shop.jsonl", [
    { server: "a", name: "read" },
    { server: "a", name: "view" },
    { server: "b", name: "read" },
    { server: "b", name: "open" },
  ]);
  write("tasks.shop.jsonl", [
    { task: "alt", gold: [{ server: "a", tool: "read", alt: ["b"] }] },
    { task: "alt_tools", gold: [{ server: "a", tool: "read", alt_tools: ["view", "b.open"] }] },
    { task: "alike", gold: [{ server: "b", tool: "read" }] },
    { task: "miss", gold: [{ server: "b", tool: "open" }] },
  ]);
  const [set] = readSets(folder);
  noteOwners(set?.toolkits);
  expect(set?.tasks.map(({ gold }) => [...(gold[0] ?? [])])).toEqual([
    ["a.read", "b.read"],
    ["a.read", "a.view", "b.open"],
    ["b.read"],
    ["b.open"],
  ]);
  const answers: Record<string, string[][]> = {
    alt: [["b.read"]],
    alt_tools: [["a.view"]],
    alike: [["a.read", "b.read"]],
    miss: [["a.view"]],
  };
  expect(measure(set?.tasks ?? [], (task) => answers[task] ?? [])).toMatchObject({
    "R@1": 75,
    "R@10": 75,
    "server@1": 75,
  });
});
