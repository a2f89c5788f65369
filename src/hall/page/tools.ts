import { HallError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { Scope } from "../../base/scope.ts";
import { createIds } from "../../base/text.ts";
import type { RankReasons } from "../../ranking/ranker.ts";
import { visibleTo } from "../../registry/visible.ts";
import type { Identity } from "../../server/http/guard.ts";
import { isAllowed } from "../../server/rights.ts";
import type { Outcome } from "../../tool.ts";
import type { ToolTrust } from "../admin-contract.ts";
import { describeTrust } from "../admin-handlers.ts";
import { client, method, type PageParts } from "./area.ts";
import type { PageQuestions } from "./questions.ts";

export interface ToolLine
  extends Pick<ToolTrust, "name" | "toolkit" | "source" | "level" | "held" | "ask"> {
  readonly title: string;
  readonly description: string;
  readonly effect: ToolTrust["marks"]["effect"];
  /** The agents whose group it is in. */
  readonly groups: readonly string[];
}

export interface FoundTool {
  readonly name: string;
  readonly score: number;
  readonly reasons: RankReasons | undefined;
  /** Tools that say the same and were left out. */
  readonly alike: readonly string[];
}

const descriptionMax = 300;
const callIds = createIds("page");

/** The tools of the hall: the list, the search that models use, and calls from the page. */
export function toolArea({ hall }: PageParts, questions: PageQuestions) {
  return {
    tools: method("read", {}, async (_none, caller) => ({ tools: listTools(hall, caller) })),
    tool: method("read", { name: "string" }, async ({ name }, caller) => {
      const found = describeSeen(hall, caller).find((tool) => tool.name === name);
      if (found) return found;
      throw new HallError("NOT_FOUND", `no tool named "${name}"`);
    }),
    /** `fits` is false when nothing seems made for the task. */
    findTools: method(
      "read",
      { task: "string", limit: "number?" },
      async ({ task, limit = 20 }, { person }) => {
        const { found, fits, total } = await hall.finder.find(task, {
          limit: Math.min(limit, 20),
          explains: true,
          among: (tool) => hall.policies.shows({ person, client }, { tool }),
        });
        return {
          found: found.map(
            ({ target, score, reasons, alike }): FoundTool => ({
              name: target.fullName,
              score,
              reasons,
              alike: alike.map(({ fullName }) => fullName),
            }),
          ),
          fits,
          total,
        };
      },
    ),
    /**
     * Through the whole gateway, as a client's call: it may wait for approval. `key` is an id chosen by the page;
     * events about the call's progress and questions carry it.
     */
    callTool: method(
      "call",
      { name: "string", arguments: "object", key: "string?" },
      ({ name, arguments: args, key = "" }, caller) =>
        callFromPage(hall, questions, { name, args, key, caller }),
    ),
  };
}

/** The tools that policies show to the caller. */
function describeSeen(hall: PageParts["hall"], { person }: Identity): readonly ToolTrust[] {
  const seen = visibleTo(hall.registry, { person, client }, hall.policies);
  return describeTrust({ ...hall, registry: seen });
}

function listTools(hall: PageParts["hall"], caller: Identity): readonly ToolLine[] {
  const groups = new Map<string, string[]>();
  for (const { file, tools } of hall.groups.all())
    for (const { fullName } of tools)
      groups.set(fullName, [...(groups.get(fullName) ?? []), file.name]);
  return describeSeen(hall, caller).map(({ definition, marks, ...tool }) => ({
    name: tool.name,
    toolkit: tool.toolkit,
    source: tool.source,
    level: tool.level,
    held: tool.held,
    ask: tool.ask,
    title: definition.title ?? "",
    description: (definition.description ?? "").slice(0, descriptionMax),
    effect: marks.effect,
    groups: groups.get(tool.name) ?? [],
  }));
}

interface PageCall {
  readonly name: string;
  readonly args: JsonObject;
  readonly key: string;
  readonly caller: Identity;
}

async function callFromPage(
  { gateway, events }: PageParts["hall"],
  questions: PageQuestions,
  { name, args, key, caller: { principal, person, rights } }: PageCall,
): Promise<{ readonly id: string; readonly outcome: Outcome; readonly ms: number }> {
  const caller = {
    connection: "page",
    principal,
    person,
    client,
    mayAnswer: isAllowed(rights, "admin") ? ("lasting" as const) : ("once" as const),
    tools: rights.tools,
    quota: `page ${principal}`,
  };
  const scope = new Scope();
  const id = callIds();
  const started = performance.now();
  try {
    const outcome = await gateway.call(
      { id, name, arguments: args, caller, target: undefined },
      {
        scope,
        caller,
        takesProgress: true,
        progress: (progress) => events.emit({ type: "progress", key, principal, progress }),
        log: () => {},
        capabilities: { elicitation: { form: {}, url: {} } },
        ask: (asked, until = scope) => questions.ask({ key, principal, tool: name }, asked, until),
      },
    );
    return { id, outcome, ms: performance.now() - started };
  } finally {
    scope.close();
  }
}
