import type { AgentPlan, FileChange } from "../../agents/plan.ts";
import { HallError } from "../../base/errors.ts";
import { visible } from "../../base/sanitize.ts";
import { formatBytes, plural } from "../../base/text.ts";
import { type BuildOptions, type BuildReport, buildProject } from "../../hall/build.ts";
import { summariseReview } from "../../hall/changes.ts";
import type { AddReport } from "../../hall/config-edit.ts";
import type { Discovery } from "../../hall/discover.ts";
import { findClientsToInstall } from "../../hall/import/import-servers.ts";
import { type Exposure, type ExposureChange, measureExposure } from "../../hall/shown-tools.ts";
import { loadProject, noteFaults } from "../hall.ts";
import { reportDiscovery } from "../live.ts";
import { diffTexts, joinLines, paint, print, table, wrapProse } from "../print.ts";
import { openReviewer, type ReviewerOptions } from "../review.ts";
import { formatInstalls, formatStep } from "./install.ts";

export interface BuildCommandOptions
  extends ReviewerOptions,
    Pick<BuildOptions, "regroup" | "planner" | "dryRun"> {
  readonly strict?: boolean;
  /** The report of `add`, which ran before. */
  readonly added?: Omit<AddReport, "before" | "after">;
}

export async function runBuild(
  servers: readonly string[],
  options: BuildCommandOptions,
): Promise<void> {
  const { regroup, planner, dryRun, json } = options;
  const reviewer = openReviewer(options);
  const settings = await loadProject();
  const { folder } = settings;
  const report = await buildProject(settings, {
    servers,
    reviewer,
    regroup,
    planner,
    dryRun,
    progress: reportDiscovery(json),
  });
  if (report.areModulesWaiting)
    process.stderr.write(
      "this project's toolkits are not loaded: review them with `guildhall verify`\n",
    );
  await noteFaults(settings, options);
  if (report.textsWaiting.length > 0)
    process.stderr.write(
      `models do not read ${report.textsWaiting.map(visible).join(", ")}: review with \`guildhall verify\`\n`,
    );
  const refusal = reviewer?.refusal();
  if (dryRun) printDryRun(report, { ...options, refusal });
  else {
    const clients = await findClientsToInstall(folder);
    printBuild(report, { ...options, refusal, clients, exposure: await measureExposure(settings) });
  }
}

interface BuildOutcome extends BuildCommandOptions {
  /** Set if something was left open because nobody could approve it. */
  readonly refusal: HallError | undefined;
}

function printBuild(
  report: BuildReport,
  options: BuildOutcome & {
    readonly clients: readonly string[];
    readonly exposure: ExposureChange;
  },
): void {
  const { lockFile, discoveries, waiting, plan, isSilent } = report;
  const value = {
    added: options.added,
    lock: lockFile,
    servers: discoveries.map(summariseDiscovery),
    reviews: report.reviews.map(summariseReview),
    waiting,
    groups: plan && summarisePlan(plan),
    clientsSee: options.exposure,
  };
  // The failure of a server that was just added is on the screen already; report only that it did not answer.
  const added = isSilent && options.added ? options.added.added.map(({ name }) => name) : [];
  const what = added.length > 0 ? `${added.join(", ")} did not answer` : "no server answered";
  const noAnswer = new HallError("UNAVAILABLE", what, {
    next: [{ do: "run-command", command: ["doctor", ...added].join(" ") }],
  });
  const all = joinLines(
    formatDiscoveries(report),
    formatWaiting(waiting),
    plan && formatPlan(plan),
    formatExposureChange(options.exposure),
    formatNext(waiting, options.clients),
  );
  const failure = options.refusal ?? (isSilent ? noAnswer : strictModeFailure(plan, options));
  const text = added.length > 0 ? "" : wrapProse(all);
  print(value, text, { ...options, failure });
}

function formatExposureChange({ before, after }: ExposureChange): string {
  const size = ({ tools, bytes, tokens }: Exposure): string =>
    `${plural(tools.length, "tool")} (${formatBytes(bytes)}, about ${tokens.toLocaleString("en")} tokens)`;
  const instead = before.bytes > after.bytes ? ` instead of ${size(before)}` : "";
  const other = after.tools.includes("find_tools") ? "tools" : "search";
  return `clients see ${size(after)}${instead}; to change it: \`guildhall expose ${other}\``;
}

function printDryRun({ waiting, plan }: BuildReport, options: BuildOutcome): void {
  for (const line of formatWaiting(waiting)) process.stderr.write(`${line}\n`);
  if (!plan && waiting.length > 0)
    throw new HallError("DENIED", "nothing to group: these servers have not been reviewed", {
      hint: "Review them first.",
      next: [{ do: "verify" }],
    });
  if (!plan)
    throw new HallError("UNAVAILABLE", "nothing to group: no server answered", {
      next: [{ do: "run-command", command: "doctor" }],
    });
  const failure = options.refusal ?? strictModeFailure(plan, options);
  print(summarisePlan(plan), formatChanges(plan), { ...options, failure });
}

function strictModeFailure(
  plan: AgentPlan | undefined,
  { strict = false }: BuildCommandOptions,
): HallError | undefined {
  if (!strict || !plan || plan.warnings.length === 0) return undefined;
  return new HallError("VALIDATION", `the groups are out of range: ${plan.warnings.join("; ")}`, {
    hint: "Move tools with `guildhall groups move`, edit .guildhall/agents, or build with --regroup.",
  });
}

function formatDiscoveries({ configured, discoveries, lockFile }: BuildReport): string {
  if (configured.length === 0)
    return "no servers are configured, only the built-in tools are used (add servers under mcpServers in guildhall.json)";
  if (discoveries.length === 0) return "no server was started";
  const silent = discoveries.filter((discovery) => !("found" in discovery));
  const answered = discoveries.filter((discovery) => "found" in discovery);
  const installing = silent.filter((discovery) => isInstalling(discovery));
  const down = silent.filter((discovery) => !isInstalling(discovery));
  const tools = answered.reduce((sum, { found }) => sum + found.offer.tools.length, 0);
  // Failures first.
  return joinLines(
    discoveryTable([...silent, ...answered]),
    "",
    down.length > 0 && paint("red", `${namesOf(down)} failed; run \`guildhall doctor\` to see why`),
    installing.length > 0 &&
      `${namesOf(installing)} still installing in the background; run \`guildhall build\` again in a minute`,
    `${answered.length} of ${plural(discoveries.length, "server")} answered; ${plural(tools, "tool")} written to ${lockFile}`,
  );
}

function isInstalling(discovery: Discovery): boolean {
  return "isInstalling" in discovery && discovery.isInstalling;
}

function namesOf(discoveries: readonly Discovery[]): string {
  return discoveries.map(({ name }) => name).join(", ");
}

function formatWaiting(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const verb = names.length === 1 ? "needs" : "need";
  return [
    `${plural(names.length, "server")} ${verb} a review (${names.join(", ")}); run \`guildhall verify\``,
  ];
}

function summariseDiscovery(discovery: Discovery): object {
  if (!("found" in discovery)) {
    const { name, reason, isInstalling: installing, stderr } = discovery;
    return { name, ok: false, reason, installing, stderr };
  }
  const { protocol, offer } = discovery.found;
  return {
    name: discovery.name,
    ok: true,
    protocol,
    tools: offer.tools.map(({ name }) => name),
    resources: offer.resources.length,
    prompts: offer.prompts.length,
  };
}

function discoveryTable(discoveries: readonly Discovery[]): string {
  const rows = discoveries.map((discovery) => {
    if (!("found" in discovery)) {
      const state = isInstalling(discovery) ? "installing" : "failed";
      return [discovery.name, state, "", "", "", discovery.reason];
    }
    const { protocol, offer } = discovery.found;
    return [
      discovery.name,
      protocol,
      String(offer.tools.length),
      String(offer.resources.length),
      String(offer.prompts.length),
      offer.tools.map(({ name }) => name).join(", "),
    ];
  });
  return table(["server", "protocol", "tools", "resources", "prompts", "tool names"], rows, {
    extra: ["prompts", "resources"],
  });
}

function summarisePlan({ agents, changes, warnings }: AgentPlan): object {
  return {
    agents: agents.map(({ fileName, agent: { name, description, tools } }) => ({
      name,
      file: fileName,
      description,
      tools: tools.length,
    })),
    changes: changes.map((change) => ({ file: change.path, change: kindOf(change) })),
    warnings,
  };
}

function formatPlan({ agents, changes, warnings }: AgentPlan): string {
  const names = agents.map(({ agent: { name, tools } }) => `${name} (${tools.length})`).join(", ");
  const changed = changes.map((change) => `${kindOf(change)} ${change.path}`).join(", ");
  return [
    `${plural(agents.length, "agent")}: ${names}`,
    `in .guildhall: ${changed || "no file changed"}`,
    ...warnings.map(formatWarning),
  ].join("\n");
}

/** The files that would be written, as diffs. */
function formatChanges({ changes, warnings }: AgentPlan): string {
  const diffs = changes.map(
    (change) =>
      `${kindOf(change)} .guildhall/${change.path}\n${diffTexts(change.before ?? "", change.after ?? "")}`,
  );
  const text = diffs.length > 0 ? diffs.join("\n\n") : "no file would change";
  return [text, ...warnings.map(formatWarning)].join("\n");
}

function formatNext(waiting: readonly string[], clients: readonly string[]): readonly string[] {
  const review = waiting.length > 0 ? [formatStep("verify", "review what is held")] : [];
  const steps = [...review, ...formatInstalls(clients)];
  return steps.length > 0 ? ["", "Next:", ...steps] : [];
}

function formatWarning(warning: string): string {
  return paint("yellow", `note: ${visible(warning)}`);
}

function kindOf({ before, after }: FileChange): "new" | "deleted" | "changed" {
  if (before === undefined) return "new";
  return after === undefined ? "deleted" : "changed";
}
