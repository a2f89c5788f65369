import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import { Scope } from "../../src/base/scope.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import { createDocumentReader, type DocumentReader } from "../../src/toolkits/document/reader.ts";
import { createFolderSearch, type FoldersOptions } from "../../src/toolkits/search/folders.ts";
import { createSearchToolkit } from "../../src/toolkits/search/search.ts";
import type { SearchQuery } from "../../src/toolkits/search/web.ts";
import { until } from "../servers/until.ts";
import { buildWorker, makeDocx, makePdf } from "./documents.ts";

let reader: DocumentReader;
let removeWorker: () => void;

beforeAll(async () => {
  const { worker, remove } = await buildWorker();
  removeWorker = remove;
  reader = createDocumentReader({ worker });
});
afterAll(() => removeWorker());

/** A folder with files, and a search over it. */
function makeFolder(
  files: Readonly<Record<string, string | Buffer>> = {},
  options: Partial<FoldersOptions> = {},
) {
  const path = mkdtempSync(join(tmpdir(), "guildhall-search-"));
  const write = (name: string, content: string | Buffer): void => {
    mkdirSync(dirname(join(path, "docs", name)), { recursive: true });
    writeFileSync(join(path, "docs", name), content);
  };
  mkdirSync(join(path, "docs"));
  for (const [name, content] of Object.entries(files)) write(name, content);
  const open = (more: Partial<FoldersOptions> = {}) =>
    createFolderSearch({
      folders: [join(path, "docs")],
      indexFile: join(path, "index.db"),
      reader,
      freshMs: 0,
      waitMs: 20_000,
      ...options,
      ...more,
    });
  const search = open();
  const find = async (
    text: string,
    query: Partial<SearchQuery> = {},
    provider = search,
  ): Promise<string[]> => {
    const { results } = await provider.search(
      { text, kind: "web", count: 20, ...query },
      new Scope(),
    );
    return results.map(({ url }) => fileURLToPath(url).slice(path.length + "/docs/".length));
  };
  return {
    path,
    write,
    open,
    search,
    find,
    async [Symbol.asyncDispose]() {
      await search.close();
      rmSync(path, { recursive: true, force: true });
    },
  };
}

describe("a search in folders", () => {
  test("finds files by their words, best first, with title, snippet, date and file: URL", async () => {
    await using folder = makeFolder({
      "rivers.md":
        "# Of rivers\n\nThe Elbe is a river. It runs to the North Sea, as the river Weser does.",
      "notes/one.txt":
        "A note that names the river once, among many other things that are said here at some length about boats.",
      "cooking.txt": "Boil the potatoes.",
    });
    const { results, note } = await folder.search.search(
      { text: "river", kind: "web", count: 5 },
      new Scope(),
    );
    expect(note).toBeUndefined();
    expect(results.map(({ title }) => title)).toEqual(["Of rivers", "one.txt"]);
    expect(results[0]).toMatchObject({
      url: `file://${folder.path}/docs/rivers.md`,
      snippet: expect.stringContaining("The Elbe is a river."),
      published: expect.stringMatching(/^\d{4}-/),
    });
  });

  test("accepts inflected words and quoted phrases, and has no query syntax", async () => {
    await using folder = makeFolder({
      "a.txt": "The runner was running through Zürich.",
      "b.txt": "Through the city he ran, the runner.",
      "c.txt": 'odd: NEAR( AND OR NOT * ^ "',
    });
    expect(await folder.find("run")).toContain("a.txt");
    expect(await folder.find("zurich")).toEqual(["a.txt"]);
    expect(await folder.find('"running through"')).toEqual(["a.txt"]);
    expect(await folder.find("runner city")).toEqual(["b.txt", "a.txt"]);
    for (const odd of [
      '"',
      "NEAR(",
      "a AND",
      "* OR *",
      "title:x",
      "-",
      "'; DROP TABLE file; --",
      "\u0000",
    ])
      expect(Array.isArray(await folder.find(odd))).toBe(true);
    expect(await folder.find("odd near")).toContain("c.txt");
    expect(await folder.find("!!! ???")).toEqual([]);
  });

  test("finds words in scripts without spaces", async () => {
    await using folder = makeFolder({
      "zh.txt": "北京大学是中国的一所大学。",
      "ja.txt": "東京は日本の首都です。",
    });
    expect(await folder.find("大学")).toEqual(["zh.txt"]);
    expect(await folder.find("首都")).toEqual(["ja.txt"]);
    const { results } = await folder.search.search(
      { text: "北京", kind: "web", count: 1 },
      new Scope(),
    );
    expect(results[0]?.snippet).toBe("北京大学是中国的一所大学。");
  });

  test("reads PDF, Word and HTML files too", async () => {
    await using folder = makeFolder({
      "a.pdf": makePdf([["The cormorant dives."]], { title: "Birds" }),
      "b.docx": makeDocx("<w:p><w:r><w:t>The cormorant dries its wings.</w:t></w:r></w:p>"),
      "c.html":
        "<title>Page</title><nav>cormorant menu</nav><p>The cormorant flies far over the sea, further than a page needs to be long enough to be kept as it is.</p>",
      "broken.pdf": "%PDF-1.4 cormorant",
    });
    expect((await folder.find("cormorant")).sort()).toEqual(["a.pdf", "b.docx", "c.html"]);
  });

  test("skips binary, hidden, package and too large files", async () => {
    const word = "cormorant";
    await using folder = makeFolder({
      "fine.txt": word,
      "picture.png": Buffer.concat([Buffer.from(`\x89PNG\0\0 ${word}`, "latin1")]),
      "program.bin": Buffer.concat([Buffer.from(word), Buffer.alloc(100)]),
      ".hidden": word,
      ".git/config": word,
      "node_modules/x/readme.md": word,
      "large.txt": `${word} `.repeat(300_000),
      "empty.txt": "",
    });
    expect(await folder.find(word)).toEqual(["fine.txt"]);
  });

  test("does not follow links", async () => {
    await using folder = makeFolder({ "fine.txt": "cormorant" });
    writeFileSync(join(folder.path, "secret.txt"), "cormorant");
    mkdirSync(join(folder.path, "elsewhere"));
    writeFileSync(join(folder.path, "elsewhere/secret.txt"), "cormorant");
    symlinkSync("../secret.txt", join(folder.path, "docs/link.txt"));
    symlinkSync("../elsewhere", join(folder.path, "docs/linked"));
    symlinkSync(".", join(folder.path, "docs/loop"));
    expect(await folder.find("cormorant")).toEqual(["fine.txt"]);
    // A file that becomes a link is forgotten.
    unlinkSync(join(folder.path, "docs/fine.txt"));
    symlinkSync("../secret.txt", join(folder.path, "docs/fine.txt"));
    expect(await folder.find("cormorant")).toEqual([]);
  });

  test("keeps up with changes, additions, renames and deletions", async () => {
    await using folder = makeFolder({ "a.txt": "heron", "b.txt": "heron" });
    expect(await folder.find("heron")).toEqual(["a.txt", "b.txt"]);
    folder.write("a.txt", "stork now");
    folder.write("new/c.txt", "heron again");
    expect(await folder.find("heron")).toEqual(["b.txt", "new/c.txt"]);
    expect(await folder.find("stork")).toEqual(["a.txt"]);
    renameSync(join(folder.path, "docs/new"), join(folder.path, "docs/renamed"));
    unlinkSync(join(folder.path, "docs/b.txt"));
    expect(await folder.find("heron")).toEqual(["renamed/c.txt"]);
    // The same length and the same date: only the file system knows better.
    const { atime, mtime } = statSync(join(folder.path, "docs/a.txt"));
    folder.write("a.txt", "crane now");
    utimesSync(join(folder.path, "docs/a.txt"), atime, mtime);
    expect(await folder.find("crane")).toEqual(["a.txt"]);
  });

  test("for news finds recently changed files", async () => {
    await using folder = makeFolder({ "old.txt": "flood", "new.txt": "flood" });
    const weekAgo = new Date(Date.now() - 8 * 86_400_000);
    utimesSync(join(folder.path, "docs/old.txt"), weekAgo, weekAgo);
    expect(await folder.find("flood", { kind: "news", daysBack: 7 })).toEqual(["new.txt"]);
    expect((await folder.find("flood", { kind: "news", daysBack: 9 })).sort()).toEqual([
      "new.txt",
      "old.txt",
    ]);
  });

  test("of thousands of files returns the requested number, also from a reopened index", async () => {
    await using folder = makeFolder();
    for (let n = 0; n < 3_000; n++)
      folder.write(
        `${n % 50}/file-${n}.txt`,
        `File number ${n} speaks of egrets and of topic${n % 100}.`,
      );
    // The first search may answer before the index is complete.
    await until(async () => (await folder.find("topic42", { count: 20 })).length === 20);
    expect(await folder.find("egrets", { count: 3 })).toHaveLength(3);
    const reopened = folder.open({ freshMs: 60_000 });
    expect(await folder.find("topic7", { count: 5 }, reopened)).toHaveLength(5);
    expect(await folder.find("topic9", { count: 5 }, reopened)).toHaveLength(5);
    await reopened.close();
  });

  test("answers while folders are being indexed, says so, and continues in the background", async () => {
    await using folder = makeFolder();
    for (let n = 0; n < 500; n++) folder.write(`${n}.txt`, `ibis ${n}`);
    const search = folder.open({ waitMs: 0 });
    const { note } = await search.search({ text: "ibis", kind: "web", count: 5 }, new Scope());
    expect(note).toBe("the folders are still being indexed; search again for more");
    const query = { text: "ibis", kind: "web", count: 20 } as const;
    await until(async () => (await search.search(query, new Scope())).results.length === 20);
    await search.close();
  });

  test("concurrent searches share one update", async () => {
    await using folder = makeFolder({ "a.txt": "gull", "b.txt": "gull" });
    const found = await Promise.all(Array.from({ length: 10 }, () => folder.find("gull")));
    expect(found).toEqual(Array.from({ length: 10 }, () => ["a.txt", "b.txt"]));
  });

  test("rebuilds a damaged index and one of another version", async () => {
    await using folder = makeFolder({ "a.txt": "tern" });
    writeFileSync(join(folder.path, "damaged.db"), "not a database at all ".repeat(1_000));
    writeFileSync(join(folder.path, "empty.db"), "");
    const other = await openDatabase(join(folder.path, "other.db"));
    other.exec("CREATE TABLE file (x); PRAGMA user_version = 99;");
    other.close();
    for (const name of ["damaged.db", "empty.db", "other.db"]) {
      const search = folder.open({ indexFile: join(folder.path, name) });
      expect(await folder.find("tern", {}, search)).toEqual(["a.txt"]);
      await search.close();
    }
  });

  test("in missing folders is UNAVAILABLE, and works once they exist", async () => {
    await using folder = makeFolder();
    const search = folder.open({
      folders: [join(folder.path, "later")],
      indexFile: join(folder.path, "later.db"),
    });
    const error: unknown = await search
      .search({ text: "x", kind: "web", count: 1 }, new Scope())
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(HallError);
    expect(error).toMatchObject({
      code: "UNAVAILABLE",
      next: [{ do: "edit-config", field: "search.folders" }],
    });
    mkdirSync(join(folder.path, "later"));
    writeFileSync(join(folder.path, "later/a.txt"), "plover");
    expect(
      (await search.search({ text: "plover", kind: "web", count: 1 }, new Scope())).results,
    ).toHaveLength(1);
    await search.close();
  });

  test("is the toolkit's default if folders are configured", async () => {
    await using folder = makeFolder({ "a.txt": "avocet" });
    const toolkit = createSearchToolkit({
      folders: [join(folder.path, "docs")],
      indexFile: join(folder.path, "toolkit.db"),
      reader,
    });
    const [web] = await toolkit.list();
    if (!web) throw new Error("no tool");
    const context = {
      scope: new Scope(),
      progress: () => {},
      log: () => {},
      ask: async () => ({}),
    };
    expect(await toolkit.call(web, { query: "avocet", max_results: 1 }, context)).toMatchObject({
      structuredContent: {
        provider: "local",
        query: "avocet",
        results: [{ title: "a.txt", snippet: "avocet" }],
      },
    });
    await toolkit.close();
  });
});
