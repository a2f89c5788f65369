import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Sets whose queries the vectors were trained on; what is measured on them says little. Definitions of toucan were used as well. */
export const trainedOn = ["bfcl", "sealtools", "metatool", "toolalpaca", "apibank"];

export function readLines(folder, file) {
  return readFileSync(join(folder, file), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Every `tasks.<set>.jsonl` with its tools: `tools.<set>.jsonl`, or those of the name before the first dash. */
export function readSets(folder) {
  return readdirSync(folder)
    .flatMap((file) => /^tasks\.(.+)\.jsonl$/.exec(file)?.[1] ?? [])
    .sort()
    .map((name) => readSet(folder, name))
    .filter(({ tasks }) => tasks.length > 0);
}

function readSet(folder, name) {
  const source = existsSync(join(folder, `tools.${name}.jsonl`)) ? name : name.split("-")[0];
  const tools = readLines(folder, `tools.${source}.jsonl`);
  const known = new Set(tools.map(({ server, name: tool }) => fullName(server, tool)));
  const tasks = readLines(folder, `tasks.${name}.jsonl`).map(({ task, gold }) => ({
    task,
    gold: gold.map((each) => accepted(each, known)).filter((names) => names.size > 0),
  }));
  return { name, isTrainedOn: trainedOn.includes(name), toolkits: toolkitsOf(tools), tasks: tasks.filter(({ gold }) => gold.length > 0) };
}

const fullName = (server, tool) => `${server}.${tool}`;

/** One wanted tool: any of these full names will do. */
function accepted({ server, tool, alt = [] }, known) {
  return new Set([server, ...alt].map((owner) => fullName(owner, tool)).filter((name) => known.has(name)));
}

export function toolkitsOf(tools) {
  const toolkits = new Map();
  for (const { server, server_description: description, name, description: text, inputSchema } of tools) {
    if (!toolkits.has(server)) toolkits.set(server, { id: server, description: description ?? "", tools: [] });
    toolkits.get(server).tools.push({ name, description: text ?? "", inputSchema });
  }
  return [...toolkits.values()];
}
