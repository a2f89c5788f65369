import { makeHarmless } from "../base/harmless.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { Scope } from "../base/scope.ts";
import type { Line } from "../client/line.ts";
import { stepNames, type ToolView } from "./state.ts";

/** What a server offers to a person: its tools, which of them are agents, and which steps of the workflow are missing. */
export interface ToolList {
  readonly tools: readonly ToolView[];
  readonly agents: readonly ToolView[];
  readonly missing: readonly string[];
  /** It offers more than are read. */
  readonly isCut: boolean;
}

const listMsMax = 60_000;
const pagesMax = 200;
/** As many as a hall takes from one server. */
export const toolsMax = 10_000;

export async function readTools(
  line: Line,
  { isHall }: { readonly isHall: boolean },
): Promise<ToolList> {
  const found = await readPages(line, isHall);
  const tools = found.slice(0, toolsMax).map(describe);
  const agents = tools.filter(
    ({ name, inputSchema }) =>
      name.endsWith("_agent") &&
      isObject(inputSchema.properties) &&
      "task" in inputSchema.properties,
  );
  // A hall may show its names with underscores; it takes them either way.
  const names = new Set(tools.map(({ name }) => name.replace("__", ".")));
  return {
    tools,
    agents,
    missing: stepNames.map((step) => `speckit.${step}`).filter((name) => !names.has(name)),
    isCut: found.length > toolsMax,
  };
}

async function readPages(line: Line, isHall: boolean): Promise<readonly JsonObject[]> {
  const scope = new Scope(undefined, listMsMax, "tools/list");
  // A person wants to see every tool, whatever models are shown.
  const shown = isHall ? { _meta: { "guildhall/expose": "tools,agents" } } : {};
  const found: JsonObject[] = [];
  try {
    let cursor: unknown;
    for (let page = 0; page < pagesMax; page++) {
      const answer = await line.request(
        "tools/list",
        { ...shown, ...(cursor === undefined ? {} : { cursor }) },
        scope,
      );
      for (const tool of Array.isArray(answer.tools) ? answer.tools : [])
        if (isObject(tool)) found.push(tool);
      cursor = answer.nextCursor;
      if (cursor === undefined || found.length > toolsMax) break;
    }
  } finally {
    scope.close();
  }
  return found.filter(({ name }) => typeof name === "string");
}

function describe({ name, title, description, inputSchema, annotations }: JsonObject): ToolView {
  return {
    name: String(name),
    title: typeof title === "string" ? makeHarmless(title) : undefined,
    description: typeof description === "string" ? makeHarmless(description) : "",
    inputSchema: isObject(inputSchema) ? inputSchema : {},
    isDestructive: isObject(annotations) && annotations.destructiveHint === true,
  };
}
