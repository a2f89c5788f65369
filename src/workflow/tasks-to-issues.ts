import { join } from "node:path";
import { HallError } from "../base/errors.ts";
import { plural } from "../base/text.ts";
import { readInside, writeInside } from "./artefacts.ts";
import { folderOf, needDocument, type StepFunction, type StepInput } from "./step.ts";
import { filterTasks, parseTasks, type Task } from "./tasks.ts";

interface Issue {
  readonly task: string;
  readonly title: string;
  readonly body: string;
}

/**
 * One issue for each open task: created with a tool of the caller's choice, or returned to the caller. The number of an
 * issue is added to its task, so that a repeated step creates none twice.
 */
export const tasksToIssues: StepFunction = async (input) => {
  const { place, args, run } = input;
  const { tasks } = parseTasks(await needDocument(input, "tasks.md", "tasks"));
  const filter = typeof args.task_filter === "string" ? args.task_filter.trim() : "";
  const chosen = filter === "" ? tasks : filterTasks(tasks, filter);
  const issues = chosen
    .filter(({ isDone, text }) => !isDone && !/\(#\d+\)$/.test(text))
    .map((task) => describeIssue(task, folderOf(place)));
  const repository =
    typeof args.repository === "string" ? args.repository : await findRepository(input);
  const details = { repository: repository ?? null, issues: issues.map((issue) => ({ ...issue })) };
  if (issues.length === 0)
    return { text: "No open task without an issue", files: [], next: "implement", details };

  const tool = typeof args.tool === "string" ? args.tool : "";
  const listed = issues.map(({ title }) => `- ${title}`);
  if (tool === "")
    return {
      text: [
        `${plural(issues.length, "issue")} for ${repository ?? "your tracker"}:`,
        ...listed,
      ].join("\n"),
      files: [],
      isPaused: true,
      forModel: `Create these issues with the tool of your tracker${repository ? `, only in ${repository}` : ""}, or call again with \`tool\`, such as github.create_issue.`,
      details,
    };

  const created: string[] = [];
  for (const [at, issue] of issues.entries()) {
    run.report(10 + (85 * at) / issues.length, `Creating the issue of ${issue.task}`);
    created.push(`- ${issue.task}: ${await createIssue(issue, tool, repository, input)}`);
  }
  return {
    text: [`${plural(created.length, "issue")} created in ${repository}:`, ...created].join("\n"),
    files: [{ path: "tasks.md", change: "updated" }],
    next: "implement",
    details,
  };
};

function describeIssue({ id, text, story, phase }: Task, folder: string): Issue {
  const lines = [
    text,
    "",
    `- Task: ${id} in ${folder}/tasks.md`,
    `- Phase: ${phase.number}. ${phase.title}`,
    ...(story === undefined ? [] : [`- Story: ${story} in ${folder}/spec.md`]),
  ];
  // GitHub allows 256 characters.
  return { task: id, title: `${id} ${text}`.slice(0, 250), body: lines.join("\n") };
}

/** "owner/name" of the remote "origin", if it is on GitHub. */
async function findRepository({ place }: StepInput): Promise<string | undefined> {
  const config = await readInside(place, join(place.project, ".git", "config")).catch(() => "");
  const origin = /\[remote "origin"\][^[]*?url\s*=\s*(\S+)/.exec(config ?? "")?.[1] ?? "";
  return /github\.com[:/]([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(origin)?.[1];
}

/** The address of the issue. Throws EXECUTION if the tool fails. */
async function createIssue(
  { task, title, body }: Issue,
  tool: string,
  repository: string | undefined,
  { place, context }: StepInput,
): Promise<string> {
  const [owner, repo] = repository?.split("/") ?? [];
  if (!owner || !repo || !context.call)
    throw new HallError("EXECUTION", 'the remote "origin" is not on GitHub', {
      hint: "Name the repository as owner/name.",
    });
  // The newer tool of GitHub's server also updates issues.
  const method = tool.endsWith("issue_write") ? { method: "create" } : {};
  const args = { ...method, owner, repo, title, body };
  const { isError, content } = await context.call(tool, args);
  const text = content.map((item) => String(item.text ?? "")).join("\n");
  if (isError)
    throw new HallError("EXECUTION", `${tool} failed for ${task}: ${text.split("\n")[0]}`, {
      hint: "Repeat the step: it continues with the tasks that have no issue.",
    });

  const [address = "created", number] = /https?:\/\/[^\s"]+\/issues\/(\d+)/.exec(text) ?? [];
  const file = join(place.path, "tasks.md");
  const tasks = await readInside(place, file);
  const line = new RegExp(`^(- \\[ \\] ${task} .*?)(\\r?)$`, "m");
  if (tasks !== undefined && number !== undefined)
    await writeInside(
      place,
      file,
      tasks.replace(line, (_, words, end) => `${words} (#${number})${end}`),
    );
  return address;
}
