import { expect, test } from "vitest";
import {
  drawList,
  endsList,
  type ListQuestion,
  type ListState,
  pressKey,
} from "../../src/cli/list.ts";

const press = (keys: string, state: ListState, count = 3): ListState =>
  keys.split(" ").reduce((now, key) => pressKey(key, now, count), state);
const none: ListState = { ticked: new Set(), at: 0 };

test.each([
  ["space", [0], 0],
  ["space space", [], 0],
  ["down space up up space", [0, 1], 0],
  ["j j j j space", [2], 2],
  ["a", [0, 1, 2], 0],
  ["a a", [], 0],
  ["space a", [0, 1, 2], 0],
  ["x y foo", [], 0],
])("%s ticks %j", (keys, ticked, at) => {
  const state = press(keys, none);
  expect({ ticked: [...state.ticked].sort(), at: state.at }).toEqual({ ticked, at });
});

const items = Array.from({ length: 20 }, (_, at) => ({
  label: `server-${at}`,
  lines: [`run ${"z".repeat(100)}`],
}));
const question: ListQuestion = { title: "Which?", items, enter: "start", cancelled: "none" };

test.each([0, 7, 19])(
  "a long list fits the screen around item %i, and says what is left out",
  (at) => {
    const size = { columns: 40, rows: 24 };
    const { lines } = drawList(question, { ticked: new Set([at]), at }, size);
    expect(lines.length).toBeLessThan(size.rows);
    expect(lines.every((line) => line.length <= size.columns)).toBe(true);
    expect(lines).toContain(`> [x] server-${at}`);
    expect(
      lines
        .join("")
        .match(/z{1,34}/g)
        ?.join(""),
    ).toMatch(/^(z{100})+$/);
    const hidden = lines.flatMap((line) => /… (\d+) more/.exec(line)?.[1] ?? []).map(Number);
    const shown = lines.filter((line) => line.includes("server-")).length;
    expect(hidden.reduce((sum, each) => sum + each, shown)).toBe(items.length);
  },
);

test("Enter reports selected rows that are not visible, and counts once all were shown", () => {
  const size = { columns: 40, rows: 24 };
  const draw = (state: ListState) => {
    const { lines, seen } = drawList(question, state, size);
    return { foot: lines.join(" ").replace(/^.*Enter:/, ""), seen };
  };
  const all = press("a", none, items.length);
  const top = draw(all);
  expect(top.seen).toBeLessThan(items.length);
  expect(top.foot.replace(/ +/g, " ")).toBe(
    ` start (${items.length - top.seen} not visible; go to the end of the list first, with PgDn), q: stop`,
  );
  const end = draw({ ...all, at: items.length - 1, seen: top.seen });
  expect(end.seen).toBe(items.length);
  expect(draw({ ...all, seen: end.seen }).foot).not.toContain("first");
  expect(endsList("enter", { ...all, seen: top.seen }, question)).toBe(false);
  expect(endsList("enter", { ...all, seen: end.seen }, question)).toBe(true);
  const short = { ...question, items: items.slice(0, 2) };
  expect(drawList(short, press("a", none, 2), size)).toMatchObject({ seen: 2 });
});

test("PgDn leaves no item out, and PgUp leads back", () => {
  const size = { columns: 40, rows: 24 };
  const draw = (state: ListState): ListState => ({ ...state, ...drawList(question, state, size) });
  let state = draw(none);
  const pages = [state.shown];
  while (state.seen !== items.length) {
    state = draw(pressKey("pagedown", state, items.length));
    expect(state.shown?.from).toBeLessThanOrEqual(pages.at(-1)?.to ?? 0);
    pages.push(state.shown);
  }
  expect(pages.length).toBeGreaterThan(1);
  for (const _ of pages) state = draw(pressKey("pageup", state, items.length));
  expect(state).toMatchObject({ at: 0, shown: { from: 0 } });
});
