import { rmSync } from "node:fs";
import { type Database, openDatabase, type SqlRow } from "../../store/sqlite.ts";

/** The full-text index of files: what is known of each, and where the words of a query stand. */
export interface TextIndex {
  /** What is known, by path. */
  stamps(): Map<string, string>;
  /** All of it or nothing. A file without text is remembered, so that it is not read again. */
  replace(files: readonly IndexedFile[]): void;
  remove(paths: readonly string[]): void;
  find(query: string, options: FindOptions): readonly Found[];
  close(): void;
}

export interface IndexedFile {
  readonly path: string;
  /** Changes whenever the file does. */
  readonly stamp: string;
  readonly modifiedMs: number;
  readonly title: string;
  readonly text: string | undefined;
}

export interface FindOptions {
  readonly count: number;
  readonly modifiedSinceMs?: number;
}

export interface Found {
  readonly path: string;
  readonly title: string;
  readonly snippet: string;
  readonly modifiedMs: number;
}

/** Raised when the tables change: an older index is made anew. */
const schemaVersion = 1;

const schema = `
  CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL, modified REAL NOT NULL, title TEXT NOT NULL);
  CREATE VIRTUAL TABLE page USING fts5(title, body, tokenize = "porter unicode61 remove_diacritics 2");
  PRAGMA user_version = ${schemaVersion};
`;

/** Opens the index; one that is damaged or of another version is made anew, since everything in it can be read again. */
export async function openTextIndex(path: string): Promise<TextIndex> {
  const database = await openSound(path).catch(() => {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
    return openSound(path);
  });
  return createIndex(database);
}

async function openSound(path: string): Promise<Database> {
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

function createIndex(database: Database): TextIndex {
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
    stamps: () =>
      new Map(
        database
          .prepare("SELECT path, stamp FROM file")
          .all()
          .map(({ path, stamp }) => [`${path}`, `${stamp}`]),
      ),
    replace(files) {
      transact(() => {
        for (const { path, stamp, modifiedMs, title, text } of files) {
          drop(path);
          const { lastInsertRowid } = insertFile.run(path, stamp, modifiedMs, title);
          if (text !== undefined) insertPage.run(lastInsertRowid, spread(title), spread(text));
        }
      });
    },
    remove(paths) {
      transact(() => {
        for (const path of paths) drop(path);
      });
    },
    find(query, { count, modifiedSinceMs = 0 }) {
      const terms = termsOf(query);
      if (terms.length === 0) return [];
      const found = new Map<string, Found>();
      // All words first; what has only some of them fills up.
      for (const joiner of [" AND ", " OR "]) {
        if (found.size >= count) break;
        for (const row of select.all(terms.join(joiner), modifiedSinceMs, count)) {
          const hit = toFound(row);
          if (found.size < count && !found.has(hit.path)) found.set(hit.path, hit);
        }
      }
      return [...found.values()];
    },
    close: () => database.close(),
  };
}

function toFound({ path, title, modified, snippet }: SqlRow): Found {
  return {
    path: `${path}`,
    title: `${title}`,
    modifiedMs: Number(modified),
    snippet: gather(`${snippet}`).replace(/\s+/g, " ").trim(),
  };
}

const termsMax = 32;

/** Words, and "phrases in quotes", each quoted for FTS5: nothing of a query is syntax. */
function termsOf(query: string): string[] {
  const parts = Array.from(
    query.slice(0, 2_000).matchAll(/"([^"]+)"|([\p{L}\p{M}\p{N}_]+)/gu),
    ([, phrase, word]) => phrase ?? word ?? "",
  );
  return parts
    .map((part) => spread(part.replace(/[^\p{L}\p{M}\p{N}_]+/gu, " ")).trim())
    .filter((part) => part !== "")
    .slice(0, termsMax)
    .map((part) => `"${part}"`);
}

const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu;

/** Scripts without spaces are indexed letter by letter, and a word is then a phrase of letters. */
function spread(text: string): string {
  return text.replace(unspaced, " $& ");
}

function gather(text: string): string {
  return text.replace(
    / ([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]) /gu,
    "$1",
  );
}
