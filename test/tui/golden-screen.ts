import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { guardMs } from "../servers/until.ts";
import type { Pane } from "./pane.ts";
import type { Place } from "./place.ts";

const lookMs = 100;
/** Longer than the client takes to ask its hall again. */
const quietMs = 3_000;

/**
 * Compares the whole screen with its golden file as soon as they are equal. Without a golden file,
 * writes one once nothing changes any more.
 */
export async function expectScreen(
  pane: Pane,
  { project }: Pick<Place, "project">,
  name: string,
): Promise<void> {
  const file = fileURLToPath(new URL(`../golden/tui-e2e/${name}.txt`, import.meta.url));
  const wanted = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  const deadline = Date.now() + guardMs;
  let last = "";
  let changedAt = Date.now();
  for (;;) {
    const shown = `${steady(await pane.screen(), project.folder)}\n`;
    if (shown !== last) changedAt = Date.now();
    const isThere = wanted === undefined ? Date.now() - changedAt > quietMs : shown === wanted;
    if (isThere || Date.now() > deadline) return expect(shown).toMatchFileSnapshot(file);
    last = shown;
    await sleep(lookMs);
  }
}

/**
 * Removes everything that differs between runs or machines: names, times, and repeated progress. Rows that
 * become empty are not counted; the frames of the same screens are compared to the row.
 */
function steady(screen: string, folder: string): string {
  return screen
    .replace(
      /^guildhall · .*?(?= (?:hall in|attached to|connecting|connection|\S+ · \d{4}-))/,
      "guildhall · NAME",
    )
    .replaceAll(folder, "/project")
    .replace(/^log: \.guildhall\/logs\/tui-.*(?:\n\S+$)?/gm, "log: .guildhall/logs/tui-….log")
    .replace(/ *\b(?:\d+ min )?\d+(?:\.\d+)? (s|ms)\b/g, " N $1")
    .replace(/\b\d+\.\d+\.\d+\b/g, "VERSION")
    .replace(/[█░]+ +\d+ %/g, "▒ N %")
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d to \d{4}-\d\d-\d\d \d\d:\d\d/g, "THEN to NOW")
    .replace(/\bprocess \d+/g, "process N")
    .replace(/^· .*\n/gm, "")
    .replace(/\n{3,}/g, "\n\n");
}
