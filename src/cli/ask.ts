import { agentName } from "../agents/agent-file.ts";
import { plannerChoices } from "../agents/planner.ts";
import { plannerMeta } from "../agents/planners.ts";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { withoutAge } from "../base/pulse.ts";
import { visible } from "../base/text.ts";
import type { Progress } from "../tool.ts";
import { formatBlockedCalls } from "./advice.ts";
import { contentOf, showContent } from "./call.ts";
import { callLine, quoteWord } from "./call-line.ts";
import { voteForGroups } from "./groups.ts";
import type { HallClient } from "./hall-client.ts";
import { paint, print } from "./print.ts";
import { withHall } from "./tools.ts";

export interface AskOptions {
  readonly planner?: string;
  readonly data?: string;
  readonly json?: boolean;
}

/** Gives a task to an agent, to the best one where none is named; shows the steps as they are taken. */
export async function runAsk(words: readonly string[], options: AskOptions): Promise<void> {
  requirePlanner(options.planner);
  requireTask(words.join(" "));
  const data = options.data === undefined ? undefined : parseData(options.data);
  await withHall(async (client) => {
    const { agent, task } = await chooseAgent(client, words);
    if (!options.json) process.stderr.write(paint("dim", `${agent}\n`));
    const _meta =
      options.planner === undefined ? {} : { _meta: { [plannerMeta]: options.planner } };
    const params = {
      name: agent,
      arguments: { task, ...(data === undefined ? {} : { data }) },
      ..._meta,
    };
    const result = await client.request(
      "tools/call",
      params,
      options.json ? {} : { progress: createStepLines() },
    );
    await showAnswer(agent, result, { ...options, isPassing: client.isPassing });
  });
}

/** Throws EXECUTION where the agent could not do it. */
async function showAnswer(
  agent: string,
  result: JsonObject,
  { json, isPassing }: { readonly json?: boolean; readonly isPassing: boolean },
): Promise<void> {
  const told = isObject(result.structuredContent) ? result.structuredContent : {};
  if (result.isError === true)
    throw new HallError(
      "EXECUTION",
      `${agent} could not do it: ${visible(String(told.problem ?? told.stopped_because ?? "no reason was given"))}`,
      {
        hint: hintFor(told),
        details: { result: told },
      },
    );
  const shown = json
    ? []
    : await Promise.all(
        contentOf(result).map((item, at) => showContent(item, `${agent}-${at + 1}`)),
      );
  const said = (text: string): string => sayCommands(text, told);
  const blocked = formatBlockedCalls(result, isPassing);
  print(told, {
    json,
    text: () => [...shown.map(said), ...blocked, paint("dim", summarise(told))].join("\n"),
  });
}

function requirePlanner(planner: string | undefined): void {
  if (planner === undefined || plannerChoices.some((choice) => choice === planner)) return;
  throw new HallError(
    "INVALID_PARAMS",
    `there is no planner "${planner}"; there is: ${plannerChoices.join(", ")}`,
  );
}

function requireTask(task: string): void {
  if (task.trim() === "")
    throw new HallError("INVALID_PARAMS", "a task is needed", {
      hint: 'Such as: guildhall ask "current time in America/Lima"',
    });
}

function parseData(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (/^\s*[[{]/.test(text))
      throw new HallError(
        "INVALID_PARAMS",
        `--data is not valid JSON (${error instanceof Error ? error.message : error})`,
        {
          hint: "Correct it, or give it as words that do not begin with a bracket.",
        },
      );
    // Words are data too.
    return text;
  }
}

interface Chosen {
  readonly agent: string;
  readonly task: string;
}

/** The first word may be an agent. Throws NOT_FOUND where there are none, where the word is nearly one, and where no agent fits. */
async function chooseAgent(client: HallClient, words: readonly string[]): Promise<Chosen> {
  const agents = (await client.list("tools/list", "tools", "agents"))
    .map(({ name }) => String(name))
    .filter((name) => name.endsWith("_agent"));
  if (agents.length === 0)
    throw new HallError("NOT_FOUND", "there are no agents", {
      hint: "Run `guildhall build` first.",
    });
  const [first = "", ...rest] = words;
  const named =
    rest.length > 0 && /^[\w-]+$/.test(first)
      ? agents.find((name) => name === first || name === agentName(first))
      : undefined;
  if (named !== undefined) {
    requireTask(rest.join(" "));
    return { agent: named, task: rest.join(" ") };
  }
  if (/^[\w-]+_agent$/.test(first))
    throw new HallError(
      "NOT_FOUND",
      `there is no agent "${first}"; there is: ${agents.join(", ")}`,
    );
  const nearly =
    rest.length > 0
      ? agents.find((name) => isNearly(agentName(first.toLowerCase()), name))
      : undefined;
  if (nearly !== undefined)
    throw new HallError("NOT_FOUND", `there is no agent "${first}"; did you mean ${nearly}?`, {
      hint: "Where the word belongs to the task, put the whole task in quotes.",
    });
  const task = words.join(" ");
  const { fits, votes } = await voteForGroups(client, task);
  const known = votes.filter(({ name }) => agents.includes(name));
  const [best] = known;
  if (fits && best) return { agent: best.name, task };
  const nearest = known
    .slice(0, 3)
    .map(({ name, tools }) => (tools[0] ? `${name} (${tools[0].name})` : name));
  throw new HallError(
    "NOT_FOUND",
    `no agent seems made for this${nearest.length > 0 ? `; the nearest: ${nearest.join(", ")}` : ""}`,
    {
      hint: `Say it in other words, or name the agent: guildhall ask ${best?.name ?? agents[0]} ${quoteWord(task)}`,
    },
  );
}

/** One letter more, less, or another: more is another word ("calculate" is not meant for a calculator). */
function isNearly(word: string, name: string): boolean {
  if (word === name || Math.abs(word.length - name.length) > 1) return false;
  let same = 0;
  while (same < word.length && word[same] === name[same]) same++;
  const [a, b] = [word.slice(same), name.slice(same)];
  return a.slice(1) === b.slice(1) || a.slice(1) === b || a === b.slice(1);
}

/** One line for each step, and none for the time it has taken so far. */
function createStepLines(): (progress: Progress) => void {
  let last = "";
  return ({ message = "" }) => {
    const news = withoutAge(message);
    if (news !== "" && news !== last) process.stderr.write(paint("dim", `  ${visible(news)}\n`));
    last = news;
  };
}

/** The lines to go on with as they are typed here; an agent writes them for clients of MCP. */
function sayCommands(text: string, { tools }: JsonObject): string {
  const prepared = Array.isArray(tools) ? tools.filter(isObject) : [];
  return prepared
    .reduce<string>(
      (said, tool) => said.replace(`call_tool ${JSON.stringify(tool.call)}`, () => callLine(tool)),
      text,
    )
    .replace(
      "go on with one of the call_tool lines",
      "go on with one of the `guildhall call` lines",
    );
}

function summarise({ planner, steps, usage, run, stopped_because: stopped }: JsonObject): string {
  const count = Array.isArray(steps) ? steps.length : 0;
  const { turns = 0, inputTokens = 0, outputTokens = 0 } = isObject(usage) ? usage : {};
  const cost =
    turns === 0
      ? ""
      : `, ${String(turns)} turns, ${Number(inputTokens) + Number(outputTokens)} tokens`;
  return `${String(planner)} planner, ${count} ${count === 1 ? "step" : "steps"}${cost}, ended: ${String(stopped)}, ${String(run)}`;
}

function hintFor({ planner, run }: JsonObject): string {
  return planner === "model"
    ? "`guildhall models test` says what is wrong with the model."
    : `\`guildhall runs show ${String(run)}\` has the whole of it.`;
}
