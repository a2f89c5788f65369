import { parseAgentFile } from "../../agents/agent-file.ts";
import { agentPath, type FoldedAgent } from "../../agents/agent-folder.ts";
import type { Group } from "../../agents/groups.ts";
import { mergeTexts } from "../../base/diff.ts";
import { HallError } from "../../base/errors.ts";
import { replaceProjectFile } from "../../base/project-files.ts";
import { documentsOf } from "../../ranking/document.ts";
import { embed, loadVectors, weighWords } from "../../ranking/vectors.ts";
import type { Target } from "../../tool.ts";
import { readableTool } from "../../trust/trust.ts";
import { askHall } from "../admin-client.ts";
import { getGroup, moveTool, openGroups } from "../groups.ts";
import { openProjectLedger } from "../project-store.ts";
import { withApprovedTexts } from "../project-texts.ts";
import { deciderOf, method, type PageParts } from "./area.ts";
import { spreadOut } from "./map.ts";

export interface AgentLine {
  readonly name: string;
  readonly description: string;
  readonly tools: readonly string[];
}

/** A tool on the map: the nearer two tools are, the more alike they are. Both numbers are from 0 to 1. */
export interface ToolPoint {
  readonly name: string;
  readonly group: string;
  readonly x: number;
  readonly y: number;
}

export interface AgentText {
  readonly name: string;
  /** Relative to the project. */
  readonly file: string;
  readonly text: string;
}

const textMax = 200_000;

/** The groups of tools: where each tool is, and the files that people edit. */
export function agentArea({ hall, settings }: PageParts) {
  let placed: { readonly groups: readonly Group[]; readonly points: ReadonlyMap<string, Point> };

  /** Computed again only when the groups have changed. */
  function place(groups: readonly Group[]): ReadonlyMap<string, Point> {
    if (placed?.groups !== groups) {
      const tools = [...new Set(groups.flatMap((group) => [...group.tools]))];
      placed = { groups, points: placeTools(hall, tools) };
    }
    return placed.points;
  }

  return {
    agents: method("read", {}, async () => {
      const groups = hall.groups.all();
      const points = place(groups);
      const agents = groups.map(
        ({ file, tools }): AgentLine => ({
          name: file.name,
          description: file.description,
          tools: [...tools].map(({ fullName }) => fullName),
        }),
      );
      const tools = groups.flatMap(({ file, tools }) =>
        [...tools].flatMap(({ fullName }): ToolPoint[] => {
          const point = points.get(fullName);
          return point ? [{ name: fullName, group: file.name, ...point }] : [];
        }),
      );
      return { agents, tools };
    }),
    agentFile: method("admin", { name: "string" }, async ({ name }) =>
      describeFile(await readAgent(settings, name)),
    ),
    /** `seen` is the text that was edited; what others changed since is merged. */
    saveAgent: method(
      "admin",
      { name: "string", text: "string", seen: "string" },
      async ({ name, text, seen }, caller) => {
        if (text.length > textMax)
          throw new HallError(
            "TOO_LARGE",
            "the agent's file exceeds the limit of 200,000 characters",
          );
        const folded = await readAgent(settings, name);
        const merged = mergeTexts(seen, text, folded.text);
        const saved = await save(settings, folded, merged.text);
        const [subject, reason] = [saved.file, "edited in the page"];
        await hall.note({ kind: "changed", subject, caller: deciderOf(caller), reason });
        return { ...saved, conflicts: merged.conflicts };
      },
    ),
    moveTool: method("admin", { tool: "string", to: "string" }, async ({ tool, to }) =>
      moveTool(await settings(), tool, to),
    ),
  };
}

async function readAgent(settings: PageParts["settings"], name: string): Promise<FoldedAgent> {
  const { agents } = await openGroups(await settings());
  return getGroup(name, agents);
}

/** The person who signed in wrote it, so models may read it. */
async function save(
  settings: PageParts["settings"],
  { fileName }: FoldedAgent,
  text: string,
): Promise<AgentText> {
  // Throws VALIDATION before anything is written.
  const agent = parseAgentFile(text, fileName.replace(/\.md$/, ""));
  const project = await settings();
  await replaceProjectFile(project.folder, agentPath(fileName), text);
  const ledger = await openProjectLedger(project);
  const approved = { name: `agents/${fileName}`, text };
  await ledger.change((entries) => withApprovedTexts(entries, [approved]));
  await askHall(project.folder, "groupsChanged", {});
  return { name: agent.name, file: agentPath(fileName), text };
}

function describeFile({ agent, fileName, text }: FoldedAgent): AgentText {
  return { name: agent.name, file: agentPath(fileName), text };
}

type Point = Pick<ToolPoint, "x" | "y">;

/** By what a model may read of each tool. */
function placeTools(
  { trust }: PageParts["hall"],
  tools: readonly Target[],
): ReadonlyMap<string, Point> {
  const vectors = loadVectors();
  const embedded = tools.map((target) => {
    const { name, description, inputSchema } = readableTool(target, trust);
    const toolkit = { id: target.toolkit.id, tools: [{ name, description, inputSchema }] };
    return documentsOf(toolkit).map((document) => embed(weighWords(document), vectors))[0];
  });
  const points = spreadOut(
    embedded.map((vector) => vector ?? new Float32Array(vectors.dimensions)),
  );
  return new Map(tools.map(({ fullName }, at) => [fullName, points[at] ?? { x: 0.5, y: 0.5 }]));
}
