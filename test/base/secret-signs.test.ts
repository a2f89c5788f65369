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

test("a JSON text with the name of a secret is always recognised", () => {
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

test("redaction removes values under secret names at any depth, and changes nothing else", () => {
  expect(
    redact({ a: [{ apiKey: "k", token: { type: "string" } }], usage: { inputTokens: 3 }, key: 1 }),
  ).toBe('{"a":[{"apiKey":"***","token":{"type":"string"}}],"usage":{"inputTokens":3},"key":1}');
  expect(redact({ usage: { inputTokens: 3 }, key: "1" })).toBe(
    '{"usage":{"inputTokens":3},"key":"1"}',
  );
  expect(redact(undefined)).toBe("null");
});
