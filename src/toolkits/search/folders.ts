import { createHash } from "node:crypto";
import { constants, rmSync } from "node:fs";
import { open, readdir, realpath, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { HallError } from "../../base/errors.ts";
import { cacheFolder } from "../../base/files.ts";
import { Scope } from "../../base/scope.ts";
import { type Database, openDatabase, type SqlRow } from "../../store/sqlite.ts";
import { createDocumentReader, type DocumentReader } from "../document/reader.ts";
import { decodeText, isBinary } from "../document/text.ts";
import type { SearchProvider } from "./web.ts";

/**
 * Searches the configured folders. There is no watcher: each search first indexes changed files, for a
 * bounded time, and answers from what is indexed by then; indexing continues in the background.
 */
export interface FoldersOptions {
  readonly folders: readonly string[];
  /** Default: a file in the user's cache folder, one for each set of folders. */
  readonly indexFile?: string | undefined;
  /** Reads PDF and Word files. */
  readonly reader?: DocumentReader | undefined;
  /** How long a search waits for changes to be indexed. Default 3,000. */
  readonly waitMs?: number;
  /** How long the index counts as up to date. Default 1,000. */
  readonly freshMs?: number;
}

const filesMax = 50_000;
const batchSize = 50;
const textBytesMax = 2 * 1024 * 1024;
const documentBytesMax = 20 * 1024 * 1024;
/** The start of a long file is enough to find it. */
const indexedCharactersMax = 300_000;

export function createFolderSearch({
  folders,
  indexFile,
  reader = createDocumentReader(),
  waitMs = 3_000,
  freshMs = 1_000,
}: FoldersOptions): SearchProvider {
  const life = new Scope();
  let opening: Promise<TextIndex> | undefined;
  let updating: Promise<void> | undefined;
  let freshUntil = 0;
  let isCut = false;

  const openIndex = (): Promise<TextIndex> => {
    opening ??= resolveRoots(folders).then((roots) =>
      openTextIndex(indexFile ?? defaultFile(roots)),
    );
    opening.catch(() => {
      // The caller gets the error; the next search tries again.
      opening = undefined;
    });
    return opening;
  };

  async function update(index: TextIndex): Promise<void> {
    const roots = await resolveRoots(folders);
    const known = index.stamps();
    const seen = new Set<string>();
    let batch: IndexedFile[] = [];
    const flush = (): void => {
      if (!life.cancelReason) index.replace(batch);
      batch = [];
    };
    isCut = false;
    for await (const { path, stamp, modifiedMs, size } of walk(roots)) {
      if (life.cancelReason) return;
      if (seen.size === filesMax) {
        isCut = true;
        break;
      }
      // One folder may contain another.
      if (seen.has(path)) continue;
      seen.add(path);
      if (known.get(path) === stamp) continue;
      batch.push({ path, stamp, modifiedMs, ...(await readFile(path, size, reader, life)) });
      if (batch.length < batchSize) continue;
      flush();
      // Writing is synchronous; yield between batches.
      await nextTurn();
    }
    flush();
    if (!life.cancelReason && !isCut)
      index.remove([...known.keys()].filter((path) => !seen.has(path)));
    freshUntil = performance.now() + freshMs;
  }

  /** Concurrent searches share one update. True if the index is up to date. */
  async function refresh(index: TextIndex, scope: Scope): Promise<boolean> {
    if (!updating && performance.now() < freshUntil) return true;
    updating ??= update(index).finally(() => {
      updating = undefined;
    });
    const waiting = new Scope(scope, waitMs);
    try {
      await waiting.closeAfter(updating);
      return true;
    } catch (error) {
      if (waiting.cancelReason && !scope.cancelReason) return false;
      throw error;
    }
  }

  return {
    async search({ text, kind, count, daysBack }, scope) {
      const index = await openIndex();
      const isComplete = await refresh(index, scope);
      const isNews = kind === "news" && daysBack !== undefined;
      const modifiedSinceMs = isNews ? Date.now() - daysBack * 86_400_000 : undefined;
      const results = index
        .find(text, count, modifiedSinceMs)
        .map(({ path, title, snippet, modifiedMs }) => ({
          title,
          url: pathToFileURL(path).href,
          snippet,
          published: new Date(modifiedMs).toISOString(),
        }));
      const notes = [
        ...(isComplete ? [] : ["the folders are still being indexed; search again for more"]),
        ...(isCut ? ["only the first 50,000 files are indexed"] : []),
      ];
      return { results, note: notes.join("; ") || undefined };
    },
    async close() {
      life.cancel(new HallError("CANCELLED", "the hall is closing"));
      // Let a running update finish; its errors went to the searches that started it.
      await updating?.catch(() => {});
      const index = await opening?.catch(() => undefined);
      opening = undefined;
      index?.close();
    },
  };
}

/** The real paths of the folders that exist. */
async function resolveRoots(folders: readonly string[]): Promise<string[]> {
  const found = await Promise.all(folders.map((folder) => realpath(folder).catch(() => undefined)));
  const roots = [...new Set(found.filter((folder) => folder !== undefined))];
  if (roots.length > 0) return roots;
  throw new HallError("UNAVAILABLE", `none of the search folders exists (${folders.join(", ")})`, {
    next: [{ do: "edit-config", field: "search.folders" }],
  });
}

function defaultFile(roots: readonly string[]): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([...roots].sort()))
    .digest("hex");
  return join(cacheFolder(), `search-${hash.slice(0, 16)}.db`);
}

type FileEntry = Pick<IndexedFile, "path" | "stamp" | "modifiedMs"> & { readonly size: number };

/** Every file, breadth first, without links, hidden files and node_modules. */
async function* walk(roots: readonly string[]): AsyncGenerator<FileEntry> {
  const folders = roots.filter((root) => !basename(root).startsWith("."));
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    // Deleted meanwhile, or not readable.
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      if (!entry.isFile()) continue;
      const found = await stat(path).catch(() => undefined);
      if (!found) continue;
      const { mtimeMs: modifiedMs, ctimeMs, size } = found;
      yield { path, stamp: `${modifiedMs} ${ctimeMs} ${size}`, modifiedMs, size };
    }
  }
}

/** The text is undefined for binary, too large or unreadable files. */
async function readFile(
  path: string,
  size: number,
  reader: DocumentReader,
  scope: Scope,
): Promise<Pick<IndexedFile, "title" | "text">> {
  const file = basename(path);
  const isDocument = /\.(?:pdf|docx)$/i.test(path);
  if (size > (isDocument ? documentBytesMax : textBytesMax))
    return { title: file, text: undefined };
  try {
    const bytes = await readBytes(path, size);
    const { title = file, text } = isDocument
      ? (await reader.read({ bytes, contentType: "" }, scope)).parsed
      : await readPlain(path, bytes);
    return { title, text: text?.slice(0, indexedCharactersMax) };
  } catch {
    // Damaged, locked or gone: tried again when the file changes.
    return { title: file, text: undefined };
  }
}

async function readPlain(
  path: string,
  bytes: Uint8Array,
): Promise<{ title?: string | undefined; text?: string }> {
  if (isBinary(bytes)) return {};
  if (/\.html?$/i.test(path)) {
    const { parseHtml } = await import("../document/html.ts");
    return parseHtml(decodeText(bytes, "", "html"));
  }
  const text = decodeText(bytes, "", "txt");
  const heading = /^#{1,3}\s+(\S.{0,150})/m.exec(text.slice(0, 2_000))?.[1];
  return { title: heading?.trim(), text };
}

async function readBytes(path: string, size: number): Promise<Buffer> {
  // Does not follow a link created meanwhile, and does not block on a pipe.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const bytes = Buffer.alloc(size);
    const { bytesRead } = await file.read(bytes, 0, size, 0);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

interface IndexedFile {
  readonly path: string;
  /** Changes whenever the file does. */
  readonly stamp: string;
  readonly modifiedMs: number;
  readonly title: string;
  readonly text: string | undefined;
}

type TextMatch = Pick<IndexedFile, "path" | "title" | "modifiedMs"> & { readonly snippet: string };

/** A full-text index of files. */
type TextIndex = ReturnType<typeof createIndex>;

/** Increase it when the tables change: an older index is rebuilt. */
const schemaVersion = 1;

const schema = `
  CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL, modified REAL NOT NULL, title TEXT NOT NULL);
  CREATE VIRTUAL TABLE page USING fts5(title, body, tokenize = "porter unicode61 remove_diacritics 2");
  PRAGMA user_version = ${schemaVersion};
`;

/** Opens the index. A damaged one, or one of another version, is deleted and rebuilt from the files. */
async function openTextIndex(path: string): Promise<TextIndex> {
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
