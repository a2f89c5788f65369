import { expect, test } from "vitest";
import { createLisp } from "../../src/lisp/lisp.ts";

const printed = (text: string): string => {
  const { values, condition } = createLisp().evaluate(text);
  return condition === null ? values.join(" ") : `${condition.type}: ${condition.message}`;
};

test.each([
  ["'(a . (b . (c)))", "(A B C)"],
  ["'(a . b)", "(A . B)"],
  ["'|foo Bar|", "|foo Bar|"],
  ["'a\\bc", "|AbC|"],
  [":key", ":KEY"],
  ["#b101", "5"],
  ["#xFF", "255"],
  ["#36rZZ", "1295"],
  ["-0", "0"],
  ["4/8", "1/2"],
  ["1.5e3", "1500.0"],
  ["1.0f0", "1.0"],
  ["123456789012345678901234567890", "123456789012345678901234567890"],
  ["'(1 #| two #| nested |# |# 3) ; four", "(1 3)"],
  ["#(1 2 (3))", "#(1 2 (3))"],
  ["#2A((1 2) (3 4))", "#2A((1 2) (3 4))"],
  ["#\\x", "#\\x"],
  ["'#:g", "#:G"],
  ["'(#+guildhall yes #-guildhall no #+(or sbcl (not guildhall)) other)", "(YES)"],
  ["(let ((x '(1 2))) `(a ,x ,@x . b))", "(A (1 2) 1 2 . B)"],
  ["(let ((x 5)) `#(1 ,x))", "#(1 5)"],
  ["(let ((x 'a) (y '(b c))) (eval ``(,',x ,@',y)))", "(A B C)"],
  ["(let ((l '#1=(a b . #1#))) (list (first l) (third l) (fifth l)))", "(A A A)"],
])("%s reads as %s", (text, expected) => {
  expect(printed(text)).toBe(expected);
});

test.each([
  ["(a\n  (b c)\n", "END-OF-FILE: missing ) for the ( at line 1 column 1"],
  ["(defun f (x)\n  (let ((y 1)\n    y))", "END-OF-FILE: missing ) for the ( at line 1 column 1"],
  ["1 2)", "READER-ERROR: unmatched ) at line 1 column 4"],
  ['(list "abc', 'END-OF-FILE: missing " for the string that begins at line 1 column 7'],
  ["(a . )", "READER-ERROR: ) at line 1 column 6 where a form after . is expected"],
  ["(a . b c)", "READER-ERROR: more than one form after the dot at line 1 column 4"],
  [",x", "READER-ERROR: a comma outside any backquote at line 1 column 1"],
  ["nowhere:x", "READER-ERROR: unknown package NOWHERE (at line 1 column 1)"],
  [
    "cl:no-such-thing",
    "READER-ERROR: the package CL has no symbol NO-SUCH-THING (at line 1 column 1)",
  ],
  ["#\\nosuch", "READER-ERROR: unknown character name nosuch (at line 1 column 1)"],
  ["#| never", "END-OF-FILE: missing |# for the #| at line 1 column 1"],
])("%j is refused with its position", (text, expected) => {
  expect(printed(text)).toBe(expected);
});

test("nesting is bounded, and a program can handle an unfinished text", () => {
  expect(printed("(".repeat(100_000))).toMatch(
    /^READER-ERROR: forms are nested more than 1000 deep/,
  );
  expect(printed('(handler-case (read-from-string "(a b") (end-of-file () :open))')).toBe(":OPEN");
});
