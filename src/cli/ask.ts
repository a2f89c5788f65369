import { agentName } from "../agents/agent-file.ts";
import { plannerChoices } from "../agents/planner.ts";
import { plannerMeta } from "../agents/planners.ts";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Progress } from "../tool.ts";
import { contentOf, showContent } from "./call.ts";
import { voteForGroups } from "./groups.ts";
import type { HallClient } from "./hall-client.ts";
import { paint, print, visible } from "./print.ts";
import { withHall } from "./tools.ts";

export interface AskOptions {
  readonly planner?: string;
  readonly data?: string;
  readonly json?: boolean;
}

/** Gives a task to an agent, to the best one where none is named; shows the steps as they are taken. */
export async function runAsk(words: readonly string[], options: AskOptions): Promise<void> {
  requirePlanner(options.planner);
  const data = options.data === undefined ? undefined : parseData(options.data);
  const { agent, result } = await withHall(async (client) => {
    const { agent: chosen, task } = await chooseAgent(client, words);
    if (!options.json) process.stderr.write(paint("dim", `${chosen}\n`));
    const _meta = options.planner === undefined ? {} : { _meta: { [plannerMeta]: options.planner } };
    const params = { name: chosen, arguments: { task, ...(data === undefined ? {} : { data }) }, ..._meta };
    return { agent: chosen, result: await client.request("tools/call", params, options.json ? {} : { progress: showStep }) };
  });
  const told = isObject(result.structuredContent) ? result.structuredContent : {};
  const isFailed = result.isError === true;
  if (!isFailed || options.json) {
    const shown = options.json ? [] : await Promise.all(contentOf(result).map((item, at) => showContent(item, `${agent}-${at + 1}`)));
    print(told, { json: options.json, text: () => [...shown, paint("dim", summarise(told))].join("\n") });
  }
  if (isFailed)
    throw new HallError("EXECUTION", `${agent} could not do it: ${visible(String(told.problem ?? told.stopped_because ?? "no reason was given"))}`, {
      hint: hintFor(told),
    });
}

function requirePlanner(planner: string | undefined): void {
  if (planner === undefined || plannerChoices.some((choice) => choice === planner)) return;
  throw new HallError("INVALID_PARAMS", `there is no planner "${planner}"; there is: ${plannerChoices.join(", ")}`);
}

function parseData(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Words are data too.
    return text;
  }
}

interface Chosen {
  readonly agent: string;
  readonly task: string;
}

/** The first word may be an agent. Throws NOT_FOUND where there are none. */
async function chooseAgent(client: HallClient, words: readonly string[]): Promise<Chosen> {
  const agents = (await client.list("tools/list", "tools", "agents")).map(({ name }) => String(name)).filter((name) => name.endsWith("_agent"));
  if (agents.length === 0) throw new HallError("NOT_FOUND", "there are no agents", { hint: "Run `guildhall build` first." });
  const [first = "", ...rest] = words;
  const named = rest.length > 0 && /^[\w-]+$/.test(first) ? agents.find((name) => name === first || name === agentName(first)) : undefined;
  if (named !== undefined) return { agent: named, task: rest.join(" ") };
  if (/^[\w-]+_agent$/.test(first)) throw new HallError("NOT_FOUND", `there is no agent "${first}"; there is: ${agents.join(", ")}`);
  const task = words.join(" ");
  const { votes } = await voteForGroups(client, task);
  const best = votes.find(({ name }) => agents.includes(name))?.name ?? agents[0] ?? "";
  return { agent: best, task };
}

function showStep({ message }: Progress): void {
  if (message !== undefined) process.stderr.write(paint("dim", `  ${visible(message)}\n`));
}

function summarise({ planner, steps, usage, run, stopped_because: stopped }: JsonObject): string {
  const count = Array.isArray(steps) ? steps.length : 0;
  const { turns = 0, inputTokens = 0, outputTokens = 0 } = isObject(usage) ? usage : {};
  const cost = turns === 0 ? "" : `, ${String(turns)} turns, ${Number(inputTokens) + Number(outputTokens)} tokens`;
  return `${String(planner)} planner, ${count} ${count === 1 ? "step" : "steps"}${cost}, ended: ${String(stopped)}, ${String(run)}`;
}

function hintFor({ planner }: JsonObject): string {
  return planner === "model" ? "`guildhall models test` says what is wrong with the model." : "`guildhall runs show` has the whole of it.";
}
