import { connectAdmin } from "../admin/client.ts";
import { socketPath } from "../admin/socket.ts";
import type { Change, Plan } from "../agents/merge.ts";
import { applyPlan, planAgents } from "../agents/plan.ts";
import { HallError } from "../base/errors.ts";
import type { Lock } from "../upstream/lock.ts";
import { listKnownTools } from "./known-tools.ts";
import { paint, visible } from "./print.ts";
import type { Settings } from "./settings.ts";
import { diffTexts } from "./text-diff.ts";

export interface GroupingOptions {
  readonly regroup?: boolean;
  readonly strict?: boolean;
  readonly dryRun?: boolean;
}

/** Groups what the lock knows, and writes the agents' files unless it is only to be seen. Undefined where nothing is known yet. */
export async function buildGroups(
  folder: string,
  settings: Settings,
  { lock, ...options }: GroupingOptions & { readonly lock: Lock },
): Promise<Plan | undefined> {
  const isKnown = Object.keys(settings.config.mcpServers).some((name) => Object.hasOwn(lock.servers, name));
  if (!isKnown) return undefined;
  const { domain, hints } = settings.config;
  const plan = await planAgents({ folder, targets: await listKnownTools(folder, settings, lock), regroup: options.regroup, domain, hints });
  if (options.dryRun) return plan;
  await applyPlan(folder, plan);
  await tellGroupsChanged(folder);
  return plan;
}

/** Throws when a build is to be strict and there is something to say about the groups. */
export function requireSound(plan: Plan | undefined, { strict = false }: GroupingOptions): void {
  if (!strict || !plan || plan.warnings.length === 0) return;
  throw new HallError("VALIDATION", `the groups are not as they should be: ${plan.warnings.join("; ")}`, {
    hint: "Move tools with `guildhall groups move`, edit .guildhall/agents, or build with --regroup.",
  });
}

export function summarisePlan({ agents, changes, warnings }: Plan): object {
  return {
    agents: agents.map(({ fileName, agent: { name, description, tools } }) => ({ name, file: fileName, description, tools: tools.length })),
    changes: changes.map((change) => ({ file: change.path, change: kindOf(change) })),
    warnings,
  };
}

export function describePlan({ agents, changes, warnings }: Plan): string {
  const names = agents.map(({ agent: { name, tools } }) => `${name} (${tools.length})`).join(", ");
  const changed = changes.length === 0 ? "no file changed" : changes.map((change) => `${kindOf(change)} ${change.path}`).join(", ");
  return [`${agents.length} ${agents.length === 1 ? "agent" : "agents"}: ${names}`, `in .guildhall: ${changed}`, ...warnings.map(tellWarning)].join("\n");
}

/** What would be written, as differences. */
export function describeChanges({ changes, warnings }: Plan): string {
  const shown = changes.map((change) => `${kindOf(change)} .guildhall/${change.path}\n${diffTexts(change.before ?? "", change.after ?? "")}`);
  return [shown.length > 0 ? shown.join("\n\n") : "no file would change", ...warnings.map(tellWarning)].join("\n");
}

function tellWarning(warning: string): string {
  return paint("yellow", `note: ${visible(warning)}`);
}

function kindOf({ before, after }: Change): "new" | "gone" | "changed" {
  return before === undefined ? "new" : after === undefined ? "gone" : "changed";
}

/** A running hall shows the new groups at once; without one there is nobody to tell. */
export async function tellGroupsChanged(folder: string): Promise<void> {
  const admin = await connectAdmin(await socketPath(folder));
  try {
    await admin?.ask("groupsChanged", {});
  } finally {
    await admin?.close();
  }
}
