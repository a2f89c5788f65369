import type { JsonObject } from "../base/json.ts";
import type { Finder, Finding } from "../registry/find.ts";
import { type AnswerParts, answerFinding } from "../registry/find-answer.ts";
import { createOwnToolkit, type OwnToolkit } from "../registry/own.ts";
import type { Outcome, Tool } from "../tool.ts";
import type { Group, Groups } from "./groups.ts";

export interface AgentsOptions {
  readonly groups: Groups;
  readonly finder: Finder;
  readonly parts: AnswerParts;
}

/** One tool for each group, to be asked with a task. It answers with its best tools for it, and how they are called. */
export function createAgentToolkit({ groups, finder, parts }: AgentsOptions): OwnToolkit {
  let seen: readonly Group[] | undefined;
  let tools: readonly Tool[] = [];
  return createOwnToolkit("agents", {
    tools() {
      const all = groups.all();
      if (all !== seen) {
        tools = all.map(describeAgent);
        seen = all;
      }
      return tools;
    },
    mayBe: (name) => name.endsWith("_agent"),
    async call({ name }, args) {
      const group = groups.all().find(({ file }) => file.name === name);
      const { task, context = "" } = args as unknown as { task: string; context?: string };
      const words = `${task}\n${context}`.trim().slice(0, wordsMax);
      const finding = await finder.find(words, { limit: foundMax, among: (target) => group?.tools.has(target) ?? false });
      const better = finding.fits ? undefined : await findBetter(words, { groups, finder, asked: name });
      return answerAs(name, finding, { better, task, parts });
    },
  });
}

const foundMax = 5;
/** Characters of a task that say what is wanted. */
const wordsMax = 8_000;

function describeAgent({ file: { name, description } }: Group): Tool {
  return { name, description, inputSchema, annotations };
}

/** Said once for each agent, so it says no more than a model needs. */
const inputSchema: JsonObject = {
  type: "object",
  properties: {
    task: { type: "string", minLength: 1, description: "What to do, in plain words" },
    data: { description: "What the task is about" },
    context: { type: "string" },
  },
  required: ["task"],
};
const annotations: JsonObject = { readOnlyHint: true };

/** The agent whose tools fit where those of the one that was asked do not. */
async function findBetter(
  words: string,
  { groups, finder, asked }: { readonly groups: Groups; readonly finder: Finder; readonly asked: string },
): Promise<string | undefined> {
  const { found, fits } = await finder.find(words, { limit: 1 });
  const [best] = found;
  if (!fits || !best) return undefined;
  const owner = groups.all().find(({ tools }) => tools.has(best.target));
  return owner && owner.file.name !== asked ? owner.file.name : undefined;
}

interface Answering {
  readonly better: string | undefined;
  readonly task: string;
  readonly parts: AnswerParts;
}

function answerAs(agent: string, finding: Finding, { better, task, parts }: Answering): Outcome {
  const answer = answerFinding(finding, { ...parts, task });
  const head = better === undefined ? `${agent}:` : `${agent}: this looks like work for ${better}.`;
  const structured = answer.structuredContent as JsonObject;
  const [first] = answer.content;
  return {
    content: [{ type: "text", text: `${head}\n\n${String(first?.text ?? "")}` }],
    structuredContent: { agent, ...(better === undefined ? {} : { better }), ...structured },
  };
}
