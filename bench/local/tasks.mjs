import { createHash } from "node:crypto";
import { readLines } from "../recall/sets.mjs";

/** Single-call tasks of BFCL with the functions they were offered and the answers its checker accepts. */
export function readBfcl(folder) {
  const tools = new Map(
    readLines(folder, "tools.bfcl.jsonl").map((tool) => [`${tool.server}|${tool.name}`, tool]),
  );
  return readLines(folder, "tasks.bfcl.jsonl")
    .filter(({ args, gold }) => args.length === 1 && gold.length === 1)
    .map(({ id, task, gold: [gold], args: [call], category, candidates }) => ({
      id,
      task,
      category,
      tool: tools.get(`${gold.server}|${gold.tool}`),
      accepted: call.args,
      offered: candidates.map(({ server, tool }) => tools.get(`${server}|${tool}`)).filter(Boolean),
      half: halfOf(id),
    }))
    .filter(({ tool }) => tool);
}

/** Turns of BFCL's conversations that one call answers; an argument has one right value. */
export function readTurns(folder) {
  const tools = new Map(
    readLines(folder, "tools.bfclmt.jsonl").map((tool) => [`${tool.server}|${tool.name}`, tool]),
  );
  return readLines(folder, "tasks.bfclmt.jsonl")
    .filter(({ args }) => args.length === 1)
    .map(({ id, task, gold: [gold], args: [call] }) => ({
      id,
      task,
      category: "bfclmt",
      tool: tools.get(`${gold.server}|${gold.tool}`),
      accepted: Object.fromEntries(
        Object.entries(call.args).map(([name, value]) => [name, [value]]),
      ),
      offered: [...tools.values()].filter(({ server }) => server === gold.server),
      half: halfOf(id),
    }))
    .filter(({ tool }) => tool);
}

/** Sets to learn from only: single calls, each argument with one right value. */
export function readLessons(folder) {
  return ["sealtools", "toolalpaca", "apibank"].flatMap((set) => {
    const tools = new Map(
      readLines(folder, `tools.${set}.jsonl`).map((tool) => [`${tool.server}|${tool.name}`, tool]),
    );
    return readLines(folder, `tasks.${set}.jsonl`)
      .filter(({ args, gold }) => args?.length === 1 && gold.length === 1)
      .map(({ task, gold: [gold], args: [call] }) => ({
        task,
        tool: tools.get(`${gold.server}|${gold.tool}`),
        args: call.args,
      }))
      .filter(({ tool }) => tool?.inputSchema?.properties)
      .map(({ task, tool, args }) => ({
        task,
        tool,
        accepted: Object.fromEntries(
          Object.entries(args).map(([name, value]) => [
            name,
            [asTyped(value, tool.inputSchema.properties[name]?.type)],
          ]),
        ),
      }));
  });
}

/** Some of these sets write every number as text. */
const asTyped = (value, type) =>
  (type === "integer" || type === "number") && typeof value === "string" && /^[\d.]+$/.test(value)
    ? Number(value)
    : value;

/** The rules and weights were made looking at one half only, by a hash of the task's id; what counts is the other. */
const halfOf = (id) => (createHash("sha256").update(id).digest()[0] % 2 === 0 ? "seen" : "held");

/** Tasks that none of the offered functions fits. */
export function readIrrelevant(folder) {
  const tools = new Map(
    readLines(folder, "tools.bfcl.jsonl").map((tool) => [`${tool.server}|${tool.name}`, tool]),
  );
  return readLines(folder, "tasks.bfcl-irrelevant.jsonl")
    .map(({ id, task, candidates = [] }) => ({
      id,
      task,
      tool: undefined,
      accepted: {},
      offered: candidates.map(({ server, tool }) => tools.get(`${server}|${tool}`)).filter(Boolean),
      half: halfOf(id),
    }))
    .filter(({ offered }) => offered.length > 0);
}
