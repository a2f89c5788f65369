import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isForPeople } from "../../src/base/advice.ts";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { modern } from "../servers/client.ts";
import { type ProcessClient, spawnHall } from "../servers/process.ts";

/** Over stdio, in a process of its own. */
describe.each(["2025-11-25", "2026-07-28"] as const)("evaluate-lisp with MCP %s", (version) => {
  const isStateless = version === "2026-07-28";
  let hall: ProcessClient;
  let session: string | undefined;

  beforeAll(async () => {
    hall = spawnHall(["--expose", "code", "--alone"]);
    if (!isStateless) await hall.greet(version);
  });
  afterAll(() => hall[Symbol.asyncDispose]());

  async function call(name: string, args: JsonObject): Promise<JsonObject> {
    const params = { name, arguments: args };
    const id = hall.ask("tools/call", isStateless ? modern(params) : params);
    const { result, error } = await hall.answer(id);
    if (!isObject(result)) throw new Error(JSON.stringify(error));
    return result;
  }

  /** In one session: a connection has its own, a stateless client sends the handle back. */
  async function evaluate(
    code: string,
    more: JsonObject = {},
  ): Promise<{ readonly text: string; readonly isError: boolean; readonly data: JsonObject }> {
    const result = await call("evaluate-lisp", {
      code,
      ...(isStateless && session !== undefined ? { session } : {}),
      ...more,
    });
    const data = isObject(result.structuredContent) ? result.structuredContent : {};
    if (typeof data.session === "string") session = data.session;
    const [first] = (result.content as JsonObject[]).filter(isForPeople);
    return {
      text: String(first?.text ?? ""),
      isError: result.isError === true,
      data,
    };
  }

  test("is listed with its companions", async () => {
    const { tools } = await hall.result("tools/list", isStateless ? modern() : undefined);
    expect((tools as JsonObject[]).map(({ name }) => name)).toEqual([
      "configure-limits",
      "describe-last-error",
      "evaluate-lisp",
      "find_tools",
      "list-definitions",
      "reset-session",
      "validate-syntax",
    ]);
  });

  test.each([
    ["(+ 1 2 3)", "=> 6"],
    ["(floor 17 5)", "=> 3\n=> 2"],
    ["(member 'x '(a b c))", "=> NIL"],
    ["1 2 3", "=> 3"],
    ["(defun twice (x) (* 2 x))", "=> TWICE"],
    ["(twice 21)", "=> 42"],
    ['(format t "hello") 42', "[stdout]\nhello\n=> 42"],
    ["(values)", ""],
    ['(format *error-output* "oops") 1', "[stderr]\noops\n=> 1"],
    ['(make-package "P") (in-package "P") (cl:+ 1 1)', "=> 2"],
    ["(cl:in-package :cl-user)", '=> #<PACKAGE "COMMON-LISP-USER">'],
  ])("%s returns %j", async (code, expected) => {
    expect(await evaluate(code)).toMatchObject({ text: expected, isError: false });
  });

  test("a warning is shown beside the value", async () => {
    const { text, isError, data } = await evaluate('(warn "careful: ~a" 7) :done');
    expect(text).toMatch(/^\[warnings\]\n.*careful: 7\n=> :DONE$/s);
    expect(isError).toBe(false);
    expect(data.warnings).toHaveLength(1);
  });

  test.each([
    ["(no-such-function 1)", "UNDEFINED-FUNCTION", "NO-SUCH-FUNCTION"],
    ["no-such-variable", "UNBOUND-VARIABLE", "NO-SUCH-VARIABLE"],
    ['(+ 1 "a")', "TYPE-ERROR", '"a"'],
    ["(/ 1 0)", "DIVISION-BY-ZERO", ""],
    ["(aref (vector 1 2) 5)", "TYPE-ERROR", "5"],
    ["(car", "END-OF-FILE", "line 1"],
    ['(error "my ~a" :own)', "SIMPLE-ERROR", "my OWN"],
    ["(define x 1)", "UNDEFINED-FUNCTION", "defun"],
    ['(open "/etc/passwd")', "NOT-AVAILABLE", ""],
    ["process", "UNBOUND-VARIABLE", "PROCESS"],
    ["constructor", "UNBOUND-VARIABLE", "CONSTRUCTOR"],
    ["__proto__", "UNBOUND-VARIABLE", "__PROTO__"],
  ])("%s reports %s, and the session stays usable", async (code, type, message) => {
    const { text, isError, data } = await evaluate(`(princ "before") ${code}`);
    expect(isError).toBe(true);
    expect(text).toContain(`[stdout]\nbefore\n[ERROR] ${type}\n`);
    expect(text).toContain(message);
    expect(data.condition).toMatchObject({ type });
    expect((await evaluate("(+ 1 1)")).text).toBe("=> 2");
  });

  test("a backtrace names the calling functions, and short errors omit it", async () => {
    await evaluate("(defun inner (x) (/ x 0)) (defun outer (x) (1+ (inner x)))");
    const whole = await evaluate("(1+ (outer 3))");
    expect(whole.text).toMatch(/\n\n\[Backtrace\]\n0: \(.*INNER 3\)/s);
    expect(whole.text).toContain("(OUTER 3)");
    expect((await evaluate("(1+ (outer 3))", { verbosity: "short" })).text).not.toContain(
      "[Backtrace]",
    );
    const last = await call("describe-last-error", isStateless ? { session } : {});
    expect(JSON.stringify(last.content)).toContain("OUTER");
  });

  test("an endless loop ends at its timeout, keeps its output, and leaves the session usable", async () => {
    const { text, isError, data } = await evaluate('(princ "hello") (loop)', { timeout: 1 });
    expect(isError).toBe(true);
    expect(text).toMatch(
      /^\[stdout\]\nhello\n\[ERROR\] TIME-BUDGET-EXCEEDED\n.*loop.*\n.*configure-limits/,
    );
    expect(data.condition).toMatchObject({ type: "TIME-BUDGET-EXCEEDED" });
    expect((await evaluate("(twice 4)")).text).toBe("=> 8");
  });

  test("deep recursion, endless output and endless allocation end with their own conditions", async () => {
    expect((await evaluate("(defun deep (n) (1+ (deep n))) (deep 1)")).text).toContain(
      "DEPTH-BUDGET-EXCEEDED",
    );
    expect(
      (await evaluate('(loop (princ "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"))')).text,
    ).toContain("OUTPUT-BUDGET-EXCEEDED");
    expect((await evaluate("(let ((all nil)) (loop (push (make-list 1000) all)))")).text).toContain(
      "CELL-BUDGET-EXCEEDED",
    );
    expect((await evaluate("(twice 5)")).text).toBe("=> 10");
  });

  test("limits are set, returned and kept", async () => {
    const limits = await call("configure-limits", {
      timeout: 0,
      "max-output": 200,
      ...(isStateless ? { session } : {}),
    });
    expect(JSON.stringify(limits.content)).toContain("none");
    expect(JSON.stringify(limits.content)).toContain("600 s");
    expect((await evaluate('(loop repeat 100 do (princ "1234567890"))')).text).toContain(
      "OUTPUT-BUDGET-EXCEEDED",
    );
    await call("configure-limits", {
      timeout: 30,
      "max-output": 100_000,
      ...(isStateless ? { session } : {}),
    });
  });

  test("definitions are listed, also those of a failed evaluation, and a reset removes them", async () => {
    await evaluate(
      '(defvar *count* 3 "How many.") (defmacro unless2 (x) x) (defclass point () (x)) (error "stop")',
    );
    const own = isStateless ? { session } : {};
    const listed = (await call("list-definitions", own)).structuredContent as {
      definitions: { type: string; name: string }[];
    };
    const names = listed.definitions.map(({ type, name }) => `${type} ${name}`);
    expect(names).toEqual(
      expect.arrayContaining([
        "function TWICE",
        "variable *COUNT*",
        "macro UNLESS2",
        "class POINT",
      ]),
    );
    const functions = (await call("list-definitions", { type: "functions", ...own }))
      .structuredContent as typeof listed;
    expect(functions.definitions.every(({ type }) => type === "function")).toBe(true);
    await call("reset-session", own);
    expect((await evaluate("(twice 1)")).text).toContain("[ERROR] UNDEFINED-FUNCTION");
    expect((await evaluate("*package*")).text).toBe('=> #<PACKAGE "COMMON-LISP-USER">');
  });

  test("syntax is checked without running the code", async () => {
    const good = await call("validate-syntax", { code: "(defun f (x) x) (f 1)" });
    expect(JSON.stringify(good.content)).toContain("2 forms");
    const bad = await call("validate-syntax", { code: "(defun f (x)\n  (g x)\n(defun h () 1)" });
    expect(JSON.stringify(bad.content)).toContain("line 1 column 1");
    const tooMany = await call("validate-syntax", { code: "(f 1))" });
    expect(JSON.stringify(tooMany.content)).toContain("line 1 column 6");
  });

  test.each([
    ["(jref '#1=(1 . #1#) 5)", "=> 1"],
    ["(eval '#1=(progn . #1#))", "CELL-BUDGET-EXCEEDED"],
    ["#2A#1=((1) . #1#)", "CELL-BUDGET-EXCEEDED"],
    ["`#1=(a . #1#)", "CELL-BUDGET-EXCEEDED"],
    ["(eval '(let #1=((a 1) . #1#) a))", "CELL-BUDGET-EXCEEDED"],
    ["(eval '(lambda #1=(a . #1#) a))", "PROGRAM-ERROR"],
    ["(eval '#1=(list . #1#))", "ERROR"],
    ["(defclass ring-a (ring-b) ()) (defclass ring-b (ring-a) ())", "superclass of itself"],
  ])("the circular code %s ends", async (code, expected) => {
    expect((await evaluate(code, { timeout: 10 })).text).toContain(expected);
  });

  test("circular code is checked without being built", async () => {
    for (const code of ["#2A#1=((1) . #1#)", "`#1=(a . #1#)"])
      expect(JSON.stringify((await call("validate-syntax", { code })).content)).toContain("1 form");
    const code = "#+#1=(and . #1#) x";
    expect(JSON.stringify((await call("validate-syntax", { code })).content)).toContain(
      "too long or too deep",
    );
  });

  test.each([
    [
      '(call-tool "call_tool" :name "calculator.calculate" :arguments (list :expression "1"))',
      "not available to programs",
    ],
    ['(call-tool "evaluate-lisp" :code "1" :mode "act")', "not available to programs"],
    ['(call-tool "reset-session")', "not available to programs"],
    ['(call-tool "nobody_agent" :task "x")', "nobody_agent"],
  ])("%s does not bypass the checks", async (code, expected) => {
    expect((await evaluate(code)).text).toContain(expected);
  });

  test("an evaluation cancelled while it is queued does not run", async () => {
    await evaluate("(defvar *turns* 0)");
    const own = isStateless ? { session } : {};
    const params = (code: string): JsonObject => ({
      name: "evaluate-lisp",
      arguments: { code, ...own },
    });
    const withMeta = (given: JsonObject): JsonObject => (isStateless ? modern(given) : given);
    const first = hall.ask("tools/call", withMeta(params("(sleep 1)")));
    const second = hall.ask("tools/call", withMeta(params("(incf *turns*)")));
    hall.notify("notifications/cancelled", { requestId: second });
    await hall.answer(first);
    expect((await evaluate("*turns*")).text).toBe("=> 0");
  });

  test("invalid arguments are refused, and the session stays usable", async () => {
    const refused = await hall.request(
      "tools/call",
      isStateless
        ? modern({ name: "evaluate-lisp", arguments: {} })
        : { name: "evaluate-lisp", arguments: {} },
    );
    expect(JSON.stringify(refused)).toContain("code");
    const unknown = await hall.request(
      "tools/call",
      isStateless
        ? modern({ name: "evaluate-lispp", arguments: {} })
        : { name: "evaluate-lispp", arguments: {} },
    );
    expect(unknown).toMatchObject({ error: { code: -32602 } });
    expect((await evaluate("(+ 2 2)")).text).toBe("=> 4");
  });

  test("tools are functions, results are data, and failures are conditions with restarts", async () => {
    const { text, data } = await evaluate(
      '(jref (calculator:calculate :expression "6*7") "result")',
    );
    expect(text).toBe('=> "42"');
    expect(data.calls).toEqual([
      { name: "calculator__calculate", ms: expect.any(Number), status: "ok" },
    ]);
    const caught = await evaluate(
      '(handler-case (calculator:calculate :expression "6*") (tool-error (e) (tool-error-code e)))',
    );
    expect(caught.text).toMatch(/^=> "(VALIDATION|EXECUTION)"$/);
    const skipped = await evaluate(
      '(handler-bind ((tool-error (lambda (e) (declare (ignore e)) (invoke-restart \'use-value 7)))) (1+ (call-tool "no.such")))',
    );
    expect(skipped.text).toBe("=> 8");
    const uncaught = await evaluate('(call-tool "no.such" :a 1)');
    expect(uncaught.text).toContain("[ERROR] TOOL-NOT-FOUND");
  });
});

test("a stateless client needs the handle to return to its session", async () => {
  await using hall = spawnHall(["--expose", "code", "--alone"]);
  const call = (args: JsonObject): Promise<JsonObject> =>
    hall.result("tools/call", modern({ name: "evaluate-lisp", arguments: args }));
  const first = await call({ code: "(defvar *x* 1)" });
  const { session } = first.structuredContent as { session: string };
  expect(JSON.stringify(first.content)).toContain(session);
  expect(JSON.stringify((await call({ code: "*x*", session })).content)).toContain("=> 1");
  expect(JSON.stringify((await call({ code: "*x*" })).content)).toContain("UNBOUND-VARIABLE");
  const gone = await hall.request(
    "tools/call",
    modern({ name: "evaluate-lisp", arguments: { code: "1", session: "lisp-nobody" } }),
  );
  expect(JSON.stringify(gone)).toContain("no session");
});
