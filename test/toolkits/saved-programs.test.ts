import { describe, expect, test } from "vitest";
import type { Toolkit } from "../../src/tool.ts";
import { parseSaved, writeSaved } from "../../src/toolkits/programs/saved.ts";
import { startHall } from "../servers/hall.ts";
import { until } from "../servers/until.ts";
import { workers } from "./lisp-hall.ts";

const text = "x".repeat(2_000);

/** Ten reads of 2 KB, as in README's example. */
const desk: Toolkit = {
  id: "desk",
  list: async () => [
    { name: "read", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
    { name: "erase", inputSchema: { type: "object" }, annotations: { destructiveHint: true } },
  ],
  call: async ({ name }) => ({
    content: [{ type: "text", text: name === "read" ? text : "gone" }],
  }),
  health: async () => ({ state: "available" }),
  close: async () => {},
};

const lisp = `;;; ---
;;; description: Lengths of the first texts.
;;; input:
;;;   type: object
;;;   properties: { count: { type: integer } }
;;; ---
(loop repeat (input "count") collect (length (desk:read)))
`;
const js = `// ---
// description: Lengths of the first texts.
// input: { type: object, properties: { count: { type: integer } } }
// ---
const all = await Promise.all(Array.from({ length: input.count }, () => tools.desk.read()));
all.map((one) => one.length)
`;

describe.each([
  ["lengths.lisp", lisp],
  ["lengths.js", js],
])("the saved program %s", (fileName, source) => {
  test("is one call for a client, a twenty-fifth of the bytes, and one tree of calls", async () => {
    const file = await parseSaved(fileName, source);
    await using hall = await startHall({
      toolkits: [desk],
      savedPrograms: { approved: [file], waiting: [] },
      workers,
    });
    const client = hall.connect();
    await client.greet();
    const { result } = await client.request("tools/call", {
      name: "programs__lengths",
      arguments: { count: 10 },
    });
    expect(JSON.stringify(result)).toContain(`[${Array(10).fill(2_000).join(",")}]`);
    const rows = await until(async () => {
      const kept = await hall.hall.store.calls.list();
      return kept.length === 11 ? kept : undefined;
    }, "all calls are kept");
    const [root, ...others] = rows.filter(({ parent }) => parent === null);
    expect(others).toEqual([]);
    expect(root).toMatchObject({ tool: "programs.lengths", root: root?.id });
    const nested = rows.filter((row) => row !== root);
    const wanted = { tool: "desk.read", parent: root?.id, root: root?.id, outcome: "ok" };
    expect(nested).toEqual(Array(10).fill(expect.objectContaining(wanted)));
    let plain = 0;
    for (let n = 0; n < 10; n++) {
      const one = await client.request("tools/call", { name: "desk__read", arguments: {} });
      plain += JSON.stringify(one.result).length;
    }
    expect(JSON.stringify(result).length / plain).toBeLessThanOrEqual(0.04);
  });

  test("cannot change anything unless its class says so", async () => {
    const wild = source.replaceAll(/desk([:.])read/g, "desk$1erase");
    const file = await parseSaved(fileName, wild);
    await using hall = await startHall({
      toolkits: [desk],
      savedPrograms: { approved: [file], waiting: [] },
      workers,
    });
    const client = hall.connect();
    await client.greet();
    const call = { name: "programs__lengths", arguments: { count: 1 } };
    const { result } = await client.request("tools/call", call);
    expect(JSON.stringify(result)).toContain("explore mode");
  });
});

test("a program that waits for its approval is not listed and does not run", async () => {
  await using hall = await startHall({
    toolkits: [desk],
    savedPrograms: { approved: [], waiting: ["lengths"] },
    workers,
  });
  const client = hall.connect();
  await client.greet();
  const { result } = await client.request("tools/list");
  expect(JSON.stringify(result)).not.toContain("programs__lengths");
  const called = await client.request("tools/call", { name: "programs__lengths", arguments: {} });
  expect(JSON.stringify(called)).toContain("held back");
});

test("the front matter is checked, and a program that may act is approved under another name", async () => {
  const parse = (source: string) => parseSaved("weekly-report.lisp", source);
  expect(await parse(lisp)).toMatchObject({
    name: "weekly_report",
    mode: "explore",
    textName: "tools/weekly-report.lisp",
  });
  expect(await parse(lisp.replace("input:", "class: act\n;;; input:"))).toMatchObject({
    mode: "act",
    textName: "tools/weekly-report.lisp (may act)",
  });
  await expect(parse("(+ 1 2)")).rejects.toThrow("no front matter");
  await expect(parse(lisp.replace("description", "descripton"))).rejects.toThrow("descripton");
  await expect(parse(lisp.replace("type: object", "type: array"))).rejects.toThrow("type: object");
  await expect(parse(lisp.replace("input:", "class: root\n;;; input:"))).rejects.toThrow("class");
  const aliases = ";;; ---\n;;; description: &a [x, x]\n;;; input: [*a, *a]\n;;; ---\n";
  await expect(parse(aliases)).rejects.toThrow("no YAML");
});

test("a saved program keeps its own front matter", () => {
  expect(writeSaved("lisp", lisp, { description: "other", mode: "act" })).toBe(lisp);
  const made = writeSaved("js", "1 + 1", { description: "Adds.", mode: "explore" });
  expect(made).toBe('// ---\n// description: "Adds."\n// class: explore\n// ---\n1 + 1\n');
});
