// Programs in JavaScript that look for a way out, or for more than their share.
import { afterAll, expect, test } from "vitest";
import { JsSession } from "../toolkits/js-hall.ts";

const session = new JsSession();
afterAll(() => session[Symbol.asyncDispose]());

/** What each may end with: a value, or the type of its error. The thread is ended if it ignores its limits. */
const absent: readonly (readonly [code: string, value: string])[] = [
  ["typeof process", '"undefined"'],
  ["typeof require", '"undefined"'],
  ["typeof module", '"undefined"'],
  ["typeof fetch", '"undefined"'],
  ["typeof WebAssembly", '"undefined"'],
  ["typeof setTimeout + typeof setInterval + typeof setImmediate", '"undefinedundefinedundefined"'],
  ["typeof Buffer + typeof Worker + typeof XMLHttpRequest", '"undefinedundefinedundefined"'],
  [
    "typeof std + typeof os + typeof print + typeof scriptArgs",
    '"undefinedundefinedundefinedundefined"',
  ],
  ["typeof Deno + typeof Bun", '"undefinedundefined"'],
  ["eval('typeof process')", '"undefined"'],
  ["new Function('return typeof process')()", '"undefined"'],
  ["(0, eval)('this') === globalThis", "true"],
  ["Object.getPrototypeOf(tools.files) === null", "true"],
  ["Object.keys(console).join()", '"log,info,debug,warn,error,trace"'],
  ["[].constructor.constructor('return typeof require')()", '"undefined"'],
  ["console.log.constructor('return typeof process')()", '"undefined"'],
  ["tools.files.read.constructor('return typeof process')()", '"undefined"'],
  ["(async () => {}).constructor('return typeof process')() instanceof Promise", "true"],
  [
    "new ToolError('a', { code: 'X', message: 'm' }).constructor.constructor('return typeof process')()",
    '"undefined"',
  ],
  ["Error.prepareStackTrace = (e, s) => s; typeof new Error().stack", '"string"'],
  ["typeof Object.getOwnPropertyDescriptor(globalThis, 'tools').value", '"object"'],
];

test.each(absent)("%s finds nothing of the host", async (code, value) => {
  expect((await session.run(code)).values).toEqual([value]);
});

const refused: readonly (readonly [code: string, type: string])[] = [
  ["import('node:fs')", "ReferenceError"],
  ["await import('./x.js')", "ReferenceError"],
  ["import fs from 'node:fs'", "SyntaxError"],
  ["this.constructor.constructor('return process')()", "ReferenceError"],
  ["(() => {}).constructor('return process.exit()')()", "ReferenceError"],
  ["require('fs')", "ReferenceError"],
  ["tools.__proto__.x", "ToolError"],
  ["tools.constructor", "ToolError"],
  ["'use strict'; tools.files = 1", "TypeError"],
  ["Object.defineProperty(tools.files, 'read', { value: 1 })", "TypeError"],
  ["function f() { f() } f()", "DEPTH-BUDGET-EXCEEDED"],
  ["const o = {}; o.toString = () => String(o); String(o)", "DEPTH-BUDGET-EXCEEDED"],
  ["new Proxy({}, { get(t, k, r) { return r[k] } }).x", "DEPTH-BUDGET-EXCEEDED"],
  ["'x'.repeat(2 ** 30)", "RangeError"],
  ["let s = 'x'; for (;;) s += s", "InternalError"],
  ["new Uint8Array(2 ** 31)", "RangeError"],
  ["new ArrayBuffer(2 ** 40)", "RangeError"],
  ["new Array(1e8).fill(1)", "MEMORY-BUDGET-EXCEEDED"],
  ["[].length = 2 ** 40", "RangeError"],
  ["new Promise(() => {})", "Error"],
  ["await { then() {} }", "Error"],
  ["throw { toString() { throw 1 } }", "Error"],
  ["callTool('files.read', 5)", "TypeError"],
  ["Promise.reject(new Error('lost')); throw new RangeError('mine')", "RangeError"],
  ["await Promise.any([Promise.reject(1)])", "AggregateError"],
];

test.each(refused)("%s ends with %s", async (code, type) => {
  const { condition } = await session.run(code);
  expect(condition?.type).toBe(type);
});

/** Each runs into a limit: its own condition, or the end of its thread. */
const bombs: readonly (readonly [name: string, code: string])[] = [
  ["an endless loop", "for (;;);"],
  [
    "a loop that catches everything",
    "for (;;) { try { for (;;); } catch {} finally { for (;;); } }",
  ],
  ["an endless generator", "function* g() { for (;;) yield 1 } [...g()]"],
  ["a regular expression", "/(a+)+$/.test('a'.repeat(60) + 'b')"],
  ["a sort that never agrees", "Array.from({ length: 1e6 }).sort(() => { for (;;); })"],
  ["an endless chain of promises", "(function next() { return Promise.resolve().then(next) })()"],
  [
    "a flood of async loops",
    "for (let i = 0; i < 1000; i++) (async () => { for (;;) await 0 })(); 1",
  ],
  [
    "async functions that catch their own end",
    "for (;;) (async () => { for (;;); })().catch(() => {})",
  ],
  ["an endless toJSON", "({ toJSON() { for (;;); } })"],
  ["an endless getter in the result", "({ get x() { for (;;); } })"],
  ["an endless proxy as the result", "new Proxy({}, { ownKeys() { for (;;); } })"],
  [
    "an endless getter in an error",
    "throw Object.defineProperty(new Error('x'), 'message', { get() { for (;;); } })",
  ],
  ["an endless toString of what is logged", "console.log({ toJSON() { for (;;); } })"],
  ["a flood of output", "for (;;) console.log('x'.repeat(1000))"],
  ["one giant line", "console.log('x'.repeat(1e7))"],
  ["a giant result", "'x'.repeat(1e7)"],
  ["a big number", "2n ** (2n ** 30n)"],
  ["a big factorial", "let n = 1n; for (let i = 1n; ; i++) n *= i"],
  ["a growing array", "const a = []; for (;;) a.push(new Array(1e5).fill(0))"],
  ["a growing map", "const m = new Map(); for (let i = 0; ; i++) m.set(i, 'x'.repeat(1000) + i)"],
  ["a join without end", "Array.from({ length: 1e6 }, () => 'x'.repeat(1000)).join('')"],
  ["a replace without end", "'a'.repeat(1e6).replace(/a/g, 'b'.repeat(1e6))"],
  ["a deep source", `eval('['.repeat(1e6) + ']'.repeat(1e6))`],
  ["deep data as JSON", "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; JSON.stringify(a)"],
  ["a flood of rejections", "for (;;) Promise.reject(new Error('x'))"],
];

test.each(bombs)("%s is bounded, and the next program runs", async (_, code) => {
  const ended = await session.run(code, { timeoutMs: 300, outputCharacters: 5_000 }).then(
    ({ condition }) => condition?.type,
    (error: { code: string }) => error.code,
  );
  expect(ended).toBeDefined();
  expect((await session.run("1 + 1")).values).toEqual(["2"]);
});

test("a program has 128 MiB, however it fills them", async () => {
  await using fresh = new JsSession();
  const { condition } = await fresh.run("const a = []; for (;;) a.push(new Array(1e5).fill(0))");
  expect(condition?.type).toBe("MEMORY-BUDGET-EXCEEDED");
  expect(fresh.heapMb).toBeGreaterThan(100);
  expect(fresh.heapMb).toBeLessThan(200);
});

test("a program that changes the built-in objects changes only its own", async () => {
  await session.run(
    "Object.prototype.polluted = 1; Array.prototype.map = () => 'mapped'; JSON.stringify = () => '{}'; Promise = null; String.prototype.includes = () => true; globalThis.tools = null",
  );
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
  await using other = new JsSession();
  expect((await other.run("[1].map((n) => n + 1).concat({}.polluted ?? [])")).values).toEqual([
    "[2]",
  ]);
});

test("results that play tricks are shown as data or with a label", async () => {
  await using fresh = new JsSession();
  const shown = async (code: string): Promise<string | undefined> =>
    (await fresh.run(code)).values[0];
  expect(await shown("const o = {}; o.o = o; o")).toBe('{"o":"[Circular]"}');
  expect(await shown("({ __proto__: null, a: 1 })")).toBe('{"a":1}');
  expect(await shown('JSON.parse(\'{"__proto__": { "x": 1 }}\')')).toBe('{"__proto__":{"x":1}}');
  expect(await shown("10n ** 20n")).toBe("100000000000000000000n");
  expect(await shown("Symbol('s')")).toBe("Symbol(s)");
  expect(await shown("function f() {} f")).toBe("[Function: f]");
  expect(await shown("new Map([['a', new Set([1])]])")).toBe('{"[Map]":[["a",{"[Set]":[1]}]]}');
  expect(await shown("({ toJSON() { return { n: 1 } } })")).toBe('{"n":1}');
  expect(await shown("new Uint8Array([1, 2])")).toBe("[1,2]");
  expect(await shown("NaN")).toBe("NaN");
  expect(await shown("new TypeError('x')")).toBe("[TypeError: x]");
});
