import { HallError } from "../base/errors.ts";
import { formatTime } from "../base/text.ts";
import { isSpelling } from "../registry/names.ts";
import { type Entries, grantTools, noEntries } from "../trust/ledger.ts";
import type { Offer } from "../upstream/lists.ts";
import { askHall } from "./admin-client.ts";
import type { ToolTrust } from "./admin-contract.ts";
import { describeTrust, listOffers } from "./admin-handlers.ts";
import { discoverApproved } from "./discover.ts";
import { openAlone } from "./project.ts";
import { openProjectLedger, recordInProject } from "./project-store.ts";
import { type Settings, unknownName } from "./settings.ts";

/** The trust level of each tool, from the running hall or from a temporary one that starts no server. */
export async function readToolTrust(settings: Settings): Promise<readonly ToolTrust[]> {
  const { folder } = settings;
  const answer = await askHall(folder, "trust", {});
  if (answer) return answer.tools;
  const project = await openAlone({ folder, settings });
  try {
    return describeTrust(project.hall);
  } finally {
    await project.close();
  }
}

/** The offer of each server, reviewed or not. Without a hall, approved servers are started; the lock has the others. */
export async function readOffers(
  settings: Settings,
  names: readonly string[],
): Promise<Readonly<Record<string, Offer>>> {
  const { folder } = settings;
  const answer = await askHall(folder, "offers", {});
  if (answer) return answer.servers;
  const project = await openAlone({ folder, settings });
  let known: Readonly<Record<string, Offer>>;
  try {
    known = await listOffers(project.hall);
  } finally {
    await project.close();
  }
  const discoveries = await discoverApproved(settings, { names });
  const found = discoveries.flatMap((discovery) =>
    "found" in discovery ? [[discovery.name, discovery.found.offer] as const] : [],
  );
  return { ...known, ...Object.fromEntries(found) };
}

/** One tool by its full or short name, or all tools of a toolkit. Throws NOT_FOUND with near names. */
function findTools(
  name: string,
  tools: readonly ToolTrust[],
  otherNames: readonly string[] = [],
): readonly ToolTrust[] {
  // A project can rename tools with prefixes, so the server's own key comes first.
  const exact =
    tools.find(({ key }) => key === name) ?? tools.find((tool) => isSpelling(name, tool.name));
  if (exact) return [exact];
  const ofToolkit = tools.filter(({ toolkit }) => toolkit === name);
  if (ofToolkit.length > 0) return ofToolkit;
  const short = tools.filter(({ definition }) => definition.name === name);
  if (short.length === 1) return short;
  const matches = short.map((tool) => tool.name).join(", ");
  if (short.length > 1)
    throw new HallError("NOT_FOUND", `"${name}" is ambiguous (expected one of: ${matches})`);
  const known = new Set([...otherNames, ...tools.flatMap((tool) => [tool.name, tool.toolkit])]);
  throw unknownName(
    "tool or server",
    name,
    [...known],
    "`guildhall trust list` shows all tools; a new server's tools are known after `guildhall build`.",
  );
}

/** True if a person has reviewed the tool as it is now. */
export function isReviewed({ source, level, held }: ToolTrust): boolean {
  return held === undefined && (source !== "upstream" || level !== "untrusted");
}

/** Names that `guildhall trust` uses for its own commands. */
const trustCommands = ["list", "reset", "all"];

/** The tools a grant for this name covers. Throws DENIED where none of them is reviewed. */
export function selectGrantable(name: string, known: readonly ToolTrust[]): readonly ToolTrust[] {
  const found = findTools(name, known, trustCommands);
  const [first] = found;
  const reviewed = found.filter(isReviewed);
  if (reviewed.length > 0) return reviewed;
  throw new HallError("DENIED", first?.held ?? `${first?.name ?? name} has not been reviewed`, {
    hint: "Only reviewed tools can be trusted.",
    next: [first === undefined ? { do: "verify" } : { do: "verify", server: first.toolkit }],
  });
}

/** Trusts these tools as they are now, until a time or until revoked. */
export async function grantTrust(
  settings: Settings,
  tools: readonly ToolTrust[],
  until: number | undefined,
): Promise<void> {
  await grantTools(await openProjectLedger(settings), tools, { until });
  await askHall(settings.folder, "trustChanged", {});
  const subjects = tools.map(({ name }) => name);
  const reason = until === undefined ? "until revoked" : `until ${formatTime(until)}`;
  await recordInProject(settings, { decision: { kind: "granted", subjects, reason } });
}

/** Revokes grants and returns the keys that had one. Reviews stay. */
export async function revokeTrust(settings: Settings, name: string): Promise<readonly string[]> {
  const ledger = await openProjectLedger(settings);
  const { grants } = await ledger.read();
  // A grant can be revoked even if its tool no longer exists.
  const granted = Object.keys(grants).filter((key) => key === name || key.startsWith(`${name}.`));
  const keys =
    granted.length > 0
      ? granted
      : findTools(name, await readToolTrust(settings)).map(({ key }) => key);
  const revoked = keys.filter((key) => Object.hasOwn(grants, key));
  await ledger.change((entries) => withoutGrants(entries, (key) => keys.includes(key)));
  await askHall(settings.folder, "trustChanged", {});
  await recordInProject(settings, {
    decision: { kind: "revoked", subjects: revoked, reason: "by command" },
  });
  return revoked;
}

/** Forgets all reviews and grants of a server, or of the project. Returns what it forgot. */
export async function resetTrust(
  settings: Settings,
  server: string | undefined,
): Promise<readonly string[]> {
  const ledger = await openProjectLedger(settings);
  const before = await ledger.read();
  const { modules = {}, texts = {} } = before;
  const servers = Object.keys(before.servers);
  const grants = Object.keys(before.grants);
  if (server !== undefined && !servers.includes(server))
    throw unknownName("reviewed server", server, servers);
  await ledger.change((entries) =>
    server === undefined
      ? { ...noEntries, revocations: countOneMore(entries) }
      : withoutServer(entries, server),
  );
  await askHall(settings.folder, "trustChanged", {});
  const subjects =
    server === undefined
      ? [...servers, ...grants, ...Object.keys(modules), ...Object.keys(texts)]
      : [server, ...grants.filter((key) => key.startsWith(`${server}.`))];
  await recordInProject(settings, { decision: { kind: "reset", subjects, reason: "by command" } });
  return subjects;
}

function withoutServer(entries: Entries, server: string): Entries {
  const { [server]: _removed, ...servers } = entries.servers;
  return { ...withoutGrants(entries, (key) => key.startsWith(`${server}.`)), servers };
}

function withoutGrants(entries: Entries, isRemoved: (key: string) => boolean): Entries {
  const grants = Object.entries(entries.grants).filter(([key]) => !isRemoved(key));
  return {
    ...entries,
    grants: Object.fromEntries(grants),
    revocations: countOneMore(entries),
  };
}

function countOneMore({ revocations = 0 }: Entries): number {
  return revocations + 1;
}
