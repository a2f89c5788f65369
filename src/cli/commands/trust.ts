import type { Command } from "commander";
import { HallError } from "../../base/errors.ts";
import { visible } from "../../base/sanitize.ts";
import { formatTime, plural } from "../../base/text.ts";
import type { ToolTrust } from "../../hall/admin-contract.ts";
import type { Settings } from "../../hall/settings.ts";
import { addCommand, type JsonOption, parseDuration } from "../declaration.ts";
import { loadProject } from "../hall.ts";
import { paint, print, table } from "../print.ts";
import { askYes, isAttended } from "../terminal.ts";

interface TrustCommandOptions extends JsonOption {
  readonly until?: string;
  readonly yes?: boolean;
}

/** `trust` with its subcommands, and `revoke`. */
export function addTrustCommands(program: Command): void {
  const until = { "--until <time>": "only for this long: 90s, 30m, 2h, 7d" };
  const yes = { "-y, --yes": "do not ask" };
  const trust = addCommand(program, "trust <name>", {
    does: "allow calls of a tool, or of all tools of a server, without approval while their definitions stay the same",
    options: until,
    examples: [
      "guildhall trust github.create_issue",
      "guildhall trust github --until 2h",
      "guildhall trust all",
      "guildhall trust list",
      "guildhall trust reset",
    ],
    run: runTrust,
  });
  addCommand(trust, "all", {
    does: "allow calls of every reviewed tool without approval; shows the tools and asks first",
    options: { ...until, ...yes },
    examples: ["guildhall trust all", "guildhall trust all --until 2h --yes"],
    run: runTrustAll,
  });
  addCommand(trust, "list", {
    does: "show the trust level of each tool and why its calls require approval",
    examples: ["guildhall trust list --json"],
    run: runTrustList,
  });
  addCommand(trust, "reset [server]", {
    does: "forget all reviews and trust of this project, or of one server",
    options: yes,
    examples: ["guildhall trust reset", "guildhall trust reset github --yes"],
    run: runTrustReset,
  });

  addCommand(program, "revoke <name>", {
    does: "revoke the trust in a tool, or in all tools of a server",
    examples: ["guildhall revoke github.create_issue", "guildhall revoke github"],
    run: runRevoke,
  });
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

async function runRevoke(name: string, options: JsonOption): Promise<void> {
  const [settings, { revokeTrust }] = await openService();
  const revoked = await revokeTrust(settings, name);
  const text =
    revoked.length > 0 ? `no longer trusted: ${revoked.join(", ")}` : `${name} was not trusted`;
  print({ revoked }, text, options);
}

async function runTrustList(options: JsonOption): Promise<void> {
  const [settings, { readToolTrust }] = await openService();
  const tools = await readToolTrust(settings);
  const rows = tools.map((tool) => [
    tool.name,
    formatLevel(tool),
    tool.held ?? tool.ask ?? "",
    formatMarks(tool),
  ]);
  const head = ["tool", "trust", "requires approval because", "marks"];
  const value = tools.map(({ definition: _definition, ...tool }) => tool);
  print(value, table(head, rows, "no tools"), options);
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
  print({ forgotten }, `forgotten: ${forgotten.join(", ") || "nothing was reviewed"}`, options);
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

function printGranted({ tools, until, unreviewed }: Granted, options: JsonOption): void {
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

const durationMsMax = 365 * 86_400_000;

/** Milliseconds since 1970. Throws INVALID_PARAMS. */
function parseUntil({ until: text }: TrustCommandOptions): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms > 0 && ms <= durationMsMax) return Date.now() + ms;
  throw new HallError(
    "INVALID_PARAMS",
    `invalid duration "${text}" for --until (expected: 90s, 30m, 2h or 7d, at most 365d)`,
  );
}
