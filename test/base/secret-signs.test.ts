import fc from "fast-check";
import { expect, test } from "vitest";
import { isSecretName, mayNameSecrets } from "../../src/base/secret-signs.ts";
import { redact } from "../../src/gateway/record.ts";

const endings = [
  "authorization",
  "Set-Cookie",
  "passwd",
  "Password",
  "pin",
  "secret",
  "credentials",
  "privateKey",
  "api_key",
  "ACCESS-KEY",
  "signingkey",
  "x-token",
];

test("a text of JSON that a secret's name stands in is never taken for one without", () => {
  const names = fc
    .tuple(fc.string({ maxLength: 8, unit: "grapheme" }), fc.constantFrom(...endings))
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(
      fc.oneof(names, fc.constantFrom(...endings)),
      fc.jsonValue({ maxDepth: 2 }),
      (name, other) => {
        if (isSecretName(name))
          expect(mayNameSecrets(JSON.stringify({ other, inner: [{ [name]: "x" }] }))).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});

test("what is kept of a value has no secret under its name, at any depth, and is otherwise the same", () => {
  expect(
    redact({ a: [{ apiKey: "k", token: { type: "string" } }], usage: { inputTokens: 3 }, key: 1 }),
  ).toBe('{"a":[{"apiKey":"***","token":{"type":"string"}}],"usage":{"inputTokens":3},"key":1}');
  expect(redact({ usage: { inputTokens: 3 }, key: "1" })).toBe(
    '{"usage":{"inputTokens":3},"key":"1"}',
  );
  expect(redact(undefined)).toBe("null");
});
