import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isForPeople } from "../../src/base/advice.ts";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { modern } from "../servers/client.ts";
import { type ProcessClient, spawnHall } from "../servers/process.ts";

/** The same contract in both languages: what a program of each kind looks like, and what it answers. */
interface Phrases {
  readonly tool: "evaluate-lisp" | "evaluate-js";
  readonly values: readonly (readonly [code: string, text: string])[];
  readonly failures: readonly (readonly [code: string, type: string, message: string])[];
  readonly print: string;
  readonly define: string;
  readonly use: readonly [code: string, text: string];
  readonly definitions: readonly string[];
  readonly trace: {
    readonly define: string;
    readonly run: string;
    readonly names: readonly string[];
  };
  readonly endless: string;
  readonly bombs: readonly (readonly [code: string, type: string])[];
  readonly floods: string;
  readonly valid: string;
  readonly broken: readonly [code: string, place: string];
  readonly bypasses: readonly string[];
  readonly slow: string;
  readonly count: readonly [define: string, raise: string, read: string];
  readonly call: readonly [code: string, text: string];
  readonly caught: string;
  readonly uncaught: readonly [code: string, type: string];
}

const lisp: Phrases = {
  tool: "evaluate-lisp",
  values: [
    ["(+ 1 2 3)", "=> 6"],
    ["1 2 3", "=> 3"],
    ['(format t "hello") 42', "[stdout]\nhello\n=> 42"],
    ['(format *error-output* "oops") 1', "[stderr]\noops\n=> 1"],
    ["(values)", ""],
  ],
  failures: [
    ["(no-such-function 1)", "UNDEFINED-FUNCTION", "NO-SUCH-FUNCTION"],
    ['(error "my own")', "SIMPLE-ERROR", "my own"],
    ["process", "UNBOUND-VARIABLE", "PROCESS"],
  ],
  print: '(princ "before")',
  define: "(defun twice (x) (* 2 x))",
  use: ["(twice 21)", "=> 42"],
  definitions: ["function TWICE"],
  trace: {
    define: "(defun inner (x) (/ x 0)) (defun outer (x) (1+ (inner x)))",
    run: "(1+ (outer 3))",
    names: ["INNER", "OUTER"],
  },
  endless: "(loop)",
  bombs: [
    ["(defun deep (n) (1+ (deep n))) (deep 1)", "DEPTH-BUDGET-EXCEEDED"],
    ["(let ((all nil)) (loop (push (make-list 1000) all)))", "CELL-BUDGET-EXCEEDED"],
  ],
  floods: '(loop (princ "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"))',
  valid: "(defun f (x) x)",
  broken: ["(defun f (x)\n  (g x)", "line 1 column 1"],
  bypasses: [
    '(call-tool "call_tool" :name "calculator.calculate" :arguments (list :expression "1"))',
    '(call-tool "evaluate-lisp" :code "1" :mode "act")',
    '(call-tool "reset-session")',
  ],
  slow: "(sleep 0.3)",
  count: ["(defvar *turns* 0)", "(incf *turns*)", "*turns*"],
  call: ['(jref (calculator:calculate :expression "6*7") "result")', '=> "42"'],
  caught:
    '(handler-case (calculator:calculate :expression "6*") (tool-error (e) (tool-error-code e)))',
  uncaught: ['(call-tool "no.such" :a 1)', "TOOL-NOT-FOUND"],
};

const js: Phrases = {
  tool: "evaluate-js",
  values: [
    ["1 + 2 + 3", "=> 6"],
    ["1; 2; 3", "=> 3"],
    ["console.log('hello'); 42", "[stdout]\nhello\n\n=> 42"],
    ["console.error('oops'); 1", "[stderr]\noops\n\n=> 1"],
    ["undefined", ""],
    ["return 7", "=> 7"],
    ["const n: number = 4; n as number", "=> 4"],
    ["[1, 'a', null, { b: true }]", '=> [1,"a",null,{"b":true}]'],
    ["await Promise.all([1, Promise.resolve(2)])", "=> [1,2]"],
  ],
  failures: [
    ["noSuchFunction(1)", "ReferenceError", "noSuchFunction"],
    ["throw new RangeError('my own')", "RangeError", "my own"],
    ["process", "ReferenceError", "process"],
    ["null.x", "TypeError", "at line 1 column"],
  ],
  print: "console.log('before');",
  define: "const twice = (x) => 2 * x",
  use: ["twice(21)", "=> 42"],
  definitions: ["function twice"],
  trace: {
    define: "function inner(x) { return x.y.z }\nfunction outer(x) { return 1 + inner(x) }",
    run: "1 + outer(3)",
    names: ["inner", "outer"],
  },
  endless: "for (;;);",
  bombs: [
    ["function deep(n) { return 1 + deep(n) } deep(1)", "DEPTH-BUDGET-EXCEEDED"],
    ["const all = []; for (;;) all.push(new Array(100000).fill(0))", "MEMORY-BUDGET-EXCEEDED"],
  ],
  floods: "for (;;) console.log('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx')",
  valid: "const f = (x: string) => x; return f('a')",
  broken: ["const f = (x) =>\n  g(x", "line 2"],
  bypasses: [
    "await callTool('call_tool', { name: 'calculator.calculate', arguments: { expression: '1' } })",
    "await callTool('evaluate-js', { code: '1', mode: 'act' })",
    "await callTool('reset-session')",
  ],
  slow: "const end = Date.now() + 300; while (Date.now() < end);",
  count: ["var turns = 0", "++turns", "turns"],
  call: ["(await tools.calculator.calculate({ expression: '6*7' })).result", '=> "42"'],
  caught:
    "try { await tools.calculator.calculate({ expression: '6*' }) } catch (e) { if (e instanceof ToolError) e.code }",
  uncaught: ["await callTool('no.such', { a: 1 })", "ToolError"],
};

const cases = [lisp, js].flatMap((phrases) =>
  ["2025-11-25", "2026-07-28"].map((version) => ({ phrases, version, name: phrases.tool })),
);

/** Over stdio, in a process of its own. */
describe.each(cases)("$name with MCP $version", ({ phrases, version }) => {
  const isStateless = version === "2026-07-28";
  const language = phrases.tool.replace("evaluate-", "");
  let hall: ProcessClient;
  let session: string | undefined;

  beforeAll(async () => {
    hall = spawnHall(["--expose", "code", "--alone"]);
    if (!isStateless) await hall.greet(version);
  });
  afterAll(() => hall[Symbol.asyncDispose]());

  const withMeta = (params: JsonObject): JsonObject => (isStateless ? modern(params) : params);
  const own = (): JsonObject => (isStateless && session !== undefined ? { session } : { language });

  async function call(name: string, args: JsonObject): Promise<JsonObject> {
    const { result, error } = await hall.answer(
      hall.ask("tools/call", withMeta({ name, arguments: args })),
    );
    if (!isObject(result)) throw new Error(JSON.stringify(error));
    return result;
  }

  /** In one session: a connection has its own, a stateless client sends the handle back. */
  async function evaluate(code: string, more: JsonObject = {}) {
    const place = isStateless && session !== undefined ? { session } : {};
    const result = await call(phrases.tool, { code, ...place, ...more });
    const data = isObject(result.structuredContent) ? result.structuredContent : {};
    if (typeof data.session === "string") session = data.session;
    const [first] = (result.content as JsonObject[]).filter(isForPeople);
    return { text: String(first?.text ?? ""), isError: result.isError === true, data };
  }

  test.each(phrases.values)("%s returns %j", async (code, text) => {
    expect(await evaluate(code)).toMatchObject({ text, isError: false });
  });

  test.each(phrases.failures)(
    "%s reports %s, and the session stays usable",
    async (code, type, message) => {
      const { text, isError, data } = await evaluate(`${phrases.print} ${code}`);
      expect(isError).toBe(true);
      expect(text).toMatch(/^\[stdout\]\nbefore\n/);
      expect(text).toContain(`[ERROR] ${type}\n`);
      expect(text).toContain(message);
      expect(data.condition).toMatchObject({ type });
      expect((await evaluate(phrases.values[0]?.[0] ?? "")).text).toBe("=> 6");
    },
  );

  test("a definition lasts, also beyond an error, and can be made again", async () => {
    await evaluate(phrases.define);
    await evaluate(phrases.failures[0]?.[0] ?? "");
    expect((await evaluate(phrases.use[0])).text).toBe(phrases.use[1]);
    expect((await evaluate(phrases.define)).isError).toBe(false);
  });

  test("a backtrace names the calling functions, and short errors omit it", async () => {
    await evaluate(phrases.trace.define);
    const whole = (await evaluate(phrases.trace.run)).text;
    expect(whole).toContain("\n\n[Backtrace]\n0: ");
    for (const name of phrases.trace.names) expect(whole).toContain(name);
    const short = await evaluate(phrases.trace.run, { verbosity: "short" });
    expect(short.text).not.toContain("[Backtrace]");
    const last = await call("describe-last-error", own());
    expect(JSON.stringify(last.content)).toContain(phrases.trace.names[1]);
  });

  test("an endless loop ends at its timeout, keeps its output, and leaves the session usable", async () => {
    const { text, data } = await evaluate(`${phrases.print} ${phrases.endless}`, { timeout: 1 });
    expect(text).toMatch(/^\[stdout\]\nbefore\n/);
    expect(text).toMatch(/\[ERROR\] TIME-BUDGET-EXCEEDED\n.*\n.*configure-limits/);
    expect(data.condition).toMatchObject({ type: "TIME-BUDGET-EXCEEDED" });
    expect((await evaluate(phrases.use[0])).text).toBe(phrases.use[1]);
  });

  test("deep recursion, endless output and endless allocation end with their own conditions", async () => {
    for (const [code, type] of phrases.bombs) expect((await evaluate(code)).text).toContain(type);
    expect((await evaluate(phrases.floods)).text).toContain("OUTPUT-BUDGET-EXCEEDED");
    expect((await evaluate(phrases.use[0])).text).toBe(phrases.use[1]);
  });

  test("limits are set, returned and kept", async () => {
    const limits = await call("configure-limits", { timeout: 0, "max-output": 200, ...own() });
    expect(JSON.stringify(limits.content)).toContain("none");
    expect((await evaluate(phrases.floods)).text).toContain("limit");
    await call("configure-limits", { timeout: 30, "max-output": 100_000, ...own() });
  });

  test("a call limit holds for a program, even if it handles the failure", async () => {
    await call("configure-limits", { "max-calls": 0, ...own() });
    expect((await evaluate(phrases.call[0])).text).toContain("limit of 0 tool calls");
    await call("configure-limits", { "max-calls": 50, ...own() });
  });

  test("definitions are listed, and a reset removes them", async () => {
    const listed = (await call("list-definitions", own())).structuredContent as {
      definitions: { type: string; name: string }[];
    };
    const names = listed.definitions.map(({ type, name }) => `${type} ${name}`);
    expect(names).toEqual(expect.arrayContaining([...phrases.definitions]));
    await call("reset-session", own());
    expect((await evaluate(phrases.use[0])).isError).toBe(true);
  });

  test("syntax is checked without running the code", async () => {
    const check = async (code: string): Promise<string> =>
      JSON.stringify((await call("validate-syntax", { code, language })).content);
    expect(await check(phrases.valid)).toContain("no syntax errors");
    expect(await check(phrases.broken[0])).toContain(phrases.broken[1]);
  });

  test.each(phrases.bypasses)("%s does not bypass the checks", async (code) => {
    expect((await evaluate(code)).text).toContain("not available to programs");
  });

  test("an evaluation cancelled while it is queued does not run", async () => {
    const [define, raise, read] = phrases.count;
    await evaluate(define);
    const place = isStateless ? { session } : {};
    const ask = (code: string) =>
      hall.ask("tools/call", withMeta({ name: phrases.tool, arguments: { code, ...place } }));
    const first = ask(phrases.slow);
    const second = ask(raise);
    hall.notify("notifications/cancelled", { requestId: second });
    await hall.answer(first);
    expect((await evaluate(read)).text).toBe("=> 0");
  });

  test("invalid arguments are refused, and the session stays usable", async () => {
    const refused = await hall.request(
      "tools/call",
      withMeta({ name: phrases.tool, arguments: {} }),
    );
    expect(JSON.stringify(refused)).toContain("code");
    expect((await evaluate(phrases.values[0]?.[0] ?? "")).text).toBe("=> 6");
  });

  test("tools are functions, results are data, and failures can be caught", async () => {
    const { text, data } = await evaluate(phrases.call[0]);
    expect(text).toBe(phrases.call[1]);
    expect(data.calls).toEqual([
      { name: "calculator__calculate", ms: expect.any(Number), status: "ok" },
    ]);
    expect((await evaluate(phrases.caught)).text).toMatch(/^=> "(VALIDATION|EXECUTION)"$/);
    const [code, type] = phrases.uncaught;
    expect((await evaluate(code)).text).toContain(`[ERROR] ${type}`);
  });

  test("a session of one language is not one of the other", async () => {
    const other = phrases.tool === "evaluate-js" ? "evaluate-lisp" : "evaluate-js";
    const { data } = await evaluate(phrases.values[0]?.[0] ?? "");
    const answer = await hall.request(
      "tools/call",
      withMeta({ name: other, arguments: { code: "1", session: data.session } }),
    );
    expect(JSON.stringify(answer)).toContain(`is for ${phrases.tool}`);
  });
});
