import type { Editing } from "../editing.ts";
import { set } from "../events.ts";
import { textFieldLines } from "../parts/form.ts";
import { type ScreenLine, textLine } from "../parts/line.ts";
import { callResultLines, loadLines, outputBindings } from "../parts/run.ts";
import { nameWidth, tableLines } from "../parts/table.ts";
import { wrapUpTo } from "../parts/text.ts";
import { type AgentsState, findRun, isAtWork, type TuiState } from "../state.ts";
import { bindingsFrom, bodyRows, on, type Screen, selectBindings, type View } from "../view.ts";

/** Agents take a task in plain words; their progress is shown below it. */
export const agentsScreen: Screen = {
  title: "Agents",

  bindings({ state, view }) {
    const { items, selected, task } = state.agents;
    const isTyping = isTypingTask(view);
    const type = (part: "task" | "list") => ({ kind: "focus", on: focusName, part }) as const;
    const run = findRun(state, state.agents.run);
    const page = Math.max(1, Math.floor(bodyRows(state) / 3));
    const isReady = selected !== undefined && task.trim() !== "";
    return bindingsFrom(
      isTyping && isReady && on("enter", "ask", [{ kind: "ask agent" }, type("list")]),
      isTyping && on("esc", "stop typing", type("list")),
      !isTyping && selected !== undefined && on("enter", "write a task", type("task")),
      run && isAtWork(run) && on("esc", "cancel", { kind: "cancel run", run: run.id }),
      selectBindings(items, ({ name }) => name === selected, {
        select: ({ name }) => set("agents", { selected: name }),
        letters: false,
      }),
      run && on("ctrl+o", "show the run", { kind: "show run", run: run.id }),
      run && outputBindings(run, state, { page, byLine: false }),
    );
  },

  editing: ({ state, view }) => (isTypingTask(view) ? taskField(state) : undefined),

  body({ state, view: whole, now, columns, rows }) {
    const view = isTypingTask(whole) ? whole : undefined;
    const { items, selected, load, run: runId } = state.agents;
    const run = findRun(state, runId);
    const field = textFieldLines(taskField(state), {
      label: "task: ",
      view,
      columns,
      rows: taskRows,
      placeholder: view ? "what should the agent do?" : "press Enter to write it",
    });
    const loading = loadLines(load, columns);
    const about = run ? [] : aboutLines(state.agents, columns);
    const otherRows = field.length + loading.length + about.length + 1;
    const tableRows = run ? Math.min(items.length + 1, Math.floor(rows / 3)) : rows - otherRows;
    const none = "The server offers no agents. `guildhall build` creates them.";
    const table = tableLines({
      columns: [
        { title: "agent", width: nameWidth(items, columns), text: "name", role: "accent" },
        { title: "description", text: ({ description }) => description.split("\n")[0] ?? "" },
      ],
      items,
      isSelected: ({ name }) => name === selected,
      width: columns,
      rows: Math.max(2, tableRows),
      empty: load.kind === "loaded" ? none : "",
    });
    const resultRows = rows - tableRows - otherRows;
    const result = run ? callResultLines(run, { state, now, columns, rows: resultRows }) : [];
    return [...table, [], ...about, ...field, ...loading, ...result];
  },
};

const focusName = "agents";
const isTypingTask = ({ focus }: View): boolean => focus[focusName] === "task";
const taskRows = 3;
const aboutRows = 8;

function taskField({ agents }: TuiState): Editing {
  return { id: "task", text: agents.task, change: (task) => set("agents", { task }) };
}

/** The full description of the selected agent, while no result needs the room. */
function aboutLines({ items, selected }: AgentsState, columns: number): readonly ScreenLine[] {
  const agent = items.find(({ name }) => name === selected);
  if (!agent) return [];
  const lines = wrapUpTo(agent.description, columns, aboutRows);
  return [...lines.map((text) => textLine(text, "quiet")), []];
}
