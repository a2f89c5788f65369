import type { ToolTrust } from "../admin/contract.ts";
import { HallError } from "../base/errors.ts";
import { type Entries, noEntries } from "../trust/ledger.ts";
import { noteDecision } from "./note.ts";
import { paint, print, table } from "./print.ts";
import { findTools, readToolTrust, tellTrustChanged } from "./project-trust.ts";
import { openProjectLedger } from "./review.ts";
import { loadSettings } from "./settings.ts";
import { askYes, isAttended } from "./terminal.ts";

export interface TrustOptions {
  readonly until?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** From now on calls of a tool, or of all tools of a server, are not asked about; as long as the tool stays what it is. */
export async function runTrust(name: string, options: TrustOptions): Promise<void> {
  const until = options.until === undefined ? undefined : Date.now() + parseSpan(options.until);
  const settings = await loadSettings({}, "error");
  const tools = findTools(name, await readToolTrust(), ["list", "reset"]).filter((tool, _index, all) => all.length === 1 || isReviewed(tool));
  refuseUnreviewed(name, tools);
  const grantedAt = Date.now();
  const grants = tools.map(({ key, pin }) => [key, { grantedAt, pin, ...(until === undefined ? {} : { until }) }] as const);
  await (await openProjectLedger(settings)).change((entries) => ({ ...entries, grants: { ...entries.grants, ...Object.fromEntries(grants) } }));
  await tellTrustChanged();
  const names = tools.map((tool) => tool.name);
  await noteDecision(settings, "granted", names, until === undefined ? "until it is revoked" : `until ${new Date(until).toISOString()}`);
  print(
    { trusted: names, ...(until === undefined ? {} : { until: new Date(until).toISOString() }) },
    {
      json: options.json,
      text: () => `${names.join(", ")} can be called without asking${until === undefined ? "" : ` until ${new Date(until).toLocaleString()}`}`,
    },
  );
}

/** Takes trust back; what was reviewed stays reviewed. */
export async function runRevoke(name: string, options: TrustOptions): Promise<void> {
  const settings = await loadSettings({}, "error");
  const ledger = await openProjectLedger(settings);
  const { grants } = await ledger.read();
  // What is granted can be taken back whether or not it is still there.
  const granted = Object.keys(grants).filter((key) => key === name || key.startsWith(`${name}.`));
  const keys = granted.length > 0 ? granted : findTools(name, await readToolTrust()).map(({ key }) => key);
  const revoked = keys.filter((key) => Object.hasOwn(grants, key));
  await ledger.change((entries) => ({ ...entries, grants: Object.fromEntries(Object.entries(entries.grants).filter(([key]) => !keys.includes(key))) }));
  await tellTrustChanged({ isRevoked: true });
  await noteDecision(settings, "revoked", revoked, "by command");
  print({ revoked }, { json: options.json, text: () => (revoked.length > 0 ? `${revoked.join(", ")}: no longer trusted` : `${name} was not trusted`) });
}

export async function runTrustList(options: TrustOptions): Promise<void> {
  const tools = await readToolTrust();
  const rows = tools.map((tool) => [tool.name, describeLevel(tool), tool.held ?? tool.ask ?? "", describeMarks(tool)]);
  print(
    tools.map(({ definition: _definition, ...tool }) => tool),
    { json: options.json, text: () => (rows.length > 0 ? table(["tool", "trust", "asks because", "marked"], rows) : "there are no tools") },
  );
}

/** Forgets what was said about a server, or about the whole project. */
export async function runTrustReset(server: string | undefined, options: TrustOptions): Promise<void> {
  const settings = await loadSettings({}, "error");
  const what = server ?? "this project";
  const isAsking = isAttended(options);
  if (!isAsking && !options.yes)
    throw new HallError("INVALID_PARAMS", `forgetting all trust in ${what} needs a yes`, { hint: "Run it on a terminal, or with --yes." });
  if (isAsking && !(await askYes(`Forget every review and all trust in ${what}? Its servers are not started until they are reviewed again.`)))
    throw new HallError("CANCELLED", "nothing was changed", { hint: "Answer y to go on." });
  const ledger = await openProjectLedger(settings);
  const before = await ledger.read();
  if (server !== undefined && !Object.hasOwn(before.servers, server))
    throw new HallError("NOT_FOUND", `${server} was never reviewed`, { hint: `Reviewed are: ${Object.keys(before.servers).join(", ") || "none"}.` });
  await ledger.change((entries) => (server === undefined ? noEntries : withoutServer(entries, server)));
  await tellTrustChanged({ isRevoked: true });
  const servers = server === undefined ? Object.keys(before.servers) : [server];
  await noteDecision(settings, "reset", servers, "by command");
  print({ forgotten: servers }, { json: options.json, text: () => `forgotten: ${servers.join(", ") || "nothing was known"}` });
}

function withoutServer(entries: Entries, server: string): Entries {
  const { [server]: _forgotten, ...servers } = entries.servers;
  return { ...entries, servers, grants: Object.fromEntries(Object.entries(entries.grants).filter(([key]) => !key.startsWith(`${server}.`))) };
}

function isReviewed({ source, level, held }: ToolTrust): boolean {
  return held === undefined && (source !== "upstream" || level !== "untrusted");
}

function refuseUnreviewed(name: string, tools: readonly ToolTrust[]): void {
  const [first] = tools;
  if (first && tools.every(isReviewed)) return;
  throw new HallError("DENIED", first?.held ?? `nobody has reviewed ${first?.name ?? name} as it is now`, {
    hint: "A person looks at it with `guildhall verify`; after that it can be trusted.",
  });
}

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const spanMsMax = 365 * 86_400_000;

/** `90s`, `30m`, `2h`, `7d` in milliseconds. */
function parseSpan(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (units[unit ?? ""] ?? Number.NaN);
  if (ms > 0 && ms <= spanMsMax) return ms;
  throw new HallError("INVALID_PARAMS", `--until must be a time such as 90s, 30m, 2h or 7d, at most 365d, not "${text}"`);
}

function describeLevel({ level, held, until }: ToolTrust): string {
  if (held !== undefined) return paint("red", "held back");
  return until === undefined ? level : `${level} until ${new Date(until).toLocaleTimeString()}`;
}

function describeMarks({ marks }: ToolTrust): string {
  const words = [marks.destructive ? "destructive" : "", marks.bringsIn ? "brings in" : "", marks.sendsOut ? "sends out" : ""];
  return words.filter((word) => word !== "").join(", ");
}
