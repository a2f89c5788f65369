import { setImmediate } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { type EvaluationRecord, findRun, listRuns } from "../../src/agents/runs.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { Secrets } from "../../src/base/log.ts";
import type { EvaluationRun } from "../../src/toolkits/lisp/kept-run.ts";
import { createHiding } from "../../src/toolkits/lisp/program-secrets.ts";
import { replayEvaluation } from "../../src/toolkits/lisp/replay.ts";
import { startHall } from "../servers/hall.ts";
import { createToolkit, text } from "../servers/toolkits.ts";
import { type Evaluated, evaluate, worker } from "./lisp-hall.ts";

/** What is kept of programs, and going through them again. */
const desk = createToolkit("desk", {
  open: {
    run: ({ token, password }) => text(`opened with ${String(token ?? password ?? "nothing")}`),
  },
  login: {
    run: () => ({
      ...text("in"),
      structuredContent: { api_key: "given-by-the-tool", user: "ann" },
    }),
  },
  fail: { run: ({ token }) => ({ ...text(`${String(token)} is not valid`), isError: true }) },
  time: { run: () => text(String(performance.now())) },
});

interface Kept {
  readonly evaluated: readonly Evaluated[];
  /** Those of the last program, oldest first. */
  readonly runs: readonly EvaluationRun[];
  /** Everything the hall has kept of runs. */
  readonly all: string;
}

/** Evaluates programs one after the other in one session, and gives what was kept of them. */
async function keep(programs: readonly string[], secrets = new Secrets()): Promise<Kept> {
  await using hall = await startHall({ toolkits: [desk], secrets, lisp: { worker } });
  const client = hall.connect();
  await client.greet("2025-11-25");
  const evaluated: Evaluated[] = [];
  for (const code of programs) evaluated.push(await evaluate(client, code, { mode: "act" }));
  const shelf = hall.hall.store.runs;
  // What an evaluation leaves behind is written down after its answer.
  for (let looks = 0; looks < 10_000 && (await listRuns(shelf)).length < programs.length; looks++)
    await setImmediate();
  const records = await Promise.all(evaluated.map(({ data }) => findRun(shelf, data.run)));
  return {
    evaluated,
    runs: records.map((record) => (record as EvaluationRecord).evaluation),
    all: JSON.stringify(await shelf.list()),
  };
}

describe("a secret", () => {
  const cases = [
    ["a keyword's value", '(desk:open :token "topsecret-1")'],
    ["a variable's value", '(defvar *api-key* "topsecret-1") (desk:open :token *api-key*)'],
    ["a binding's value", '(let ((password "topsecret-1")) (desk:open :password password))'],
    ["a pair's value", '(desk:open \'(("password" . "topsecret-1")))'],
    [
      "the value of a place",
      '(let ((h (make-hash-table :test #\'equal))) (setf (gethash "token" h) "topsecret-1") (desk:open h))',
    ],
    [
      "an argument that was put together",
      '(desk:open :token (concatenate \'string "topsecret" "-1"))',
    ],
    ["a header", '(princ "Authorization: Bearer topsecret-1") (desk:open :token "topsecret-1")'],
    ["JSON", '(desk:open (json-decode "{\\"token\\": \\"topsecret-1\\"}"))'],
    ["a token by its shape", '(length "ghp_topsecret1topsecret-1")'],
    [
      "a line that was commented out",
      '; (desk:open :token "topsecret-1")\n(+ 1 2) #| password: topsecret-1 |#',
    ],
    ["a name of another package", '(defvar cl-user::*access-key* "topsecret-1") 1'],
    ["what a failure says", '(desk:fail :token "topsecret-1")'],
  ] as const;
  let kept: Kept;
  beforeAll(async () => {
    kept = await keep(cases.map(([, code]) => code));
  });

  test.each(cases.map(([where], index) => [where, index] as const))(
    "in %s is not in what is kept of the program",
    (_, index) => {
      const run = kept.runs[index];
      expect(JSON.stringify(run)).toContain("***");
      expect(JSON.stringify(run)).not.toContain("topsecret-1");
      expect(run?.isScrubbed).toBe(true);
    },
  );

  test("is neither in outlines of runs, and was in the answers", () => {
    expect(kept.all).not.toContain("topsecret-1");
    expect(JSON.stringify(kept.evaluated[0])).toContain("opened with topsecret-1");
  });
});

test("a secret in a program is not in the row of its call, where rows are kept whole", async () => {
  await using hall = await startHall({ toolkits: [desk], record: "full", lisp: { worker } });
  const client = hall.connect();
  await client.greet("2025-11-25");
  await evaluate(client, '(desk:open :token "topsecret-1")', { mode: "act" });
  const row = (await hall.hall.store.calls.list()).find(({ tool }) => tool === "evaluate-lisp");
  expect(JSON.stringify(row)).toContain("desk:open");
  expect(JSON.stringify(row)).not.toContain("topsecret-1");
});

test.each([
  ["comments that are never closed", "token #| ".repeat(100_000)],
  ["one long word", `token ${"a".repeat(900_000)}`],
  ["one long string", `token "${"a-".repeat(450_000)}`],
  ["many quotes", `token ${'"\\'.repeat(300_000)}`],
  ["many parentheses", `(token${"(".repeat(900_000)}`],
  ["keys without end", `"${"-----BEGIN PRIVATE KEY-----".repeat(30_000)}"`],
  ["names and spaces", `"token${" ".repeat(400_000)}token${" ".repeat(400_000)}"`],
  ["half a header", `"${"bearer ".repeat(120_000)}"`],
])("text made to be slow to look through is not: %s", (_, code) => {
  const before = process.cpuUsage();
  createHiding(code);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000_000).toBeLessThan(5);
});

test("a program without secrets is kept as it was typed, and is the same when it is gone through again", async () => {
  const code = `(defun greet (name) (format nil "token: ~a, ~a" name (desk:time)))
    (list (greet "ann") (get-universal-time) (get-internal-real-time) (random 1000) (random 1000 (make-random-state t)))`;
  const { runs } = await keep([
    "(defvar *x* (get-internal-real-time))",
    `(list *x*) ${code}`,
    "(time (* 6 7))",
  ]);
  expect(runs[1]?.entry?.order.code).toContain(code);
  expect(runs[1]?.isScrubbed).toBeUndefined();
  expect((await replayEvaluation(runs.slice(0, 2), worker)).differences).toEqual([]);
  expect((await replayEvaluation(runs, worker)).differences).toEqual([]);
});

test("a replay says what it cannot repeat for want of a secret, and repeats what does not depend on it", async () => {
  const { runs } = await keep(['(desk:open :token "topsecret-1")']);
  const { differences } = await replayEvaluation(runs, worker);
  expect(differences[0]).toBe("desk.open was not asked like this");
  expect(differences.at(-1)).toBe(
    `secrets were taken out of ${runs[0]?.id}, and what depends on them cannot be repeated`,
  );
  const given = await keep([
    '(jref (desk:login) "user")',
    '(length (jref (desk:login) "api_key"))',
  ]);
  expect(given.all).not.toContain("given-by-the-tool");
  expect((await replayEvaluation(given.runs.slice(0, 1), worker)).differences).toEqual([]);
  expect((await replayEvaluation(given.runs, worker)).differences.at(-1)).toContain(
    "secrets were taken out",
  );
});

test("a secret the hall knows is taken out wherever it stands, and a replay says so", async () => {
  const secrets = new Secrets();
  secrets.add("known-secret");
  const { all, runs } = await keep(['(list "known-secret" (length "known-secret"))'], secrets);
  expect(all).not.toContain("known-secret");
  expect(runs[0]).toMatchObject({ isScrubbed: true } satisfies JsonObject);
  expect((await replayEvaluation(runs, worker)).differences).toEqual([
    "its values differ",
    expect.stringContaining("secrets were taken out"),
  ]);
});
