import { HallError } from "../../base/errors.ts";
import { formatTime, visibleLines } from "../../base/text.ts";
import { configuredServers } from "../../config/unusable.ts";
import { connectAdmin } from "../../hall/admin-client.ts";
import type { HallStatus, RegistrationStatus, UpstreamStatus } from "../../hall/admin-contract.ts";
import { type Earlier, readEarlier } from "../../hall/last-failures.ts";
import { loadSettings } from "../../hall/settings.ts";
import { socketPath } from "../../hall/socket.ts";
import { readLock } from "../../upstream/lock.ts";
import type { UpstreamState } from "../../upstream/upstream.ts";
import { paint, print, table } from "../print.ts";

export interface StatusOptions {
  readonly json?: boolean;
}

/** The running hall and its servers; without one, what the config and the lock say. */
export async function runStatus(options: StatusOptions): Promise<void> {
  const admin = await connectAdmin(await socketPath(process.cwd()));
  if (!admin) {
    const upstreams = await knownUpstreams();
    print(
      { running: false, upstreams, registrations: [] },
      { json: options.json, text: () => describeKnown(upstreams) },
    );
    return;
  }
  const status = await admin.ask("status", {});
  await admin.close();
  print({ running: true, ...status }, { json: options.json, text: () => describeHall(status) });
}

function describeKnown(upstreams: readonly UpstreamStatus[]): string {
  const text = "no hall is running in this project: a client starts one, or `guildhall serve`";
  return upstreams.length > 0
    ? `${text}; this is what is known from earlier\n\n${describe(upstreams)}`
    : `${text}\n${describe(upstreams)}`;
}

export async function runLogs(server: string, options: StatusOptions): Promise<void> {
  const { lines } = await askRunning((admin) => admin.ask("logs", { server }));
  print(
    { server, lines },
    {
      json: options.json,
      text: () =>
        lines.length > 0
          ? visibleLines(lines.join("\n"))
          : `${server} has written nothing to stderr`,
    },
  );
}

export async function runRestart(server: string, options: StatusOptions): Promise<void> {
  const { state } = await askRunning((admin) => admin.ask("restart", { server }));
  print(
    { server, state },
    { json: options.json, text: () => `${server} was stopped; it starts again at its next call` },
  );
}

type Admin = NonNullable<Awaited<ReturnType<typeof connectAdmin>>>;

async function askRunning<T>(ask: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = await connectAdmin(await socketPath(process.cwd()));
  if (!admin)
    throw new HallError("UNAVAILABLE", "no hall is running in this project", {
      hint: "Start one with `guildhall serve`, or by connecting a client.",
    });
  try {
    return await ask(admin);
  } finally {
    await admin.close();
  }
}

const nothing: Earlier = { calls: 0, errors: 0, lastError: undefined };

async function knownUpstreams(): Promise<readonly UpstreamStatus[]> {
  const settings = await loadSettings({}, "error");
  const servers = configuredServers(settings.loaded);
  const lock = await readLock(process.cwd(), () => {});
  const earlier = await readEarlier(settings, Object.keys(servers));
  return Object.entries(servers).map(([name, server]) => {
    const locked = lock.servers[name];
    const state: UpstreamState =
      server.type === "unusable"
        ? { kind: "unusable", reason: server.problems.join("; ") }
        : { kind: "stopped" };
    return {
      name,
      state,
      era: locked?.era,
      protocol: locked?.protocol,
      tools: locked?.offer.tools.length ?? 0,
      ...nothing,
      ...earlier.get(name),
    };
  });
}

function describeHall(status: HallStatus): string {
  const minutes = Math.round((Date.now() - status.startedAt) / 60_000);
  return `hall ${status.version}, process ${status.pid}, ${minutes} min, ${status.clients} clients\n${describeStore(status.store)}${describe(status.upstreams)}${describeRegistered(status.registrations)}`;
}

function describeRegistered(registrations: readonly RegistrationStatus[]): string {
  if (registrations.length === 0) return "";
  const rows = registrations.map(({ name, state, runner, tools, registeredAt, problem }) => [
    name,
    state === "available" ? state : paint("red", state),
    runner ?? "nobody",
    String(tools),
    formatTime(registeredAt),
    problem ?? "",
  ]);
  return `\n\n${table(["registered", "state", "run by", "tools", "since", "problem"], rows)}`;
}

/** Said when something is wrong: nobody looks for a store that works. */
function describeStore({ problem, waiting, path, url }: HallStatus["store"]): string {
  return problem === undefined
    ? ""
    : `${paint("red", `the store ${path ?? url ?? ""} cannot be written: ${problem}`)}; ${waiting} rows wait\n`;
}

function describe(upstreams: readonly UpstreamStatus[]): string {
  if (upstreams.length === 0)
    return "no servers are configured: `guildhall init` finds those your clients have, or write them under mcpServers in guildhall.json";
  const rows = [...upstreams]
    .sort((a, b) => worryOf(b) - worryOf(a))
    .map((upstream) => [
      upstream.name,
      describeState(upstream.state),
      upstream.era === undefined ? "unknown" : `${upstream.era} ${upstream.protocol}`,
      String(upstream.tools),
      String(upstream.calls),
      upstream.calls === 0 ? "" : `${((100 * upstream.errors) / upstream.calls).toFixed(1)} %`,
      "reason" in upstream.state ? upstream.state.reason : (upstream.lastError ?? ""),
    ]);
  return `${describeIll(upstreams)}${table(["server", "state", "speaks", "tools", "calls", "errors", "last error"], rows)}`;
}

/** What needs a hand is said before what does not. */
function describeIll(upstreams: readonly UpstreamStatus[]): string {
  const ill = upstreams.filter((upstream) => !isWell(upstream)).map(({ name }) => name);
  if (ill.length === 0) return "";
  return `${paint("red", `${ill.length} of ${upstreams.length} servers cannot be used now: ${ill.join(", ")}`)}; \`guildhall doctor\` says what to do\n\n`;
}

/** What cannot be used before what went wrong once, and that before the rest. */
function worryOf(upstream: UpstreamStatus): number {
  return isWell(upstream) ? (upstream.lastError === undefined ? 0 : 1) : 2;
}

function isWell({ state }: UpstreamStatus): boolean {
  return state.kind !== "unusable" && state.kind !== "down";
}

function describeState(state: UpstreamState): string {
  if (state.kind === "unusable") return paint("red", state.kind);
  if (state.kind !== "down") return state.kind;
  if (state.code === "DENIED") return paint("red", state.reason);
  return paint(
    "red",
    `down, again in ${Math.max(0, (state.retryAt - Date.now()) / 1000).toFixed(0)} s`,
  );
}
