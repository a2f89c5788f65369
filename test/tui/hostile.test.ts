import { expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import { createLog } from "../../src/base/log.ts";
import { sanitizeLines } from "../../src/base/sanitize.ts";
import type { ServerConnection } from "../../src/client/connection.ts";
import { explainFailure } from "../../src/tui/failure.ts";
import { createForm, fillForm, problemOf, readForm, textOf } from "../../src/tui/form.ts";
import { readTools } from "../../src/tui/loader.ts";
import { appendOutput, emptyOutput } from "../../src/tui/output.ts";
import { formLines } from "../../src/tui/parts/form.ts";
import { reduce, reduceIntention } from "../../src/tui/reducer.ts";
import { createServerTarget } from "../../src/tui/target.ts";
import { initialView } from "../../src/tui/view.ts";
import { startScripted } from "../servers/scripted.ts";
import { benchOf, makeFolder } from "./client-bench.ts";
import { stateAt } from "./moments.ts";

const size = { columns: 80, rows: 24 };

test("huge lines and millions of lines are bounded", () => {
  const long = "x".repeat(4_000_000);
  expect(sanitizeLines(`${long}\rshort`)).toEqual(["short"]);
  const [line = ""] = sanitizeLines(long);
  expect(line.length).toBe(long.length);
  expect(appendOutput(emptyOutput, [{ source: "out", text: line }]).lines[0]?.text).toMatch(
    /^x{4000}… \(the log has all of it\)$/,
  );
  const many = sanitizeLines("\n".repeat(3_000_000));
  expect(many.length).toBe(100_001);
  expect(many.at(-1)).toMatch(/more lines/);
});

test("fields and tools may be named like properties of Object", () => {
  const schema = JSON.parse(
    '{"properties":{"constructor":{"type":"string"},"__proto__":{"type":"string","default":"usual"},"toString":{"type":"integer"}},"required":["toString"]}',
  );
  const form = createForm(schema);
  expect(form.fields.map((field) => textOf(form, field))).toEqual(["", "usual", ""]);
  expect(readForm(form)).toEqual({ problems: { toString: "required" } });
  const filled = ["constructor", "__proto__"].reduce(
    (now, name) => fillForm(now, name, `my ${name}`),
    fillForm(form, "toString", "3"),
  );
  const read = readForm(filled);
  expect(JSON.stringify(read)).toBe(
    '{"values":{"constructor":"my constructor","__proto__":"my __proto__","toString":3}}',
  );
  expect(filled.fields.map((field) => problemOf(filled, field))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  for (const name of ["constructor", "__proto__", "hasOwnProperty"]) {
    const tools = [
      { name, title: undefined, description: "", inputSchema: schema, isDestructive: false },
    ];
    const chosen = reduceIntention(
      reduce(stateAt(size), { kind: "tools", tools, agents: [], missing: [] }),
      { kind: "select tool", name },
    );
    expect(chosen.tools.form?.fields.length).toBe(3);
  }
});

test("values of the wrong type break nothing", () => {
  const thing = { toString: 1, valueOf: null };
  const { fields } = createForm({
    properties: {
      a: { title: thing, description: thing, default: thing },
      b: { enum: [thing, null, 1], enumNames: [thing] },
      c: { type: "array", items: { type: "string" }, default: [thing] },
    },
  });
  expect(fields.map(({ title }) => title)).toEqual(["a", "b", "c"]);
  expect(fields[1]?.choices.map(({ title }) => title)).toEqual([
    '{"toString":1,"valueOf":null}',
    "null",
    "1",
  ]);
  const refusal = new HallError("EXECUTION", "no", {
    relayed: { code: -32000, message: "no", data: { error_type: thing, suggestion: thing } },
  });
  expect(explainFailure(refusal, "a tool").message).toBe("a tool failed: no");
});

test("only visible fields and choices of a huge form are laid out", () => {
  const properties = Object.fromEntries(
    Array.from({ length: 130_000 }, (_, index) => [`field${index}`, { type: "string" }]),
  );
  const hand = (form: ReturnType<typeof createForm>) => ({
    id: "f",
    form,
    fill: () => ({ kind: "quit" }) as const,
    send: { kind: "quit" } as const,
  });
  const form = hand(createForm({ properties }));
  const view = { ...initialView, focus: { f: "field99999" } };
  expect(textOfLines(formLines(form, { view, columns: 80, rows: 20 }))).toContain("› field99999");
  const choices = createForm({
    properties: {
      a: {
        enum: Array.from({ length: 10_000 }, (_, index) => `choice ${index}`),
        default: "choice 777",
      },
    },
  });
  expect(
    textOfLines(formLines(hand(choices), { view: initialView, columns: 80, rows: 12 })),
  ).toContain("● choice 777");
});

function textOfLines(lines: ReturnType<typeof formLines>): string {
  return lines.map((line) => line.map(({ text }) => text).join("")).join("\n");
}

test("a storm of list changes causes few reads, and the new list is shown", async () => {
  const folder = makeFolder();
  await using server = await startScripted({ type: "ws", era: "legacy" });
  server.tools.storm = ({ say, answer }) => {
    server.tools.fresh = ({ answer: reply }) => reply({ content: [] });
    for (let count = 0; count < 2_000; count++) {
      say({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
      say({ jsonrpc: "2.0", method: "notifications/resources/list_changed" });
    }
    answer({ content: [{ type: "text", text: "stormed" }] });
  };
  const config = {
    transport: "websocket",
    endpoint: server.config.url,
    args: [],
    timeout: 60,
  } as const;
  await using bench = benchOf(
    createServerTarget(config, { folder, log: createLog({ level: "silent" }) }),
    folder,
  );
  await bench.until(({ tools }) => tools.load.kind === "loaded");
  await bench.session.send({ kind: "select tool", name: "storm" });
  await bench.session.send({ kind: "call tool" });
  expect(await bench.ended()).toMatchObject({ state: { kind: "completed" } });
  await bench.until(({ tools }) => tools.items.some(({ name }) => name === "fresh"));
  expect(server.heard("tools/list")).toBeLessThan(20);
});

test("a list of too many tools is cut, with a notice", async () => {
  const tools = Array.from({ length: 6_000 }, (_, index) => ({ name: `tool_${index}` }));
  const line = {
    request: async () => ({ tools, nextCursor: "more" }),
  } as unknown as ServerConnection;
  const read = await readTools(line);
  expect(read.tools.length).toBe(10_000);
  expect(read.isCut).toBe(true);
});
