import { expect, test } from "vitest";
import { Secrets } from "../../src/base/log.ts";

function scrubber(...values: readonly string[]): Secrets {
  const secrets = new Secrets();
  for (const value of values) secrets.add(value);
  return secrets;
}

test("a secret that begins with a shorter one leaves no tail", () => {
  expect(scrubber("hunter2", "hunter2-and-more").scrub("key hunter2-and-more, hunter2")).toBe(
    "key ***, ***",
  );
});

test("each line of a secret is redacted where it stands alone, until the secret is removed", () => {
  const secrets = scrubber("-----BEGIN KEY-----\r\nMIIEvQ+IBADANB\nend\n");
  expect(secrets.scrub("bad line: MIIEvQ+IBADANB")).toBe("bad line: ***");
  expect(secrets.scrub("?key=MIIEvQ%2BIBADANB")).toBe("?key=***");
  expect(secrets.scrub("the end")).toBe("the end");
  secrets.remove("-----BEGIN KEY-----\r\nMIIEvQ+IBADANB\nend\n");
  expect(secrets.scrub("MIIEvQ+IBADANB")).toBe("MIIEvQ+IBADANB");
});
