import { join } from "node:path";
import { HallError, messageOf } from "../base/errors.ts";
import { harmlessLines } from "../base/harmless.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { startPulse, tellAge } from "../base/pulse.ts";
import type { InnerCall, Outcome, Progress } from "../tool.ts";
import { readInside } from "./artefacts.ts";
import { parseCommand } from "./command.ts";
import { folderOf, type StepInput } from "./step.ts";
import type { Task } from "./tasks.ts";

/** What became of one task, and what was said of it by whoever did it. */
export type TaskEnd =
  | { readonly kind: "done"; readonly report: string }
  | { readonly kind: "failed"; readonly reason: string; readonly report?: string }
  | { readonly kind: "caller" };

/** Says how far a task is: a share of it, and what is being done. */
export type TellShare = (share: number, message: string) => void;

/** Has one task done: its command run, or an agent asked. What neither may do is the caller's. */
export async function runTask(task: Task, input: StepInput, tell: TellShare): Promise<TaskEnd> {
  const { context, settings, args } = input;
  const agent = typeof args.agent === "string" && args.agent !== "" ? args.agent : settings.agent;
  if (!context.call || (task.command !== undefined ? !settings.commands : agent === undefined))
    return { kind: "caller" };
  const how = listenTo(task, input, tell);
  try {
    return task.command === undefined
      ? readAgentEnd(await askAgent(agent ?? "", task, input, how), how, agent)
      : readCommandEnd(await callCommand(task.command, task, input, how));
  } catch (error) {
    if (context.scope.cancelled) throw context.scope.cancelled;
    return { kind: "failed", reason: messageOf(error) };
  }
}

type Listening = Required<Pick<InnerCall, "progress" | "log">>;

/** What whoever does a task says meanwhile: to the caller of the step as the step's own, and what is said to the log as well. */
function listenTo(task: Task, { context, run }: StepInput, tell: TellShare): Listening {
  return {
    progress: ({ progress, total, message }) =>
      tell(
        total ? Math.max(0, Math.min(progress / total, 0.99)) : 0,
        `${task.id}: ${message ?? task.text}`.slice(0, messageCharactersMax),
      ),
    log(level, data, logger) {
      context.log(level, data, logger);
      const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
      run.note(`${task.id} ${logger ?? level}: ${harmlessLines(text).join("\n")}`);
    },
  };
}

const messageCharactersMax = 500;

function callCommand(
  command: string,
  task: Task,
  { context, place }: StepInput,
  how: InnerCall,
): Promise<Outcome> {
  const argv = parseCommand(command);
  return (
    context.call?.(
      "speckit.command",
      { argv, spec_directory: place.path, task: task.id },
      undefined,
      how,
    ) ?? Promise.reject(new HallError("EXECUTION", "commands run only inside a hall"))
  );
}

function readCommandEnd({ isError, content, structuredContent }: Outcome): TaskEnd {
  const head = String(content[0]?.text ?? "the command failed").split("\n")[0] ?? "";
  const { stdout, stderr } = isObject(structuredContent) ? structuredContent : {};
  const written = [
    ["stdout", stdout],
    ["stderr", stderr],
  ].flatMap(([stream, text]) =>
    typeof text === "string" && text.trim() !== "" ? [`${stream}:\n${endOf(text)}`] : [],
  );
  return isError
    ? { kind: "failed", reason: head, report: written.join("\n") }
    : { kind: "done", report: [head, ...written].join("\n") };
}

async function askAgent(
  agent: string,
  task: Task,
  input: StepInput,
  how: Listening,
): Promise<Outcome> {
  const { context, place, settings } = input;
  const documents = await Promise.all(
    ["spec.md", "plan.md", "data-model.md", "contracts/actions.md"].map(
      async (name) => [name, await readInside(place, join(place.path, name))] as const,
    ),
  );
  const data = {
    task: describeTask(task),
    folder: place.project,
    feature: folderOf(place),
    documents: Object.fromEntries(documents.filter((entry) => entry[1] !== undefined)),
  };
  const words = `Do this task of the feature "${folderOf(place)}" completely: ${task.id} ${task.text}. The documents of the feature are in the data. Work in ${place.project}.`;
  // Its model may think for long, and whoever serves it need not be ours.
  let newest: Progress = { progress: 0, message: `${agent} works on it` };
  let isSilent = true;
  const heard: Listening = {
    ...how,
    progress(progress) {
      newest = progress;
      isSilent = false;
      how.progress(progress);
    },
  };
  const stop = startPulse((seconds) => {
    if (isSilent) how.progress({ ...newest, message: tellAge(newest.message ?? agent, seconds) });
    isSilent = true;
  }, settings.pulseMs);
  try {
    return (
      (await context.call?.(agent, { task: words, data }, undefined, heard)) ?? {
        content: [],
        isError: true,
      }
    );
  } finally {
    stop();
  }
}

/** An agent that only names tools, or stopped half-way, has not done the task. */
function readAgentEnd(
  { isError, structuredContent, content }: Outcome,
  { log }: Listening,
  agent: string | undefined,
): TaskEnd {
  const report = harmlessLines(String(content[0]?.text ?? "")).join("\n");
  const [said = "", ...more] = report.split("\n");
  if (isError)
    return {
      kind: "failed",
      reason: said || "the agent failed",
      report: beginningOf(more.join("\n")),
    };
  const facts = isObject(structuredContent) ? structuredContent : {};
  if (facts.stopped_because !== "done" || facts.planner === "local") return { kind: "caller" };
  log("info", report, agent);
  if (Array.isArray(facts.approvals_needed) && facts.approvals_needed.length > 0)
    return {
      kind: "failed",
      reason: "a person must allow some of its calls",
      report: beginningOf(report),
    };
  return { kind: "done", report: beginningOf(report) };
}

const reportCharactersMax = 1_000;

/** What went wrong with a program stands at the end of what it wrote; what an agent has done, at the beginning of what it says. */
function endOf(text: string): string {
  const trimmed = text.trimEnd();
  return trimmed.length <= reportCharactersMax
    ? trimmed
    : `… ${trimmed.slice(-reportCharactersMax)}`;
}

function beginningOf(text: string): string {
  return text.length <= reportCharactersMax ? text : `${text.slice(0, reportCharactersMax)} …`;
}

export function describeTask({
  id,
  text,
  story,
  phase,
  paths,
  isParallel,
  command,
}: Task): JsonObject {
  return {
    id,
    text,
    story: story ?? null,
    phase: phase.number,
    paths,
    parallel: isParallel,
    ...(command === undefined ? {} : { command }),
  };
}
