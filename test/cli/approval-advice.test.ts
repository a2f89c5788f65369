import { expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import { adviseApproval, rewordApprovals } from "../../src/cli/approval-advice.ts";

const hint =
  "A person runs `guildhall approve 0123abcd` within 60 s, or `guildhall trust files.write_file`; then the same call goes through.";

test("a hall that ends with its command names what helps without it", () => {
  const advised = adviseApproval(
    new HallError("APPROVAL_NEEDED", "files.write_file needs a person's yes", { hint }),
  );
  expect(advised).toMatchObject({
    code: "APPROVAL_NEEDED",
    message: "files.write_file needs a person's yes",
  });
  expect(advised.hint).toBe(
    "Run it at a terminal to be asked, or `guildhall trust files.write_file` first; with `guildhall serve` running, `guildhall approve` works too.",
  );
});

test("where no trust spares the question, none is advised", () => {
  const each =
    "A person runs `guildhall approve 0123abcd` within 60 s; then the same call goes through.";
  expect(adviseApproval(new HallError("APPROVAL_NEEDED", "x", { hint: each })).hint).not.toContain(
    "guildhall trust",
  );
  expect(rewordApprovals(each)).toBe(
    "with `guildhall serve` running, `guildhall approve` works too",
  );
});

test("other failures keep their hint", () => {
  const error = new HallError("DENIED", "no", { hint });
  expect(adviseApproval(error)).toBe(error);
});

test("the text of an answer names no token that nobody can use", () => {
  const text = `stopped (${hint})\n; once approved, go on with code "" and resume "lisp_1"\nNot done, as a person has to allow it within 60 s:\n- a.b: a person runs \`guildhall approve 01\`, or \`guildhall verify a\`\n- c.d: a person runs \`guildhall approve 02\``;
  expect(rewordApprovals(text)).toBe(
    [
      "stopped (Run `guildhall trust files.write_file` first; with `guildhall serve` running, `guildhall approve` works too)",
      "Not done, as a person has to allow it first; with `guildhall serve` running, `guildhall approve` works too:",
      "- a.b: `guildhall verify a`",
      "- c.d",
    ].join("\n"),
  );
});
