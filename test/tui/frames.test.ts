import { readdirSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { TuiEvent } from "../../src/tui/events.ts";
import { set } from "../../src/tui/events.ts";
import { drawFrame } from "../../src/tui/frame.ts";
import { loadWidths, widthOf } from "../../src/tui/parts/text.ts";
import { initialView, type View } from "../../src/tui/view.ts";
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

await loadWidths();

const go = (screen: "run" | "tools" | "agents" | "servers" | "approvals"): TuiEvent =>
  intended({ kind: "go", screen });
const toolOpen: View = { ...initialView, focus: { tools: "form" } };
const failure = {
  kind: "timed out",
  message: "speckit.plan timed out: no message for 60 s",
  hint: "Retry, or raise mcp.timeout in the config.",
  mayRetry: true,
} as const;

/** Screens by name: the events that lead there, and where keys go. */
const scenes: Readonly<
  Record<string, { readonly events: readonly TuiEvent[]; readonly view?: View }>
> = {
  features: { events: [features, tools] },
  "features-none": { events: [{ kind: "features", items: [] }] },
  "features-draft": {
    events: [
      features,
      intended(
        set("features", {
          draft: {
            step: "specify",
            feature: undefined,
            text: "Let people share an album\nwith those they trust",
          },
        }),
      ),
    ],
  },
  feature: {
    events: [
      features,
      intended({ kind: "open feature", name: "001-create-taskify" }),
      { kind: "document", feature: "001-create-taskify", path: "tasks.md", text: document },
    ],
  },
  "run-running": {
    events: [
      features,
      { kind: "run started", run: runOf() },
      { kind: "run logged", run: "r1", path: ".guildhall/logs/tui-001-implement.log" },
      { kind: "output", run: "r1", lines: output.slice(0, 8) },
      {
        kind: "progress",
        run: "r1",
        progress: { progress: 9, total: 24, message: "T010 Write the model" },
      },
    ],
  },
  "run-scrolled": {
    events: [
      { kind: "run started", run: runOf() },
      { kind: "output", run: "r1", lines: output },
      intended({ kind: "scroll", view: "run r1", to: 20 }),
    ],
  },
  "run-timed-out": {
    events: [
      { kind: "run started", run: runOf({ tool: "speckit.plan" }) },
      { kind: "run ended", run: "r1", state: { kind: "timed out", endedAt: now, failure } },
    ],
  },
  "run-question": {
    events: [{ kind: "run started", run: runOf({ tool: "speckit.clarify" }) }, question],
  },
  "run-page": {
    events: [
      { kind: "run started", run: runOf({ kind: "tool", tool: "photos.list" }) },
      pageQuestion,
      go("run"),
    ],
  },
  tools: { events: [tools, go("tools")] },
  "tools-search": {
    events: [tools, go("tools"), intended(set("tools", { search: "weath" }))],
  },
  "tools-form": {
    events: [
      tools,
      go("tools"),
      intended({ kind: "select tool", name: "weather.forecast" }),
      intended({ kind: "fill tool", field: "unit", text: "celsius" }),
      intended({ kind: "call tool" }),
    ],
    view: toolOpen,
  },
  "tools-result": {
    events: [
      tools,
      go("tools"),
      intended({ kind: "select tool", name: "weather.forecast" }),
      {
        kind: "run started",
        run: runOf({ id: "t1", kind: "tool", tool: "weather.forecast", about: "" }),
      },
      { kind: "output", run: "t1", lines: [{ source: "out", text: "Sunny, 21 degrees" }] },
      {
        kind: "run ended",
        run: "t1",
        state: {
          kind: "completed",
          endedAt: now - 74_000,
          result: {},
          saved: [".guildhall/saved/map.png"],
        },
      },
    ],
    view: toolOpen,
  },
  agents: {
    events: [
      tools,
      go("agents"),
      {
        kind: "run started",
        run: runOf({ id: "a1", kind: "agent", tool: "ask_files", about: "count the photos" }),
      },
      {
        kind: "progress",
        run: "a1",
        progress: { progress: 2, total: 16, message: "2/16 files.count …" },
      },
      {
        kind: "output",
        run: "a1",
        lines: ["1/16 files.list …", "2/16 files.count …"].map((text) => ({
          source: "progress",
          text,
        })),
      },
      intended(set("agents", { task: "now the videos" })),
    ],
  },
  servers: {
    events: [
      status,
      go("servers"),
      intended(set("servers", { selected: "weather" })),
      set("servers", { logs: { server: "weather", lines: ["starting", "Error: no API key"] } }),
    ],
  },
  approvals: { events: [approvals, go("approvals")] },
  help: { events: [features, intended({ kind: "help", isShown: true })] },
  confirmation: {
    events: [features, { kind: "run started", run: runOf() }, intended({ kind: "quit" })],
  },
  notice: {
    events: [
      features,
      {
        kind: "notice",
        level: "error",
        text: "the restart failed: cannot restart files, because the hall of /home/ada/photo-albums has stopped in the meantime and another one is starting. Wait a moment.",
        retry: { kind: "quit" },
      },
    ],
  },
  lost: {
    events: [
      features,
      {
        kind: "connection",
        connection: { kind: "lost", failure, attempt: 2, retryAt: now + 4_000 },
      },
      {
        kind: "notice",
        level: "error",
        text: "the hall closed the connection",
        retry: { kind: "reconnect" },
      },
    ],
  },
  unreachable: {
    events: [
      {
        kind: "connection",
        connection: { kind: "lost", failure, attempt: 2, retryAt: now + 4_000 },
      },
    ],
  },
  "trying-again": {
    events: [{ kind: "connection", connection: { kind: "connecting", attempt: 3, failure } }],
  },
};

function frameOf(
  name: string,
  size: { readonly columns: number; readonly rows: number },
  hasColours = false,
): string {
  const { events, view = initialView } = scenes[name] ?? { events: [] };
  const moment = { state: stateAt(size, events), view, now };
  return drawFrame(moment, hasColours);
}

for (const [columns, rows] of [
  [80, 24],
  [120, 40],
] as const) {
  test.each(Object.keys(scenes))(`%s at ${columns}x${rows}`, async (name) => {
    const lines = stripVTControlCharacters(frameOf(name, { columns, rows })).split("\n");
    expect(lines).toHaveLength(rows);
    expect(lines.filter((line) => widthOf(line) > columns)).toEqual([]);
    await expect(`${lines.map((line) => line.trimEnd()).join("\n")}\n`).toMatchFileSnapshot(
      `../golden/tui/${name}-${columns}x${rows}.txt`,
    );
  });
}

test("every golden frame belongs to a screen", () => {
  const names = Object.keys(scenes).flatMap((name) => [`${name}-120x40.txt`, `${name}-80x24.txt`]);
  expect(readdirSync(new URL("../golden/tui", import.meta.url)).sort()).toEqual(names.sort());
});

test("a terminal that is too small says so", () => {
  const small = frameOf("features", { columns: 20, rows: 8 });
  expect(small.replace(/\s+/g, " ")).toContain("The terminal is smaller than 40x12.");
});

test("without colours there are none, and the selection is still visible", () => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what it looks for
  const colour = /\u001b\[(?:3[0-7]|9[0-7]|38)/;
  for (const name of Object.keys(scenes))
    expect(frameOf(name, { columns: 80, rows: 24 })).not.toMatch(colour);
  expect(frameOf("features", { columns: 80, rows: 24 }, true)).toMatch(colour);
  expect(frameOf("features", { columns: 80, rows: 24 })).toContain("\u001b[7m");
});

test("control characters in any part of the state do not reach the terminal", () => {
  const name = "\u001b]0;title\u0007\u009b2J\u202e";
  const events = [
    set("servers", { logs: { server: name, lines: [name] } }),
    status,
    go("servers"),
    { kind: "notice", level: "error", text: name },
  ] as const;
  const frame = drawFrame(
    { state: stateAt({ columns: 80, rows: 24 }, events), view: initialView, now },
    true,
  );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: only our own styles may remain
  expect(frame.replace(/\u001b\[[\d;]*m|\n/g, "")).not.toMatch(/[\p{Cc}\u202e]/u);
});
