import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { TuiEvent } from "../../src/tui/events.ts";
import { set } from "../../src/tui/events.ts";
import { createForm } from "../../src/tui/form.ts";
import { drawFrame } from "../../src/tui/frame.ts";
import { Keyboard, KeyGuard } from "../../src/tui/keyboard.ts";
import { bindingsOf, press, tabsOf, unexpectedQuestion } from "../../src/tui/press.ts";
import { reduce } from "../../src/tui/reducer.ts";
import { screenNames, type TuiState } from "../../src/tui/state.ts";
import { initialView, type KeyAction, type View, withFocus } from "../../src/tui/view.ts";
import {
  approvals,
  document,
  features,
  intended,
  now,
  output,
  pageQuestion,
  question,
  runOf,
  stateAt,
  status,
  tools,
} from "./moments.ts";

const size = { columns: 80, rows: 24 };

interface Pressed {
  readonly state: TuiState;
  readonly view: View;
  /** The requests to the session and the terminal. */
  readonly acts: readonly KeyAction[];
}

/** Presses keys one after the other, the state changing as it would. */
function type(events: readonly TuiEvent[], keys: string, view: View = initialView): Pressed {
  let pressed: Pressed = { state: stateAt(size, events), view, acts: [] };
  const keyboard = new Keyboard();
  for (const key of [...keyboard.read(keys), ...keyboard.flush()]) {
    for (const act of press({ state: pressed.state, view: pressed.view, now }, key))
      pressed = follow(pressed, act);
  }
  return pressed;
}

function follow({ state, view, acts }: Pressed, act: KeyAction): Pressed {
  if (act.kind === "view") return { state, view: act.view, acts };
  if (act.kind === "focus") return { state, view: withFocus(view, act.on, act.part), acts };
  if (act.kind === "edit file") return { state, view, acts: [...acts, act] };
  return { state: reduce(state, intended(act)), view, acts: [...acts, act] };
}

test.each(screenNames)("digits, ? and q mean the same on the screen %s", (screen) => {
  const there = [features, tools, status, approvals, intended({ kind: "go", screen })];
  const tabs = tabsOf(stateAt(size, there));
  for (const [index, tab] of tabs.entries())
    expect(type(there, `${index + 1}`).state.screen).toBe(tab);
  expect(type(there, "?").state).toMatchObject({ isHelpShown: true, screen });
  expect(type(there, "?2").state).toMatchObject({ isHelpShown: false, screen: tabs[1] });
  expect(type(there, "q").acts).toEqual([{ kind: "quit" }]);
  const frame = drawFrame({ state: stateAt(size, there), view: initialView, now }, false);
  const footer = stripVTControlCharacters(frame).split("\n").at(-1);
  expect(footer).toMatch(/\? keys {2}q quit$/);
});

test("in a text field that was opened, digits, ? and q are text, and Esc leaves it", () => {
  const atTools = [tools, intended({ kind: "go", screen: "tools" })];
  const typed = type(atTools, "/q1?");
  expect(typed.state).toMatchObject({ screen: "tools", tools: { search: "q1?" } });
  expect(drawFrame({ ...typed, now }, false)).toMatch(/Esc end the search.*F1 keys {2}\^C quit/);
  expect(type(atTools, "/q1?\u001b1").state).toMatchObject({ screen: "servers" });
});

const specDraft = { step: "specify", feature: undefined, text: "" } as const;
const taskify = "001-create-taskify";

test.each([
  ["c", "clarify", "Who may see it?\u001b\rFor how long?"],
  ["i", "implement", "US1"],
  ["u", "specify", "Members can also export boards"],
  ["p", "plan", "TypeScript"],
  ["o", "constitution", "Small: one file a day"],
  ["x", "checklist", "security"],
] as const)("%s asks what %s should be told, and sends it", (key, step, text) => {
  const typed = text.replace("\u001b\r", "\n");
  for (const events of [
    [features],
    [features, intended({ kind: "open feature", name: taskify })],
  ]) {
    const { state, acts } = type(events, `${key}${text}\r`);
    expect(state.features.draft).toEqual({ step, feature: taskify, text: typed });
    expect(acts.at(-1)).toEqual({ kind: "send draft" });
    expect(type(events, `${key}${text}\u001b`).state.features.draft).toBeUndefined();
  }
});

test.each([
  ["a", "analyze"],
  ["t", "tasks"],
  ["v", "converge"],
  ["f", "taskstoissues"],
] as const)("%s runs %s at once", (key, step) => {
  expect(type([features], key).acts).toEqual([{ kind: "run step", feature: taskify, step }]);
});

test("steps that the server lacks have no key, and the constitution needs no feature", () => {
  const lacking = set("features", { missing: ["speckit.converge"] });
  expect(type([features, lacking], "v").acts).toEqual([]);
  const none: TuiEvent = { kind: "features", items: [] };
  expect(type([none], "o").state.features.draft?.step).toBe("constitution");
  expect(type([none], "c").acts).toEqual([]);
});

test("the next step can be run from the list and from the feature", () => {
  const next: KeyAction = { kind: "run step", feature: "001-create-taskify" };
  expect(type([features], "s").acts).toEqual([next]);
  expect(type([features], "\rs").acts).toEqual([
    { kind: "open feature", name: "001-create-taskify" },
    next,
  ]);
});

test("a description can be typed, corrected, pasted into and sent", () => {
  const { state, acts } = type(
    [features],
    "nShare albmu\u007f\u007fum\u001b\rwith \u001b[200~friends\nq?\u001b[201~\r",
  );
  expect(state.features.draft?.text).toBe("Share album\nwith friends\nq?");
  expect(acts.at(-1)).toEqual({ kind: "send draft" });
});

test("letters are text in a text field and keys elsewhere", () => {
  expect(type([features], "n").acts).toEqual([set("features", { draft: specDraft })]);
  expect(type([features], "nq1?s").state.features.draft?.text).toBe("q1?s");
  expect(type([features], "q").acts).toEqual([{ kind: "quit" }]);
  expect(type([features], "nabc\u0003").acts.at(-1)).toEqual({ kind: "quit" });
});

test("a page has its own key, not Enter, and a long address scrolls", () => {
  const started: TuiEvent = { kind: "run started", run: runOf() };
  expect(type([started, pageQuestion], "\r \n\t").acts).toEqual([]);
  expect(type([started, pageQuestion], "o").acts).toEqual([{ kind: "open page", question: "q2" }]);
  expect(type([started, pageQuestion], "a").acts).toEqual([
    { kind: "answer question", question: "q2", action: "accept" },
  ]);
  expect(type([started, pageQuestion], "\u001b[B\u001b[B\u001b[A").state.scrolls).toEqual({
    "question q2": 1,
  });
});

test("quitting asks while something runs; a second press quits", () => {
  const running: readonly TuiEvent[] = [features, { kind: "run started", run: runOf() }];
  const once = type(running, "q").state;
  expect([once.isQuitting, once.confirmation?.message]).toEqual([
    false,
    "speckit.implement is still running. Cancel it and quit?",
  ]);
  expect(type(running, "qn").state).toMatchObject({ isQuitting: false, confirmation: undefined });
  for (const keys of ["qy", "\u0003\u0003"])
    expect(type(running, keys).state.isQuitting).toBe(true);
  expect(type([features], "q").state.isQuitting).toBe(true);
});

test("? opens and closes help; F1 does while typing", () => {
  expect(type([features], "?").state.isHelpShown).toBe(true);
  expect(type([features], "??").state.isHelpShown).toBe(false);
  expect(type([tools, intended({ kind: "go", screen: "tools" })], "?").state.isHelpShown).toBe(
    true,
  );
  const typed = type([tools, intended({ kind: "go", screen: "tools" })], "/a?");
  expect([typed.state.isHelpShown, typed.state.tools.search]).toEqual([false, "a?"]);
  expect(
    type([tools, intended({ kind: "go", screen: "tools" })], "/a\u001bOP").state.isHelpShown,
  ).toBe(true);
});

test("digits, Tab and Shift-Tab switch screens", () => {
  expect(type([features], "4").state.screen).toBe("approvals");
  expect(type([features], "\t\t").state.screen).toBe("servers");
  expect(type([features], "\u001b[Z").state.screen).toBe("approvals");
  expect(type([features], "3\r(\u001b1").state.screen).toBe("servers");
});

test("documents can be switched, scrolled to their end and edited", () => {
  const opened: readonly TuiEvent[] = [
    features,
    intended({ kind: "open feature", name: "001-create-taskify" }),
    { kind: "document", feature: "001-create-taskify", path: "tasks.md", text: document },
  ];
  expect(type(opened, "h").state.feature?.document).toBe("research.md");
  const end = type(opened, "G").state.scrolls["document 001-create-taskify/tasks.md"];
  expect(end).toBeGreaterThan(5);
  expect(type(opened, "GGjj   ").state.scrolls["document 001-create-taskify/tasks.md"]).toBe(end);
  expect(type(opened, "e").acts).toEqual([
    { kind: "edit file", path: "/home/ada/photo-albums/specs/001-create-taskify/tasks.md" },
  ]);
});

test("Esc cancels a run once, and leaves the screen after it", () => {
  const running: readonly TuiEvent[] = [features, { kind: "run started", run: runOf() }];
  expect(type(running, "\u001b").acts).toEqual([{ kind: "cancel run", run: "r1" }]);
  expect(type([...running, intended({ kind: "cancel run", run: "r1" })], "\u001b").acts).toEqual(
    [],
  );
  const failure = {
    kind: "cancelled",
    message: "it was cancelled",
    hint: "",
    mayRetry: true,
  } as const;
  const ended: readonly TuiEvent[] = [
    ...running,
    { kind: "run ended", run: "r1", state: { kind: "cancelled", endedAt: now, failure } },
  ];
  expect(type(ended, "r").acts).toEqual([{ kind: "retry run", run: "r1" }]);
  expect(type(ended, "\u001b").state.screen).toBe("features");
});

test("new output does not move a scrolled view; End follows again", () => {
  const running: readonly TuiEvent[] = [
    { kind: "run started", run: runOf() },
    { kind: "output", run: "r1", lines: output },
  ];
  const back = type(running, "\u001b[A\u001b[A").state;
  expect(back.scrolls["run r1"]).toBe(output.length - 2);
  const more = reduce(back, { kind: "output", run: "r1", lines: output });
  expect(more.scrolls["run r1"]).toBe(output.length - 2);
  expect(type(running, "\u001b[A\u001b[F").state.scrolls["run r1"]).toBe(0);
});

test("an answer is shown from its start and can be paged", () => {
  const answered: readonly TuiEvent[] = [
    tools,
    intended({ kind: "go", screen: "tools" }),
    {
      kind: "run started",
      run: runOf({ id: "t1", kind: "tool", tool: "evaluate-lisp", about: "" }),
    },
    { kind: "output", run: "t1", lines: output },
    {
      kind: "run ended",
      run: "t1",
      state: { kind: "completed", endedAt: now, result: {}, saved: [] },
    },
    intended({ kind: "show run", run: "t1" }),
  ];
  const [down, up, end] = ["\u001b[6~", "\u001b[5~", "\u001b[F"];
  const page = 13;
  const before = output.findIndex(({ source }) => source === "out");
  expect(before).toBeGreaterThan(0);
  expect(type(answered, down).state.scrolls["run t1"]).toBe(before + 2 * page);
  expect(type(answered, `${down}${up}`).state.scrolls["run t1"]).toBe(0);
  // Earlier messages are above it.
  expect(type(answered, up).state.scrolls["run t1"]).toBe(page);
  expect(type(answered, end).state.scrolls["run t1"]).toBe(output.length);
});

test("calls from other screens are on the run screen, too", () => {
  const called: readonly TuiEvent[] = [
    tools,
    {
      kind: "run started",
      run: runOf({ id: "t1", kind: "tool", tool: "weather.forecast", about: "" }),
    },
  ];
  expect(type(called, "6\u001b").acts.at(-1)).toEqual({ kind: "cancel run", run: "t1" });
});

test("one key reports handed-back tasks as done", () => {
  const result = { structuredContent: { tasks: [{ id: "T010" }, { id: "T011" }] } };
  const given: readonly TuiEvent[] = [
    features,
    { kind: "run started", run: runOf() },
    { kind: "run ended", run: "r1", state: { kind: "completed", endedAt: now, result, saved: [] } },
  ];
  const report: KeyAction = {
    kind: "run step",
    feature: "001-create-taskify",
    step: "implement",
    arguments: { completed: ["T010", "T011"] },
    isConfirmed: true,
  };
  expect(type(given, "d").acts).toEqual([report]);

  // The filter that the user gave stays.
  const [, , ended] = given;
  const run = { ...runOf(), arguments: { task_filter: "next" } };
  const filtered = [features, { kind: "run started", run } as const, ...(ended ? [ended] : [])];
  expect(type(filtered, "d").acts).toEqual([
    { ...report, arguments: { completed: ["T010", "T011"], task_filter: "next" } },
  ]);
});

test("no key is listed twice", () => {
  const open = type([tools, intended({ kind: "go", screen: "tools" })], "/weather\r");
  for (const { state, view } of [
    open,
    type([features], ""),
    type([{ kind: "run started", run: runOf() }, question], ""),
  ]) {
    const keys = bindingsOf({ state, view, now }).flatMap((binding) => binding.keys);
    expect(keys).toEqual([...new Set(keys)]);
  }
});

test("infos end with the screen, errors stay", () => {
  const told: readonly TuiEvent[] = [
    features,
    { kind: "notice", level: "error", text: "it is gone" },
    { kind: "notice", level: "info", text: "it is back" },
  ];
  expect(type(told, "2").state.notices.map(({ text }) => text)).toEqual(["it is gone"]);
});

test("a tool is searched, its form filled in, and called", () => {
  const { state, acts } = type(
    [tools, intended({ kind: "go", screen: "tools" })],
    "/weather\r\u007f5\tBerlin\t\u001b[C\u001b[C\u001b[C\u0013",
  );
  expect(state.tools).toMatchObject({
    search: "weather",
    selected: "weather.forecast",
    form: { texts: { city: "Berlin", unit: "celsius", days: "5" }, problems: {} },
  });
  expect(acts.at(-1)).toEqual({ kind: "call tool" });
});

test("Enter goes to the next field and sends after the last", () => {
  const { acts } = type([{ kind: "run started", run: runOf() }, question], "\u001b[C\rrules\r");
  expect(acts).toEqual([
    { kind: "fill question", question: "q1", field: "keep", text: "30 days" },
    ..."rules".split("").map((_letter, at) => ({
      kind: "fill question",
      question: "q1",
      field: "why",
      text: "rules".slice(0, at + 1),
    })),
    { kind: "answer question", question: "q1", action: "accept" },
  ]);
});

test("a question waits during typing until Ctrl-G", () => {
  const typing: readonly TuiEvent[] = [
    tools,
    intended({ kind: "go", screen: "agents" }),
    intended(set("agents", { task: "count" })),
    question,
  ];
  const field = withFocus(initialView, "agents", "task");
  expect(type(typing, " all", field).state.agents.task).toBe("count all");
  expect(type(typing, "\u0007\u001b", field).acts).toEqual([
    { kind: "answer question", question: "q1", action: "cancel" },
  ]);
  expect(type([features, question], "\u000e").acts).toEqual([
    { kind: "answer question", question: "q1", action: "decline" },
  ]);
});

test("pending calls are answered with one key", () => {
  const waiting: readonly TuiEvent[] = [approvals, intended({ kind: "go", screen: "approvals" })];
  expect(type(waiting, "y").acts).toEqual([{ kind: "approve", token: "a1", answer: "once" }]);
  expect(type(waiting, "\u001b[Ba").acts.at(-1)).toEqual({
    kind: "approve",
    token: "a2",
    answer: "always",
  });
  expect(type(waiting, "n").acts).toEqual([{ kind: "approve", token: "a1", answer: "no" }]);
});

test("a confirmation takes y and Esc", () => {
  const asked: readonly TuiEvent[] = [
    { kind: "run started", run: runOf() },
    intended({ kind: "quit" }),
  ];
  expect(type(asked, "y").acts).toEqual([{ kind: "confirm", isYes: true }]);
  expect(type(asked, "\u001b").acts).toEqual([{ kind: "confirm", isYes: false }]);
});

test("when the selected call is gone, a key press approves no other", () => {
  const both = approvals.kind === "approvals" ? approvals.pending : [];
  const [first, second] = both;
  const atApprovals: readonly TuiEvent[] = [
    approvals,
    intended({ kind: "go", screen: "approvals" }),
  ];
  expect(type(atApprovals, "y").acts).toEqual([
    { kind: "approve", token: first?.token, answer: "once" },
  ]);
  const left: readonly TuiEvent[] = [
    ...atApprovals,
    { kind: "approvals", pending: both.slice(1) },
    { kind: "approvals", pending: both.slice(1) },
  ];
  expect(type(left, "yahn").acts).toEqual([]);
  expect(type(left, "jy").acts.at(-1)).toEqual({
    kind: "approve",
    token: second?.token,
    answer: "once",
  });
});

test("a call can be approved once its end was visible", () => {
  const [one] = approvals.kind === "approvals" ? approvals.pending : [];
  if (!one) throw new Error("there is one");
  const preview = Array.from({ length: 40 }, (_, index) => `  argument ${index}: value`).join("\n");
  const atApprovals: readonly TuiEvent[] = [
    { kind: "approvals", pending: [{ ...one, preview }] },
    intended({ kind: "go", screen: "approvals" }),
  ];
  expect(type(atApprovals, "yah").acts).toEqual([]);
  expect(type(atApprovals, "n").acts).toEqual([
    { kind: "approve", token: one.token, answer: "no" },
  ]);
  expect(type(atApprovals, "\u001b[6~\u001b[6~\u001b[6~\u001b[6~y").acts.at(-1)).toEqual({
    kind: "approve",
    token: one.token,
    answer: "once",
  });
});

test("a long question can be accepted at its end, and declined at any time", () => {
  const message = Array.from({ length: 60 }, (_, index) => `line ${index}`).join("\n");
  const asked: readonly TuiEvent[] = [
    { kind: "run started", run: runOf() },
    {
      kind: "asked",
      question: { id: "q9", run: "r1", kind: "sampling", message, form: createForm({}) },
    },
  ];
  expect(type(asked, "\r\u0013").acts).toEqual([]);
  expect(type(asked, "\u000e").acts).toEqual([
    { kind: "answer question", question: "q9", action: "decline" },
  ]);
  expect(type(asked, "\u0018").acts).toEqual([{ kind: "cancel run", run: "r1" }]);
  expect(type(asked, `${"\u001b[6~".repeat(5)}\r`).acts.at(-1)).toEqual({
    kind: "answer question",
    question: "q9",
    action: "accept",
  });
});

test("a key pressed as a question appears does not answer it", () => {
  let now = 0;
  const keyGuard = new KeyGuard(() => now);
  const enter = { name: "enter", text: undefined };
  keyGuard.onFrame(undefined);
  expect(keyGuard.isAccidental(undefined, enter)).toBe(false);
  // It is there, and not yet on the screen.
  expect(keyGuard.isAccidental("q1", enter)).toBe(true);
  keyGuard.onFrame("q1");
  now += 200;
  // A person who keeps typing has not seen it.
  expect(keyGuard.isAccidental("q1", enter)).toBe(true);
  now += 200;
  expect(keyGuard.isAccidental("q1", enter)).toBe(true);
  expect(keyGuard.isAccidental("q1", { name: "ctrl+c", text: undefined })).toBe(false);
  now += 400;
  expect(keyGuard.isAccidental("q1", enter)).toBe(false);
  // The next question begins anew, however the first ended.
  expect(keyGuard.isAccidental("q2", enter)).toBe(true);
});

test("a question brought up with Ctrl-G takes keys at once", () => {
  const asked = [features, question];
  const moment = { state: stateAt(size, asked), view: initialView, now };
  expect(unexpectedQuestion(moment)).toBe("q1");
  expect(unexpectedQuestion({ ...moment, view: type(asked, "\u0007").view })).toBe(undefined);
});
