import type { Command } from "commander";
import { HallError } from "../../base/errors.ts";
import { visible } from "../../base/sanitize.ts";
import { formatTime, plural } from "../../base/text.ts";
import type { ToolTrust } from "../../hall/admin-contract.ts";
import type { Settings } from "../../hall/settings.ts";
import { asJson, examples, type JsonOption } from "../declaration.ts";
import { loadProject } from "../hall.ts";
import { paint, print, table } from "../print.ts";
import { askYes, isAttended } from "../terminal.ts";

interface TrustCommandOptions extends JsonOption {
  readonly until?: string;
  readonly yes?: boolean;
}

/** `trust` with its subcommands, and `revoke`. */
export function addTrustCommands(program: Command): void {
  const untilFlag = ["--until <time>", "only for this long: 90s, 30m, 2h, 7d"] as const;
  const trust = program
    .command("trust <name>")
    .description(
      "allow calls of a tool, or of all tools of a server, without approval while their definitions stay the same",
    )
    .option(...untilFlag)
    .option(...asJson)
    .addHelpText(
      "after",
      examples([
        "guildhall trust github.create_issue",
        "guildhall trust github --until 2h",
        "guildhall trust all",
        "guildhall trust list",
        "guildhall trust reset",
      ]),
    )
    .action(runTrust);
  trust
    .command("all")
    .description(
      "allow calls of every reviewed tool without approval; shows the tools and asks first",
    )
    .option(...untilFlag)
    .option("-y, --yes", "do not ask")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall trust all", "guildhall trust all --until 2h --yes"]))
    .action((_options, command) => runTrustAll(command.optsWithGlobals()));
  trust
    .command("list")
    .description("show the trust level of each tool and why its calls require approval")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall trust list --json"]))
    .action((_options, command) => runTrustList(command.optsWithGlobals()));
  trust
    .command("reset [server]")
    .description("forget all reviews and trust of this project, or of one server")
    .option("-y, --yes", "do not ask")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall trust reset", "guildhall trust reset github --yes"]))
    .action((server, _options, command) => runTrustReset(server, command.optsWithGlobals()));

  program
    .command("revoke <name>")
    .description("revoke the trust in a tool, or in all tools of a server")
    .option(...asJson)
    .addHelpText(
      "after",
      examples(["guildhall revoke github.create_issue", "guildhall revoke github"]),
    )
    .action(runRevoke);
}

type TrustService = typeof import("../../hall/project-trust.ts");

async function openService(): Promise<[Settings, TrustService]> {
  return Promise.all([loadProject(), import("../../hall/project-trust.ts")]);
}

async function runTrust(name: string, options: TrustCommandOptions): Promise<void> {
  const until = parseUntil(options);
  const [settings, { grantTrust, readToolTrust, selectGrantable }] = await openService();
  const tools = selectGrantable(name, await readToolTrust(settings));
  await grantTrust(settings, tools, until);
  printGranted({ tools, until }, options);
}

async function runTrustAll(options: TrustCommandOptions): Promise<void> {
  const until = parseUntil(options);
  const [settings, { grantTrust, isReviewed, readToolTrust }] = await openService();
  const known = await readToolTrust(settings);
  const tools = known.filter(isReviewed);
  const unreviewed = known.filter((tool) => !isReviewed(tool)).map(({ name }) => name);
  const rows = tools.map((tool) => [tool.name, tool.ask ?? "", formatMarks(tool)]);
  const question = [
    table(["tool", "requires approval because", "marks"], rows),
    ...formatUnreviewed(unreviewed),
    `Allow calls of all ${plural(tools.length, "tool")} without approval${formatUntil(until)}?`,
  ];
  await requireYes(`trusting all ${plural(tools.length, "tool")}`, question.join("\n"), options);
  await grantTrust(settings, tools, until);
  printGranted({ tools, until, unreviewed }, options);
}

async function runRevoke(name: string, { json }: JsonOption): Promise<void> {
  const [settings, { revokeTrust }] = await openService();
  const revoked = await revokeTrust(settings, name);
  const text =
    revoked.length > 0 ? `no longer trusted: ${revoked.join(", ")}` : `${name} was not trusted`;
  print({ revoked }, { json, text: () => text });
}

async function runTrustList({ json }: JsonOption): Promise<void> {
  const [settings, { readToolTrust }] = await openService();
  const tools = await readToolTrust(settings);
  const rows = tools.map((tool) => [
    tool.name,
    formatLevel(tool),
    tool.held ?? tool.ask ?? "",
    formatMarks(tool),
  ]);
  const head = ["tool", "trust", "requires approval because", "marks"];
  print(
    tools.map(({ definition: _definition, ...tool }) => tool),
    { json, text: () => (rows.length > 0 ? table(head, rows) : "no tools") },
  );
}

async function runTrustReset(
  server: string | undefined,
  options: TrustCommandOptions,
): Promise<void> {
  const what = server ?? "this project";
  await requireYes(
    `forgetting all trust in ${what}`,
    `Forget all reviews and trust in ${what}? Its servers will not start until they are reviewed again.`,
    options,
  );
  const [settings, { resetTrust }] = await openService();
  const forgotten = await resetTrust(settings, server);
  const text = `forgotten: ${forgotten.join(", ") || "nothing was reviewed"}`;
  print({ forgotten }, { json: options.json, text: () => text });
}

/** Throws INVALID_PARAMS where nobody can be asked, CANCELLED unless the answer is yes. */
async function requireYes(
  what: string,
  question: string,
  options: TrustCommandOptions,
): Promise<void> {
  if (options.yes) return;
  if (!isAttended(options))
    throw new HallError("INVALID_PARAMS", `${what} must be confirmed`, {
      hint: "Run it in a terminal, or with --yes.",
    });
  if (!(await askYes(question)))
    throw new HallError("CANCELLED", "nothing was changed", { hint: "Answer y to confirm." });
}

interface Granted {
  readonly tools: readonly ToolTrust[];
  readonly until: number | undefined;
  readonly unreviewed?: readonly string[];
}

function printGranted({ tools, until, unreviewed }: Granted, { json }: JsonOption): void {
  const names = tools.map((tool) => tool.name);
  const value = {
    trusted: names,
    ...(until === undefined ? {} : { until: new Date(until).toISOString() }),
    ...(unreviewed === undefined ? {} : { notCovered: unreviewed }),
  };
  const text = [
    `trusted${formatUntil(until)}: ${names.join(", ") || "nothing"}`,
    ...formatUnreviewed(unreviewed ?? []),
  ];
  print(value, { json, text: () => text.join("\n") });
}

function formatUnreviewed(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  return [`not covered until reviewed (\`guildhall verify\`): ${names.map(visible).join(", ")}`];
}

function formatUntil(until: number | undefined): string {
  return until === undefined ? "" : ` until ${formatTime(until)}`;
}

function formatLevel({ level, held, until }: ToolTrust): string {
  if (held !== undefined) return paint("red", "held");
  return `${level}${formatUntil(until)}`;
}

function formatMarks({ marks }: ToolTrust): string {
  const words = [
    marks.destructive ? "destructive" : "",
    marks.bringsIn ? "reads outside content" : "",
    marks.sendsOut ? "sends data out" : "",
  ];
  return words.filter((word) => word !== "").join(", ");
}

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const durationMsMax = 365 * 86_400_000;

/** Milliseconds since 1970. Throws INVALID_PARAMS. */
function parseUntil({ until: text }: TrustCommandOptions): number | undefined {
  if (text === undefined) return undefined;
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (unitMs[unit ?? ""] ?? Number.NaN);
  if (ms > 0 && ms <= durationMsMax) return Date.now() + ms;
  throw new HallError(
    "INVALID_PARAMS",
    `invalid duration "${text}" for --until (expected: 90s, 30m, 2h or 7d, at most 365d)`,
  );
}
