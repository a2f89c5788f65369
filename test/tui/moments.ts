import type { Intention, TuiEvent } from "../../src/tui/events.ts";
import { createForm } from "../../src/tui/form.ts";
import { emptyOutput, type OutputLine } from "../../src/tui/output.ts";
import { readPage } from "../../src/tui/questions.ts";
import { reduce } from "../../src/tui/reducer.ts";
import {
  createInitialState,
  type FeatureView,
  type RunView,
  type Size,
  type ToolView,
  type TuiState,
} from "../../src/tui/state.ts";

/** States as a person would see them, made the way the session makes them: by events. */
export const now = Date.UTC(2026, 4, 4, 12, 0, 0);

export function stateAt(size: Size, events: readonly TuiEvent[] = []): TuiState {
  const target = {
    kind: "hall",
    name: "photo-albums",
    transport: "socket",
    folder: "/home/ada/photo-albums",
  } as const;
  return [connected, ...events].reduce(
    reduce,
    createInitialState({ target, size, screen: "features" }),
  );
}

export function intended(intention: Intention): TuiEvent {
  return { kind: "intended", intention };
}

const connected: TuiEvent = {
  kind: "connection",
  connection: { kind: "ready", era: "modern", version: "2026-07-28", server: "guildhall 0.1.0" },
};

const first: FeatureView = {
  name: "001-create-taskify",
  number: "001",
  directory: "/home/ada/photo-albums/specs/001-create-taskify",
  phase: "implement",
  tasks: { total: 24, done: 9 },
  files: ["spec.md", "plan.md", "research.md", "tasks.md", "checklists/requirements.md"],
  openQuestions: 0,
  isActive: true,
  run: { step: "implement", isAtWork: false, arguments: {} },
};

export const features: TuiEvent = {
  kind: "features",
  items: [
    first,
    {
      ...first,
      name: "002-share-albums",
      number: "002",
      phase: "clarify",
      tasks: undefined,
      files: ["spec.md"],
      openQuestions: 3,
      isActive: false,
      run: undefined,
    },
    {
      ...first,
      name: "003-写真-export",
      number: "003",
      phase: "done",
      tasks: { total: 4, done: 4 },
      isActive: false,
      run: undefined,
    },
  ],
};

export const document = `# Tasks: Create Taskify

<!-- made by a step -->
**Input**: design documents from \`specs/001-create-taskify\`, see [the spec](spec.md).

## Phase 1: Setup

- [X] T001 Create the project structure in src/
- [ ] T002 [P] Configure linting, formatting and everything else that makes this line too long for one row of the terminal
1. first
   - nested *words*

> A quote, and [NEEDS CLARIFICATION: how many users?]

| Field | Meaning |
|---|---|
| \`id\` | a number that is never used again |
| name | text |

\`\`\`sh
npm test
\`\`\`

---
`;

export function runOf(more: Partial<RunView> = {}): RunView {
  return {
    id: "r1",
    kind: "step",
    tool: "speckit.implement",
    arguments: {},
    about: "001-create-taskify",
    state: { kind: "running" },
    startedAt: now - 75_000,
    progress: undefined,
    output: emptyOutput,
    logPath: undefined,
    ...more,
  };
}

export const output: readonly OutputLine[] = [
  { source: "progress", text: "T010 Write the model" },
  { source: "err", text: "warning: the linter is not installed" },
  { source: "log", text: "info: 3 files written below /home/ada/photo-albums/" },
  {
    source: "out",
    text: "/home/ada/photo-albums/src/albums.ts (created), not /mnt/home/ada/photo-albums/src",
  },
  {
    source: "out",
    text: `${"A long line that does not fit into eighty columns and goes on in the next row of the screen. ".repeat(2).trim()}`,
  },
  ...Array.from(
    { length: 30 },
    (_value, index): OutputLine => ({ source: "out", text: `line ${index + 1}` }),
  ),
];

export const tools: TuiEvent = {
  kind: "tools",
  missing: ["speckit.plan"],
  agents: [
    agent("ask_files", "Reads, writes and searches files."),
    agent("ask_weather", "Forecasts and past weather."),
  ],
  tools: [
    tool("evaluate-lisp", "Runs a Common Lisp program."),
    tool("files.write", "Writes a text file, whole.\nSecond line.", { isDestructive: true }),
    tool("speckit.specify", "Makes a spec of a description."),
    tool("weather.forecast", "The weather of the coming days.", {
      title: "Forecast",
      inputSchema: {
        type: "object",
        required: ["city", "unit"],
        properties: {
          days: { type: "integer", description: "How many days, 1 to 7.", default: 3 },
          city: { type: "string", description: "Where; the name of a city." },
          unit: { type: "string", enum: ["celsius", "fahrenheit"] },
          alerts: { type: "boolean" },
          layers: { type: "array", items: { type: "string" } },
        },
      },
    }),
  ],
};

function tool(name: string, description: string, more: Partial<ToolView> = {}): ToolView {
  return {
    name,
    title: undefined,
    description,
    inputSchema: { type: "object" },
    isDestructive: false,
    ...more,
  };
}

function agent(name: string, description: string): ToolView {
  return tool(name, description);
}

export const question: TuiEvent = {
  kind: "asked",
  question: {
    id: "q1",
    run: "r1",
    kind: "form",
    message: "How long are deleted albums kept?",
    form: createForm({
      type: "object",
      required: ["keep"],
      properties: {
        keep: { type: "string", title: "Kept for", enum: ["30 days", "a year", "for ever"] },
        why: { type: "string", title: "Because", description: "A few words, if you like." },
      },
    }),
  },
};

export const pageQuestion: TuiEvent = {
  kind: "asked",
  question: {
    id: "q2",
    run: "r1",
    kind: "page",
    message: "Your photo service wants to know that it is you.",
    form: createForm({}),
    page: readPage(
      `http://photos.xn--exmple-cua.org/login?state=${"0123456789abcdef".repeat(70)}&end`,
    ),
  },
};

export const status: TuiEvent = {
  kind: "status",
  status: {
    version: "0.1.0",
    pid: 4711,
    project: "/home/ada/photo-albums",
    startedAt: now - 3_600_000,
    clients: 2,
    store: { kind: "ready" } as never,
    registrations: [],
    failedModules: [],
    upstreams: [
      {
        name: "files",
        state: { kind: "ready", since: now },
        era: "modern",
        protocol: "2026-07-28",
        tools: 12,
        calls: 1_204,
        errors: 3,
        lastError: "ENOENT: no such file",
      },
      {
        name: "weather",
        state: {
          kind: "down",
          code: "UNAVAILABLE",
          reason: "it exited with code 1",
          retryAt: now + 8_000,
          failures: 4,
        },
        era: undefined,
        protocol: undefined,
        tools: 2,
        calls: 40,
        errors: 11,
        lastError: "timed out",
      },
    ],
  },
};

export const approvals: TuiEvent = {
  kind: "approvals",
  pending: [
    {
      token: "a1",
      tool: "files.delete",
      caller: "local",
      client: "claude-code 2.1",
      preview: 'files.delete\n  path: "/home/ada/photos/2019"\n  recursive: true',
      why: "it is marked destructive",
      askedAt: now - 12_000,
      expiresAt: now + 288_000,
    },
    {
      token: "a2",
      tool: "mail.send",
      caller: "ci",
      client: "cursor-vscode 1.0.0",
      preview: "mail.send",
      why: 'its name contains "send"',
      askedAt: now - 2_000,
      expiresAt: now + 298_000,
    },
  ],
};
