import { callResultLines } from "../parts/call-result.ts";
import type { Line } from "../parts/line.ts";
import { outputBindings } from "../parts/output.ts";
import { isAtWork, loadLines } from "../parts/run-state.ts";
import { type Column, nameWidth, tableLines } from "../parts/table.ts";
import { textFieldLines } from "../parts/text-field.ts";
import { wrapUpTo } from "../parts/width.ts";
import { type AgentsState, findRun, type ToolView, type TuiState } from "../state.ts";
import { type Binding, cursorOf, type Moment, on } from "../view.ts";
import { type BodyProps, bodyRows, neighbour, type Screen } from "./screen.ts";

/** Agents take a task in plain words; their steps are seen as they go. */
export const agentsScreen: Screen = { name: "agents", title: "Agents", bindings, editing, body };

const taskId = "task";
const taskRows = 3;
const aboutRows = 8;

function bindings({ state }: Moment): readonly Binding[] {
  const { items, selected, task } = state.agents;
  const run = findRun(state, state.agents.run);
  const go = (step: number) => () => {
    const next = neighbour(items, ({ name }) => name === selected, step);
    return next && ({ kind: "select agent", name: next.name } as const);
  };
  return [
    ...(selected !== undefined && task.trim() !== ""
      ? [on("enter", "ask", () => ({ kind: "ask agent" }))]
      : []),
    ...(run && isAtWork(run)
      ? [on("esc", "cancel", () => ({ kind: "cancel run", run: run.id }))]
      : []),
    on("up", "agent up", go(-1)),
    on("down", "agent down", go(1)),
    ...(run
      ? [
          on("ctrl+o", "show the run", () => ({ kind: "show run", run: run.id })),
          ...outputBindings(run, state, { page: pageOf(state), byLine: false }),
        ]
      : []),
  ];
}

function pageOf(state: TuiState): number {
  return Math.max(1, Math.floor(bodyRows(state) / 3));
}

function editing({ state }: Moment): ReturnType<NonNullable<Screen["editing"]>> {
  return { id: taskId, text: state.agents.task, change: (text) => ({ kind: "type task", text }) };
}

function body({ state, view, now, columns, rows }: BodyProps): readonly Line[] {
  const { agents } = state;
  const run = findRun(state, agents.run);
  const field = textFieldLines({
    label: "task: ",
    text: agents.task,
    cursor: cursorOf(view, { id: taskId, text: agents.task }),
    columns,
    rows: taskRows,
    placeholder: "what should the agent do?",
  });
  const loading = loadLines(agents.load, columns);
  const about = run ? [] : aboutLines(agents, columns);
  const tableRows = run
    ? Math.min(agents.items.length + 1, Math.floor(rows / 3))
    : rows - field.length - loading.length - about.length - 1;
  const resultRows = rows - tableRows - field.length - loading.length - 1;
  const table = tableLines({
    columns: columnsOf(agents.items, columns),
    items: agents.items,
    isSelected: ({ name }) => name === agents.selected,
    width: columns,
    rows: Math.max(2, tableRows),
    empty:
      agents.load.kind === "loaded"
        ? "The server offers no agents. `guildhall build` makes them."
        : "",
  });
  const result = run ? callResultLines({ run, state, now, columns, rows: resultRows }) : [];
  return [...table, [], ...about, ...field, ...loading, ...result];
}

function columnsOf(agents: readonly ToolView[], width: number): readonly Column<ToolView>[] {
  return [
    {
      title: "agent",
      width: nameWidth(agents, width),
      text: ({ name }) => name,
      role: () => "accent",
    },
    { title: "what it is for", text: ({ description }) => description.split("\n")[0] ?? "" },
  ];
}

/** What the chosen one is for, in full, as long as nothing else needs the room. */
function aboutLines({ items, selected }: AgentsState, columns: number): readonly Line[] {
  const agent = items.find(({ name }) => name === selected);
  return agent
    ? [
        ...wrapUpTo(agent.description, columns, aboutRows).map(
          (text): Line => [{ text, role: "quiet" }],
        ),
        [],
      ]
    : [];
}
