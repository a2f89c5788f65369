import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bundle } from "./bundle.mjs";
import { median, row, short } from "./figures.mjs";
import { memoryOf } from "./listeners.mjs";
import { inTurns } from "./processes.mjs";
import { childrenOf, createProject, upstreamCommand } from "./projects.mjs";

/**
 * A hall that knows many upstreams from its lock, beside one in an empty folder: what the list
 * costs before any server runs.
 */
export default { name: "lock", run };

const upstreams = 100;
const tools = 3_000;
const usualUpstreams = 40;
const usualTools = 600;

async function run({ rounds = 15 } = {}) {
  const many = createProject();
  const none = createProject();
  const usual = createProject();
  const projects = { many, none, usual };
  const measured = { many: newFigures(), none: newFigures(), usual: newFigures() };
  const writeLock = await bundle("write-lock");
  const write = (project, servers, count) =>
    execFileSync(process.execPath, [
      writeLock,
      project.folder,
      String(servers),
      String(count / servers),
      ...upstreamCommand,
    ]);
  try {
    write(many, upstreams, tools);
    write(usual, usualUpstreams, usualTools);
    // The first start reads from disk.
    for (const project of Object.values(projects)) await startOnce(project);
    await inTurns(rounds, Object.keys(projects), async (name) => {
      const { ms, mb, counted, children } = await startOnce(projects[name]);
      measured[name].ms.push(ms);
      measured[name].mb.push(mb);
      measured[name].tools.push(counted);
      measured[name].children.push(children);
    });
    const [listed, lockMb] = [
      measured.many.tools[0],
      statSync(join(many.folder, ".guildhall", "tools.lock.json")).size / 1024 / 1024,
    ];
    if (listed !== tools) throw new Error(`${listed} tools of the upstreams were listed`);
    const what = `${upstreams} upstreams and ${short(tools)} tools`;
    return [
      differenceRow(
        `spawn to the whole list, ${what}, above none`,
        measured,
        "ms",
        { atMost: 150 },
        `; the lock has ${short(lockMb)} MB`,
      ),
      differenceRow(`memory after the list, ${what}, above none`, measured, "mb", { atMost: 60 }),
      row(
        `memory of a hall with ${usualUpstreams} upstreams and ${usualTools} tools, none running`,
        median(measured.usual.mb),
        "MB",
        { atMost: 85 },
      ),
      row(
        `processes started for the list, ${what}`,
        Math.max(...measured.many.children),
        "processes",
        { atMost: 0 },
      ),
    ];
  } finally {
    for (const project of Object.values(projects)) project.remove();
  }
}

const newFigures = () => ({ ms: [], mb: [], tools: [], children: [] });

async function startOnce(project) {
  const client = project.start();
  await client.initialize();
  let counted = 0;
  let cursor;
  let answer;
  do {
    const accept = ({ tools: page }) =>
      page.length > 0 &&
      page.every(({ name, inputSchema }) => name !== "" && inputSchema.type === "object");
    answer = await client.ask({
      method: "tools/list",
      params: cursor === undefined ? {} : { cursor },
      accept,
    });
    // Beside the upstreams' tools there are the hall's own.
    counted += answer.result.tools.filter(({ name }) => name.startsWith("upstream-")).length;
    cursor = answer.result.nextCursor;
  } while (cursor !== undefined);
  // Work that a start defers happens now.
  await sleep(300);
  const [mb, children] = [memoryOf(client.pid), childrenOf(client.pid).length];
  await client.stop();
  return { ms: answer.arrivedAt - client.startedAt, mb, counted, children };
}

function differenceRow(figure, { many, none }, key, goal, note = "") {
  const unit = { ms: "ms", mb: "MB" }[key];
  const differences = many[key].map((value, round) => value - none[key][round]);
  const range = `${short(Math.min(...differences))}–${short(Math.max(...differences))} over ${differences.length} rounds`;
  return row(
    figure,
    median(differences),
    unit,
    goal,
    `${range}; medians ${short(median(many[key]))} and ${short(median(none[key]))} ${unit}${note}`,
  );
}
