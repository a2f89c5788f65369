import { describe, expect, test } from "vitest";
import { spellingsOf, wordsOf } from "../../src/ranking/words.ts";

describe("words", () => {
  test.each([
    ["createPullRequest", ["creat", "pull", "request"]],
    ["get_HTTPServer-status.v2", ["get", "http", "server", "status", "v2"]],
    ["The files of a user", ["fil", "user"]],
    ["Größe Café ﬁle", ["große", "caf", "fil"]],
    ["火车票查询", ["火车", "车票", "票查", "查询"]],
    ["用GitHub查", ["用", "git", "hub", "查"]],
    ["サーバー", ["サー", "ーバ", "バー"]],
    ["Привет мир", ["привет", "мир"]],
    ["", []],
    ["!!! — …", []],
  ])("%s", (text, words) => {
    expect(wordsOf(text)).toEqual(words);
  });

  test.each([
    ["search", "searches searched searching"],
    ["query", "queries"],
    ["convert", "converts converted converting converter"],
    ["calculate", "calculates calculated calculating calculation calculator"],
    ["stop", "stops stopped stopping"],
    ["analysis", "analysis"],
    ["news", "news"],
    ["string", "strings"],
  ])("%s has one stem in all its forms", (word, forms) => {
    expect(new Set(wordsOf(forms))).toEqual(new Set(wordsOf(word)));
  });

  test("a text is read up to a limit", () => {
    expect(wordsOf("alpha beta gamma", 10)).toEqual(["alpha", "beta"]);
    expect(wordsOf(`${"x".repeat(41)} end`)).toEqual(["end"]);
  });

  test("each word keeps its first spelling", () => {
    expect([...spellingsOf("Searching searches, again")]).toEqual([
      ["search", "searching"],
      ["again", "again"],
    ]);
  });
});
