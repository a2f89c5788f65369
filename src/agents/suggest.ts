import { signatureOf } from "../registry/signature.ts";
import type { Conclusion, Job, OfferedTool } from "./planner.ts";

const suggestedMax = 5;

/** Names the tools for a task and how they are called, for a caller that goes on by itself. */
export function suggestTools({ agent, tools, fits, better, toolCount }: Job): Conclusion {
  const best = tools.filter(({ score }) => score > 0).slice(0, suggestedMax);
  const told = best.map(describe);
  const head = better === undefined ? `${agent}:` : `${agent}: this looks like work for ${better}.`;
  const lead =
    best.length === 0 ? `None of ${toolCount} tools has anything to do with this.` : fits ? "The best tools for it:" : "Nothing fits well. The nearest:";
  const lines = told.map(({ signature, description, asks, unavailable }, at) =>
    [
      `${at + 1}. ${signature}`,
      description,
      asks === undefined ? "" : `asks a person first: ${asks}`,
      unavailable === undefined ? "" : `not available right now: ${unavailable}`,
    ]
      .filter(Boolean)
      .join("\n   "),
  );
  const next = best.length === 0 ? [] : ['Run one with call_tool {"name": …, "arguments": {…}}.'];
  return {
    answer: [head, lead, ...lines, ...next].join("\n\n"),
    stopped: "not sure",
    details: { fits, total: toolCount, tools: told, ...(better === undefined ? {} : { better }) },
  };
}

function describe({ name, description, inputSchema, score, asks, unavailable }: OfferedTool) {
  return {
    name,
    description: description.replace(/\s+/g, " ").slice(0, 240),
    signature: signatureOf(name, inputSchema),
    score,
    ...(asks === undefined ? {} : { asks }),
    ...(unavailable === undefined ? {} : { unavailable }),
  };
}
