import { HallError } from "../../base/errors.ts";
import { type JsonObject, parseObject } from "../../base/json.ts";
import { visible } from "../../base/sanitize.ts";
import { plural } from "../../base/text.ts";
import {
  type Attempt,
  acceptRights,
  explainSandbox,
  type Learning,
  listConfined,
  openLearning,
  type ProposedRight,
  type SandboxState,
} from "../../hall/sandbox-learn.ts";
import { describeDenial } from "../../upstream/sandbox/denials.ts";
import { describePath } from "../../upstream/sandbox/profile.ts";
import type { JsonOption } from "../declaration.ts";
import { loadProject } from "../hall.ts";
import { askList } from "../list.ts";
import { createWaiting } from "../live.ts";
import { joinLines, paint, print, table, wrapProse } from "../print.ts";
import { askLine, createPerson, isAttended } from "../terminal.ts";

export async function runSandboxList(options: JsonOption): Promise<void> {
  const settings = await loadProject();
  const states = await Promise.all(
    listConfined(settings).map((name) => explainSandbox(settings, name)),
  );
  const rows = states.map(({ name, state, what, denied }) => [
    name,
    state === "unconfined" ? { text: state, style: "yellow" as const } : state,
    visible(what),
    denied.length === 0 ? "" : String(new Set(denied.map(describeDenial)).size),
  ]);
  print(
    states,
    table(["server", "state", "details", "denied"], rows, { empty: "no servers" }),
    options,
  );
}

export async function runSandboxExplain(name: string, options: JsonOption): Promise<void> {
  const state = await explainSandbox(await loadProject(), name);
  print(state, wrapProse(formatState(state)), options);
}

function formatState({ name, state, what, denied }: SandboxState): string {
  const base = [
    "It reads the system, its own package and this project without its .env files.",
    "It writes a folder of its own, which it sees as your home, and a /tmp of its own.",
    "It sees no dotfiles of your home, and nothing of Guildhall or of other servers.",
  ];
  const words = [...new Set(denied.map(describeDenial))];
  return joinLines(
    `${paint("bold", name)}: ${state}; ${visible(what)}`,
    state === "confined" && base,
    words.length > 0 && [
      "denied since its review:",
      ...words.map((it) => `  ${visible(it)}`),
      `To allow some of it, run \`guildhall sandbox learn ${name}\`.`,
    ],
  );
}

interface LearnOptions extends JsonOption {
  readonly call?: readonly string[];
  readonly yes?: boolean;
}

export async function runSandboxLearn(name: string, options: LearnOptions): Promise<void> {
  const settings = await loadProject();
  const calls = (options.call ?? []).map(parseCall);
  const learning = await createWaiting().during("reading", openLearning(settings, name));
  let proposed: readonly ProposedRight[];
  try {
    if (!learning.isTraced && !options.json)
      process.stderr.write(
        "note: strace is not available, so only failures that the server reports are seen\n",
      );
    for (const { tool, args } of calls) report(tool, await learning.attempt(tool, args), options);
    if (calls.length === 0 && isAttended(options)) await tryTools(learning, options);
  } finally {
    await createWaiting().during("stopping the server", learning.close());
    proposed = learning.propose();
  }
  const isConfined = (await explainSandbox(settings, name)).state === "confined";
  if (proposed.length === 0 && isConfined) {
    print({ name, proposed, accepted: [] }, `nothing was denied; ${name} stays as it is`, options);
    return;
  }
  const accepted = proposed.length === 0 ? [] : await choose(name, proposed, options);
  if (accepted.length === 0 && isConfined) {
    print({ name, proposed, accepted }, formatProposal(name, proposed), options);
    return;
  }
  const list = accepted.map((right) => `\n  ${formatRight(right)}`).join("");
  const what = isConfined ? "" : "run in a sandbox, and ";
  await createPerson().confirm(
    `You are about to let ${name} ${what}use:${list || " nothing more"}`,
  );
  const profile = await acceptRights(settings, name, accepted);
  print({ name, proposed, accepted, profile }, `${name}: ${profile.join("; ")}`, options);
}

/** `TOOL`, or `TOOL={"path":"."}`. */
function parseCall(text: string): { readonly tool: string; readonly args: JsonObject } {
  const [, tool = text, json = "{}"] = /^([^={]+)=(.*)$/s.exec(text) ?? [];
  return { tool, args: parseArguments(json) };
}

function parseArguments(json: string): JsonObject {
  const value = parseObject(json);
  if (value) return value;
  throw new HallError("INVALID_PARAMS", `the arguments "${json}" are not a JSON object`);
}

/** Nothing is called without the person: each tool is named with the arguments they type. */
async function tryTools(learning: Learning, options: LearnOptions): Promise<void> {
  for (const tool of learning.tools) {
    const question = `${visible(tool)}: arguments as JSON, {} for none, Enter to skip, q to stop >`;
    const answer = await askLine(`${wrapProse(question)} `);
    if (answer === "q") return;
    if (answer !== "") report(tool, await learning.attempt(tool, parseArguments(answer)), options);
  }
}

/** With the answer, because a server may hide its failures in it. */
function report(tool: string, { isError, text }: Attempt, { json }: JsonOption): void {
  if (json) return;
  const what = `${tool} ${isError ? "failed" : "answered"}: ${text.slice(0, 300)}`;
  process.stderr.write(`${wrapProse(visible(what), process.stderr)}\n`);
}

function formatRight({ kind, what, isSecret }: ProposedRight): string {
  const verbs = { read: "reads", write: "writes", host: "connects to" };
  const shown = visible(kind === "host" ? what : describePath(what));
  return `${verbs[kind]} ${shown}${isSecret ? paint("red", "  ! looks like a key") : ""}`;
}

async function choose(
  name: string,
  proposed: readonly ProposedRight[],
  options: LearnOptions,
): Promise<readonly ProposedRight[]> {
  if (options.yes) return proposed.filter(({ isSecret }) => !isSecret);
  if (!isAttended(options)) return [];
  const { ticked } = await askList(
    {
      title: `\nThe sandbox of ${name} denied this. Allow it?`,
      items: proposed.map((right) => ({ label: formatRight(right), lines: [] })),
      enter: "allow what is ticked",
      cancelled: "nothing was allowed",
    },
    { ticked: new Set([...proposed.keys()].filter((at) => !proposed[at]?.isSecret)), at: 0 },
  );
  return proposed.filter((_right, at) => ticked.has(at));
}

function formatProposal(name: string, proposed: readonly ProposedRight[]): string {
  return [
    `${plural(proposed.length, "right")} that ${name} asked for; nothing was allowed:`,
    ...proposed.map((right) => `  ${formatRight(right)}`),
  ].join("\n");
}
