import { HallError } from "../../base/errors.ts";
import { formatTime, visible } from "../../base/text.ts";
import type { ToolTrust } from "../../hall/admin-contract.ts";
import { noteDecision } from "../../hall/note.ts";
import { findTools, readToolTrust, tellTrustChanged } from "../../hall/project-trust.ts";
import { loadSettings, type Settings } from "../../hall/settings.ts";
import { type Entries, noEntries } from "../../trust/ledger.ts";
import { paint, print, table } from "../print.ts";
import { askYes, isAttended } from "../terminal.ts";
import { openProjectLedger } from "./review.ts";

export interface TrustOptions {
  readonly until?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** From now on calls of a tool, or of all tools of a server, are not asked about; as long as the tool stays what it is. */
export async function runTrust(name: string, options: TrustOptions): Promise<void> {
  const until = parseUntil(options);
  const settings = await loadSettings({}, "error");
  const tools = findTools(name, await readToolTrust(), ["list", "reset", "all"]).filter(
    (tool, _index, all) => all.length === 1 || isReviewed(tool),
  );
  refuseUnreviewed(name, tools);
  await grant(settings, tools, until);
  showGranted({ tools, until }, options);
}

/** The same for every tool that a person has reviewed as it is now, after showing which those are. */
export async function runTrustAll(options: TrustOptions): Promise<void> {
  const until = parseUntil(options);
  const settings = await loadSettings({}, "error");
  const known = await readToolTrust();
  const tools = known.filter(isReviewed);
  const left = known.filter((tool) => !isReviewed(tool)).map(({ name }) => name);
  const covered = `${table(["tool", "asks because", "marked"], tools.map(describeCovered))}\n${describeLeft(left)}`;
  const question = `Let all ${tools.length} be called without asking${describeUntil(until)}?`;
  await requireYes(`trust in all ${tools.length} tools`, {
    ...options,
    question: `${covered}\n${question}`,
  });
  await grant(settings, tools, until);
  showGranted({ tools, until, left }, options);
}

function describeCovered(tool: ToolTrust): readonly string[] {
  return [tool.name, tool.ask ?? "", describeMarks(tool)];
}

function describeLeft(left: readonly string[]): string {
  return left.length === 0
    ? ""
    : `not covered, as nobody has reviewed them as they are now (\`guildhall verify\`): ${left.map(visible).join(", ")}\n`;
}

async function grant(
  settings: Settings,
  tools: readonly ToolTrust[],
  until: number | undefined,
): Promise<void> {
  const grantedAt = Date.now();
  const grants = tools.map(
    ({ key, pin }) => [key, { grantedAt, pin, ...(until === undefined ? {} : { until }) }] as const,
  );
  await (await openProjectLedger(settings)).change((entries) => ({
    ...entries,
    grants: { ...entries.grants, ...Object.fromEntries(grants) },
  }));
  await tellTrustChanged();
  const names = tools.map((tool) => tool.name);
  await noteDecision(
    settings,
    "granted",
    names,
    until === undefined ? "until it is revoked" : `until ${new Date(until).toISOString()}`,
  );
}

interface Granted {
  readonly tools: readonly ToolTrust[];
  readonly until: number | undefined;
  readonly left?: readonly string[];
}

function showGranted({ tools, until, left }: Granted, { json }: TrustOptions): void {
  const names = tools.map((tool) => tool.name);
  print(
    {
      trusted: names,
      ...(until === undefined ? {} : { until: new Date(until).toISOString() }),
      ...(left === undefined ? {} : { notCovered: left }),
    },
    {
      json,
      text: () =>
        `${names.join(", ") || "nothing"} can be called without asking${describeUntil(until)}\n${describeLeft(left ?? [])}`,
    },
  );
}

function describeUntil(until: number | undefined): string {
  return until === undefined ? "" : ` until ${formatTime(until)}`;
}

/** Takes trust back; what was reviewed stays reviewed. */
export async function runRevoke(name: string, options: TrustOptions): Promise<void> {
  const settings = await loadSettings({}, "error");
  const ledger = await openProjectLedger(settings);
  const { grants } = await ledger.read();
  // What is granted can be taken back whether or not it is still there.
  const granted = Object.keys(grants).filter((key) => key === name || key.startsWith(`${name}.`));
  const keys =
    granted.length > 0 ? granted : findTools(name, await readToolTrust()).map(({ key }) => key);
  const revoked = keys.filter((key) => Object.hasOwn(grants, key));
  await ledger.change((entries) => ({
    ...entries,
    grants: Object.fromEntries(
      Object.entries(entries.grants).filter(([key]) => !keys.includes(key)),
    ),
  }));
  await tellTrustChanged({ isRevoked: true });
  await noteDecision(settings, "revoked", revoked, "by command");
  print(
    { revoked },
    {
      json: options.json,
      text: () =>
        revoked.length > 0 ? `${revoked.join(", ")}: no longer trusted` : `${name} was not trusted`,
    },
  );
}

export async function runTrustList(options: TrustOptions): Promise<void> {
  const tools = await readToolTrust();
  const rows = tools.map((tool) => [
    tool.name,
    describeLevel(tool),
    tool.held ?? tool.ask ?? "",
    describeMarks(tool),
  ]);
  print(
    tools.map(({ definition: _definition, ...tool }) => tool),
    {
      json: options.json,
      text: () =>
        rows.length > 0
          ? table(["tool", "trust", "asks because", "marked"], rows)
          : "there are no tools",
    },
  );
}

/** Forgets what was said about a server, or about the whole project. */
export async function runTrustReset(
  server: string | undefined,
  options: TrustOptions,
): Promise<void> {
  const settings = await loadSettings({}, "error");
  const what = server ?? "this project";
  await requireYes(`forgetting all trust in ${what}`, {
    ...options,
    question: `Forget every review and all trust in ${what}? Its servers are not started until they are reviewed again.`,
  });
  const ledger = await openProjectLedger(settings);
  const before = await ledger.read();
  if (server !== undefined && !Object.hasOwn(before.servers, server))
    throw new HallError("NOT_FOUND", `${server} was never reviewed`, {
      hint: `Reviewed are: ${Object.keys(before.servers).join(", ") || "none"}.`,
    });
  await ledger.change((entries) =>
    server === undefined ? noEntries : withoutServer(entries, server),
  );
  await tellTrustChanged({ isRevoked: true });
  const servers = server === undefined ? Object.keys(before.servers) : [server];
  await noteDecision(settings, "reset", servers, "by command");
  print(
    { forgotten: servers },
    { json: options.json, text: () => `forgotten: ${servers.join(", ") || "nothing was known"}` },
  );
}

/** A person's yes at the terminal, or --yes. Throws INVALID_PARAMS where there is neither, CANCELLED after a no. */
async function requireYes(
  what: string,
  { question, ...options }: TrustOptions & { readonly question: string },
): Promise<void> {
  if (options.yes) return;
  if (!isAttended(options))
    throw new HallError("INVALID_PARAMS", `${what} needs a yes`, {
      hint: "Run it on a terminal, or with --yes.",
    });
  if (!(await askYes(question)))
    throw new HallError("CANCELLED", "nothing was changed", { hint: "Answer y to go on." });
}

function withoutServer(entries: Entries, server: string): Entries {
  const { [server]: _forgotten, ...servers } = entries.servers;
  return {
    ...entries,
    servers,
    grants: Object.fromEntries(
      Object.entries(entries.grants).filter(([key]) => !key.startsWith(`${server}.`)),
    ),
  };
}

function isReviewed({ source, level, held }: ToolTrust): boolean {
  return held === undefined && (source !== "upstream" || level !== "untrusted");
}

function refuseUnreviewed(name: string, tools: readonly ToolTrust[]): void {
  const [first] = tools;
  if (first && tools.every(isReviewed)) return;
  throw new HallError(
    "DENIED",
    first?.held ?? `nobody has reviewed ${first?.name ?? name} as it is now`,
    {
      hint: "A person looks at it with `guildhall verify`; after that it can be trusted.",
    },
  );
}

const units: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const spanMsMax = 365 * 86_400_000;

/** `90s`, `30m`, `2h`, `7d` from now on. Throws INVALID_PARAMS. */
function parseUntil({ until: text }: TrustOptions): number | undefined {
  if (text === undefined) return undefined;
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (units[unit ?? ""] ?? Number.NaN);
  if (ms > 0 && ms <= spanMsMax) return Date.now() + ms;
  throw new HallError(
    "INVALID_PARAMS",
    `--until must be a time such as 90s, 30m, 2h or 7d, at most 365d, not "${text}"`,
  );
}

function describeLevel({ level, held, until }: ToolTrust): string {
  if (held !== undefined) return paint("red", "held back");
  return until === undefined ? level : `${level} until ${formatTime(until)}`;
}

function describeMarks({ marks }: ToolTrust): string {
  const words = [
    marks.destructive ? "destructive" : "",
    marks.bringsIn ? "brings in" : "",
    marks.sendsOut ? "sends out" : "",
  ];
  return words.filter((word) => word !== "").join(", ");
}
