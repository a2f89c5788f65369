import { bundle } from "./bundle.mjs";
import { median, percentile, row, short } from "./figures.mjs";

/** The cost of a decision: one that is kept, one that the context decides, and the first for a tool. */
export default { name: "policy", run };

const servers = 10;

/** Ten policies for each of ten servers; of those for one server, one is about any group, the others about one each. */
const policies = Array.from({ length: 100 }, (_, at) => {
  const group = at < servers ? "staff" : `group-${at % 7}`;
  const who = `principal in Group::"${group}"`;
  return `@id("policy-${at}")
forbid (${who}, action == Action::"call", resource in Server::"server${at % servers}")
when { context.arguments.hasTag("path") && context.arguments.getTag("path") like "/etc/${at}/*" };`;
});

async function run({ rounds = 2_000 } = {}) {
  const loadedAt = performance.now();
  await import("@cedar-policy/cedar-wasm/nodejs");
  const loadMs = performance.now() - loadedAt;
  const { Policies } = await import(await bundle("policies"));
  const off = new Policies();
  const fixed = new Policies();
  await fixed.replace([file(policies.map((text) => text.replace(/when[\s\S]*$/, ";")).join("\n"))]);
  const open = new Policies();
  const parsedAt = performance.now();
  await open.replace([file(policies.join("\n"))]);
  const parseMs = performance.now() - parsedAt;
  const all = new Policies();
  const wide = policies.map((text) =>
    text.replace(/\(principal.*\)/, '(principal, action == Action::"call", resource)'),
  );
  await all.replace([file(wide.join("\n"))]);
  if (open.problems.length + fixed.problems.length > 0) throw new Error(open.problems.join("\n"));

  const person = { user: "ann", groups: ["staff", "group-3"], token: "ann" };
  const tools = Array.from({ length: 1_000 }, (_, at) => toolAt(at));
  const request = (tool) => ({
    caller: { person, client: "bench" },
    action: "call",
    subject: { tool },
    arguments: { path: "/home/ann/notes.md", mode: "read" },
  });
  const kept = request(tools[0]);
  const allowed = { ...kept, caller: { person: { ...person, groups: [] }, client: "bench" } };
  const [denied, may] = [fixed.refuses(kept), fixed.refuses(allowed) ?? open.refuses(kept)];
  if (denied === undefined || may !== undefined)
    throw new Error("the policies decide otherwise than they should");
  for (let at = 0; at < rounds; at++) open.refuses(kept);
  const contextual = times(rounds, () => open.refuses(kept));
  for (let at = 0; at < rounds; at++) all.refuses(kept);
  const applying = times(rounds, () => all.refuses(kept));
  const etc = { ...kept, arguments: { path: "/etc/55/hosts" } };
  for (let at = 0; at < rounds / 4; at++) all.refuses(etc);
  const hit = times(rounds / 4, () => all.refuses(etc));
  const first = tools.map((tool) => time(() => fixed.refuses(request(tool))));
  const list = times(20, () => tools.filter((tool) => fixed.shows(kept.caller, { tool })));
  return [
    row(
      "a decision that no context can change",
      nanoseconds(() => fixed.refuses(allowed)) / 1_000,
      "µs",
      { atMost: 1 },
    ),
    row("the same without policies", nanoseconds(() => off.isOn) / 1_000, "µs"),
    row(
      "a decision by arguments, 100 policies, 3 of which can apply",
      median(contextual) * 1_000,
      "µs",
      { atMost: 150 },
      `p50 of ${rounds}; least ${short(Math.min(...contextual) * 1_000)}, p99 ${short(percentile(contextual, 0.99) * 1_000)} µs`,
    ),
    row("the same, all 100 of which can apply", median(applying) * 1_000, "µs", { atMost: 150 }),
    row("the same, and one of them applies", median(hit) * 1_000, "µs", { atMost: 150 }),
    row("the first decision about a tool", median(first) * 1_000, "µs"),
    row("which of 1,000 tools to list, decided before", median(list), "ms"),
    row("loading Cedar, once", loadMs, "ms"),
    row("reading and validating 100 policies", parseMs, "ms"),
  ];
}

const file = (text) => ({ file: "bench.cedar", text, isProject: false });

function toolAt(at) {
  const toolkit = { id: `server${at % servers}`, source: "upstream" };
  return {
    toolkit,
    tool: { name: `read_${at}`, inputSchema: {} },
    fullName: `${toolkit.id}.${at}`,
  };
}

function time(work) {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}

const times = (count, work) => Array.from({ length: count }, () => time(work));

/** The least of several long runs: others use the machine, too. */
function nanoseconds(work) {
  const count = 200_000;
  const runs = times(9, () => {
    for (let at = 0; at < count; at++) work();
  });
  return (Math.min(...runs) * 1e6) / count;
}
