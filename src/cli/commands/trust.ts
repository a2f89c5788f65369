import { visible } from "../../base/sanitize.ts";
import { findNear, formatTime, plural } from "../../base/text.ts";
import type { ToolTrust } from "../../hall/admin-contract.ts";
import {
  grantTrust,
  isReviewed,
  readToolTrust,
  resetTrust,
  revokeTrust,
  selectGrantable,
} from "../../hall/project-trust.ts";
import type { Settings } from "../../hall/settings.ts";
import { describeFlow } from "../../trust/marks.ts";
import type { JsonOption } from "../declaration.ts";
import { loadProject, unknownName } from "../hall.ts";
import { createWaiting } from "../live.ts";
import { createPerson } from "../person.ts";
import { type Cell, print, table } from "../print.ts";
import { confirmationMissing, isAttended, requireYes } from "../terminal.ts";

interface TrustCommandOptions extends JsonOption {
  /** Milliseconds since 1970. */
  readonly until?: number;
  readonly yes?: boolean;
}

export async function runTrust(name: string, options: TrustCommandOptions): Promise<void> {
  const settings = await loadProject();
  const tools = selectGrantable(name, await readTools(settings));
  await createPerson().confirm(formatGrant(tools, options));
  await grantTrust(settings, tools, options.until);
  printGranted({ tools }, options);
}

export async function runTrustAll(options: TrustCommandOptions): Promise<void> {
  const { until } = options;
  const settings = await loadProject();
  const known = await readTools(settings);
  const tools = known.filter(isReviewed);
  const unreviewed = known.filter((tool) => !isReviewed(tool)).map(({ name }) => name);
  const what = `trusting all ${plural(tools.length, "tool")}`;
  if (!options.yes && !isAttended(options)) throw confirmationMissing(what);
  await createPerson().confirm(formatGrant(tools, options));
  await grantTrust(settings, tools, until);
  printGranted({ tools, unreviewed }, options);
}

export async function runRevoke(name: string, options: JsonOption): Promise<void> {
  const revoked = await revokeTrust(await loadProject(), name);
  const text =
    revoked.length > 0 ? `no longer trusted: ${revoked.join(", ")}` : `${name} was not trusted`;
  print({ revoked }, text, options);
}

export async function runTrustList(server: string | undefined, options: JsonOption): Promise<void> {
  const all = await readTools(await loadProject());
  const tools = all.filter(({ name }) => server === undefined || serverOf(name) === server);
  if (server !== undefined && tools.length === 0) {
    const servers = [...new Set(all.map(({ name }) => serverOf(name)))];
    throw unknownName("server", server, { near: findNear(server, servers), command: "list" });
  }
  const rows = tools.map((tool) => [
    tool.name,
    formatLevel(tool),
    tool.held ?? tool.ask ?? "",
    formatMarks(tool),
  ]);
  const head = ["tool", "trust", "requires approval because", "marks"];
  const value = tools.map(({ definition: _definition, ...tool }) => tool);
  print(value, table(head, rows, { empty: "no tools" }), options);
}

export async function runTrustReset(
  server: string | undefined,
  options: TrustCommandOptions,
): Promise<void> {
  const what = server ?? "this project";
  await requireYes(
    `forgetting all trust in ${what}`,
    `Forget all reviews and trust in ${what}? Its servers will not start until they are reviewed again.`,
    options,
  );
  const forgotten = await resetTrust(await loadProject(), server);
  print(
    { forgotten },
    `forgotten: ${forgotten.map(visible).join(", ") || "nothing was reviewed or trusted"}`,
    options,
  );
}

function serverOf(fullName: string): string {
  return fullName.split(".")[0] ?? "";
}

function readTools(settings: Settings): ReturnType<typeof readToolTrust> {
  return createWaiting().during("reading the tools", readToolTrust(settings));
}

/** The question that a person confirms. */
function formatGrant(
  tools: readonly ToolTrust[],
  { until }: Pick<TrustCommandOptions, "until">,
): string {
  const rows = tools.map((tool) => [tool.name, tool.ask ?? "", formatMarks(tool)]);
  return [
    table(["tool", "requires approval because", "marks"], rows),
    `You are about to allow calls of ${plural(tools.length, "tool")} without approval${formatUntil(until)}.`,
  ].join("\n");
}

interface Granted {
  readonly tools: readonly ToolTrust[];
  readonly unreviewed?: readonly string[];
}

function printGranted({ tools, unreviewed }: Granted, options: TrustCommandOptions): void {
  const { until } = options;
  const names = tools.map((tool) => tool.name);
  const value = {
    trusted: names,
    until: until === undefined ? undefined : new Date(until).toISOString(),
    notCovered: unreviewed,
  };
  const text = [
    `trusted${formatUntil(until)}: ${names.join(", ") || "nothing"}`,
    ...formatUnreviewed(unreviewed ?? []),
  ];
  print(value, text.join("\n"), options);
}

function formatUnreviewed(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  return [`not covered until reviewed (\`guildhall verify\`): ${names.map(visible).join(", ")}`];
}

function formatUntil(until: number | undefined): string {
  return until === undefined ? "" : ` until ${formatTime(until)}`;
}

function formatLevel({ level, held, until }: ToolTrust): Cell {
  if (held !== undefined) return { text: "held", style: "red" };
  return `${level}${formatUntil(until)}`;
}

function formatMarks({ marks }: ToolTrust): string {
  return [marks.effect, ...describeFlow(marks)].join(", ");
}
