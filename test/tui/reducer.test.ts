import { describe, expect, test, vi } from "vitest";
import { createActivityTimeout } from "../../src/client/activity-timeout.ts";
import type { Intention, TuiEvent } from "../../src/tui/events.ts";
import { set } from "../../src/tui/events.ts";
import { createForm, fillForm, readForm } from "../../src/tui/form.ts";
import { appendOutput, emptyOutput, type OutputLine } from "../../src/tui/output.ts";
import { reduce } from "../../src/tui/reducer.ts";
import {
  createInitialState,
  type FeatureView,
  foundTools,
  type RunView,
  screensOf,
  type TuiState,
} from "../../src/tui/state.ts";

const hall = { kind: "hall", name: "project", transport: "socket", folder: "/project" } as const;
const initial = createInitialState({
  target: hall,
  size: { columns: 80, rows: 24 },
  screen: "features",
});

function after(events: readonly TuiEvent[], state: TuiState = initial): TuiState {
  return events.reduce(reduce, state);
}

function wanted(...intentions: readonly Intention[]): readonly TuiEvent[] {
  return intentions.map((intention) => ({ kind: "intended", intention }));
}

function feature(name: string, files: readonly string[] = ["spec.md"]): FeatureView {
  const directory = `/project/specs/${name}`;
  return {
    name,
    number: name.slice(0, 3),
    directory,
    phase: "plan",
    tasks: undefined,
    files,
    openQuestions: 0,
    isActive: false,
    run: undefined,
  };
}

function run(id: string, more: Partial<RunView> = {}): RunView {
  const usual = {
    kind: "step",
    tool: "speckit.plan",
    arguments: {},
    about: "001-a",
    startedAt: 0,
    progress: undefined,
    output: emptyOutput,
  } as const;
  return { id, state: { kind: "running" }, logPath: undefined, ...usual, ...more };
}

const tool = {
  name: "files.read",
  title: undefined,
  description: "Reads a file",
  inputSchema: { type: "object", properties: { path: { type: "string" } } },
  isDestructive: false,
};
const failure = { kind: "failed", message: "it failed", hint: "mend it", mayRetry: true } as const;

test("a feature opens on the next step's document, and a late text is ignored", () => {
  const opened = after([
    { kind: "features", items: [feature("001-a", ["plan.md", "spec.md"]), feature("002-b")] },
    ...wanted({ kind: "open feature", name: "001-a" }),
    { kind: "document", feature: "002-b", path: "spec.md", text: "of another" },
    { kind: "document", feature: "001-a", path: "plan.md", text: "# Plan" },
  ]);
  expect(opened).toMatchObject({
    screen: "feature",
    feature: { name: "001-a", document: "plan.md", text: "# Plan" },
    features: { selected: "001-a" },
  });
  const other = after(wanted({ kind: "open document", path: "spec.md" }), opened);
  expect(other.feature).toMatchObject({ document: "spec.md", text: undefined });
});

test("a selection stays while its item exists", () => {
  const chosen = after([
    { kind: "features", items: [feature("001-a"), feature("002-b")] },
    ...wanted(set("features", { selected: "002-b" })),
  ]);
  expect(
    after([{ kind: "features", items: [feature("002-b"), feature("003-c")] }], chosen).features
      .selected,
  ).toBe("002-b");
  expect(after([{ kind: "features", items: [feature("003-c")] }], chosen).features.selected).toBe(
    "003-c",
  );
});

test("a failed reload keeps the old list", () => {
  const state = after([
    { kind: "features", items: [feature("001-a")] },
    { kind: "load failed", part: "features", failure },
  ]);
  expect(state.features).toMatchObject({
    load: { kind: "failed", failure },
    items: [{ name: "001-a" }],
  });
});

test("a step shows the run screen and clears its draft", () => {
  const state = after([
    ...wanted(set("features", { draft: { step: "specify", feature: undefined, text: "reports" } })),
    { kind: "run started", run: run("run_1", { tool: "speckit.specify" }) },
  ]);
  expect(state).toMatchObject({ screen: "run", shownRun: "run_1", features: { draft: undefined } });
});

test("progress without a message keeps the last one", () => {
  const state = after([
    { kind: "run started", run: run("run_1", { kind: "agent" }) },
    { kind: "progress", run: "run_1", progress: { progress: 1, total: 4, message: "1/4 read" } },
    { kind: "progress", run: "run_1", progress: { progress: 2, total: 4 } },
  ]);
  expect(state.runs[0]).toMatchObject({ progress: { progress: 2, message: "1/4 read" } });
  expect(state.agents).toMatchObject({ run: "run_1", task: "" });
});

test("only eight runs are kept, and all that are running", () => {
  const ended = { kind: "completed", endedAt: 1, result: {}, saved: [] } as const;
  const events = Array.from({ length: 12 }, (_, index): readonly TuiEvent[] => [
    { kind: "run started", run: run(`run_${index}`) },
    ...(index === 0 ? [] : [{ kind: "run ended", run: `run_${index}`, state: ended } as const]),
  ]).flat();
  const { runs } = after(events);
  expect(runs.map(({ id }) => id)).toEqual([
    ...Array.from({ length: 8 }, (_, index) => `run_${11 - index}`),
    "run_0",
  ]);
});

test("cancelling shows at once, and ending a run removes its questions", () => {
  const question = {
    id: "question_1",
    run: "run_1",
    kind: "form",
    message: "?",
    form: createForm({}),
  } as const;
  const cancelling = after([
    { kind: "run started", run: run("run_1") },
    { kind: "asked", question },
    ...wanted({ kind: "cancel run", run: "run_1" }),
  ]);
  expect(cancelling.runs[0]?.state.kind).toBe("cancelling");
  const over = after(
    [{ kind: "run ended", run: "run_1", state: { kind: "cancelled", endedAt: 1, failure } }],
    cancelling,
  );
  expect(over.questions).toEqual([]);
});

test("the form of a tool is as it was left, also after another was looked at", () => {
  const other = { ...tool, name: "files.write" };
  const state = after([
    { kind: "tools", tools: [tool, other], agents: [], missing: [] },
    ...wanted(
      { kind: "select tool", name: "files.read" },
      { kind: "fill tool", field: "path", text: "notes.md" },
      { kind: "select tool", name: "files.write" },
      { kind: "select tool", name: "files.read" },
    ),
  ]);
  expect(state.tools.form?.texts).toEqual({ path: "notes.md" });
});

test("every word of a search must be somewhere in a tool; those that are called so come first", () => {
  const items = [tool, { ...tool, name: "mail.send", description: "Sends a file by mail" }];
  expect(foundTools({ items, search: " FILE  mail" }).map(({ name }) => name)).toEqual([
    "mail.send",
  ]);
  expect(foundTools({ items, search: "mail" }).map(({ name }) => name)).toEqual(["mail.send"]);
  expect(foundTools({ items: items.toReversed(), search: "file" }).map(({ name }) => name)).toEqual(
    [tool.name, "mail.send"],
  );
  expect(foundTools({ items, search: "" })).toBe(items);
});

test("the hall's own screens are there only for a hall", () => {
  const foreign = createInitialState({
    target: { ...hall, kind: "server" },
    size: { columns: 80, rows: 24 },
    screen: "features",
  });
  expect(screensOf(foreign)).not.toContain("approvals");
  expect(screensOf(initial)).toContain("approvals");
  expect(after(wanted({ kind: "go", screen: "approvals" }), foreign).screen).toBe("features");
});

test("repeated notices are shown once, and only the last are kept", () => {
  const say = (text: string): TuiEvent => ({ kind: "notice", level: "info", text });
  const state = after([
    say("a"),
    say("a"),
    ...Array.from({ length: 30 }, (_, index) => say(`n${index}`)),
  ]);
  expect(state.notices.length).toBe(20);
  expect(state.notices.at(-1)).toMatchObject({ id: 31, text: "n29" });
  expect(after(wanted({ kind: "dismiss", notice: 31 }), state).notices.at(-1)?.text).toBe("n28");
});

test("unchanged parts stay the same objects", () => {
  const next = after(wanted(set("agents", { task: "x" })));
  expect(next.tools).toBe(initial.tools);
  expect(after(wanted({ kind: "call tool" }))).toBe(initial);
});

test("a ring keeps the newest lines and counts the rest", () => {
  const line = (text: string): OutputLine => ({ source: "out", text });
  const ring = appendOutput(
    appendOutput(emptyOutput, ["a", "b"].map(line), 3),
    ["c", "d"].map(line),
    3,
  );
  expect(ring).toEqual({ lines: ["b", "c", "d"].map(line), dropped: 1 });
  expect(appendOutput(ring, ["1", "2", "3", "4", "5"].map(line), 3)).toEqual({
    lines: ["3", "4", "5"].map(line),
    dropped: 6,
  });
});

describe("a form", () => {
  const schema = {
    type: "object",
    properties: {
      note: { type: "string" },
      size: {
        type: "string",
        oneOf: [
          { const: "s", title: "Small" },
          { const: "l", title: "Large" },
        ],
        default: "l",
      },
      tags: { type: "array", items: { type: "string", enum: ["a", "b"] } },
      lines: { type: "array", items: { type: "string" } },
      amount: { type: "number" },
      sure: { type: ["boolean", "null"], default: false },
      extra: { type: "object" },
    },
    required: ["amount"],
  };

  test("shows the fields in their author's order, with the kind of each", () => {
    expect(
      createForm(schema).fields.map(({ name, kind, default: usual }) => [name, kind, usual]),
    ).toEqual([
      ["note", "text", ""],
      ["size", "choice", "Large"],
      ["tags", "choices", ""],
      ["lines", "list", ""],
      ["amount", "number", ""],
      ["sure", "boolean", "no"],
      ["extra", "json", ""],
    ]);
  });

  test("converts values to the schema's types and leaves out empty ones", () => {
    const texts = {
      amount: " 2.5",
      size: "Small",
      tags: "a, b",
      lines: "one\n\ntwo",
      sure: "y",
      extra: '{"deep":[1]}',
    };
    const filled = Object.entries(texts).reduce(
      (form, [field, text]) => fillForm(form, field, text),
      createForm(schema),
    );
    expect(readForm(filled)).toEqual({
      values: {
        amount: 2.5,
        size: "s",
        tags: ["a", "b"],
        lines: ["one", "two"],
        sure: true,
        extra: { deep: [1] },
      },
    });
  });

  test("reports a problem per field", () => {
    const filled = [
      ["size", "Medium"],
      ["tags", "a, c"],
      ["sure", "maybe"],
      ["extra", "{"],
    ].reduce((form, [field = "", text = ""]) => fillForm(form, field, text), createForm(schema));
    expect(readForm(filled)).toEqual({
      problems: {
        amount: "required",
        size: "expected one of: Small, Large",
        tags: "expected one of: a, b",
        sure: "expected yes or no",
        extra: "expected valid JSON",
      },
    });
  });
});

test("activity renews the timeout, and a question to the user stops it", async () => {
  vi.useFakeTimers();
  try {
    const expired = vi.fn();
    const timeout = createActivityTimeout({ silentMsMax: 1_000, totalMsMax: 10_000, expired });
    vi.advanceTimersByTime(900);
    timeout.renew();
    vi.advanceTimersByTime(900);
    expect(expired).not.toHaveBeenCalled();
    let answer = (): void => {};
    const paused = timeout.pauseWhile(() => new Promise<void>((resolve) => (answer = resolve)));
    vi.advanceTimersByTime(100_000);
    expect(expired).not.toHaveBeenCalled();
    answer();
    await paused;
    vi.advanceTimersByTime(999);
    expect(expired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(expired.mock.calls).toEqual([["silent"]]);
  } finally {
    vi.useRealTimers();
  }
});

test("activity does not extend the total limit, and time for questions does not count", async () => {
  vi.useFakeTimers();
  try {
    const expired = vi.fn();
    const timeout = createActivityTimeout({ silentMsMax: 1_000, totalMsMax: 5_000, expired });
    const live = (ms: number): void => {
      for (let past = 0; past < ms; past += 500) {
        vi.advanceTimersByTime(500);
        timeout.renew();
      }
    };
    live(3_000);
    let answer = (): void => {};
    const paused = timeout.pauseWhile(() => new Promise<void>((resolve) => (answer = resolve)));
    vi.advanceTimersByTime(100_000);
    answer();
    await paused;
    timeout.pause();
    vi.advanceTimersByTime(100_000);
    timeout.renew();
    live(1_500);
    expect(expired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(500);
    expect(expired.mock.calls).toEqual([["long"]]);
  } finally {
    vi.useRealTimers();
  }
});

test("after a step a feature opens on new documents, and an open document stays", () => {
  const open = wanted({ kind: "open feature", name: "001-a" });
  const done: TuiEvent = {
    kind: "run ended",
    run: "run_1",
    state: { kind: "completed", endedAt: 1, result: {}, saved: [] },
  };
  const written: TuiEvent = { kind: "features", items: [feature("001-a", ["plan.md", "spec.md"])] };
  const read = after([{ kind: "features", items: [feature("001-a")] }, ...open]);
  expect(read.feature?.document).toBe("spec.md");
  const planned = after([{ kind: "run started", run: run("run_1") }, written, done], read);
  expect(after(open, planned).feature?.document).toBe("plan.md");
  const looking = after([{ kind: "run started", run: run("run_1") }, ...open, written, done], read);
  expect(looking).toMatchObject({ screen: "feature", feature: { document: "spec.md" } });
});
