import { beforeAll, describe, expect, test } from "vitest";
import { type EvaluationRecord, findRun, listRuns } from "../../src/agents/runs.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { Secrets } from "../../src/base/log.ts";
import { createSecretFilter } from "../../src/toolkits/programs/program-secrets.ts";
import { type EvaluationRun, replayEvaluation } from "../../src/toolkits/programs/recording.ts";
import { startHall } from "../servers/hall.ts";
import { createToolkit, text } from "../servers/toolkits.ts";
import { until } from "../servers/until.ts";
import { type Evaluated, evaluate, workers } from "./lisp-hall.ts";

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

interface SavedRuns {
  readonly evaluated: readonly Evaluated[];
  /** Those of the last program, oldest first. */
  readonly runs: readonly EvaluationRun[];
  /** Everything the store holds of runs. */
  readonly all: string;
}

/** Evaluates programs one after the other in one session, and returns the saved runs. */
async function runAndSave(
  programs: readonly string[],
  secrets = new Secrets(),
): Promise<SavedRuns> {
  await using hall = await startHall({ toolkits: [desk], secrets, workers });
  const client = hall.connect();
  await client.greet("2025-11-25");
  const evaluated: Evaluated[] = [];
  for (const code of programs) evaluated.push(await evaluate(client, code, { mode: "act" }));
  const documents = hall.hall.store.runs;
  // Runs are saved after the answer.
  await until(
    async () => (await listRuns(documents)).length >= programs.length,
    "the runs are saved",
  );
  const records = await Promise.all(evaluated.map(({ data }) => findRun(documents, data.run)));
  return {
    evaluated,
    runs: records.map((record) => (record as EvaluationRecord).evaluation),
    all: JSON.stringify(await documents.list()),
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
  let saved: SavedRuns;
  beforeAll(async () => {
    saved = await runAndSave(cases.map(([, code]) => code));
  });

  test.each(cases.map(([where], index) => [where, index] as const))(
    "in %s is not in the saved run",
    (_, index) => {
      const run = saved.runs[index];
      expect(JSON.stringify(run)).toContain("***");
      expect(JSON.stringify(run)).not.toContain("topsecret-1");
      expect(run?.isScrubbed).toBe(true);
    },
  );

  test("is in no outline of a run, but is in the answer", () => {
    expect(saved.all).not.toContain("topsecret-1");
    expect(JSON.stringify(saved.evaluated[0])).toContain("opened with topsecret-1");
  });
});

test("a secret in a program is not in the recorded call, even with record: full", async () => {
  await using hall = await startHall({ toolkits: [desk], record: "full", workers });
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
])(
  "hostile text is filtered in linear time: %s",
  (_, code) => {
    // A quadratic filter would exceed the time limit of the test by far.
    expect(() => createSecretFilter(code, "lisp")).not.toThrow();
  },
  60_000,
);

test("a program without secrets is saved as typed, and its replay is the same", async () => {
  const code = `(defun greet (name) (format nil "token: ~a, ~a" name (desk:time)))
    (list (greet "ann") (get-universal-time) (get-internal-real-time) (random 1000) (random 1000 (make-random-state t)))`;
  const { runs } = await runAndSave([
    "(defvar *x* (get-internal-real-time))",
    `(list *x*) ${code}`,
    "(time (* 6 7))",
  ]);
  expect(runs[1]?.entry?.order.code).toContain(code);
  expect(runs[1]?.isScrubbed).toBeUndefined();
  expect((await replayEvaluation(runs.slice(0, 2), workers)).differences).toEqual([]);
  expect((await replayEvaluation(runs, workers)).differences).toEqual([]);
});

test("a replay reports what depends on a removed secret, and repeats the rest", async () => {
  const { runs } = await runAndSave(['(desk:open :token "topsecret-1")']);
  const { differences } = await replayEvaluation(runs, workers);
  expect(differences[0]).toBe("desk.open was not called with these arguments");
  expect(differences.at(-1)).toBe(`the saved run has no secrets (removed from ${runs[0]?.id})`);
  const given = await runAndSave([
    '(jref (desk:login) "user")',
    '(length (jref (desk:login) "api_key"))',
  ]);
  expect(given.all).not.toContain("given-by-the-tool");
  expect((await replayEvaluation(given.runs.slice(0, 1), workers)).differences).toEqual([]);
  expect((await replayEvaluation(given.runs, workers)).differences.at(-1)).toContain(
    "the saved run has no secrets",
  );
});

test("a secret known to the hall is removed everywhere, and a replay reports it", async () => {
  const secrets = new Secrets();
  secrets.add("known-secret");
  const { all, runs } = await runAndSave(
    ['(list "known-secret" (length "known-secret"))'],
    secrets,
  );
  expect(all).not.toContain("known-secret");
  expect(runs[0]).toMatchObject({ isScrubbed: true } satisfies JsonObject);
  expect((await replayEvaluation(runs, workers)).differences).toEqual([
    "values differ",
    expect.stringContaining("the saved run has no secrets"),
  ]);
});
