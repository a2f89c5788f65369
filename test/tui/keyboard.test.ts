import { expect, test } from "vitest";
import { editText } from "../../src/tui/editing.ts";
import { Keyboard } from "../../src/tui/keyboard.ts";

const namesOf = (chunk: string): readonly string[] =>
  new Keyboard().read(chunk).map(({ name }) => name);

test.each([
  ["a?é写🙂", ["a", "?", "é", "写", "🙂"]],
  [" \r\t\u007f", ["space", "enter", "tab", "backspace"]],
  ["\u0003\u0013\n", ["ctrl+c", "ctrl+s", "alt+enter"]],
  ["\u001b[A\u001b[B\u001bOC\u001b[D", ["up", "down", "right", "left"]],
  ["\u001b[5~\u001b[6~\u001b[H\u001b[4~\u001b[3~", ["pageup", "pagedown", "home", "end", "delete"]],
  [
    "\u001b[Z\u001bOP\u001b[1;5C\u001b1\u001b\r",
    ["shift+tab", "f1", "ctrl+right", "alt+1", "alt+enter"],
  ],
  // Answers of the terminal to questions of others, and keys nobody knows, are no text.
  ["\u001b[24;80R\u001b[?62;4c\u001b[99~x", ["x"]],
] as const)("%j is read as keys", (chunk, names) => {
  expect(namesOf(chunk)).toEqual(names);
});

test("keys that arrive in pieces are joined", () => {
  const keyboard = new Keyboard();
  expect(keyboard.read("\u001b[")).toEqual([]);
  expect(keyboard.isWaiting).toBe(true);
  expect(keyboard.read("5~").map(({ name }) => name)).toEqual(["pageup"]);
  expect(keyboard.isWaiting).toBe(false);
});

test("a lone escape is the Esc key", () => {
  const keyboard = new Keyboard();
  expect(keyboard.read("\u001b")).toEqual([]);
  expect(keyboard.flush().map(({ name }) => name)).toEqual(["esc"]);
  expect(keyboard.isWaiting).toBe(false);
});

test("a paste is one key, in any lines and chunks", () => {
  const keyboard = new Keyboard();
  expect(keyboard.read("\u001b[200~one\r\ntw")).toEqual([]);
  expect(keyboard.flush()).toEqual([]);
  expect(keyboard.read("o\u001b[201~x")).toEqual([
    { name: "paste", text: "one\ntwo" },
    { name: "x", text: "x" },
  ]);
});

test.each([
  ["insert", { text: "ab", cursor: 1 }, { name: "é", text: "é" }, { text: "aéb", cursor: 2 }],
  [
    "a whole emoji goes at once",
    { text: "a👩‍👩‍👧", cursor: 9 },
    { name: "backspace", text: undefined },
    { text: "a", cursor: 1 },
  ],
  [
    "an accent goes with its letter",
    { text: "e\u0301x", cursor: 0 },
    { name: "delete", text: undefined },
    { text: "x", cursor: 0 },
  ],
  [
    "a word back",
    { text: "one two  ", cursor: 9 },
    { name: "ctrl+w", text: undefined },
    { text: "one ", cursor: 4 },
  ],
  [
    "to the start of the line",
    { text: "one\ntwo", cursor: 6 },
    { name: "home", text: undefined },
    { text: "one\ntwo", cursor: 4 },
  ],
  [
    "the rest of the line",
    { text: "one\ntwo", cursor: 1 },
    { name: "ctrl+k", text: undefined },
    { text: "o\ntwo", cursor: 1 },
  ],
  [
    "nothing before the start",
    { text: "a", cursor: 0 },
    { name: "left", text: undefined },
    { text: "a", cursor: 0 },
  ],
] as const)("editing: %s", (_what, before, key, after) => {
  expect(editText(before, key)).toEqual(after);
});

test("no part of a long paste is taken for keys", () => {
  const keyboard = new Keyboard();
  const keys = [...keyboard.read("\u001b[200~")];
  for (let chunk = 0; chunk < 40; chunk++) keys.push(...keyboard.read("y\r".repeat(10_000)));
  keys.push(...keyboard.read("end\u001b[20"), ...keyboard.read("1~x"));
  expect(keys.map(({ name }) => name)).toEqual(["paste", "x"]);
  expect(keys[0]?.text?.length).toBeLessThanOrEqual(200_000);
});
