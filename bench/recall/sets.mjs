import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Sets whose queries the vectors were trained on; what is measured on them says little. Definitions
 * of toucan were used as well.
 */
export const trainedOn = ["bfcl", "sealtools", "metatool", "toolalpaca", "apibank"];

export function readLines(folder, file) {
  return readFileSync(join(folder, file), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Every `tasks.<set>.jsonl` with its tools: `tools.<set>.jsonl`, or those of the name before the first dash. */
export function readSets(folder) {
  const sets = readdirSync(folder)
    .flatMap((file) => /^tasks\.(.+)\.jsonl$/.exec(file)?.[1] ?? [])
    .sort()
    .map((name) => readSet(folder, name))
    .filter(({ tasks }) => tasks.length > 0);
  return existsSync(join(folder, "tools.toucan.jsonl")) ? [...sets, readOwn(folder)] : sets;
}

/**
 * Tasks we wrote for tools of 64 servers of toucan, in other words than theirs. Weights and
 * settings were chosen on it, so it proves nothing.
 */
function readOwn(folder) {
  const [{ servers }, ...tasks] = readLines(dirname(fileURLToPath(import.meta.url)), "own.jsonl");
  const chosen = new Set(servers);
  return {
    name: "own",
    use: "chosen on",
    toolkits: toolkitsOf(
      readLines(folder, "tools.toucan.jsonl").filter(({ server }) => chosen.has(server)),
    ),
    tasks: tasks.map(({ task, accepted }) => ({
      task,
      gold: [new Set(accepted.map(({ server, tool }) => fullName(server, tool)))],
    })),
  };
}

function readSet(folder, name) {
  const source = existsSync(join(folder, `tools.${name}.jsonl`)) ? name : name.split("-")[0];
  const tools = readLines(folder, `tools.${source}.jsonl`);
  const known = new Set(tools.map(({ server, name: tool }) => fullName(server, tool)));
  const tasks = readLines(folder, `tasks.${name}.jsonl`).map(({ task, gold }) => ({
    task,
    gold: gold.map((each) => acceptedFor(each, known)).filter((names) => names.size > 0),
  }));
  return {
    name,
    use: trainedOn.includes(name) ? "trained on" : "",
    toolkits: toolkitsOf(tools),
    tasks: tasks.filter(({ gold }) => gold.length > 0),
  };
}

const fullName = (server, tool) => `${server}.${tool}`;

/**
 * One wanted tool: any of these full names will do. `alt` lists other servers of the tool,
 * `alt_tools` other tools (`server.tool`, or a name of the same server).
 */
function acceptedFor({ server, tool, alt = [], alt_tools: others = [] }, known) {
  const names = [
    ...[server, ...alt].map((owner) => fullName(owner, tool)),
    ...others.flatMap((other) =>
      typeof other === "string"
        ? [other, fullName(server, other)]
        : [fullName(other.server ?? server, other.tool)],
    ),
  ];
  return new Set(names.filter((name) => known.has(name)));
}

export function toolkitsOf(tools) {
  const toolkits = new Map();
  for (const {
    server,
    server_description: description,
    name,
    description: text,
    inputSchema,
  } of tools) {
    if (!toolkits.has(server))
      toolkits.set(server, { id: server, description: description ?? "", tools: [] });
    toolkits.get(server).tools.push({ name, description: text ?? "", inputSchema });
  }
  return [...toolkits.values()];
}
