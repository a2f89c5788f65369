import type { LanguageModelV3 } from "@ai-sdk/provider";
import {
  applyPlan,
  type FileChange,
  type Plan,
  planAgents,
  type Refine,
} from "../../agents/plan.ts";
import { openingFor } from "../../agents/planners.ts";
import { HallError } from "../../base/errors.ts";
import { visible } from "../../base/text.ts";
import { configuredServers } from "../../config/unusable.ts";
import { connectAdmin } from "../../hall/admin-client.ts";
import { listKnownTools } from "../../hall/known-tools.ts";
import type { Settings } from "../../hall/settings.ts";
import { socketPath } from "../../hall/socket.ts";
import type { Lock } from "../../upstream/lock.ts";
import { paint } from "../print.ts";
import { diffTexts } from "../text-diff.ts";

export interface GroupingOptions {
  readonly regroup?: boolean;
  readonly strict?: boolean;
  readonly dryRun?: boolean;
  /** Names and describes the groups: `local`, `model` or `sampling`. Default `local`. */
  readonly planner?: string;
}

/** Groups the tools in the lock, and writes the agent files unless it is a dry run. Undefined if no tools are known yet. */
export async function buildGroups(
  folder: string,
  settings: Settings,
  { lock, ...options }: GroupingOptions & { readonly lock: Lock },
): Promise<Plan | undefined> {
  const configured = Object.keys(configuredServers(settings.loaded));
  // Without servers, the built-in tools are grouped.
  const isKnown =
    configured.length === 0 || configured.some((name) => Object.hasOwn(lock.servers, name));
  if (!isKnown) return undefined;
  const { domain, hints } = settings.config;
  const refine = await openRefine(folder, settings, options.planner);
  const plan = await planAgents({
    folder,
    targets: await listKnownTools(folder, settings, lock),
    regroup: options.regroup,
    refine,
    domain,
    hints,
  });
  if (options.dryRun) return plan;
  await applyPlan(folder, plan);
  await notifyGroupsChanged(folder);
  return plan;
}

/** Undefined without a model. Throws INVALID_PARAMS. */
async function openRefine(
  folder: string,
  { config, secrets }: Settings,
  planner = "local",
): Promise<Refine | undefined> {
  if (planner === "local") return undefined;
  if (planner !== "model" && planner !== "sampling")
    throw new HallError(
      "INVALID_PARAMS",
      `unknown planner "${planner}" (expected: local, model, sampling)`,
    );
  const { regroupWithModel } = await import("../../agents/model/regroup.ts");
  if (planner === "sampling")
    return regroupWithModel({ open: () => openClientModel(folder), secrets });
  const opening = openingFor(undefined, config.planner, process.env);
  if (!opening)
    throw new HallError("NOT_FOUND", "no model is configured", {
      next: [{ do: "edit-config", field: "planner.model" }],
    });
  const { openModel } = await import("../../agents/model/provider.ts");
  return regroupWithModel({ open: () => openModel({ ...opening, secrets }), secrets });
}

/** The model of a client connected to the project's running hall. */
async function openClientModel(folder: string): Promise<LanguageModelV3> {
  const { createSamplingModel } = await import("../../agents/model/sampling-model.ts");
  return createSamplingModel({
    hasTools: false,
    async sample(params) {
      const admin = await connectAdmin(await socketPath(folder));
      if (!admin)
        throw new HallError("UNAVAILABLE", "no hall is running for this project", {
          hint: "Connect a client that supports sampling, then build.",
        });
      try {
        return (await admin.ask("sample", { params })).answer;
      } finally {
        await admin.close();
      }
    },
  });
}

/** The failure of a strict build with warnings. */
export function findUnsound(
  plan: Plan | undefined,
  { strict = false }: GroupingOptions,
): HallError | undefined {
  if (!strict || !plan || plan.warnings.length === 0) return undefined;
  return new HallError("VALIDATION", `the groups have problems: ${plan.warnings.join("; ")}`, {
    hint: "Move tools, edit the files in .guildhall/agents, or regroup.",
    next: [{ do: "run-command", command: "build --regroup" }],
  });
}

export function summarisePlan({ agents, changes, warnings }: Plan): object {
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

export function describePlan({ agents, changes, warnings }: Plan): string {
  const names = agents.map(({ agent: { name, tools } }) => `${name} (${tools.length})`).join(", ");
  const changed =
    changes.length === 0
      ? "no file changed"
      : changes.map((change) => `${kindOf(change)} ${change.path}`).join(", ");
  return [
    `${agents.length} ${agents.length === 1 ? "agent" : "agents"}: ${names}`,
    `in .guildhall: ${changed}`,
    ...warnings.map(formatWarning),
  ].join("\n");
}

/** The planned changes as diffs. */
export function describeChanges({ changes, warnings }: Plan): string {
  const shown = changes.map(
    (change) =>
      `${kindOf(change)} .guildhall/${change.path}\n${diffTexts(change.before ?? "", change.after ?? "")}`,
  );
  return [
    shown.length > 0 ? shown.join("\n\n") : "no file would change",
    ...warnings.map(formatWarning),
  ].join("\n");
}

function formatWarning(warning: string): string {
  return paint("yellow", `note: ${visible(warning)}`);
}

function kindOf({ before, after }: FileChange): "new" | "deleted" | "changed" {
  if (before === undefined) return "new";
  return after === undefined ? "deleted" : "changed";
}

/** Makes a running hall reload its groups. */
export async function notifyGroupsChanged(folder: string): Promise<void> {
  const admin = await connectAdmin(await socketPath(folder));
  try {
    await admin?.ask("groupsChanged", {});
  } finally {
    await admin?.close();
  }
}
