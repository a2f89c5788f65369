import { type Advice, adviceCommand } from "../../base/advice.ts";
import { HallError } from "../../base/errors.ts";
import { visible } from "../../base/sanitize.ts";
import { formatTime, plural } from "../../base/text.ts";
import { version } from "../../base/version.ts";
import { withRunningHall } from "../../hall/admin-client.ts";
import type { HallStatus, RegistrationStatus, UpstreamStatus } from "../../hall/admin-contract.ts";
import {
  type Check,
  diagnoseModules,
  diagnoseServers,
  diagnoseStore,
  repairServers,
  type ServerDiagnosis,
} from "../../hall/doctor.ts";
import { describeFaults } from "../../hall/faults.ts";
import { modulesName } from "../../hall/sandbox.ts";
import { type Overview, type ProjectStatus, readOverview, readStatus } from "../../hall/status.ts";
import { reasonOf } from "../../upstream/supervisor.ts";
import type { UpstreamState } from "../../upstream/upstream.ts";
import { adviceForShell, quoteWord } from "../advice.ts";
import type { JsonOption } from "../declaration.ts";
import { formatFault, formatUnlisted, loadProject } from "../hall.ts";
import { createLive, createWaiting, quiet, reportWaiting } from "../live.ts";
import { type Cell, joinLines, paint, print, shortenHome, table, wrapProse } from "../print.ts";

export async function runStatus(options: JsonOption): Promise<void> {
  const status = await createWaiting().during("reading the state", readStatus(process.cwd()));
  print(status, wrapProse(formatStatus(status)), options);
}

export async function runRestart(server: string, options: JsonOption): Promise<void> {
  const { state } = await withRunningHall(process.cwd(), (admin) =>
    admin.ask("restart", { server }),
  );
  print({ server, state }, `${server} was stopped; it starts again at its next call`, options);
}

function formatStatus(status: ProjectStatus): string {
  const rest = [...formatFaults(status), ...formatSandboxes(status), ...formatTokens(status)];
  if (!status.running) {
    const { upstreams, store, unreviewed } = status;
    const unlisted = status.unlisted.filter((name) => !unreviewed.includes(name));
    return joinLines(
      "no hall is running in this project; a client or `guildhall serve` starts one",
      store && paint("red", store.problem),
      upstreams.length > 0 && ["known from earlier:", ""],
      formatUpstreams(upstreams, unreviewed),
      unreviewed.length > 0 && formatUnreviewed(unreviewed, upstreams.length),
      unlisted.length > 0 && formatUnlisted(unlisted),
      rest,
    );
  }
  const { version, pid, startedAt, url, clients, store, upstreams, registrations } = status;
  const where = url === undefined ? "" : `, ${url}`;
  const minutes = Math.round((Date.now() - startedAt) / 60_000);
  return [
    `hall ${version}, process ${pid}, running for ${minutes} min, ${plural(clients, "client")}${where}`,
    ...formatStore(store),
    formatUpstreams(upstreams),
    ...formatRegistrations(registrations),
    ...rest,
  ].join("\n");
}

/** Accesses that sandboxes denied, and the servers that run without a sandbox. */
function formatSandboxes({ unconfined, ...status }: ProjectStatus): readonly string[] {
  const ofModules = "deniedToModules" in status ? status.deniedToModules : [];
  const denied = [...status.upstreams, { name: modulesName, denied: ofModules }].filter(
    ({ denied = [] }) => denied.length > 0,
  );
  const reasons = [...new Set(unconfined.map(({ reason }) => reason))];
  return [
    ...denied.map(
      ({ name, denied = [] }) =>
        `the sandbox of ${name} denied ${plural(denied.length, "access", "accesses")}; run \`guildhall sandbox explain ${name}\``,
    ),
    ...reasons.map((reason) => {
      const names = unconfined.filter((it) => it.reason === reason).map(({ name }) => name);
      return `note: not in a sandbox: ${names.join(", ")} (${visible(reason)}); \`guildhall sandbox learn NAME\` confines one`;
    }),
  ];
}

function formatFaults(status: ProjectStatus): readonly string[] {
  return describeFaults(status).map(formatFault);
}

/** In a fresh clone, that is every server. */
function formatUnreviewed(names: readonly string[], count: number): string {
  const what =
    names.length === count
      ? "no server was reviewed in this folder, so none starts"
      : `not reviewed in this folder, so not started: ${names.join(", ")}`;
  return `note: ${what}; run \`guildhall build\``;
}

function formatRegistrations(registrations: readonly RegistrationStatus[]): readonly string[] {
  if (registrations.length === 0) return [];
  const rows = registrations.map(({ name, state, runner, tools, registeredAt, problem = "" }) => [
    name,
    state === "available" ? state : { text: state, style: "red" as const },
    runner ?? "none",
    String(tools),
    formatTime(registeredAt),
    problem,
  ]);
  const replacing = registrations.filter(({ replacesBuiltIn }) => replacesBuiltIn);
  return [
    "",
    table(["registered", "state", "run by", "tools", "since", "problem"], rows, {
      extra: ["since", "run by"],
    }),
    ...replacing.map(({ name, runner }) =>
      runner === null
        ? `the built-in ${name} serves: the service that replaced it is not attached`
        : `the built-in ${name} is replaced by the registered one`,
    ),
  ];
}

/** Tokens of 0.1 have all rights; new ones get only those they are given. */
function formatTokens({ adminTokens }: ProjectStatus): readonly string[] {
  if (adminTokens.length === 0) return [];
  const text = `tokens that may do everything: ${adminTokens.join(", ")}`;
  return ["", `${text}; to limit one, revoke it and create it again with --scope`];
}

/** Only a store with a problem is worth a line. */
function formatStore({ problem, waiting, path, url }: HallStatus["store"]): readonly string[] {
  if (problem === undefined) return [];
  const text = paint("red", `cannot write to the store ${path ?? url ?? ""}: ${problem}`);
  return [`${text}; ${plural(waiting, "row")} waiting`];
}

function formatUpstreams(
  upstreams: readonly UpstreamStatus[],
  unreviewed: readonly string[] = [],
): string {
  if (upstreams.length === 0)
    return "no servers are configured: run `guildhall init`, or add them under mcpServers in guildhall.json";
  const rows = [...upstreams]
    .sort((a, b) => severityOf(b) - severityOf(a))
    .map((upstream) => [
      upstream.name,
      unreviewed.includes(upstream.name) ? "held" : formatState(upstream.state),
      upstream.protocol ?? "unknown",
      String(upstream.tools),
      String(upstream.calls),
      upstream.calls === 0 ? "" : `${((100 * upstream.errors) / upstream.calls).toFixed(1)} %`,
      whyDown(upstream.state) ?? upstream.lastError ?? "",
    ]);
  const head = ["server", "state", "protocol", "tools", "calls", "errors", "last error"];
  const extra = ["protocol", "errors", "calls"];
  return [...formatUnusable(upstreams), table(head, rows, { extra })].join("\n");
}

function formatUnusable(upstreams: readonly UpstreamStatus[]): readonly string[] {
  const unusable = upstreams.filter((upstream) => !isUsable(upstream));
  if (unusable.length === 0) return [];
  const names = unusable.map(({ name }) => name).join(", ");
  const text = `${unusable.length} of ${plural(upstreams.length, "server")} cannot be used: ${names}`;
  return [`${paint("red", text)}; run \`guildhall doctor\` for advice`, ""];
}

/** Unusable servers first, then those with an error. */
function severityOf(upstream: UpstreamStatus): number {
  if (!isUsable(upstream)) return 2;
  return upstream.lastError === undefined ? 0 : 1;
}

function isUsable({ state }: UpstreamStatus): boolean {
  return whyDown(state) === undefined;
}

function whyDown(state: UpstreamState): string | undefined {
  return state.kind === "unusable" ? state.reason : reasonOf(state);
}

/** The step that a person must take first, with its command. */
function formatDenied(reason: string, [first]: readonly Advice[] = []): string {
  const isCommand = first?.do === "verify" || first?.do === "login";
  return isCommand ? `${reason}: run \`guildhall ${adviceCommand(first)}\`` : reason;
}

function formatState(state: UpstreamState): Cell {
  if (state.kind === "unusable") return { text: state.kind, style: "red" };
  if (state.kind === "starting" && state.after !== undefined)
    return { text: "down, starting again", style: "red" };
  if (state.kind !== "down") return state.kind;
  if (state.code === "DENIED")
    return { text: formatDenied(state.reason, state.next), style: "red" };
  const seconds = Math.max(0, Math.round((state.retryAt - Date.now()) / 1000));
  return { text: `down, retry in ${seconds} s`, style: "red" };
}

/** `guildhall` alone: where you are, what is wrong, what to do next. */
export async function runOverview(options: JsonOption): Promise<void> {
  const overview = await readOverview(process.cwd());
  print(overview, wrapProse(formatOverview(overview)), options);
}

function formatOverview({ folder, files, servers, tools, hall, problems, next }: Overview): string {
  const states = Object.entries(servers).filter(([, count]) => count > 0);
  const count = states.reduce((sum, [, each]) => sum + each, 0);
  const counts = states.map(([state, each]) => `${each} ${state}`).join(", ");
  const running = hall
    ? `running as process ${hall.pid} with ${plural(hall.clients, "client")}`
    : "not running; a client or `guildhall serve` starts it";
  return [
    `${paint("bold", `Guildhall ${version}`)} in ${visible(shortenHome(folder))}${files.length > 0 ? "" : ", which has no config"}`,
    `Servers: ${count > 0 ? `${counts}; ${plural(tools, "tool")}` : "none, only the built-in tools"}`,
    `Hall:    ${running}`,
    `Issues:  ${problems.length > 0 ? paint("red", visible(problems.join("; "))) : "none"}`,
    `Next:    ${next.map((command) => `guildhall ${command}`).join(", ")}`,
    "Help:    guildhall --help",
  ].join("\n");
}

export async function runDoctor(
  names: readonly string[],
  options: JsonOption & { readonly fix?: boolean },
): Promise<void> {
  const settings = await loadProject();
  const store = names.length > 0 ? undefined : await diagnoseStore(settings);
  const modules = names.length > 0 ? undefined : await diagnoseModules(settings);
  const live = options.json ? quiet : createLive();
  live.status("checking the servers …");
  const progress = reportWaiting(live);
  let servers = await diagnoseServers(settings, { names, progress });
  const repaired = options.fix ? await repairServers(servers) : [];
  if (repaired.length > 0) {
    for (const folder of repaired) process.stderr.write(`removed ${visible(folder)}\n`);
    servers = await diagnoseServers(settings, { names, progress });
  }
  const found = [store, modules, ...servers].filter((each) => each !== undefined);
  const failing = servers.filter(({ ok }) => !ok).length;
  const verb = failing === 1 ? "needs" : "need";
  const faults = [
    store && "the store needs attention",
    modules && `${plural(modules.checks.length, "module")} cannot be loaded`,
    failing > 0 && `${failing} of ${plural(servers.length, "server")} ${verb} attention`,
  ].filter(Boolean);
  const hint = options.json ? "See `details`." : "See the advice above.";
  const failure =
    faults.length === 0 ? undefined : new HallError("UNAVAILABLE", faults.join("; "), { hint });
  print(found, found.map(format).join("\n\n"), { ...options, failure });
}

function format({ name, ok, checks }: ServerDiagnosis): string {
  return [`${mark(ok)} ${paint("bold", name)}`, ...checks.flatMap(formatCheck)].join("\n");
}

function formatCheck({
  what,
  ok,
  advice,
  next = [],
  command,
  stderr = [],
}: Check): readonly string[] {
  const lines = [`  ${mark(ok)} ${visible(what)}`];
  if (advice !== undefined) lines.push(`      ${visible(advice)}`);
  if (next.length > 0) lines.push(`      ${adviceForShell(next)}`);
  const wrapped = lines.map((line) => wrapProse(line));
  // Not wrapped, so that it can be copied.
  if (command) wrapped.push(`      Run it by hand: ${visible(command.map(quoteWord).join(" "))}`);
  if (stderr.length > 0)
    wrapped.push(wrapProse(`      Its stderr: ${stderr.map(visible).join(" | ")}`));
  return wrapped;
}

function mark(ok: boolean): string {
  return ok ? paint("green", "✔") : paint("red", "✘");
}
