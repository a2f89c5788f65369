import { type Document, documentsOf, type ToolkitText } from "./document.ts";
import { type Counted, compilePostings, countWords, type Postings } from "./postings.ts";
import { signsOf } from "./signs.ts";
import { embed, type Vectors, weighWords } from "./vectors.ts";
import { createVocabulary, type Vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/** All tools that can be found, each a document. */
export interface Corpus {
  set(toolkit: ToolkitText): void;
  remove(id: string): void;
  /** As of now; made anew at the first question after a change. */
  read(): Reading;
  readonly size: number;
}

/** A corpus as one question sees it. Documents are numbered in the order of toolkits' ids, whatever the order they came in. */
export interface Reading {
  readonly entries: readonly Entry[];
  readonly postings: Postings;
  readonly vocabulary: Vocabulary;
  /** The vectors of all documents, one row each: one piece of memory is twice as fast to go through as one a toolkit. */
  readonly matrix: Float32Array;
  /** Their signs, alike. */
  readonly signs: Int32Array;
  /** Where the vectors of the vocabulary's words are, by number; -1 for those that have none. */
  readonly rows: Int32Array;
  /** The documents a full name or a tool's name stands for, in lower case. */
  readonly named: ReadonlyMap<string, readonly number[]>;
  /** The toolkits by the first word of their ids. */
  readonly namedByWord: ReadonlyMap<string, readonly Entry[]>;
  /** Room for one score a document, used again by every question: new ones would keep the garbage collector busy. */
  readonly sheets: Readonly<Record<"bm25" | "tfidf" | "cosine" | "sums", Float64Array>>;
  /** Room for one number a word, used again likewise. */
  readonly places: Int32Array;
  /** The entry and the place in it of each document. */
  locate(document: number): { readonly entry: Entry; readonly at: number };
  /** The full name. */
  nameOf(document: number): string;
}

export interface Entry {
  readonly id: string;
  /** Those of the id that not every server has in its name. */
  readonly idWords: readonly string[];
  /** Full names: `toolkit.tool`. */
  readonly names: readonly string[];
  readonly tools: readonly string[];
  /** The words of each tool's name, by which others of its kind are found. */
  readonly plainNames: readonly string[];
  readonly documents: readonly Counted[];
  /** One row a tool, of length 1; none without vectors. A window on the reading's, once there is one. */
  matrix: Float32Array;
  /** The number of its first document. */
  first: number;
}

export function createCorpus(vectors: Vectors | undefined): Corpus {
  const entries = new Map<string, Entry>();
  const vocabulary = createVocabulary();
  let size = 0;
  let reading: Reading | undefined;
  const remove = (id: string): void => {
    const entry = entries.get(id);
    if (entry === undefined) return;
    for (const { words } of entry.documents) for (const word of words) vocabulary.release(word);
    entries.delete(id);
    size -= entry.tools.length;
    reading = undefined;
  };
  return {
    set(toolkit) {
      remove(toolkit.id);
      const entry = createEntry(toolkit, vocabulary, vectors);
      entries.set(toolkit.id, entry);
      size += entry.tools.length;
      reading = undefined;
    },
    remove,
    read: () => (reading ??= createReading(entries, vocabulary, vectors)),
    get size() {
      return size;
    },
  };
}

function createEntry(
  toolkit: ToolkitText,
  vocabulary: Vocabulary,
  vectors: Vectors | undefined,
): Entry {
  const tools = [...new Map(toolkit.tools.map((tool) => [tool.name, tool])).values()];
  const documents = documentsOf({ ...toolkit, tools });
  return {
    id: toolkit.id,
    idWords: wordsOf(toolkit.id, 200).filter((word) => !commonIdWords.has(word)),
    names: tools.map(({ name }) => `${toolkit.id}.${name}`),
    tools: tools.map(({ name }) => name),
    plainNames: documents.map(({ name }) => name.join(" ")),
    documents: documents.map((document) => countWords(document, vocabulary)),
    matrix: vectors ? embedAll(documents, vectors) : new Float32Array(0),
    first: 0,
  };
}

const commonIdWords = new Set(wordsOf("mcp server servers tool tools official api"));

function embedAll(documents: readonly Document[], vectors: Vectors): Float32Array {
  const matrix = new Float32Array(documents.length * vectors.dimensions);
  documents.forEach((document, row) => {
    matrix.set(embed(weighWords(document), vectors), row * vectors.dimensions);
  });
  return matrix;
}

function createReading(
  byId: ReadonlyMap<string, Entry>,
  vocabulary: Vocabulary,
  vectors: Vectors | undefined,
): Reading {
  const entries = [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const owners: Entry[] = [];
  for (const entry of entries) {
    entry.first = owners.length;
    for (let at = 0; at < entry.tools.length; at++) owners.push(entry);
  }
  const postings = compilePostings(
    entries.flatMap(({ documents }) => documents),
    vocabulary,
  );
  const names = entries.flatMap((entry) => entry.names);
  const matrix = joinMatrices(entries);
  const sheet = (): Float64Array => new Float64Array(owners.length);
  return {
    entries,
    postings,
    vocabulary,
    matrix,
    signs: signsOf(matrix, vectors?.dimensions ?? 0),
    rows: Int32Array.from(
      { length: vocabulary.end },
      (_, number) => vectors?.rowOf(vocabulary.wordAt(number)) ?? -1,
    ),
    named: findNamed(entries),
    namedByWord: findNamedByWord(entries),
    sheets: { bm25: sheet(), tfidf: sheet(), cosine: sheet(), sums: sheet() },
    places: new Int32Array(vocabulary.end),
    locate(document) {
      const entry = owners[document];
      if (entry === undefined) throw new RangeError(`there is no document ${document}`);
      return { entry, at: document - entry.first };
    },
    nameOf: (document) => names[document] ?? "",
  };
}

function joinMatrices(entries: readonly Entry[]): Float32Array {
  const joined = new Float32Array(entries.reduce((sum, { matrix }) => sum + matrix.length, 0));
  let from = 0;
  for (const entry of entries) {
    joined.set(entry.matrix, from);
    entry.matrix = joined.subarray(from, from + entry.matrix.length);
    from += entry.matrix.length;
  }
  return joined;
}

function findNamed(entries: readonly Entry[]): Map<string, number[]> {
  const named = new Map<string, number[]>();
  for (const { first, names, tools } of entries) {
    for (let at = 0; at < tools.length; at++) {
      for (const name of [names[at] as string, tools[at] as string]) {
        const key = name.toLowerCase();
        const documents = named.get(key);
        if (documents) documents.push(first + at);
        else named.set(key, [first + at]);
      }
    }
  }
  return named;
}

function findNamedByWord(entries: readonly Entry[]): Map<string, Entry[]> {
  const named = new Map<string, Entry[]>();
  for (const entry of entries) {
    const [word] = entry.idWords;
    if (word !== undefined) named.set(word, [...(named.get(word) ?? []), entry]);
  }
  return named;
}
