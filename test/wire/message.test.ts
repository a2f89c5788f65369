import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TextOutcome } from "../../src/base/json.ts";
import { defaultLimits } from "../../src/wire/channel.ts";
import {
  addField,
  errorFrame,
  findFault,
  isId,
  type Message,
  notificationFrame,
  parseFrame,
  requestFrame,
  resultFrame,
  splitAnswer,
} from "../../src/wire/message.ts";

describe("an answer that is not parsed", () => {
  const texts = [
    '{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"a \\"b\\" \\u00e9 ü"}]}}',
    '{"result":{"content":[{"type":"text","text":""},{"type":"text","text":"}"}],"isError":false},"jsonrpc":"2.0","id":0}',
  ];
  const read = (text: string): { readonly id: number; readonly content: unknown } | undefined => {
    const { id, json } = splitAnswer(text) ?? {};
    const outcome = json === undefined ? undefined : TextOutcome.read(json);
    return id === undefined || !outcome ? undefined : { id, content: outcome.content };
  };

  test.each(texts)("has the same id and content: %s", (text) => {
    expect(parse(text)).toMatchObject({ outcome: { result: { content: read(text)?.content } } });
    expect(read(text)?.id).toBe((parse(text) as { id: number }).id);
  });

  test.each([
    ["an error", '{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}'],
    [
      "a failure",
      '{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"a"}],"isError":true}}',
    ],
    [
      "an image",
      '{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"image","data":"a","mimeType":"b"}]}}',
    ],
    [
      "`_meta`",
      '{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"a"}],"_meta":{}}}',
    ],
    [
      "a line break in a text",
      '{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"a\nb"}]}}',
    ],
    [
      "two results",
      '{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"a"}]},"result":{"content":[{"type":"text","text":"a"}]}}',
    ],
    [
      "an id that is a string",
      '{"jsonrpc":"2.0","id":"7","result":{"content":[{"type":"text","text":"a"}]}}',
    ],
  ])("is none with %s", (_, text) => {
    expect(read(text)).toBeUndefined();
  });

  test("equals the result of parsing, after any change on the way", () => {
    const piece = fc.constantFrom(...'{}[]",:\\u0a7 \n', '"isError":true', '"id":1', '"result":{}');
    const edit = fc.record({ at: fc.nat(160), cut: fc.nat(3), put: piece });
    let accepted = 0;
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.array(edit, { maxLength: 2 }), (text, edits) => {
        const changed = edits.reduce(
          (left, { at, cut, put }) => left.slice(0, at) + put + left.slice(at + cut),
          text,
        );
        const found = read(changed);
        if (!found) return;
        accepted++;
        const { id, content } = found;
        expect(parse(changed)).toMatchObject({
          kind: "answer",
          id,
          outcome: { result: { content } },
        });
      }),
      { numRuns: 500 },
    );
    expect(accepted).toBeGreaterThan(20);
  });
});

describe("a message that is one", () => {
  test("with id and method is a request", () => {
    expect(
      parse('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"}}'),
    ).toEqual({
      kind: "request",
      id: 7,
      method: "tools/call",
      params: { name: "echo" },
    });
  });

  test("without id is a notification", () => {
    expect(parse('{"jsonrpc":"2.0","method":"m"}')).toEqual({
      kind: "notification",
      method: "m",
      params: undefined,
    });
  });

  test("with id null is a notification only for methods that define it", () => {
    const text = '{"jsonrpc":"2.0","id":null,"method":"notifications/x"}';
    expect(parse(text, (method) => method.startsWith("notifications/"))).toMatchObject({
      kind: "notification",
      method: "notifications/x",
    });
    expect(parse(text)).toMatchObject({ kind: "invalid", code: "INVALID_REQUEST", id: undefined });
  });

  test.each([
    ["a result", '{"jsonrpc":"2.0","id":1,"result":{"a":1}}', { result: { a: 1 } }],
    ["a null result", '{"jsonrpc":"2.0","id":1,"result":null}', { result: null }],
    [
      "an error",
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}',
      { error: { code: -32000, message: "no" } },
    ],
    [
      "both result and error, malformed",
      '{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"m"}}',
      { bad: expect.any(String) },
    ],
    [
      "an error without code, malformed",
      '{"jsonrpc":"2.0","id":1,"error":{"message":"m"}}',
      { bad: expect.any(String) },
    ],
    [
      "an error with a fractional code, malformed",
      '{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"m"}}',
      { bad: expect.any(String) },
    ],
    [
      "an error without message, malformed",
      '{"jsonrpc":"2.0","id":1,"error":{"code":1}}',
      { bad: expect.any(String) },
    ],
    [
      "an error that is a string, malformed",
      '{"jsonrpc":"2.0","id":1,"error":"no"}',
      { bad: expect.any(String) },
    ],
    [
      "an error that is null, malformed",
      '{"jsonrpc":"2.0","id":1,"error":null}',
      { bad: expect.any(String) },
    ],
  ])("with %s is an answer", (_, text, outcome) => {
    expect(parse(text)).toEqual({ kind: "answer", id: 1, outcome });
  });

  test("may have white space around it and a carriage return at its end", () => {
    expect(parse(' \t{"jsonrpc":"2.0","id":1,"method":"m"} \r')).toMatchObject({
      kind: "request",
      id: 1,
    });
  });

  test("may come in a batch, each read for itself", () => {
    expect(
      parse(
        '[{"jsonrpc":"2.0","id":1,"method":"m"},3,{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":"x"}]',
      ),
    ).toMatchObject([
      { kind: "request", id: 1 },
      { kind: "invalid", id: undefined },
      { kind: "notification", method: "n" },
      { kind: "invalid", id: "x" },
    ]);
    expect(parse("[]")).toEqual([]);
  });

  test("keeps a key called __proto__ as a plain key", () => {
    const message = parse(
      '{"jsonrpc":"2.0","id":1,"method":"m","params":{"__proto__":{"name":"x"}},"__proto__":{"id":2}}',
    );
    expect(message).toMatchObject({ kind: "request", id: 1 });
    expect(Object.keys((message as { params: object }).params)).toEqual(["__proto__"]);
  });
});

describe("input that is not a message", () => {
  test.each([
    ["nothing", ""],
    ["half an object", '{"jsonrpc":"2.0","id":1,"method":"m"'],
    ["an unfinished string", '{"jsonrpc":"2.0","id":1,"method":"m'],
    ["two messages", '{"jsonrpc":"2.0","id":1,"method":"m"}{"jsonrpc":"2.0","id":2,"method":"m"}'],
    ["a comma too many", '{"jsonrpc":"2.0","id":1,"method":"m",}'],
    ["a raw control character in a string", '{"jsonrpc":"2.0","id":1,"method":"a\u0001b"}'],
    ["a byte order mark in front", '\ufeff{"jsonrpc":"2.0","id":1,"method":"m"}'],
    ["NaN", '{"jsonrpc":"2.0","id":NaN,"method":"m"}'],
    ["a comment", '{"jsonrpc":"2.0",/* hi */"id":1,"method":"m"}'],
    ["a broken escape in a key", '{"jsonrpc":"2.0","\\u00zz":1,"method":"m"}'],
    ["closing brackets only", "}]}]"],
    ["a lone backslash", "\\"],
    ["a quote", '"'],
  ])("because of %s is a PARSE error", (_, text) => {
    expect(parse(text)).toMatchObject({ kind: "invalid", code: "PARSE", id: undefined });
  });

  test.each([
    ["a lone continuation byte", [0x80]],
    ["an overlong slash", [0xc0, 0xaf]],
    ["half a character", [0xe2, 0x82]],
    ["a surrogate in UTF-8", [0xed, 0xa0, 0x80]],
    ["a byte that never occurs", [0xff]],
  ])("because of %s is a PARSE error, not a message with U+FFFD in it", (_, bytes) => {
    const frame = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"'),
      Buffer.from(bytes),
      Buffer.from('"}}'),
    ]);
    expect(parseFrame(frame, defaultLimits, () => false)).toMatchObject({
      kind: "invalid",
      code: "PARSE",
      id: undefined,
    });
  });

  test.each([
    ["a number", "1"],
    ["a string", '"hello"'],
    ["null", "null"],
    ["true", "true"],
    ["an empty object", "{}"],
    ["no jsonrpc", '{"id":1,"method":"m"}'],
    ["jsonrpc 1.0", '{"jsonrpc":"1.0","id":1,"method":"m"}'],
    ["jsonrpc as a number", '{"jsonrpc":2.0,"id":1,"method":"m"}'],
    ["no method", '{"jsonrpc":"2.0","id":1}'],
    ["an empty method", '{"jsonrpc":"2.0","id":1,"method":""}'],
    ["a method that is a number", '{"jsonrpc":"2.0","id":1,"method":1}'],
    ["a method that is null", '{"jsonrpc":"2.0","id":1,"method":null}'],
  ])("because it is or has %s is an INVALID_REQUEST that names the id it has", (_, text) => {
    expect(parse(text)).toMatchObject({
      kind: "invalid",
      code: "INVALID_REQUEST",
      id: text.includes('"id":1') ? 1 : undefined,
    });
  });

  test.each(["[1]", '"x"', "5", "true"])("because params are %s is an INVALID_PARAMS", (params) => {
    expect(parse(`{"jsonrpc":"2.0","id":1,"method":"m","params":${params}}`)).toMatchObject({
      kind: "invalid",
      code: "INVALID_PARAMS",
      id: 1,
    });
  });
});

test("params that are null count as absent", () => {
  expect(parse('{"jsonrpc":"2.0","id":1,"method":"m","params":null}')).toEqual({
    kind: "request",
    id: 1,
    method: "m",
    params: undefined,
  });
});

describe("an id", () => {
  test.each([
    ["zero", "0", 0],
    ["minus one", "-1", -1],
    ["2^53-1", "9007199254740991", Number.MAX_SAFE_INTEGER],
    ["-(2^53-1)", "-9007199254740991", Number.MIN_SAFE_INTEGER],
    ["a whole number written with a point", "1.0", 1],
    ["an empty string", '""', ""],
    ["a string of digits", '"1"', "1"],
    ["a string of 256 bytes", `"${"x".repeat(256)}"`, "x".repeat(256)],
    ["a string of 256 bytes in 64 characters", `"${"👍".repeat(64)}"`, "👍".repeat(64)],
    ["a string with quotes and backslashes", '"\\"\\\\"', '"\\'],
    ["half a surrogate pair, escaped", '"\\ud800"', "\ud800"],
    ["line separators, which are no control characters", '"\u2028\u0085"', "\u2028\u0085"],
  ])("may be %s, and is echoed exactly", (_, text, id) => {
    expect(parse(`{"jsonrpc":"2.0","id":${text},"method":"m"}`)).toEqual({
      kind: "request",
      id,
      method: "m",
      params: undefined,
    });
    expect(JSON.parse(resultFrame(id, {}))).toEqual({ jsonrpc: "2.0", id, result: {} });
    expect(JSON.parse(errorFrame(id, { code: 1, message: "m" }, "null"))).toEqual({
      jsonrpc: "2.0",
      id,
      error: { code: 1, message: "m" },
    });
  });

  test.each([
    ["a fraction", "1.5"],
    ["1e400", "1e400"],
    ["2^53", "9007199254740992"],
    ["2^53+1", "9007199254740993"],
    ["-2^53", "-9007199254740992"],
    ["a string of 257 bytes", `"${"x".repeat(257)}"`],
    ["a string of 260 bytes in 65 characters", `"${"👍".repeat(65)}"`],
    ["a string with a newline", '"a\\nb"'],
    ["a string with NUL", '"\\u0000"'],
    ["a string with DEL", '"\\u007f"'],
    ["null", "null"],
    ["an object", "{}"],
    ["a list", "[]"],
    ["a list that looks like an id", "[1]"],
    ["true", "true"],
    ["false", "false"],
  ])("may not be %s", (_, text) => {
    expect(parse(`{"jsonrpc":"2.0","id":${text},"method":"m"}`)).toMatchObject({
      kind: "invalid",
      code: "INVALID_REQUEST",
      id: undefined,
    });
    expect(isId(JSON.parse(text))).toBe(false);
  });

  test("that is unreadable is written as null to older peers and left out for newer ones", () => {
    const error = { code: -32700, message: "m" };
    expect(errorFrame(undefined, error, "null")).toBe(
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}',
    );
    expect(errorFrame(undefined, error, "omit")).toBe(
      '{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}',
    );
  });
});

describe("a deciding key that is there twice", () => {
  test.each([
    ["jsonrpc", '{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"m"}'],
    ["id", '{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}'],
    ["id", '{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":[{"y":1}]},"id":1}'],
    ["method", '{"jsonrpc":"2.0","id":1,"method":"m","method":"m"}'],
    ["method", '{"jsonrpc":"2.0","id":1,"method":"m","\\u006dethod":"n"}'],
    [
      "method",
      '{"jsonrpc":"2.0","id":1,"m\\u0065thod":"m","\\u006d\\u0065\\u0074\\u0068\\u006F\\u0064":"n"}',
    ],
    ["params", '{"jsonrpc":"2.0","id":1,"method":"m","params":{},"params":{}}'],
    [
      "params",
      '{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"a"},"p\\u0061rams":{"name":"b"}}',
    ],
    ["result", '{"jsonrpc":"2.0","id":1,"result":1,"result":2}'],
    [
      "error",
      '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""},"error":{"code":2,"message":""}}',
    ],
    ["name", '{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"a","name":"b"}}'],
    [
      "name",
      '{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"a","arguments":{"name":1},"name":"b"}}',
    ],
    ["name", '{"jsonrpc":"2.0","id":1,"method":"m","\\u0070arams":{"name":"a","\\u006eame":"b"}}'],
    [
      "name",
      '{"params":{"a":[[{"b":{}}]],"name":"a","x":{"name":"c"},"name":"b"},"jsonrpc":"2.0","id":1,"method":"m"}',
    ],
    ["id", '[{"jsonrpc":"2.0","id":1,"method":"m"},{"jsonrpc":"2.0","id":2,"id":3,"method":"m"}]'],
    ["method", '[{"jsonrpc":"2.0","id":2,"method":"m","\\u006dethod":"n"}]'],
    ["name", '[3,{"jsonrpc":"2.0","id":2,"method":"m","params":{"name":"a","name":"b"}}]'],
    ["id", ' \r\n\t{ "id" : 1 ,\n "id" : 2 }'],
  ])("%s is an INVALID_REQUEST that says so", (key, text) => {
    expect(JSON.parse(text)).toBeTypeOf("object");
    expect(parse(text)).toMatchObject({
      kind: "invalid",
      code: "INVALID_REQUEST",
      reason: `the key "${key}" is there twice`,
    });
  });

  test.each([
    [
      "deeper, inside the arguments",
      '{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"a","arguments":{"id":1,"id":2,"method":1,"method":2,"name":1,"name":2,"params":1,"params":2}}}',
    ],
    [
      "name beside params, where it decides nothing",
      '{"jsonrpc":"2.0","id":1,"method":"m","name":1,"name":2}',
    ],
    [
      "name in another object of the message",
      '{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"a"},"other":{"name":1,"name":2}}',
    ],
    [
      "jsonrpc, id and method inside params",
      '{"jsonrpc":"2.0","id":1,"method":"m","params":{"id":1,"id":2,"method":1,"method":2,"jsonrpc":1,"jsonrpc":2}}',
    ],
    [
      "name in an object inside a list of params",
      '{"jsonrpc":"2.0","id":1,"method":"m","params":{"list":[{"name":1},{"name":2},{"name":3,"name":4}]}}',
    ],
    [
      "keys that only look alike",
      '{"jsonrpc":"2.0","id":1,"method":"m","Method":1,"method ":2,"ID":3,"iD":4,"\\\\u006dethod":5}',
    ],
    ["unknown keys", '{"jsonrpc":"2.0","id":1,"method":"m","x":1,"x":2}'],
    [
      "values that spell keys",
      '{"jsonrpc":"2.0","id":1,"method":"id","params":{"a":"name","b":"name","name":"name"},"x":"method","y":"params"}',
    ],
    [
      "a string value that holds a whole message",
      `{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":${JSON.stringify('{"name":1,"name":2,"id":1')}}}`,
    ],
  ])("is no fault for %s", (_, text) => {
    expect(parse(text)).toMatchObject({ kind: "request", id: 1 });
  });

  test("is no fault when it is once in each message of a batch", () => {
    const one = '{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"a"}}';
    expect(parse(`[${one},${one}, ${one}]`)).toMatchObject([
      { kind: "request" },
      { kind: "request" },
      { kind: "request" },
    ]);
  });
});

describe("the limits of a message", () => {
  const nested = (levels: number) =>
    `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":${"[".repeat(levels)}${"]".repeat(levels)}}}`;
  const wide = (values: number) =>
    `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[${Array(values).fill("0").join(",")}]}}`;

  test("depth 64 is read and depth 65 is refused", () => {
    expect(parse(nested(62))).toMatchObject({ kind: "request" });
    expect(parse(nested(63))).toMatchObject({
      kind: "invalid",
      code: "INVALID_REQUEST",
      reason: "nested deeper than 64 levels",
    });
  });

  test("depth counts open brackets at one time, not all brackets", () => {
    expect(findFault(`[${"[],{},".repeat(1_000)}[]]`, defaultLimits)).toBeUndefined();
  });

  test("a million values are read and one more is refused", () => {
    // The message itself, jsonrpc, id, method, params and the list make six.
    expect(parse(wide(999_994))).toMatchObject({ kind: "request" });
    expect(parse(wide(999_995))).toMatchObject({
      kind: "invalid",
      code: "INVALID_REQUEST",
      reason: "more than 1000000 values",
    });
  });

  test.each([
    ["numbers", "1"],
    ["negative fractions with exponents", "-1.5e+10"],
    ["strings", '"a"'],
    ["strings full of commas and brackets", '"[,],{:}"'],
    ["literals", "null"],
    ["empty objects", "{}"],
    ["empty lists", "[]"],
  ])("the values counted include %s", (_, value) => {
    const five = `[${Array(4).fill(value).join(" , ")}]`;
    expect(findFault(five, { depthMax: 64, nodesMax: 5 })).toBeUndefined();
    expect(findFault(five, { depthMax: 64, nodesMax: 4 })).toBe("more than 4 values");
  });

  test("keys are not counted", () => {
    expect(findFault('{"a":1,"b":2,"c":3}', { depthMax: 1, nodesMax: 4 })).toBeUndefined();
    expect(findFault('{"a":1,"b":2,"c":3}', { depthMax: 1, nodesMax: 3 })).toBe(
      "more than 3 values",
    );
  });

  test.each([
    ["five million lists in each other", "[".repeat(5_000_000)],
    ["two million objects in each other", '{"a":'.repeat(2_000_000)],
    ["five million closing brackets", "]".repeat(5_000_000)],
    ["ten million backslashes in a string", `"${"\\".repeat(10_000_000)}"`],
    ["five million escaped quotes", `"${'\\"'.repeat(5_000_000)}"`],
    ["five million quotes", '"'.repeat(5_000_000)],
    ["ten million digits", "1".repeat(10_000_000)],
    ["five million pairs of words", "a ".repeat(5_000_000)],
  ])("%s are refused", (_, text) => {
    const frame = Buffer.from(text);
    // A reader that is not linear would take longer than a test may run.
    const message = parseFrame(frame, defaultLimits, () => false);
    expect(message).toMatchObject({ kind: "invalid", id: undefined });
  });

  test.each([
    ["brackets", "]]]]}}}}[[[[{{{{"],
    ["escaped quotes", '"[{"a":["'],
    ["backslashes at the end", "C:\\dir\\"],
    ["a backslash before the closing quote, doubled", '\\\\"\\'],
    ["commas, colons and keys", '","id":2,"method":"other'],
    ["line breaks and tabs", "\n\t\r\u0000"],
  ])("a string with %s does not confuse the scan", (_, text) => {
    const frame = `{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":${JSON.stringify(text)},${JSON.stringify(text)}:[${JSON.stringify(text)}]}}`;
    expect(findFault(frame, { depthMax: 3, nodesMax: 8 })).toBeUndefined();
    expect(findFault(frame, { depthMax: 2, nodesMax: 8 })).toBe("nested deeper than 2 levels");
    expect(findFault(frame, { depthMax: 3, nodesMax: 6 })).toBe("more than 6 values");
    expect(parse(frame)).toMatchObject({ kind: "request", params: { name: text, [text]: [text] } });
  });

  test("the scan finds a fault exactly when the plain count of depth or values is over the limit", () => {
    const confusing = fc.constantFrom(
      '"',
      "\\",
      "[",
      "]",
      "{",
      "}",
      ",",
      ":",
      "a",
      "1",
      " ",
      "\n",
      "€",
    );
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 6 }),
      fc.jsonValue({ maxDepth: 6, stringUnit: confusing }),
    );
    fc.assert(
      fc.property(
        value,
        fc.integer({ min: 0, max: 7 }),
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom("", " ", "\t"),
        (json, depthMax, nodesMax, indent) => {
          const text = JSON.stringify(json, undefined, indent);
          const isOver = depthOf(json) > depthMax || nodesOf(json) > nodesMax;
          expect(findFault(text, { depthMax, nodesMax }) !== undefined).toBe(isOver);
        },
      ),
      { numRuns: 5_000 },
    );
  });

  test("limits just met by a random value are limits it passes", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (json) => {
        const text = JSON.stringify(json);
        const depthMax = depthOf(json);
        const nodesMax = nodesOf(json);
        expect(findFault(text, { depthMax, nodesMax })).toBeUndefined();
        expect(findFault(text, { depthMax, nodesMax: nodesMax - 1 })).toBeDefined();
        if (depthMax > 0)
          expect(findFault(text, { depthMax: depthMax - 1, nodesMax })).toBeDefined();
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("junk", () => {
  test("of any bytes is read as something, and never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const messages = [parseFrame(Buffer.from(bytes), defaultLimits, () => false)].flat();
        for (const message of messages) expect(message).toHaveProperty("kind");
      }),
      { numRuns: 3_000 },
    );
  });

  test("made from pieces of real messages is refused or equals the result of JSON.parse", () => {
    const pieces = [
      '{"jsonrpc":"2.0"',
      ',"id":1',
      ',"method":"m"',
      ',"params":{',
      '"name":"a"',
      "}",
      "[",
      "]",
      ",",
      ":",
      '"',
      "\\",
      '"id"',
      "null",
      "1e9",
      " ",
      "\u00e9",
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 14 }), (chosen) => {
        const text = chosen.join("");
        for (const message of [parse(text)].flat()) {
          if (message.kind === "invalid") continue;
          const json: unknown = JSON.parse(text);
          for (const item of [json].flat()) expect(item).toBeTypeOf("object");
        }
        if (!isJson(text)) expect(parse(text)).toMatchObject({ kind: "invalid" });
      }),
      { numRuns: 10_000 },
    );
  });
});

describe("written messages", () => {
  test.each([
    ["undefined", undefined],
    ["a function", () => 1],
    ["a bigint", 1n],
    ["an object that says it is nothing", { toJSON: () => undefined }],
  ])("refuses %s as a result instead of writing a frame without one", (_, result) => {
    expect(() => resultFrame(1, result)).toThrow(TypeError);
  });

  test("is one line with any text in it", () => {
    const text = "a\nb\r\n\u2028\u0000\ud800";
    const frames = [
      resultFrame(text, text),
      errorFrame(text, { code: 1, message: text }, "null"),
      requestFrame(1, text, { text }),
      notificationFrame(text, { text }),
    ];
    for (const frame of frames) expect(frame).not.toMatch(/[\n\r]/);
    expect(JSON.parse(frames[0] ?? "")).toEqual({ jsonrpc: "2.0", id: text, result: text });
  });

  test("can be read back unchanged", () => {
    expect(parse(requestFrame(3, "m", { a: 1 }))).toEqual({
      kind: "request",
      id: 3,
      method: "m",
      params: { a: 1 },
    });
    expect(parse(requestFrame(3, "m", undefined))).toEqual({
      kind: "request",
      id: 3,
      method: "m",
      params: undefined,
    });
    expect(parse(notificationFrame("n", { a: 1 }))).toEqual({
      kind: "notification",
      method: "n",
      params: { a: 1 },
    });
    expect(parse(resultFrame("x", [1]))).toEqual({
      kind: "answer",
      id: "x",
      outcome: { result: [1] },
    });
  });
});

describe("a long result", () => {
  const text = "x".repeat(100_000);
  const resultOf = (frame: string): unknown => {
    const { outcome } = parse(frame) as Extract<Message, { kind: "answer" }>;
    return "result" in outcome ? outcome.result : undefined;
  };

  test("is passed on as the text it came as, under another id", () => {
    const frame = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"${text}"}],  "n": 1.0}}`;
    expect(resultFrame("other", resultOf(frame))).toBe(frame.replace('"id":1', '"id":"other"'));
  });

  test.each([
    ["other keys after it", `{"jsonrpc":"2.0","id":1,"result":{"text":"${text}"},"more":{"a":1}}`],
    ["line breaks in it", `{"jsonrpc":"2.0","id":1,"result":{\r\n "text":"${text}"\n}}`],
    ["its id behind it", `{"result":{"text":"${text}"},"jsonrpc":"2.0","id":1}`],
    ["white space behind it", `{"jsonrpc":"2.0","id":1,"result":{"text":"${text}"}}  `],
    ["a brace in its text", `{"jsonrpc":"2.0","id":1,"result":{"text":"}}${text}"} }`],
  ])("with %s is still one whole line that says the same", (_, frame) => {
    const passed = resultFrame(2, resultOf(frame));
    expect(passed).not.toMatch(/[\r\n]/);
    expect(JSON.parse(passed)).toEqual({ jsonrpc: "2.0", id: 2, result: JSON.parse(frame).result });
  });

  test("is read in every encoding, and refused if it is no text", () => {
    const foreign = `${text} – größer als 3 €`;
    expect(resultOf(`{"jsonrpc":"2.0","id":1,"result":{"text":"${foreign}"}}`)).toEqual({
      text: foreign,
    });
    const broken = Buffer.concat([
      Buffer.from(`{"jsonrpc":"2.0","id":1,"result":{"text":"${text}`),
      Buffer.from([0xff]),
      Buffer.from('"}}'),
    ]);
    expect(parseFrame(broken, defaultLimits, () => false)).toMatchObject({
      kind: "invalid",
      code: "PARSE",
      answerId: 1,
    });
  });

  test("gets one more field without being written anew", () => {
    const text = `{"content":[{"type":"text","text":"${"x".repeat(100_000)}"}],  "n": 1.0}`;
    const added = addField(
      resultOf(`{"jsonrpc":"2.0","id":1,"result": ${text}}`) as object,
      "isError",
      false,
    );
    expect(resultFrame(2, added)).toBe(
      `{"jsonrpc":"2.0","id":2,"result":{"isError":false,${text.slice(1)}}`,
    );
    expect(added).toMatchObject({ n: 1, isError: false });
  });

  test("that was changed is written again", () => {
    const changed = {
      ...(resultOf(`{"jsonrpc":"2.0","id":1,"result":{"text":"${text}","a":1}}`) as object),
      a: 2,
    };
    expect(JSON.parse(resultFrame(2, changed)).result).toEqual({ text, a: 2 });
  });
});

function parse(
  text: string,
  isNotification: (method: string) => boolean = () => false,
): Message | readonly Message[] {
  return parseFrame(Buffer.from(text), defaultLimits, isNotification);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function depthOf(json: unknown): number {
  if (typeof json !== "object" || json === null) return 0;
  return 1 + Math.max(0, ...Object.values(json).map(depthOf));
}

function nodesOf(json: unknown): number {
  if (typeof json !== "object" || json === null) return 1;
  return Object.values(json).reduce((total: number, item) => total + nodesOf(item), 1);
}
