/** Hash tables. Entries keep their insertion order. */

import { exceed } from "../budgets.ts";
import {
  defineFunction,
  defineMacro,
  defineSetter,
  defineValues,
  form,
  nativeFunction,
} from "../define.ts";
import { tableGet, tableRemove, tableSet } from "../equality.ts";
import { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { currentStyle, styledText } from "../printer.ts";
import { Str } from "../string.ts";
import { bool, cl, NIL, Sym, T } from "../symbol.ts";
import {
  Cons,
  Float,
  Instance,
  itemsOf,
  list,
  Table,
  type TableEntry,
  type TableTest,
  type Value,
  Vec,
} from "../values.ts";

export function defineHashTables(): void {
  defineFunction(
    "MAKE-HASH-TABLE &key test size rehash-size rehash-threshold weakness synchronized",
    (m, test = cl("EQL")) => {
      m.alloc(4);
      return new Table(testNamed(m, test));
    },
  );
  defineValues("GETHASH key table &optional default", (m, key, table, fallback = NIL) => {
    const entry = tableGet(weighed(m, tableOf(m, table), key), key);
    return entry === undefined ? m.values(fallback, NIL) : m.values(entry.value, T);
  });
  defineSetter("GETHASH value key table &optional default", (m, value, key, table) => {
    m.alloc(2);
    tableSet(weighed(m, tableOf(m, table), key), key, value);
    return value;
  });
  defineFunction("REMHASH key table", (m, key, table) =>
    bool(tableRemove(weighed(m, tableOf(m, table), key), key)),
  );
  defineFunction("CLRHASH table", (m, table) => {
    tableOf(m, table).entries.clear();
    return table;
  });
  defineFunction("MAPHASH function table", (m, fn, table) => {
    const visit = m.fn(fn);
    for (const { key, value } of entriesOf(m, table)) {
      m.tick(1);
      m.call2(visit, key, value);
    }
    return NIL;
  });
  defineFunction("HASH-TABLE-COUNT table", (m, table) => tableOf(m, table).entries.size);
  defineFunction("HASH-TABLE-SIZE table", (m, table) =>
    Math.max(14, tableOf(m, table).entries.size),
  );
  defineFunction("HASH-TABLE-TEST table", (m, table) => cl(tableOf(m, table).test));
  defineFunction("HASH-TABLE-REHASH-SIZE table", (m, table) => {
    tableOf(m, table);
    return new Float(1.5);
  });
  defineFunction("HASH-TABLE-REHASH-THRESHOLD table", (m, table) => {
    tableOf(m, table);
    return new Float(1);
  });
  defineFunction("SXHASH object", (m, object) => hashOf(hashText(m, object)));
  defineIterator();
}

/** A copy, because the program may change the table during the iteration. */
function entriesOf(m: Machine, table: Value): TableEntry[] {
  const { entries } = tableOf(m, table);
  m.tick(entries.size);
  return [...entries.values()];
}

function tableOf(m: Machine, value: Value): Table {
  return value instanceof Table ? value : m.typeError(value, "HASH-TABLE");
}

const keyPartsMax = 1_000_000;

/** Counts the steps of hashing a structured key; a circular key ends here. */
function weighed(m: Machine, table: Table, key: Value): Table {
  if (typeof key !== "object" || table.test === "EQ" || table.test === "EQL") return table;
  if (key instanceof Str) m.tick(key.length >> 4);
  else if (!(key instanceof Sym)) weigh(m, key);
  return table;
}

function weigh(m: Machine, key: Value): void {
  const waiting: Value[] = [key];
  let count = 0;
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    m.tick(1);
    count += 1;
    if (count > keyPartsMax) exceed(m, "CELL");
    if (part instanceof Cons) waiting.push(part.cdr, part.car);
    else if (part instanceof Vec) part.items.forEach((item) => void waiting.push(item));
    else if (part instanceof Instance)
      waiting.push(...part.slots.filter((slot) => slot !== undefined));
    else if (part instanceof Str) m.tick(part.length >> 4);
  }
}

function testNamed(m: Machine, test: Value): TableTest {
  const name = test instanceof Fn ? test.code.name : test;
  const text = name instanceof Sym ? name.name : "";
  if (text === "EQ" || text === "EQL" || text === "EQUAL" || text === "EQUALP") return text;
  return m.fail(`${m.show(test)} is not a hash table test; use EQ, EQL, EQUAL or EQUALP`);
}

/** `(with-hash-table-iterator (next table) …)`: `(next)` returns T, key and value, at the end NIL. */
function defineIterator(): void {
  defineMacro("WITH-HASH-TABLE-ITERATOR", (whole) => {
    const [head = NIL, ...body] = itemsOf(whole.cdr);
    const [name = NIL, table = NIL] = itemsOf(head);
    const step = new Sym("STEP", null);
    return form([
      "LET",
      [[step, ["%TABLE-ITERATOR", table]]],
      ["MACROLET", [[name, list(), ["QUOTE", ["FUNCALL", step]]]], ...body],
    ]);
  });
  defineFunction("%TABLE-ITERATOR table", (m, table) => {
    const entries = entriesOf(m, table);
    let at = 0;
    const next = (inner: Machine) => {
      const entry = entries[at++];
      return entry === undefined ? inner.values(NIL) : inner.values(T, entry.key, entry.value);
    };
    return nativeFunction(cl("WITH-HASH-TABLE-ITERATOR"), "", next, { values: true });
  });
}

/** Equal objects print as equal texts, whatever the print variables are; circles are cut. */
function hashText(m: Machine, object: Value): string {
  if (object instanceof Instance) return object.cls.name.name;
  return styledText(m, object, {
    ...currentStyle(true),
    base: 10,
    radix: false,
    length: 8,
    level: 4,
    circle: false,
    pretty: false,
    readably: false,
  });
}

/** FNV-1a over the printed text. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
