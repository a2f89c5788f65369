import { HallError } from "../../base/errors.ts";
import { visible } from "../../base/sanitize.ts";
import { plural } from "../../base/text.ts";
import type { Findings } from "../../hall/import/import.ts";
import type { ImportedServer } from "../../hall/import/merge.ts";
import {
  formatTarget,
  type ImportOutcome,
  type ImportReport,
  importServers,
} from "../../hall/setup.ts";
import type { JsonOption } from "../declaration.ts";
import { createWaiting } from "../live.ts";
import { diffTexts, paint, print, table, wrapProse } from "../print.ts";
import { isAttended } from "../terminal.ts";

interface InitOptions extends JsonOption {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly all?: boolean;
  readonly from?: readonly string[];
}

export async function runInit(options: InitOptions): Promise<void> {
  const { from, all, force, dryRun } = options;
  const isAsking = isAttended(options);
  const waiting = createWaiting();
  const choose: typeof chooseServers = (...found) => {
    waiting.clear();
    return chooseServers(...found);
  };
  const importing = importServers({
    folder: process.cwd(),
    from,
    all,
    force,
    dryRun,
    choose: isAsking ? choose : undefined,
  });
  const outcome = await waiting.during("looking for the servers of your clients", importing);
  const { report, findings } = outcome;
  print(report, formatOutcome(outcome, dryRun === true), options);
  if (isAsking && !dryRun && report.added.length > 0) await offerBuild(findings);
}

async function chooseServers(
  found: readonly ImportedServer[],
  usual: readonly ImportedServer[],
): Promise<readonly ImportedServer[]> {
  const { isCancel, multiselect } = await import("@clack/prompts");
  const chosen = await multiselect({
    message: "Which servers should the hall run? (space to choose, enter to confirm)",
    options: found.map((imported) => {
      const { name, server, sightings, notes, elsewhere } = imported;
      const parts = [formatTarget(server), `from ${sightings[0].client.name}`, ...notes];
      if (elsewhere !== undefined) parts.push(`for ${elsewhere}`);
      return { value: imported, label: name, hint: visible(parts.join("; ")) };
    }),
    initialValues: [...usual],
    required: false,
    maxItems: 15,
  });
  if (isCancel(chosen))
    throw new HallError("CANCELLED", "nothing was written", {
      next: [{ do: "run-command", command: "init" }],
    });
  return chosen;
}

async function offerBuild({ secrets }: Findings): Promise<void> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const isWanted = await confirm({
    message: "Start each server once now and review what it offers? (guildhall build)",
  });
  if (isCancel(isWanted) || !isWanted) return;
  // The values are known here, so the first build works before they are exported.
  for (const { variable, value } of secrets) process.env[variable] ??= value;
  await (await import("./build.ts")).runBuild([], {});
}

function formatOutcome(
  { report, findings, before, after }: ImportOutcome,
  isDryRun: boolean,
): string {
  const rows = report.added.map(({ name, target, from, notes }) => [
    name,
    from.join(", "),
    notes.join("; "),
    target,
  ]);
  const elsewhere = report.notAdded.filter((each) => each.elsewhere !== undefined).length;
  const diff = isDryRun ? diffTexts(before, after) : "";
  return [
    ...(rows.length > 0
      ? [table(["server", "from", "note", "command or URL"], rows, { extra: ["from"] }), ""]
      : []),
    wrapProse(formatState(report, findings)),
    ...(report.backup === undefined ? [] : [`the previous file is saved as ${report.backup}`]),
    ...(elsewhere > 0
      ? [`${plural(elsewhere, "server")} of other projects not added; use --all to include them`]
      : []),
    ...report.warnings.map((warning) => wrapProse(`${paint("yellow", "!")} ${visible(warning)}`)),
    ...(diff === "" ? [] : ["", diff]),
    ...formatVariables(report.variables),
    "",
    "Next:",
    "  guildhall build                   start each server once and review it",
    ...(report.clients.length > 0 ? report.clients : ["claude-code"]).map(
      (client) => `  ${`guildhall install ${client}`.padEnd(34)}connect it to the hall`,
    ),
  ].join("\n");
}

function formatState({ file, state, added, known }: ImportReport, { files }: Findings): string {
  if (files.length === 0) return `no servers of other clients found\n${file} ${state}`;
  const already = known.length > 0 ? `, ${known.length} already there` : "";
  return `${file} ${state}: ${plural(added.length, "server")} added${already}`;
}

function formatVariables(variables: ImportReport["variables"]): readonly string[] {
  if (variables.length === 0) return [];
  const lines = variables.map(({ name, place }) => {
    const where = place === undefined ? "" : `   # the value is in ${visible(place)}`;
    return `  export ${name}=…${where}`;
  });
  return ["", "Set these variables before the hall starts:", ...lines];
}
