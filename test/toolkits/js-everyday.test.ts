import { runInNewContext } from "node:vm";
import { afterAll, expect, test } from "vitest";
import { JsSession } from "./js-hall.ts";

const session = new JsSession();
afterAll(() => session[Symbol.asyncDispose]());

/** One program in each line, with what people write every day: each gives what Node gives. */
const programs: Readonly<Record<string, string>> = {
  arrays: `
[3, 1, 2].sort()
[10, 9, 1].sort((a, b) => a - b)
[10, 9, 1].sort()
[3, 1, 2].toSorted().concat([3, 1, 2].toReversed())
[1, 2, 3, 4].filter((n) => n % 2 === 0).map((n) => n * n)
[1, 2, 3].reduce((sum, n) => sum + n, 0)
[[1, [2]], [3]].flat(Infinity)
["a b", "c"].flatMap((text) => text.split(" "))
[1, 2, 3].at(-1)
[1, 2, 3, 4].findLast((n) => n < 4)
[1, 2, 3, 4, 5].slice(-3, -1)
const list = [1, 2, 3, 4]; const cut = list.splice(1, 2, "x"); [list, cut]
Array.from({ length: 5 }, (_, n) => n ** 2)
[...new Set([1, 1, 2, 3, 3])]
[1, 2, 3].includes(2) && [NaN].includes(NaN) && [NaN].indexOf(NaN) === -1
[..."añ😀"].length
[1, 2, 3].with(1, 9)
[["a", 1], ["b", 2]].map(([key, value]) => key + value).join("&")
const [head, , third = 3, ...rest] = [1, 2, undefined, 4, 5]; ({ head, third, rest })
[5, 1, 4].map((n, at) => ({ n, at })).sort((a, b) => a.n - b.n).map(({ at }) => at)
Array.from("abc", (c) => c.toUpperCase()).entries().next().value
const seen = []; for (const [at, item] of ["x", "y"].entries()) seen.push(at + item); seen
[1, 2, 3, 4, 5].copyWithin(0, 3).fill(0, 4)
const chunk = (all, size) => all.length ? [all.slice(0, size), ...chunk(all.slice(size), size)] : []; chunk([1, 2, 3, 4, 5], 2)
[1, 2, 3].some((n) => n > 2) && [1, 2, 3].every((n) => n > 0)`,
  objects: `
const { a, ...others } = { a: 1, b: 2, c: 3 }; [a, others]
({ ...{ a: 1, b: 2 }, b: 3 })
Object.entries({ b: 1, a: 2 }).sort(([x], [y]) => x.localeCompare(y))
Object.fromEntries([["a", 1], ["b", 2]].map(([key, value]) => [key, value * 2]))
Object.keys({ 2: "b", 1: "a", z: 0, y: 0 })
const user = { name: { first: "Ann" } }; [user?.name?.first, user?.mail?.host ?? "none"]
const settings = { depth: 0 }; settings.depth ??= 5; settings.width ||= 7; settings
const counts = {}; for (const word of "a b a c a".split(" ")) counts[word] = (counts[word] ?? 0) + 1; counts
JSON.parse('{"a":[1,{"b":null}]}')
JSON.stringify({ a: undefined, b: () => 1, c: NaN, d: new Date(0), e: [undefined] })
JSON.stringify({ a: 1, b: [1, 2] }, null, 2)
JSON.stringify({ a: 1, secret: 2 }, (key, value) => key === "secret" ? undefined : value)
JSON.parse("[1,2]", (key, value) => typeof value === "number" ? value + 1 : value)
Object.freeze({ a: 1 }).a + Object.assign({}, { a: 1 }, { a: 2 }).a
const o = { get twice() { return this.n * 2 }, n: 4 }; o.twice
const key = "dyn"; ({ [key + 1]: true, ["x"]() { return 1 } }).x()
"a" in { a: undefined } && !Object.hasOwn({}, "toString")
Object.values({ a: 1, b: 2 }).concat(Object.entries("xy").flat())
const rows = [{ k: "x", v: 1 }, { k: "y", v: 2 }, { k: "x", v: 3 }]; rows.reduce((all, { k, v }) => ({ ...all, [k]: [...(all[k] ?? []), v] }), {})
delete globalThis.nothing; const d = { a: 1, b: 2 }; delete d.a; d
structured = ((value) => JSON.parse(JSON.stringify(value)))({ deep: [{ n: 1 }] })
[..."mississippi"].reduce((m, c) => m.set(c, (m.get(c) ?? 0) + 1), new Map()).get("s")
[...new Map([["b", 1], ["a", 2]])].map(([k, v]) => k + v)
const w = new WeakMap(); const ref = {}; w.set(ref, 5); w.get(ref)
Object.getOwnPropertyNames(class { static s() {} }).includes("s")`,
  texts: String.raw`
"a-b_c d".split(/[-_ ]/)
"The quick brown fox".replace(/\b(\w)(\w*)/g, (_, first, rest) => first.toUpperCase() + rest)
"2026-11-17".match(/(?<y>\d{4})-(?<m>\d\d)/).groups.y
[..."k1=v1;k2=v2".matchAll(/(\w+)=(\w+)/g)].map(([, key, value]) => [key, value])
"x".padStart(3, "0") + "y".padEnd(3, ".") + "ab".repeat(2)
"  trim me ".trim() + "|" + " a".trimEnd()
"a,b,,c".split(",").filter(Boolean).join("/")
"straße".toUpperCase() + "İ".toLowerCase().length
"price: $5".replaceAll("$", "€").replace("5", "$&$&")
"héllo".normalize("NFD").replace(/\p{M}/gu, "")
"abc".codePointAt(1) + String.fromCodePoint(128512)
"apple" < "banana" && "B" < "a"
["b", "a", "C"].sort((x, y) => x.toLowerCase() < y.toLowerCase() ? -1 : 1)
const name = "Ann", n = 2; ${"`"}Hello, ${"$"}{name}: ${"$"}{n > 1 ? ${"`"}${"$"}{n} items${"`"} : "one"}${"`"}
"one two  three".split(/\s+/).map((word) => word.length)
/^[\w.]+@[\w.]+\.\w+$/.test("ann@example.com")
"aXbX".lastIndexOf("X") + "abc".indexOf("z") + "abc".search(/c/)
"line 1\nline 2\r\n".split(/\r?\n/)
"a1b22".replace(/\d+/g, (digits) => digits * 2)
encodeURIComponent("a b&ü/") + decodeURIComponent("%C3%BC") + encodeURI("/a b?c=d")
String.raw${"`"}a\nb${"`"} + "\u00e9\x41\t".length
"abcdef".slice(-3, -1) + "abcdef".substring(4, 1) + "abc".at(-1)
const sticky = /a/y; sticky.lastIndex = 1; sticky.test("ba") + "," + sticky.lastIndex
"(?<=\\$)".length + "cost $42".match(/(?<=\$)\d+/)[0]
[null, undefined, 1, {}, [1, [2]], true].map(String)`,
  "numbers, functions and time": `
[0.1 + 0.2, 5 / 2 | 0, -7 % 3, 2 ** 10, 1e21, 1 / 3]
[(1234.567).toFixed(2), (255).toString(16), (0.000001234).toString(), (1e-7).toFixed(10)]
[parseInt("42px"), Number(""), Number("0x1f"), parseFloat("3.14abc"), Number("1e3")]
[Math.max(...[1, 5, 3]), Math.round(-1.5), Math.trunc(-1.9), Math.hypot(3, 4), Math.sign(-3)]
(2n ** 64n).toString() + BigInt.asUintN(8, 257n)
[Number.MAX_SAFE_INTEGER, Number.isInteger(5.0), Number.EPSILON > 0, 0 === -0, Object.is(0, -0)]
[1, 2, 3, 4].reduce((all, n) => all + (n - 2.5) ** 2, 0) / 4
const fib = (n) => n < 2 ? n : fib(n - 1) + fib(n - 2); fib(15)
const add = (a) => (b) => a + b; add(1)(2)
function all(first, second = first * 2, ...more) { return [first, second, more.length] } all(1, undefined, 3, 4)
const counter = (() => { let n = 0; return { next: () => ++n } })(); counter.next() + counter.next()
function* ids() { let n = 1; while (true) yield n++ } const found = []; for (const id of ids()) { if (id > 3) break; found.push(id) } found
class Animal { #name; static count = 0; constructor(name) { this.#name = name; Animal.count++ } get name() { return this.#name } } class Dog extends Animal { speak() { return this.name + " barks" } } [new Dog("Rex").speak(), Animal.count]
try { null.x } catch (error) { [error instanceof TypeError, error.name] }
try { JSON.parse("{") } catch { "not JSON" } finally { 1 }
const cause = new Error("outer", { cause: new RangeError("inner") }); [cause.message, cause.cause.name]
new Date(Date.UTC(2026, 1, 30)).toISOString()
new Date("2026-11-17T10:00:00+02:00").getTime()
(Date.parse("2026-12-24") - Date.parse("2026-11-17")) / 864e5
const day = new Date("2026-01-31T00:00:00Z"); day.setUTCMonth(1); day.toJSON()
await Promise.all([1, Promise.resolve(2), (async () => 3)()])
(await Promise.allSettled([Promise.reject(new Error("no")), 1])).map(({ status }) => status)
const order = []; await Promise.all([3, 1].map(async (n) => { for (let i = 0; i < n; i++) await null; order.push(n) })); order
label: for (const x of [1, 2]) for (const y of [1, 2]) if (x * y === 2) break label; typeof x
const steps = []; for await (const n of (async function* () { yield 1; yield 2 })()) steps.push(n); steps`,
};

test.each(Object.entries(programs))("25 programs with %s", async (_, lines) => {
  const sources = lines.trim().split("\n");
  expect(sources).toHaveLength(25);
  for (const source of sources) {
    const { values, condition } = await session.run(source);
    expect(condition, source).toBeUndefined();
    expect(JSON.parse(values[0] ?? "null"), source).toEqual(await inNode(source));
  }
});

/** The value of the last expression, as JSON has it. */
async function inNode(source: string): Promise<unknown> {
  const at = source.includes("await ") ? source.lastIndexOf("; ") + 1 : -1;
  const code =
    at < 0 ? source : `(async () => { ${source.slice(0, at)} return ${source.slice(at)} })()`;
  const value: unknown = await runInNewContext(code, {});
  return JSON.parse(JSON.stringify(value));
}
