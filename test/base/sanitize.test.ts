import { expect, test } from "vitest";
import { sanitize, sanitizeLines } from "../../src/base/sanitize.ts";

test.each([
  ["colours", "\u001b[1;31mred\u001b[0m", "red"],
  ["cursor moves and a cleared screen", "a\u001b[2J\u001b[1;1Hb\u001b[?1049h", "ab"],
  ["a window title", "\u001b]0;owned\u0007x", "x"],
  [
    "a link that says something else",
    "\u001b]8;;https://evil.example\u001b\\good.example\u001b]8;;\u001b\\",
    "good.example",
  ],
  ["the clipboard", "\u001b]52;c;cm0gLXJm\u0007ok", "ok"],
  ["a device control string", "\u001bP+q544e\u001b\\ok", "ok"],
  ["one-byte control sequences", "\u009b31mred\u009d0;title\u009c!", "red!"],
  ["a string that never ends", "\u001b]0;swallow\nnext line", "\nnext line"],
  ["an escape at the very end", "end\u001b", "end"],
  ["half a sequence at the very end", "end\u001b[12;", "end"],
  ["character sets and resets", "\u001b(0qqq\u001bc", "qqq"],
  ["backspaces that print over", "safe\b\b\b\bevil", "evil"],
  ["more backspaces than there is", "\b\b\bx", "x"],
  ["bold as a line printer did it", "b\bbo\bol\bld\bd", "bold"],
  ["text that runs the other way", "user\u202etxt.exe", "user\ufffdtxt.exe"],
  ["isolates", "a\u2066b\u2069", "a\ufffdb\ufffd"],
  ["zero width", "pass\u200bword\ufeff", "pass\ufffdword\ufffd"],
  ["tags that only a model reads", "hi\u{e0041}\u{e0042}", "hi\ufffd\ufffd"],
  ["bells and zeros", "ding\u0007\u0000", "ding\ufffd\ufffd"],
  ["separators of lines that are none", "a\u2028b", "a\ufffdb"],
  ["half of a pair", "a\ud83db", "a\ufffdb"],
  ["a joiner that joins nothing", "pay\u200dments \u200c", "pay\ufffdments \ufffd"],
  ["what joins letters without being seen", "a\u034fb\u180bc", "a\ufffdb\ufffdc"],
  ["tabs", "a\tb", "a  b"],
  ["an escape in an escape", "\u001b[3\u001b[31m1mx", "1mx"],
])("%s", (_name, nasty, shown) => {
  expect(sanitize(nasty)).toBe(shown);
});

test("ordinary text is unchanged", () => {
  const text = "Grüße, 日本語, العربية, 👩‍👩‍👧 ❤️\n  indented – “quoted”";
  expect(sanitize(text)).toBe(text);
});

test("a progress bar with carriage returns shows its last state", () => {
  expect(sanitizeLines("10 %\r50 %\r100 %\ndone\r\nnext")).toEqual(["100 %", "done", "next"]);
});

test("no escape is left, in any order of removal", () => {
  const pieces = [
    "\u001b",
    "\u009b",
    "\u009d",
    "[",
    "]",
    "0;",
    "\b",
    "\u0007",
    "\u009c",
    "\\",
    "m",
    "x",
    "\n",
    "\r",
    "\u001b\b",
  ];
  let seed = 7;
  for (let round = 0; round < 2_000; round++) {
    let text = "";
    for (let part = 0; part < 12; part++) {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      text += pieces[seed % pieces.length];
    }
    const shown = sanitizeLines(text).join("\n");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
    expect(shown, JSON.stringify(text)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  }
});
