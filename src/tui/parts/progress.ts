import type { Progress } from "../../tool.ts";
import type { Line } from "./line.ts";

const barColumnsMax = 30;

/** A bar with its message; without a total, how far it is as a number. */
export function progressLine({ progress, total, message = "" }: Progress, columns: number): Line {
  if (total === undefined || total <= 0)
    return [{ text: `${round(progress)} `, role: "accent" }, { text: message }];
  const part = Math.min(1, Math.max(0, progress / total));
  const width = Math.min(barColumnsMax, Math.floor(columns / 3));
  const full = Math.round(part * width);
  return [
    { text: "█".repeat(full), role: "accent" },
    { text: "░".repeat(width - full), role: "quiet" },
    // Of a hundred, the share says it all.
    {
      text: ` ${String(Math.floor(part * 100)).padStart(3)} %  ${total === 100 ? "" : `${round(progress)}/${round(total)}  `}`,
    },
    { text: message },
  ];
}

function round(number: number): string {
  return String(Math.round(number * 100) / 100);
}

const levels = "▁▂▃▄▅▆▇█";

/** Values as one row of bars; neighbours are added up until they fit. */
export function sparkline(values: readonly number[], columns: number): string {
  const each = Math.max(1, Math.ceil(values.length / Math.max(1, columns)));
  const sums: number[] = [];
  for (let at = 0; at < values.length; at += each)
    sums.push(values.slice(at, at + each).reduce((sum, value) => sum + value, 0));
  const most = Math.max(...sums, 0);
  return sums
    .map((sum) => (most === 0 ? levels[0] : levels[Math.ceil((sum / most) * (levels.length - 1))]))
    .join("");
}
