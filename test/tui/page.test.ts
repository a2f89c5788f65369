import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readPage } from "../../src/tui/questions.ts";
import { openForeign, outputOf } from "./client-bench.ts";

/** Pages that servers want a person to open. */
test.each<[string, string, RegExp | undefined]>([
  ["https://example.org/login?state=1", "https://example.org/login?state=1", undefined],
  ["http://localhost:3000/a", "http://localhost:3000/a", undefined],
  ["http://example.org/", "http://example.org/", /Not encrypted/],
  ["https://аррӏе.com/", "https://xn--80ak6aa92e.com/", /other scripts/],
  ["https://bank.example@evil.example/", "https://bank.example@evil.example/", /before the @/],
  ["https://example.org/\u202egnp\u001b[2J", "https://example.org/%E2%80%AEgnp%1B[2J", undefined],
])("%j is shown whole, with what to look at", (address, url, warning) => {
  const page = readPage(address);
  expect(page?.url).toBe(url);
  expect(page?.warnings ?? []).toEqual(warning ? [expect.stringMatching(warning)] : []);
});

test.each<[string, unknown]>([
  ["a script", "javascript:alert(1)"],
  ["a file", "file:///etc/passwd"],
  ["a document in itself", "data:text/html,x"],
  ["another program's", "vscode://x"],
  ["none at all", "no address"],
  ["no text", 7],
  ["one that nobody would read", `https://example.org/${"x".repeat(9_000)}`],
])("an address that is %s is given to no browser", (_what, address) => {
  expect(readPage(address)).toBeUndefined();
});

const url = "https://example.org/login?state=1";

test("a page is opened only on request, and the server only learns that the user agreed", async () => {
  const opened: string[] = [];
  const openBrowser = async (page: URL): Promise<boolean> => opened.push(page.href) > 0;
  // A person on a page takes longer than a call may be silent.
  await using bench = await openForeign("stdio", { openBrowser, timeoutMs: 1_000 });
  await bench.until(({ tools }) => tools.load.kind === "loaded");
  await bench.session.send({ kind: "select tool", name: "visit" });
  await bench.session.send({ kind: "fill tool", field: "url", text: url });
  const called = bench.session.send({ kind: "call tool" });
  const { questions } = await bench.until(({ questions: [question] }) => question !== undefined);
  expect(questions[0]).toMatchObject({
    kind: "page",
    message: "Log in first",
    page: { url, host: "example.org" },
  });
  expect(opened).toEqual([]);
  await bench.session.send({ kind: "open page", question: String(questions[0]?.id) });
  await called;
  const run = await bench.ended();
  expect(opened).toEqual([url]);
  expect(outputOf(run, "out")).toEqual(['{"action":"accept"}']);
  expect(readFileSync(join(bench.folder, String(run.logPath)), "utf8")).toContain(
    `page to open: ${url}`,
  );
});

test.each(["decline", "cancel"] as const)(
  "the user may %s a page, and nothing is opened",
  async (action) => {
    await using bench = await openForeign("stdio", {
      openBrowser: () => Promise.reject(new Error("nobody agreed")),
    });
    await bench.until(({ tools }) => tools.load.kind === "loaded");
    await bench.session.send({ kind: "select tool", name: "visit" });
    await bench.session.send({ kind: "fill tool", field: "url", text: url });
    const called = bench.session.send({ kind: "call tool" });
    const { questions } = await bench.until(({ questions: [question] }) => question !== undefined);
    await bench.session.send({
      kind: "answer question",
      question: String(questions[0]?.id),
      action,
    });
    await called;
    expect(outputOf(await bench.ended(), "out")).toEqual([JSON.stringify({ action })]);
  },
);

test("without a browser the question stays, and the user can confirm opening it elsewhere", async () => {
  await using bench = await openForeign("stdio", { openBrowser: () => Promise.resolve(false) });
  await bench.until(({ tools }) => tools.load.kind === "loaded");
  await bench.session.send({ kind: "select tool", name: "gate" });
  const called = bench.session.send({ kind: "call tool" });
  // A server of 2025-11-25 may also refuse until the page was visited.
  const { questions } = await bench.until(({ questions: [question] }) => question !== undefined);
  expect(questions[0]).toMatchObject({
    kind: "page",
    message: "Sign here",
    page: { host: "example.org" },
  });
  const question = String(questions[0]?.id);
  await bench.session.send({ kind: "open page", question });
  expect(bench.state().notices.at(-1)?.text).toContain(
    "no browser could be started. Open the address yourself",
  );
  expect(bench.state().questions).toHaveLength(1);
  await bench.session.send({ kind: "answer question", question, action: "accept" });
  await called;
  const run = await bench.ended();
  expect(run.state).toMatchObject({
    kind: "failed",
    failure: {
      message: "gate failed: a signature is missing",
      hint: "Finish in the browser, then press r to retry.",
    },
  });
  await bench.session.send({ kind: "retry run", run: run.id });
  expect(outputOf(await bench.ended(), "out")).toEqual(["come in"]);
});

test("an invalid address is rejected, and the call continues", async () => {
  await using bench = await openForeign();
  await bench.until(({ tools }) => tools.load.kind === "loaded");
  await bench.session.send({ kind: "select tool", name: "visit" });
  await bench.session.send({ kind: "fill tool", field: "url", text: "javascript:alert(1)" });
  await bench.session.send({ kind: "call tool" });
  expect(outputOf(await bench.ended(), "out").join()).toContain("must be http or https");
});
