import { rmSync } from "node:fs";
import { type Database, openDatabase, type SqlRow } from "../../store/sqlite.ts";

export interface IndexedFile {
  readonly path: string;
  /** Changes whenever the file does. */
  readonly stamp: string;
  readonly modifiedMs: number;
  readonly title: string;
  readonly text: string | undefined;
}

type TextMatch = Pick<IndexedFile, "path" | "title" | "modifiedMs"> & { readonly snippet: string };

/** A full-text index of files. */
export type TextIndex = ReturnType<typeof createIndex>;

/** Increase it when the tables change: an older index is rebuilt. */
const schemaVersion = 1;

const schema = `
  CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL, modified REAL NOT NULL, title TEXT NOT NULL);
  CREATE VIRTUAL TABLE page USING fts5(title, body, tokenize = "porter unicode61 remove_diacritics 2");
  PRAGMA user_version = ${schemaVersion};
`;

/** Opens the index. A damaged one, or one of another version, is deleted and rebuilt from the files. */
export async function openTextIndex(path: string): Promise<TextIndex> {
  const database = await openChecked(path).catch(() => {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
    return openChecked(path);
  });
  return createIndex(database);
}

async function openChecked(path: string): Promise<Database> {
  const database = await openDatabase(path);
  try {
    const version = database.prepare("PRAGMA user_version").get()?.user_version;
    if (version === 0) database.exec(schema);
    else if (version !== schemaVersion) throw new Error(`index of version ${version}`);
    database.prepare("SELECT count(*) FROM file").get();
    database.prepare("SELECT rowid FROM page WHERE page MATCH 'x' LIMIT 1").get();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function createIndex(database: Database) {
  const insertFile = database.prepare(
    "INSERT INTO file (path, stamp, modified, title) VALUES (?, ?, ?, ?)",
  );
  const insertPage = database.prepare("INSERT INTO page (rowid, title, body) VALUES (?, ?, ?)");
  const deletePage = database.prepare(
    "DELETE FROM page WHERE rowid = (SELECT id FROM file WHERE path = ?)",
  );
  const deleteFile = database.prepare("DELETE FROM file WHERE path = ?");
  const select = database.prepare(`
    SELECT file.path, file.title, file.modified, snippet(page, 1, '', '', ' … ', 40) AS snippet
    FROM page JOIN file ON file.id = page.rowid
    WHERE page MATCH ? AND file.modified >= ? ORDER BY bm25(page, 5.0, 1.0), file.path LIMIT ?`);

  function transact(work: () => void): void {
    database.exec("BEGIN IMMEDIATE");
    try {
      work();
      database.exec("COMMIT");
    } catch (error) {
      database.exec("ROLLBACK");
      throw error;
    }
  }

  function drop(path: string): void {
    deletePage.run(path);
    deleteFile.run(path);
  }

  return {
    /** The stamp of each indexed file, by path. */
    stamps(): Map<string, string> {
      const rows = database.prepare("SELECT path, stamp FROM file").all();
      return new Map(rows.map(({ path, stamp }) => [`${path}`, `${stamp}`]));
    },
    /** In one transaction. A file without text is recorded, so that it is not read again. */
    replace(files: readonly IndexedFile[]): void {
      transact(() => {
        for (const { path, stamp, modifiedMs, title, text } of files) {
          drop(path);
          const { lastInsertRowid } = insertFile.run(path, stamp, modifiedMs, title);
          if (text !== undefined)
            insertPage.run(lastInsertRowid, separateCharacters(title), separateCharacters(text));
        }
      });
    },
    remove(paths: readonly string[]): void {
      transact(() => {
        for (const path of paths) drop(path);
      });
    },
    /** Files changed since then only. */
    find(query: string, count: number, modifiedSinceMs = 0): TextMatch[] {
      const terms = termsOf(query);
      if (terms.length === 0) return [];
      const found = new Map<string, TextMatch>();
      // Files with all words first, then files with some.
      for (const joiner of [" AND ", " OR "]) {
        if (found.size >= count) break;
        for (const row of select.all(terms.join(joiner), modifiedSinceMs, count)) {
          const hit = toMatch(row);
          if (found.size < count && !found.has(hit.path)) found.set(hit.path, hit);
        }
      }
      return [...found.values()];
    },
    close: (): void => database.close(),
  };
}

function toMatch({ path, title, modified, snippet }: SqlRow): TextMatch {
  return {
    path: `${path}`,
    title: `${title}`,
    modifiedMs: Number(modified),
    snippet: joinCharacters(`${snippet}`).replace(/\s+/g, " ").trim(),
  };
}

const termsMax = 32;

/** Words, and "phrases in quotes", each quoted for FTS5, so that a query has no syntax. */
function termsOf(query: string): string[] {
  const parts = Array.from(
    query.slice(0, 2_000).matchAll(/"([^"]+)"|([\p{L}\p{M}\p{N}_]+)/gu),
    ([, phrase, word]) => phrase ?? word ?? "",
  );
  return parts
    .map((part) => separateCharacters(part.replace(/[^\p{L}\p{M}\p{N}_]+/gu, " ")).trim())
    .filter((part) => part !== "")
    .slice(0, termsMax)
    .map((part) => `"${part}"`);
}

const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu;

/** Scripts without spaces are indexed by character; a word is then a phrase of characters. */
function separateCharacters(text: string): string {
  return text.replace(unspaced, " $& ");
}

function joinCharacters(text: string): string {
  return text.replace(new RegExp(` (${unspaced.source}) `, "gu"), "$1");
}
