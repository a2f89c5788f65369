import { countVotes, type Votes } from "../../agents/local/choose.ts";
import {
  type EvaluationRecord,
  findRun,
  type KeptRun,
  listRuns,
  type RunRecord,
} from "../../agents/runs.ts";
import { HallError } from "../../base/errors.ts";
import { visible, visibleLines } from "../../base/sanitize.ts";
import { findNear, formatTime, plural } from "../../base/text.ts";
import {
  createGroup,
  getGroup,
  moveTool,
  openGroups,
  type ProjectGroups,
  renameGroup,
} from "../../hall/groups.ts";
import type { HallClient } from "../../hall/hall-client.ts";
import { openProjectLedger, openProjectStore, withProjectStore } from "../../hall/project-store.ts";
import { findWaitingTexts } from "../../hall/review.ts";
import { onlyOutline, replayKept } from "../../hall/runs.ts";
import type { Store } from "../../store/store.ts";
import type { ToldTool } from "../../toolkits/find/answer.ts";
import type { EvaluationResult } from "../../toolkits/programs/protocol.ts";
import type { JsonOption } from "../declaration.ts";
import { loadProject, unknownName, withHall } from "../hall.ts";
import { createWaiting } from "../live.ts";
import { paint, print, table, wrapProse } from "../print.ts";

/** Lists the groups and their tools. */
export async function runGroupsList(options: JsonOption): Promise<void> {
  const { settings, agents, groups, strays, unknown, problems } = await openProjectGroups();
  const texts = await findWaitingTexts({ settings, ledger: await openProjectLedger(settings) });
  const fileOf = (name: string): string | undefined =>
    agents.find(({ agent }) => agent.name === name)?.fileName;
  const listed = groups.map(({ file, tools }) => ({
    name: file.name,
    waiting: texts.includes(`agents/${fileOf(file.name)}`),
    tools: [...tools].map(({ fullName }) => fullName),
    servers: [...new Set([...tools].map(({ toolkit }) => toolkit.id))],
    file: fileOf(file.name),
    unknown: unknown.get(file.name) ?? [],
    description: file.description,
  }));
  const notes = [...problems];
  if (strays.length > 0)
    notes.push(`${strays.length} tools are in no file; run \`guildhall build\``);
  const waiting = listed.filter((group) => group.waiting).map(({ name }) => name);
  if (waiting.length > 0)
    notes.push(`${waiting.join(", ")}: not used until reviewed; run \`guildhall verify\``);
  for (const [name, tools] of unknown)
    notes.push(`${name} lists ${tools.join(", ")}, which no server provides`);

  const rows = listed.map(({ name, tools, servers, description }) => [
    name,
    String(tools.length),
    servers.join(", "),
    description,
  ]);
  const text = [
    table(["agent", "tools", "servers", "description"], rows, { extra: ["servers"] }),
    ...notes.map((note) => `note: ${visible(note)}`),
  ];
  print({ groups: listed, notes }, text.join("\n"), options);
}

export async function runGroupsShow(name: string, options: JsonOption): Promise<void> {
  const { agents, groups, unknown } = await openProjectGroups();
  const { fileName, agent } = getGroup(name, agents);
  const { tools: targets = [] } = groups.find(({ file }) => file.name === agent.name) ?? {};
  const tools = [...targets].map(({ fullName }) => fullName);
  const missing = unknown.get(agent.name) ?? [];
  const { description, instructions, limits } = agent;

  const lines = [...tools, ...missing.map((tool) => `${tool}  (not provided by any server)`)];
  const text = [
    `${agent.name}  (.guildhall/agents/${fileName})`,
    visible(description),
    lines.map((line) => `  ${visible(line)}`).join("\n"),
    visibleLines(instructions),
  ];
  print(
    {
      name: agent.name,
      file: fileName,
      description,
      tools,
      unknown: missing,
      limits,
      instructions,
    },
    text.join("\n\n"),
    options,
  );
}

/** Makes a group of tools, which leave the groups they were in. */
export async function runGroupsCreate(
  wish: string,
  tools: readonly string[],
  options: JsonOption,
): Promise<void> {
  const made = await createGroup(await loadProject(), wish, tools);
  const text = `created ${made.name} with ${plural(made.tools.length, "tool")}${formatOrigin(made.from)} (.guildhall/agents/${made.file}); edit its description there`;
  print(made, wrapProse(text), options);
}

/** Moves a tool to one group. Builds keep it there. */
export async function runGroupsMove(
  tool: string,
  group: string,
  options: JsonOption,
): Promise<void> {
  const moved = await moveTool(await loadProject(), tool, group);
  print(moved, `moved ${moved.tool} to ${moved.to}${formatOrigin(moved.from)}`, options);
}

export async function runGroupsRename(
  name: string,
  wish: string,
  options: JsonOption,
): Promise<void> {
  const renamed = await renameGroup(await loadProject(), name, wish);
  const text = `renamed ${renamed.was} to ${renamed.name} (.guildhall/agents/${renamed.file})`;
  print(renamed, text, options);
}

function formatOrigin(names: readonly string[]): string {
  return names.length > 0 ? ` from ${names.join(", ")}` : "";
}

/** Shows which group a task goes to, by its best tools. */
export async function runGroupsExplain(
  words: readonly string[],
  options: JsonOption,
): Promise<void> {
  const task = words.join(" ");
  await withHall(async (client) => {
    const found = await voteForGroups(client, task);
    print({ task, fits: found.fits, groups: found.votes }, describeVotes(found), options);
  });
}

function describeVotes({ fits, votes }: Votes): string {
  if (votes.length === 0) return "no group fits this task";
  const lines = fits ? [] : ["nothing fits well; nearest:"];
  for (const { name, score, tools } of votes) {
    lines.push(`${name}  ${score}`);
    for (const tool of tools) {
      const matched =
        tool.matched.length > 0 ? `  matched ${visible(tool.matched.join(", "))}` : "";
      lines.push(`  ${tool.name}  ${tool.score}${matched}`);
    }
  }
  return lines.join("\n");
}

/** Groups by their best tool for a task. Throws NOT_FOUND without groups. */
export async function voteForGroups(client: HallClient, task: string): Promise<Votes> {
  const { groups } = await openProjectGroups();
  const { structuredContent } = await client.request("tools/call", {
    name: "find_tools",
    arguments: { task, limit: 10 },
  });
  const { fits, tools } = structuredContent as Pick<Votes, "fits"> & {
    readonly tools: readonly ToldTool[];
  };
  return countVotes(task, groups, { fits, tools });
}

function openProjectGroups(): Promise<ProjectGroups> {
  return loadProject().then((settings) =>
    createWaiting().during("reading the tools", openGroups(settings)),
  );
}

/** Lists the runs of agents, newest first. */
export async function runRunsList({
  limit = 20,
  json,
}: JsonOption & { readonly limit?: number }): Promise<void> {
  const store = await openProjectStore();
  const runs = store ? (await listRuns(store.runs)).slice(0, limit) : [];
  await store?.close();
  const rows = runs.map(({ id, at, agent, planner, stopped, ms, task }) => [
    id,
    formatTime(at),
    agent,
    planner,
    stopped,
    formatSeconds(ms),
    task,
  ]);
  const head = ["run", "time", "agent", "planner", "ended", "took", "task"];
  print({ runs }, table(head, rows, { empty: "no runs yet", extra: ["planner", "took", "time"] }), {
    json,
  });
}

export async function runRunsShow(id: string, options: JsonOption): Promise<void> {
  const record = await withProjectStore((store) => getRun(store, id));
  const text = "evaluation" in record ? describeProgram(record) : describeAgentRun(record);
  print(record, text, options);
}

/** Repeats a run with its recorded answers. Fails if it differs. */
export async function runRunsReplay(id: string, options: JsonOption): Promise<void> {
  const { record, replayed } = await withProjectStore(async (store) => {
    const kept = await getRun(store, id);
    return { record: kept, replayed: await replayKept(store.runs, kept) };
  });
  const { differences } = replayed;
  const run = record.outline.id;
  if (replayed.kind === "agent") {
    const { steps, trace, stopped, answer } = replayed.ended;
    const details = { steps, trace, stopped_because: stopped, answer };
    const text = describeTrace(trace);
    return printReplay({ run, differences, details, text, what: "trace" }, options);
  }
  const { values, stdout, condition } = replayed.evaluation;
  const calls = "evaluation" in record ? record.evaluation.calls : [];
  const details = { calls, values, stdout, condition };
  const text = describeEvaluation(replayed.evaluation);
  printReplay({ run, differences, details, text, what: "result" }, options);
}

interface Replay {
  readonly run: string;
  readonly differences: readonly string[];
  readonly details: object;
  readonly text: string;
  /** The noun for what was compared. */
  readonly what: string;
}

/** Throws EXECUTION if the replay differs. */
function printReplay({ run, differences, details, text, what }: Replay, options: JsonOption): void {
  const same = differences.length === 0;
  const verdict = same ? paint("green", `same ${what}`) : `different ${what}`;
  const failure = same
    ? undefined
    : new HallError("EXECUTION", `the replay differs: ${differences.join("; ")}`, {
        hint: "Guildhall or its planner has changed since that run.",
      });
  const value = { run, same, differences, ...details };
  print(value, `${text}\n\n${verdict}`, { ...options, failure });
}

/** By id or the end of it. Throws NOT_FOUND. */
async function getRun(store: Store, id: string): Promise<KeptRun> {
  const runs = await listRuns(store.runs);
  const matching = runs.filter((run) => run.id === id || run.id.endsWith(id));
  const outline =
    runs.find((run) => run.id === id) ?? (matching.length === 1 ? matching[0] : undefined);
  const record = outline && (await findRun(store.runs, outline.id));
  if (record) return record;
  if (outline) throw onlyOutline(outline.id);
  const ids = runs.map((run) => run.id);
  throw unknownName("run", id, { near: findNear(id, ids), command: "runs list" });
}

function describeProgram({
  outline: { id, ms, agent },
  evaluation: { entry, before, calls, evaluation },
}: EvaluationRecord): string {
  return [
    paint("bold", `${id}  ${agent}`),
    `${formatSeconds(ms)}, ${before === undefined ? "first of its session" : `after ${before}`}`,
    visibleLines(entry?.order.code ?? "(code too long to store)"),
    calls
      .map(({ name, ms: took, status }) => `${String(took).padStart(6)} ms  ${name} ${status}`)
      .join("\n"),
    describeEvaluation(evaluation),
  ]
    .filter(Boolean)
    .join("\n\n");
}

function describeEvaluation({ stdout, values, condition }: EvaluationResult): string {
  const ended = condition
    ? [`[ERROR] ${condition.type}: ${condition.message}`]
    : values.map((value) => `=> ${value}`);
  return visibleLines([...(stdout === "" ? [] : [stdout]), ...ended].join("\n"));
}

function describeAgentRun({ outline, request, trace, answer, problem }: RunRecord): string {
  const { id, agent, planner, stopped, ms, usage } = outline;
  const cost =
    usage.turns === 0
      ? ""
      : `, ${usage.turns} turns, ${usage.inputTokens} tokens in, ${usage.outputTokens} out`;
  return [
    paint("bold", `${id}  ${agent}`),
    `${planner} planner, ended: ${stopped}${problem === undefined ? "" : ` (${visible(problem)})`}, ${formatSeconds(ms)}${cost}`,
    `task: ${visible(request.task)}`,
    describeTrace(trace),
    visibleLines(answer),
  ].join("\n\n");
}

function describeTrace(trace: RunRecord["trace"]): string {
  return trace
    .map(
      ({ ms, phase, text, step }) =>
        `${String(ms).padStart(6)} ms  ${phase.padEnd(8)}${step === undefined ? "   " : `${step}.`.padEnd(3)} ${visible(text)}`,
    )
    .join("\n");
}

function formatSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
