import { join } from "node:path";
import { messageOf } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { sanitizeLines } from "../base/sanitize.ts";
import { startHeartbeat } from "../base/timing.ts";
import type { CallContext, InnerCall, Outcome, Progress } from "../tool.ts";
import { readInside } from "./artefacts.ts";
import { parseCommand } from "./command.ts";
import { folderOf, type StepInput } from "./step.ts";
import type { Task } from "./tasks.ts";

/** The end of one task. "caller": neither a command nor an agent may do it. */
export type TaskEnd =
  | { readonly kind: "done"; readonly report: string }
  | { readonly kind: "failed"; readonly reason: string; readonly report?: string }
  | { readonly kind: "caller" };

/** Reports progress within a task: the share that is done, from 0 to 1. */
export type ReportShare = (
  share: number,
  details: Pick<Progress, "message" | "elapsedSeconds">,
) => void;

/** Runs the task's command, or asks an agent to do the task. */
export async function runTask(task: Task, input: StepInput, report: ReportShare): Promise<TaskEnd> {
  const { context, settings, args } = input;
  const agent = typeof args.agent === "string" && args.agent !== "" ? args.agent : settings.agent;
  const { call } = context;
  const how = forwardFrom(task, input, report);
  try {
    if (task.command !== undefined && call && settings.commands) {
      const argv = parseCommand(task.command);
      const given = { argv, spec_directory: input.place.path, task: task.id };
      return readCommandEnd(await call("speckit.command", given, undefined, how));
    }
    if (task.command !== undefined || !call || agent === undefined) return { kind: "caller" };
    return readAgentEnd(await askAgent(agent, call, task, input, how), how, agent);
  } catch (error) {
    if (context.scope.cancelReason) throw context.scope.cancelReason;
    return { kind: "failed", reason: messageOf(error) };
  }
}

type Forwarding = Required<Pick<InnerCall, "progress" | "log">>;

/** Forwards progress and log messages of a task to the caller of the step, and messages to the run's log. */
function forwardFrom(task: Task, { context, run }: StepInput, report: ReportShare): Forwarding {
  return {
    progress: ({ progress, total, message, elapsedSeconds }) =>
      report(total ? Math.max(0, Math.min(progress / total, 0.99)) : 0, {
        message: `${task.id}: ${message ?? task.text}`.slice(0, messageCharactersMax),
        elapsedSeconds,
      }),
    log(level, data, logger) {
      context.log(level, data, logger);
      const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
      run.note(`${task.id} ${logger ?? level}: ${sanitizeLines(text).join("\n")}`);
    },
  };
}

const messageCharactersMax = 500;

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
  call: NonNullable<CallContext["call"]>,
  task: Task,
  { place, settings }: StepInput,
  how: Forwarding,
): Promise<Outcome> {
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
  // An agent may be silent for long while its model works.
  let newest: Progress = { progress: 0, message: `${agent} is working` };
  let isSilent = true;
  const forwarding: Forwarding = {
    ...how,
    progress(progress) {
      newest = progress;
      isSilent = false;
      how.progress(progress);
    },
  };
  const stop = startHeartbeat((elapsedSeconds) => {
    if (isSilent) how.progress({ ...newest, elapsedSeconds });
    isSilent = true;
  }, settings.pulseMs);
  try {
    return await call(agent, { task: words, data }, undefined, forwarding);
  } finally {
    stop();
  }
}

/** An agent that only suggests tools, or stopped early, has not done the task. */
function readAgentEnd(
  { isError, structuredContent, content }: Outcome,
  { log }: Forwarding,
  agent: string,
): TaskEnd {
  const report = sanitizeLines(String(content[0]?.text ?? "")).join("\n");
  const [first = "", ...more] = report.split("\n");
  if (isError)
    return {
      kind: "failed",
      reason: first || "the agent failed",
      report: beginningOf(more.join("\n")),
    };
  const facts = isObject(structuredContent) ? structuredContent : {};
  if (facts.stopped_because !== "done" || facts.planner === "local") return { kind: "caller" };
  log("info", report, agent);
  if (Array.isArray(facts.approvals_needed) && facts.approvals_needed.length > 0)
    return {
      kind: "failed",
      reason: "some of its calls need approval",
      report: beginningOf(report),
    };
  return { kind: "done", report: beginningOf(report) };
}

const reportCharactersMax = 1_000;

/** The errors of a program are at the end of its output; the result of an agent is at the beginning of its report. */
function endOf(text: string): string {
  const trimmed = text.trimEnd();
  return trimmed.length <= reportCharactersMax
    ? trimmed
    : `… ${trimmed.slice(-reportCharactersMax)}`;
}

function beginningOf(text: string): string {
  return text.length <= reportCharactersMax ? text : `${text.slice(0, reportCharactersMax)} …`;
}

export function describeTask(task: Task): JsonObject {
  const { id, text, story = null, phase, paths, isParallel: parallel, command } = task;
  return { id, text, story, phase: phase.number, paths, parallel, command };
}
