import type { NameStyle } from "../registry/shown-names.ts";
import type { Face } from "./faces.ts";
import type { ServerOptions } from "./server.ts";

/** The instructions that a client gets with the handshake: only what is in its list is named. */
export function describeInstructions(
  faces: readonly Face[],
  { registry, modules, guide, names, trust, own, languages }: ServerOptions,
): string {
  const isAgentsOnly = faces.every((face) => face === "agents");
  if (isAgentsOnly && own.agents.targets().length === 0) return noAgents;
  // Names of reviewed servers only: other names, file names and all reasons are texts of a project or
  // a server that nobody has approved.
  const reviewed = trust?.entries().servers ?? {};
  const downs = registry.toolkits().filter((toolkit) => toolkit.problem?.() !== undefined);
  const named = downs
    .filter(({ id, source }) => source !== "upstream" || !trust || Object.hasOwn(reviewed, id))
    .map(({ id }) => id);
  const others = downs.length - named.length + modules.failures().length;
  const rest = `${others} not reviewed or not loadable (the user sees them in \`guildhall status\`)`;
  const problems = others === 0 ? named : [...named, rest];
  const written = faces.includes("agents") ? guide?.() : undefined;
  const usual = instructions(names, languages)[faces.find((face) => face !== "agents") ?? "agents"];
  // The project's text speaks of its agents; what else is there depends on the faces.
  const known =
    written === undefined || isAgentsOnly ? (written ?? usual) : `${written.trim()} ${usual}`;
  return problems.length === 0 ? known : `${known} Currently unavailable: ${problems.join(", ")}.`;
}

export const noAgents =
  "There are no agents yet. The user creates them with `guildhall build` and starts this server again; without --expose it lists the tools themselves.";
const afterFailure = "If a call fails, follow the next step in the error.";
const howToProgram: Readonly<Record<string, string>> = {
  lisp: 'write a Lisp program for evaluate-lisp; (find-tools "what you want to do") in it finds what it can call',
  js: 'write a JavaScript program for evaluate-js; await findTools("what you want to do") in it finds what it can call',
};
const instructions = (
  names: NameStyle,
  languages: readonly string[],
): Readonly<Record<Face, string>> => ({
  tools: `Tools are named toolkit${names === "dot" ? "." : "__"}tool. ${afterFailure}`,
  search: `Tools are found on demand: describe what you want to do to find_tools, then call what it finds with call_tool. ${afterFailure}`,
  agents: `Each agent has a group of tools: give the task to the one that fits it. ${afterFailure}`,
  code: `Tools are called from programs: ${languages.map((name) => howToProgram[name]).join("; or ")}. ${afterFailure}`,
});
