import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { HallError, messageOf } from "../base/errors.ts";
import { dataFolder } from "../base/files.ts";
import { isObject, type JsonObject, textsOf } from "../base/json.ts";
import { isInside } from "../config/project-limits.ts";
import type { ServerConfig } from "../config/schema.ts";
import { ownValue } from "../trust/easing.ts";
import type { ReviewedSandbox, SandboxRights } from "../trust/ledger.ts";
import type { SandboxDenial } from "../upstream/sandbox/denials.ts";
import { isAllowed } from "../upstream/sandbox/network.ts";
import { createRuntime, decideSandbox, noRights } from "../upstream/sandbox/policy.ts";
import {
  createProfile,
  describeProfile,
  isOurs,
  type Profile,
  type StdioConfig,
} from "../upstream/sandbox/profile.ts";
import { openTrace } from "../upstream/sandbox/trace.ts";
import { approvalOf } from "../upstream/source.ts";
import { askHall } from "./admin-client.ts";
import { describeTrust } from "./admin-handlers.ts";
import { openAlone } from "./project.ts";
import { openProjectLedger, openProjectStore, recordInProject } from "./project-store.ts";
import {
  approvedBefore,
  describeSandbox,
  moduleServer,
  modulesName,
  reviewedSandbox,
  violationKind,
} from "./sandbox.ts";
import { getServer, type Settings } from "./settings.ts";

/** How one server runs, and what its sandbox has denied since it was reviewed. */
export interface SandboxState {
  readonly name: string;
  readonly state: "confined" | "unconfined" | "remote" | "not reviewed";
  /** In plain words. */
  readonly what: string;
  readonly learned: SandboxRights;
  readonly denied: readonly SandboxDenial[];
}

export async function explainSandbox(settings: Settings, name: string): Promise<SandboxState> {
  const { config, sandbox, learned, isApproved, reviewedAt } = await findConfined(settings, name);
  if (config.type !== "stdio")
    return { name, state: "remote", what: "it runs elsewhere", learned, denied: [] };
  const profile = createProfile(name, config, learned);
  const recorded = await readDenials(settings, name, reviewedAt);
  const denied = recorded.filter((denial) => !isGiven(denial, profile));
  if (!isApproved)
    return { name, state: "not reviewed", what: "run `guildhall verify` first", learned, denied };
  const isConfined = decideSandbox(config, sandbox).kind === "box";
  const words = await describeSandbox(name, config, sandbox);
  return {
    name,
    state: isConfined ? "confined" : "unconfined",
    what: words ?? (config.sandbox === "off" ? "your config turns it off" : approvedBefore),
    learned,
    denied,
  };
}

/** True for what was denied before the rights were allowed. */
function isGiven({ kind, what }: SandboxDenial, { read, write, hosts }: Profile): boolean {
  const [, host = what, port] = /^(.*?)(?::(\d+))?$/.exec(what) ?? [];
  if (kind === "host") return isAllowed(hosts, host, port === undefined ? port : Number(port));
  return [...write, ...(kind === "read" ? read : [])].some((folder) => isInside(what, folder));
}

interface Confined {
  readonly config: ServerConfig;
  readonly sandbox: ReviewedSandbox | undefined;
  readonly learned: SandboxRights;
  /** As it is now. */
  readonly isApproved: boolean;
  readonly reviewedAt: number | undefined;
}

/** A server, or the process of the project's modules. */
async function findConfined(settings: Settings, name: string): Promise<Confined> {
  const entries = await (await openProjectLedger(settings)).read();
  const sandbox = reviewedSandbox(entries, name);
  const learned = sandbox?.kind === "on" ? sandbox.learned : noRights;
  if (name === modulesName) {
    const isApproved = Object.keys(entries.modules ?? {}).length > 0;
    const config = moduleServer(settings.config.defaults.sandbox);
    return { config, sandbox, learned, isApproved, reviewedAt: undefined };
  }
  const config = getServer(name, settings.loaded);
  const review = ownValue(entries.servers, name);
  const isApproved = review?.source === approvalOf(config);
  return { config, sandbox, learned, isApproved, reviewedAt: review?.reviewedAt };
}

/** All that can be confined: the servers, and the process of the modules if there are any. */
export function listConfined({ config }: Settings): readonly string[] {
  const modules = config.toolkits.length > 0 ? [modulesName] : [];
  return [...Object.keys(config.mcpServers).sort(), ...modules];
}

/** From the audit, so that it also has what other halls recorded while the server was used. */
async function readDenials(
  settings: Settings,
  name: string,
  since: number | undefined,
): Promise<readonly SandboxDenial[]> {
  const store = await openProjectStore(settings);
  try {
    const rows = await store?.audit.list({
      tool: name,
      outcome: violationKind,
      since,
    });
    return (rows ?? []).flatMap(({ details }) => (isDenial(details) ? [details] : []));
  } finally {
    await store?.close();
  }
}

function isDenial(value: unknown): value is SandboxDenial & JsonObject {
  return isObject(value) && typeof value.kind === "string" && typeof value.what === "string";
}

/** A right that the server would get, and whether it looks like a key. */
export interface ProposedRight extends SandboxDenial {
  readonly isSecret: boolean;
}

export interface Attempt {
  readonly isError: boolean;
  /** The result, or the reason of a failure. */
  readonly text: string;
}

export interface Learning {
  readonly profile: Profile;
  /** The tools that only read, which can be tried. */
  readonly tools: readonly string[];
  /** Calls a tool in the sandbox. Never throws. */
  attempt(tool: string, args: JsonObject): Promise<Attempt>;
  /** The smallest set of rights that covers everything denied so far. */
  propose(): readonly ProposedRight[];
  /** False if only the server's own error messages are known. */
  readonly isTraced: boolean;
  close(): Promise<void>;
}

/** Starts the server in its sandbox, with a record of what it looks for. */
export async function openLearning(settings: Settings, name: string): Promise<Learning> {
  const { learned, isApproved, reviewedAt, ...found } = await findConfined(settings, name);
  const config = requireStdio(found, name);
  if (!isApproved)
    throw new HallError("DENIED", `server "${name}" has not been approved as it is now`, {
      next: [
        name === modulesName
          ? { do: "run-command", command: "verify" }
          : { do: "verify", server: name },
      ],
    });
  await requireRuntime(name, config);
  const recorded = await readDenials(settings, name, reviewedAt);
  const entries = await (await openProjectLedger(settings)).read();
  const trace = openTrace(join(dataFolder(), "servers", "traces"));
  const profile = createProfile(name, config, learned);
  const project = await openAlone({
    folder: settings.folder,
    settings,
    mayDiscover: () => false,
    learning: {
      decide: (server, entry) =>
        server === name
          ? { kind: "box", learned }
          : decideSandbox(entry, reviewedSandbox(entries, server)),
      isLearning: true,
      tracer: trace?.tracer,
    },
  });
  const { hall } = project;
  const isOf = (toolkit: string): boolean =>
    name === modulesName
      ? hall.registry.findToolkit(toolkit)?.source === "module"
      : toolkit === name;
  const tools = describeTrust(hall).filter(
    ({ toolkit, marks, held }) => isOf(toolkit) && marks.effect === "reads" && held === undefined,
  );
  return {
    profile,
    tools: tools.map((tool) => tool.name),
    isTraced: trace !== undefined,
    async attempt(tool, args) {
      try {
        const { isError = false, content } = await hall.call(tool, args);
        return { isError, text: textsOf(content) };
      } catch (error) {
        return { isError: true, text: messageOf(error) };
      }
    },
    propose() {
      const denials = [
        ...recorded,
        ...hall.violations.of(name),
        ...(trace ? readTrace(trace, profile) : []),
      ];
      return summariseDenials(denials, profile);
    },
    async close() {
      await project.close();
      trace?.close();
    },
  };
}

function requireStdio(
  { config }: Pick<Confined, "config">,
  name: string,
): Extract<ServerConfig, { readonly type: "stdio" }> {
  if (config.type === "stdio") return config;
  throw new HallError("INVALID_PARAMS", `server "${name}" is remote: it has no sandbox here`);
}

function readTrace(trace: NonNullable<ReturnType<typeof openTrace>>, profile: Profile) {
  try {
    return trace.read(profile);
  } catch {
    // The server was not started.
    return [];
  }
}

const filesMax = 3;

/**
 * More than three files of one folder are proposed as the folder. Guildhall's own paths, and rights that the
 * server already has, are left out.
 */
export function summariseDenials(
  denials: readonly SandboxDenial[],
  profile: Pick<Profile, "home" | "read" | "write" | "hosts">,
): readonly ProposedRight[] {
  const has = { read: profile.read, write: profile.write, host: profile.hosts };
  const usable = denials.filter(
    ({ kind, what }) => !has[kind].includes(what) && (kind === "host" || !isOurs(what)),
  );
  const placed = usable.map((denial): SandboxDenial => {
    const { kind, what } = denial;
    // A file that is yet to be made needs its folder.
    if (kind === "write" && !existsSync(what)) return { kind, what: dirname(what) };
    const beside = usable.filter((it) => it.kind === kind && dirname(it.what) === dirname(what));
    const isMany = kind !== "host" && beside.length > filesMax && dirname(what) !== profile.home;
    return isMany ? { kind, what: dirname(what) } : denial;
  });
  const written = new Set(placed.filter(({ kind }) => kind === "write").map(({ what }) => what));
  const needed = placed.filter(({ kind, what }) => kind !== "read" || !written.has(what));
  const unique = new Map(needed.map((denial) => [`${denial.kind} ${denial.what}`, denial]));
  return [...unique.values()].map((denial) => ({ ...denial, isSecret: isSecret(denial) }));
}

const secretPath =
  /^\.(ssh|gnupg|aws|azure|kube|docker|netrc|npmrc|pypirc|git-credentials|password-store|mozilla|config\/(gh|gcloud|google-chrome|op))(\/|$)/;

function isSecret({ kind, what }: SandboxDenial): boolean {
  if (kind === "host") return /^(169\.254\.|metadata\.)/.test(what);
  const inHome = what.slice(homedir().length + 1);
  return (
    secretPath.test(inHome) || /(^|\/)(id_(rsa|ed25519|ecdsa)|\.env|shadow|credentials)$/.test(what)
  );
}

/** Without one, an approval of the rights would only keep the server from starting. */
async function requireRuntime(name: string, config: StdioConfig): Promise<void> {
  const { isContainer } = await import("../upstream/sandbox/container.ts");
  const runtime = isContainer(config) ? undefined : await createRuntime()();
  if (runtime && "reason" in runtime)
    throw new HallError(
      "UNAVAILABLE",
      `server "${name}" cannot run in a sandbox: ${runtime.reason}`,
      { hint: "Servers run without a sandbox on this machine." },
    );
}

/** Adds rights to the approval. Returns all that the server has now, in plain words. */
export async function acceptRights(
  settings: Settings,
  name: string,
  rights: readonly SandboxDenial[],
): Promise<readonly string[]> {
  const config = requireStdio(await findConfined(settings, name), name);
  const ledger = await openProjectLedger(settings);
  const take = (kind: SandboxDenial["kind"]): readonly string[] =>
    rights.filter((right) => right.kind === kind).map(({ what }) => what);
  const entries = await ledger.change((current) => {
    const reviewed = reviewedSandbox(current, name);
    const before = reviewed?.kind === "on" ? reviewed.learned : noRights;
    const learned: SandboxRights = {
      read: [...new Set([...before.read, ...take("read")])],
      write: [...new Set([...before.write, ...take("write")])],
      hosts: [...new Set([...before.hosts, ...take("host")])],
    };
    const sandbox: ReviewedSandbox = { kind: "on", learned };
    if (name === modulesName) return { ...current, moduleSandbox: sandbox };
    const review = ownValue(current.servers, name);
    if (!review) return current;
    return { ...current, servers: { ...current.servers, [name]: { ...review, sandbox } } };
  });
  const sandbox = reviewedSandbox(entries, name);
  const words = describeProfile(
    createProfile(name, config, sandbox?.kind === "on" ? sandbox.learned : noRights),
  );
  const reason = `sandbox: ${words.join("; ")}`;
  await recordInProject(settings, { decision: { kind: "reviewed", subjects: [name], reason } });
  await askHall(settings.folder, "trustChanged", {});
  await askHall(settings.folder, "restart", { server: name });
  return words;
}
