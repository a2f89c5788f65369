import { type Document, isDeprecated, readDocuments, type ToolkitText } from "./document.ts";
import { compilePostings, countWords, type DocumentCounts, type Postings } from "./postings.ts";
import { signsOf } from "./signs.ts";
import { embed, type Vectors, weighWords } from "./vectors.ts";
import { type VerbClass, verbClassesOf } from "./verbs.ts";
import { createVocabulary, type Vocabulary } from "./vocabulary.ts";
import { splitRuns, wordsOf } from "./words.ts";

/** All tools, each as a document. */
export interface Corpus {
  set(toolkit: ToolkitText): void;
  remove(id: string): void;
  /** The current state; rebuilt at the first query after a change. */
  read(): CorpusSnapshot;
  /** Removes and sets toolkits, and rebuilds the state, in steps of less than a millisecond. */
  update(removed: Iterable<string>, changed: Iterable<ToolkitText>): Steps;
  readonly size: number;
}

/** A corpus at one moment. Documents are numbered in the order of toolkit ids. */
export interface CorpusSnapshot {
  readonly entries: readonly CorpusEntry[];
  readonly postings: Postings;
  readonly vocabulary: Vocabulary;
  /** The vectors of all documents, one row each: one block of memory is twice as fast as one for each toolkit. */
  readonly matrix: Float32Array;
  /** The signs of `matrix`. */
  readonly signs: Int32Array;
  /** The vector rows of the vocabulary's words, by number; -1 for none. */
  readonly rows: Int32Array;
  /** Documents by full name and by tool name, in lower case. */
  readonly documentsByName: ReadonlyMap<string, readonly number[]>;
  /** Toolkits by the first word of their ids. */
  readonly toolkitsByWord: ReadonlyMap<string, readonly CorpusEntry[]>;
  /** One score for each document; reused by every query to spare the garbage collector. */
  readonly buffers: Readonly<Record<"bm25" | "tfidf" | "cosine" | "sums" | "bounds", Float64Array>>;
  /** One number for each word, reused likewise. */
  readonly wordBuffer: Int32Array;
  /** The entry of a document and its position there. */
  locate(document: number): { readonly entry: CorpusEntry; readonly at: number };
  /** The full name. */
  nameOf(document: number): string;
}

export interface CorpusEntry {
  readonly id: string;
  /** Words of the id, without those that many servers have in their names. */
  readonly idWords: readonly string[];
  /** Full names: `toolkit.tool`. */
  readonly names: readonly string[];
  readonly tools: readonly string[];
  /** The words of each tool's name, to find duplicates. */
  readonly plainNames: readonly string[];
  /** The kind of work that the name of each tool says first. */
  readonly verbs: readonly (VerbClass | undefined)[];
  readonly deprecated: readonly boolean[];
  readonly documents: readonly DocumentCounts[];
  /** One normalised row for each tool, empty without vectors. Part of the snapshot's matrix once there is one. */
  matrix: Float32Array;
  /** The number of its first document. */
  first: number;
}

export function createCorpus(vectors: Vectors | undefined): Corpus {
  const entries = new Map<string, CorpusEntry>();
  const vocabulary = createVocabulary();
  let snapshot: CorpusSnapshot | undefined;
  const remove = (id: string): void => {
    const entry = entries.get(id);
    if (entry === undefined) return;
    for (const { words } of entry.documents) for (const word of words) vocabulary.release(word);
    entries.delete(id);
    snapshot = undefined;
  };
  function* set(toolkit: ToolkitText): Steps {
    const entry = yield* createEntry(toolkit, vocabulary, vectors);
    remove(toolkit.id);
    entries.set(toolkit.id, entry);
    snapshot = undefined;
  }
  return {
    set: (toolkit) => finish(set(toolkit)),
    remove,
    read: () => (snapshot ??= finish(createSnapshot(entries, vocabulary, vectors))),
    *update(removed, changed) {
      for (const id of removed) remove(id);
      for (const toolkit of changed) yield* set(toolkit);
      snapshot ??= yield* createSnapshot(entries, vocabulary, vectors);
    },
    get size() {
      return [...entries.values()].reduce((sum, { tools }) => sum + tools.length, 0);
    },
  };
}

/** Work that may be interrupted after each step. */
export type Steps<T = void> = Generator<void, T>;

function finish<T>(work: Steps<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

function* createEntry(
  toolkit: ToolkitText,
  vocabulary: Vocabulary,
  vectors: Vectors | undefined,
): Steps<CorpusEntry> {
  const tools = [...new Map(toolkit.tools.map((tool) => [tool.name, tool])).values()];
  const { dimensions = 0 } = vectors ?? {};
  const documents: Document[] = [];
  const counted: DocumentCounts[] = [];
  const matrix = new Float32Array(tools.length * dimensions);
  for (const document of readDocuments({ ...toolkit, tools })) {
    if (vectors) matrix.set(embed(weighWords(document), vectors), documents.length * dimensions);
    documents.push(document);
    counted.push(countWords(document, vocabulary));
    yield;
  }
  return {
    id: toolkit.id,
    idWords: wordsOf(toolkit.id, 200).filter((word) => !commonIdWords.has(word)),
    names: tools.map(({ name }) => `${toolkit.id}.${name}`),
    tools: tools.map(({ name }) => name),
    plainNames: documents.map(({ name }) => name.join(" ")),
    verbs: tools.map(({ name }) => verbClassesOf(splitRuns(name))[0]),
    deprecated: tools.map(({ description }) => isDeprecated(description)),
    documents: counted,
    matrix,
    first: 0,
  };
}

const commonIdWords = new Set(wordsOf("mcp server servers tool tools official api"));

function* createSnapshot(
  byId: ReadonlyMap<string, CorpusEntry>,
  vocabulary: Vocabulary,
  vectors: Vectors | undefined,
): Steps<CorpusSnapshot> {
  const entries = [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const owners: CorpusEntry[] = [];
  for (const entry of entries) {
    entry.first = owners.length;
    for (let at = 0; at < entry.tools.length; at++) owners.push(entry);
  }
  const postings = yield* compilePostings(
    entries.flatMap(({ documents }) => documents),
    vocabulary,
  );
  const names = entries.flatMap((entry) => entry.names);
  const matrix = joinMatrices(entries);
  yield;
  const signs = signsOf(matrix, vectors?.dimensions ?? 0);
  yield;
  const documentsByName = groupByName(entries);
  yield;
  const newBuffer = (): Float64Array => new Float64Array(owners.length);
  return {
    entries,
    postings,
    vocabulary,
    matrix,
    signs,
    rows: Int32Array.from(
      { length: vocabulary.end },
      (_, number) => vectors?.rowOf(vocabulary.wordAt(number)) ?? -1,
    ),
    documentsByName,
    toolkitsByWord: groupByFirstWord(entries),
    buffers: {
      bm25: newBuffer(),
      tfidf: newBuffer(),
      cosine: newBuffer(),
      sums: newBuffer(),
      bounds: newBuffer(),
    },
    wordBuffer: new Int32Array(vocabulary.end),
    locate(document) {
      const entry = owners[document];
      if (entry === undefined) throw new RangeError(`no document ${document}`);
      return { entry, at: document - entry.first };
    },
    nameOf: (document) => names[document] ?? "",
  };
}

function joinMatrices(entries: readonly CorpusEntry[]): Float32Array {
  const joined = new Float32Array(entries.reduce((sum, { matrix }) => sum + matrix.length, 0));
  let from = 0;
  for (const entry of entries) {
    joined.set(entry.matrix, from);
    entry.matrix = joined.subarray(from, from + entry.matrix.length);
    from += entry.matrix.length;
  }
  return joined;
}

function groupByName(entries: readonly CorpusEntry[]): Map<string, number[]> {
  const byName = new Map<string, number[]>();
  const note = (name: string, document: number): void => {
    const documents = byName.get(name.toLowerCase());
    if (documents) documents.push(document);
    else byName.set(name.toLowerCase(), [document]);
  };
  for (const { first, names, tools } of entries) {
    for (const [at, name] of names.entries()) note(name, first + at);
    for (const [at, name] of tools.entries()) note(name, first + at);
  }
  return byName;
}

function groupByFirstWord(entries: readonly CorpusEntry[]): Map<string, CorpusEntry[]> {
  const byName = new Map<string, CorpusEntry[]>();
  for (const entry of entries) {
    const [word] = entry.idWords;
    if (word !== undefined) byName.set(word, [...(byName.get(word) ?? []), entry]);
  }
  return byName;
}
