import type { LanguageModelV3Prompt } from "@ai-sdk/provider";
import { agentName } from "../../agents/agent-file.ts";
import { plannerChoices } from "../../agents/planner.ts";
import { openingFor, plannerMeta } from "../../agents/planners.ts";
import { readAdvice } from "../../base/advice.ts";
import { HallError, messageOf } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { visible } from "../../base/sanitize.ts";
import { plural } from "../../base/text.ts";
import type { HallClient } from "../../hall/hall-client.ts";
import type { Progress } from "../../tool.ts";
import { callLine, formatBlockedCalls, quoteWord } from "../advice.ts";
import type { JsonOption } from "../declaration.ts";
import { loadProject, noteUnlisted, withHall } from "../hall.ts";
import { createWaiting } from "../live.ts";
import { paint, print } from "../print.ts";
import { voteForGroups } from "./agents.ts";
import { contentOf, showContent } from "./call.ts";

interface AskCommandOptions extends JsonOption {
  readonly planner?: string;
  readonly data?: string;
}

/** Gives a task to the named agent or to the best one, and shows the steps as they are taken. */
export async function runAsk(words: readonly string[], options: AskCommandOptions): Promise<void> {
  requirePlanner(options.planner);
  requireTask(words.join(" "));
  const data = options.data === undefined ? undefined : parseData(options.data);

  await withHall(async (client) => {
    noteUnlisted(client, options);
    const { agent, task } = await chooseAgent(client, words);
    if (!options.json) process.stderr.write(paint("dim", `${agent}\n`));
    const result = await client.request(
      "tools/call",
      {
        name: agent,
        arguments: { task, data },
        _meta: { [plannerMeta]: options.planner },
      },
      options.json ? {} : { progress: createStepLines() },
    );
    await showAnswer(agent, result, { ...options, isEphemeral: client.isEphemeral });
  });
}

/** Throws EXECUTION if the agent failed. */
async function showAnswer(
  agent: string,
  result: JsonObject,
  { json, isEphemeral }: JsonOption & { readonly isEphemeral: boolean },
): Promise<void> {
  const answer = isObject(result.structuredContent) ? result.structuredContent : {};
  if (result.isError === true) {
    const reason = visible(String(answer.problem ?? answer.stopped_because ?? "unknown reason"));
    throw new HallError("EXECUTION", `${agent} failed: ${reason}`, {
      next: [{ do: "run-command", command: commandAfterFailure(answer) }],
      details: { result: answer },
    });
  }

  const shown = json
    ? []
    : await Promise.all(
        contentOf(result).map((item, at) => showContent(item, `${agent}-${at + 1}`)),
      );
  const text = [
    ...shown,
    ...formatCalls(answer),
    ...formatBlockedCalls(result, isEphemeral),
    paint("dim", summarise(answer)),
  ];
  print(answer, text.join("\n"), { json });
}

/** The prepared calls of an answer, as commands. */
function formatCalls({ next }: JsonObject): readonly string[] {
  const lines = readAdvice(next).flatMap((advice) =>
    advice.do === "call-tool" ? [`  ${callLine(advice.tool, advice.arguments)}`] : [],
  );
  if (lines.length === 0) return [];
  return ["", "Check the values, add what is missing, and continue with one of:", ...lines, ""];
}

function requirePlanner(planner: string | undefined): void {
  if (planner === undefined || plannerChoices.some((choice) => choice === planner)) return;
  throw new HallError(
    "INVALID_PARAMS",
    `unknown planner "${planner}" (expected: ${plannerChoices.join(", ")})`,
  );
}

function requireTask(task: string): void {
  if (task.trim() === "")
    throw new HallError("INVALID_PARAMS", "missing task", {
      next: [{ do: "run-command", command: 'ask "current time in America/Lima"' }],
    });
}

function parseData(text: string): JsonObject {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    throw new HallError("INVALID_PARAMS", `--data is not valid JSON (${messageOf(error)})`);
  }
  if (isObject(data)) return data;
  throw new HallError("INVALID_PARAMS", "--data must be a JSON object");
}

/**
 * The first word may name an agent. Throws NOT_FOUND if there are no agents, if it names an unknown
 * one, and if none fits.
 */
async function chooseAgent(
  client: HallClient,
  words: readonly string[],
): Promise<{ readonly agent: string; readonly task: string }> {
  const agents = (await client.list("tools/list", "tools", "agents"))
    .map(({ name }) => String(name))
    .filter((name) => name.endsWith("_agent"));
  if (agents.length === 0)
    throw new HallError("NOT_FOUND", "this project has no agents yet", {
      next: [{ do: "run-command", command: "build" }],
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
    throw new HallError("NOT_FOUND", `unknown agent "${first}" (expected: ${agents.join(", ")})`);
  const task = words.join(" ");
  const { votes } = await voteForGroups(client, task);
  // An agent whose tools do not fit says so itself, and its model may know better.
  const best = votes.find(({ name }) => agents.includes(name));
  if (best) return { agent: best.name, task };
  throw new HallError("NOT_FOUND", "no agent fits this task", {
    next: [{ do: "run-command", command: `ask ${agents[0]} ${quoteWord(task)}` }],
  });
}

/** One line for each step; repeated messages only report elapsed time. */
function createStepLines(): (progress: Progress) => void {
  let last = "";
  return ({ message = "" }) => {
    if (message !== "" && message !== last)
      process.stderr.write(paint("dim", `  ${visible(message)}\n`));
    last = message;
  };
}

function summarise({ planner, steps, usage, run, stopped_because: stopped }: JsonObject): string {
  const count = Array.isArray(steps) ? steps.length : 0;
  const { turns = 0, inputTokens = 0, outputTokens = 0 } = isObject(usage) ? usage : {};
  const cost =
    turns === 0
      ? ""
      : `, ${String(turns)} turns, ${Number(inputTokens) + Number(outputTokens)} tokens`;
  return `${String(planner)} planner, ${plural(count, "step")}${cost}, ended: ${String(stopped)}, ${String(run)}`;
}

function commandAfterFailure({ planner, run }: JsonObject): string {
  return planner === "model" ? "models test" : `runs show ${String(run)}`;
}

const testSeconds = 60;
const prompt: LanguageModelV3Prompt = [
  { role: "user", content: [{ type: "text", text: "Answer with the one word: ready" }] },
];

/** One tiny request to the model that plans for agents. */
export async function runModelsTest(model: string | undefined, options: JsonOption): Promise<void> {
  const { config, secrets } = await loadProject();
  const opening = openingFor(model, config.planner, process.env);
  if (!opening) {
    throw new HallError("NOT_FOUND", "no model is configured", {
      hint: "Agents plan without a model until one is set.",
      next: [
        { do: "run-command", command: "models test anthropic/NAME" },
        { do: "edit-config", field: "planner.model" },
      ],
    });
  }
  const [{ openModel }, { explainModelError, takeTurn }] = await Promise.all([
    import("../../agents/model/provider.ts"),
    import("../../agents/model/turn.ts"),
  ]);
  const signal = AbortSignal.timeout(testSeconds * 1_000);
  const startedAt = performance.now();
  try {
    const opened = await openModel({ ...opening, secrets });
    // No retries: a test should report the first refusal.
    const { content, usage } = await createWaiting().during(
      `waiting for ${opening.model}`,
      takeTurn(opened, { prompt, maxOutputTokens: 256 }, { signal, remainingMs: () => 0 }),
    );
    const ms = Math.round(performance.now() - startedAt);
    const said = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
    const tokens = {
      input: usage.inputTokens.total ?? null,
      output: usage.outputTokens.total ?? null,
    };
    const text = `${opening.model} works: it answered "${said.trim().slice(0, 60)}" in ${ms} ms`;
    print({ model: opening.model, ok: true, ms, said, tokens }, text, options);
  } catch (error) {
    if (signal.aborted)
      throw new HallError("TIMEOUT", `${opening.model} did not answer within ${testSeconds} s`, {
        hint: "Check the address, and that the model is loaded.",
      });
    throw explainModelError(error, { model: opening.model, secrets });
  }
}
