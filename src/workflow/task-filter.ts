import { HallError } from "../base/errors.ts";
import type { Task } from "./tasks.ts";

/** Which tasks a person means: `T003,T007-T010`, `US1`, `phase:2`, `next`, `unchecked`, several of them with commas. Throws VALIDATION naming what there is. */
export function filterTasks(tasks: readonly Task[], filter: string): readonly Task[] {
  const parts = filter
    .split(/[,\s]+/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
  const chosen = new Set(parts.flatMap((part) => findTasks(tasks, part)));
  const found = tasks.filter((task) => chosen.has(task));
  if (found.length > 0) return found;
  throw new HallError(
    "VALIDATION",
    `task_filter "${filter.slice(0, 100)}" matches no task; there is: ${describe(tasks)}`,
    {
      hint: "Use ids and ranges (T003,T007-T010), a story (US1), a phase (phase:2), next, or unchecked.",
    },
  );
}

function findTasks(tasks: readonly Task[], part: string): readonly Task[] {
  const range = /^T(\d+)\s*-\s*T?(\d+)$/i.exec(part);
  if (range)
    return tasks.filter(
      ({ id }) =>
        Number(id.slice(1)) >= Number(range[1]) && Number(id.slice(1)) <= Number(range[2]),
    );
  if (/^T\d+$/i.test(part))
    return tasks.filter(({ id }) => Number(id.slice(1)) === Number(part.slice(1)));
  if (/^US\d+$/i.test(part)) return tasks.filter(({ story }) => story === part.toUpperCase());
  const phase = /^phase:(\d+)$/i.exec(part);
  if (phase) return tasks.filter((task) => task.phase.number === Number(phase[1]));
  const open = tasks.filter(({ isDone }) => !isDone);
  if (part.toLowerCase() === "next") return open.slice(0, 1);
  return part.toLowerCase() === "unchecked" ? open : [];
}

function describe(tasks: readonly Task[]): string {
  const [first, last] = [tasks[0]?.id, tasks.at(-1)?.id];
  const stories = [...new Set(tasks.flatMap(({ story }) => story ?? []))];
  const phases = [...new Set(tasks.map(({ phase }) => `phase:${phase.number}`))];
  return first === undefined
    ? "no task at all"
    : [
        `${first}-${last}`,
        ...stories,
        ...phases,
        `${tasks.filter(({ isDone }) => !isDone).length} unchecked`,
      ].join(", ");
}
