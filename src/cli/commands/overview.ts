import { homedir } from "node:os";
import { visible } from "../../base/sanitize.ts";
import { plural } from "../../base/text.ts";
import { version } from "../../base/version.ts";
import { type Overview, readOverview } from "../../hall/overview.ts";
import { paint, wrapProse } from "../print.ts";

/** `guildhall` alone: where you are, what is wrong, what to do next. */
export async function runOverview(): Promise<void> {
  process.stdout.write(`${wrapProse(formatOverview(await readOverview(process.cwd())))}\n`);
}

function formatOverview({ folder, files, servers, tools, hall, problems, next }: Overview): string {
  const states = Object.entries(servers).filter(([, count]) => count > 0);
  const count = states.reduce((sum, [, each]) => sum + each, 0);
  const counts = states.map(([state, each]) => `${each} ${state}`).join(", ");
  const running = hall
    ? `running as process ${hall.pid} with ${plural(hall.clients, "client")}`
    : "not running; a client or `guildhall serve` starts it";
  return [
    `${paint("bold", `Guildhall ${version}`)} in ${visible(shorten(folder))}${files.length > 0 ? "" : ", which has no config"}`,
    `Servers: ${count > 0 ? `${counts}; ${plural(tools, "tool")}` : "none, only the built-in tools"}`,
    `Hall:    ${running}`,
    `Wrong:   ${problems.length > 0 ? paint("red", visible(problems.join("; "))) : "nothing found"}`,
    `Next:    ${next.map((command) => `guildhall ${command}`).join(", ")}`,
    "Help:    guildhall --help",
  ].join("\n");
}

function shorten(folder: string): string {
  const home = homedir();
  return folder === home || folder.startsWith(`${home}/`)
    ? `~${folder.slice(home.length)}`
    : folder;
}
