import { HallError } from "../../base/errors.ts";
import { visible } from "../../base/sanitize.ts";
import { plural } from "../../base/text.ts";
import type { Findings, ImportedServer } from "../../hall/import/import.ts";
import {
  type ImportOutcome,
  type ImportReport,
  type ImportRequest,
  importServers,
  runsProjectFile,
} from "../../hall/import/import-servers.ts";
import { describeTarget } from "../../upstream/source.ts";
import type { JsonOption } from "../declaration.ts";
import { askList, type ListItem } from "../list.ts";
import { createWaiting } from "../live.ts";
import { diffTexts, joinLines, paint, print, table, wrapProse } from "../print.ts";
import { createPerson, isAttended } from "../terminal.ts";
import { formatInstalls, formatStep } from "./install.ts";

interface InitOptions extends JsonOption, Pick<ImportRequest, "dryRun" | "force" | "all" | "from"> {
  readonly yes?: boolean;
  /** False with --no-secrets. */
  readonly secrets?: boolean;
}

export async function runInit(options: InitOptions): Promise<void> {
  const { from, all, force, dryRun } = options;
  const isAsking = isAttended(options);
  const waiting = createWaiting();
  const choose: typeof chooseServers = (...found) => {
    waiting.clear();
    return chooseServers(...found);
  };
  const chooseUnasked = isAsking ? undefined : takeUsual(options);
  const moveKeys: typeof offerSecrets = async (names) => {
    if (!isAsking || dryRun) return true;
    waiting.clear();
    return offerSecrets(names);
  };
  const importing = importServers({
    folder: process.cwd(),
    from,
    all,
    force,
    dryRun,
    choose: chooseUnasked ?? choose,
    moveKeys: options.secrets === false ? async () => false : moveKeys,
  });
  const outcome = await waiting.during("looking for the servers of your clients", importing);
  const { report, findings } = outcome;
  const canBuild = isAsking && !dryRun && report.added.length > 0;
  const text = formatOutcome(outcome, { isDryRun: dryRun === true, isTableSeen: isAsking });
  const next = formatNext(report);
  print(report, canBuild ? text : `${text}\n\n${next}`, options);
  if (canBuild && !(await buildNow(report, findings))) process.stdout.write(`\n${next}\n`);
}

/** Without a terminal nothing can be chosen, so `--yes` must take all servers. */
function takeUsual({ yes, dryRun }: InitOptions): typeof chooseServers {
  return async (_found, usual) => {
    if (yes || dryRun || usual.length === 0) return usual;
    throw new HallError("INVALID_PARAMS", "choosing servers needs a terminal", {
      hint: "Run it in a terminal, or take all servers of this project with --yes.",
    });
  };
}

async function offerSecrets(names: readonly string[]): Promise<boolean> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const isWanted = await confirm({
    message: `Store ${names.join(", ")} in the secrets of this project? Otherwise each hall needs ${names.length === 1 ? "it" : "them"} in its environment.`,
  });
  if (isCancel(isWanted)) throw new HallError("CANCELLED", "nothing was written");
  return isWanted;
}

async function chooseServers(
  found: readonly ImportedServer[],
  usual: readonly ImportedServer[],
): Promise<readonly ImportedServer[]> {
  const ticked = [...found.keys()].filter((at) => {
    const imported = found[at];
    return imported && usual.includes(imported) && !runsProjectFile(imported.server);
  });
  const answer = await askList(
    {
      title: "Which servers should the hall run?",
      items: found.map(formatFound),
      enter: "take what is ticked",
      cancelled: "nothing was written",
    },
    { ticked: new Set(ticked), at: 0 },
  );
  return found.filter((_imported, at) => answer.ticked.has(at));
}

function formatFound({ name, server, sightings, notes, elsewhere }: ImportedServer): ListItem {
  const warning = runsProjectFile(server) ? "  ! runs a file of this project" : "";
  const from = [`from ${sightings[0].client.name}`, ...notes];
  if (elsewhere !== undefined) from.push(`for ${elsewhere}`);
  return {
    label: `${paint("bold", visible(name))}  ${visible(from.join("; "))}${paint("red", warning)}`,
    lines: [visible(describeTarget(server))],
  };
}

/** Starts the chosen servers once and has them reviewed. False if the person leaves that for later. */
async function buildNow({ added }: ImportReport, { secrets }: Findings): Promise<boolean> {
  const person = createPerson();
  try {
    await person.confirm(
      "Next, the servers start once, and you review what they offer. Enter leaves that for later.",
    );
  } catch (error) {
    if (error instanceof HallError && error.code === "CANCELLED") return false;
    throw error;
  }
  // The values are known here, so the first build works before they are exported.
  for (const { variable, value } of secrets) process.env[variable] ??= value;
  const chosen = added.map(({ name }) => name);
  await (await import("./build.ts")).runBuild([], { chosen, person });
  return true;
}

function formatOutcome(
  { report, findings, before, after }: ImportOutcome,
  { isDryRun, isTableSeen }: { readonly isDryRun: boolean; readonly isTableSeen: boolean },
): string {
  const rows = report.added.map(({ name, target, from, notes }) => [
    name,
    from.join(", "),
    notes.join("; "),
    target,
  ]);
  const elsewhere = report.notAdded.filter((each) => each.elsewhere !== undefined).length;
  const diff = isDryRun ? diffTexts(before, after) : "";
  const head = ["server", "from", "note", "command or URL"];
  return joinLines(
    rows.length > 0 && !isTableSeen && [table(head, rows, { extra: ["from"] }), ""],
    wrapProse(formatState(report, findings)),
    report.backup !== undefined && `the previous file is saved as ${report.backup}`,
    elsewhere > 0 &&
      `${plural(elsewhere, "server")} of other projects not added; use --all to include them`,
    report.warnings.map((warning) => wrapProse(`${paint("yellow", "!")} ${visible(warning)}`)),
    diff !== "" && ["", diff],
    formatSecrets(report.secrets, isDryRun),
    formatVariables(report.variables),
  );
}

function formatNext({ clients }: ImportReport): string {
  return [
    "Next:",
    formatStep("build", "start each server once and review it"),
    ...formatInstalls(clients.length > 0 ? clients : ["claude-code"]),
  ].join("\n");
}

function formatState({ file, state, added, known }: ImportReport, { files }: Findings): string {
  if (files.length === 0) return `no servers of other clients found\n${file} ${state}`;
  const already = known.length > 0 ? `, ${known.length} already there` : "";
  return `${file} ${state}: ${plural(added.length, "server")} added${already}`;
}

function formatSecrets(names: readonly string[], isDryRun: boolean): readonly string[] {
  if (names.length === 0) return [];
  const does = isDryRun ? "would be stored" : "stored";
  return ["", wrapProse(`${does} as secrets of this project: ${names.join(", ")}`)];
}

function formatVariables(variables: ImportReport["variables"]): readonly string[] {
  if (variables.length === 0) return [];
  const lines = variables.map(({ name, place }) => {
    const where = place === undefined ? "" : `   # the value is in ${visible(place)}`;
    return `  guildhall secret set ${name}${where}`;
  });
  return ["", "Values that are still missing:", ...lines];
}
