import type { GroupSource } from "../agents/groups.ts";
import type { PlannerConfig } from "../agents/planners.ts";
import type { RunStoreOptions } from "../agents/runs.ts";
import type { Log, Secrets } from "../base/log.ts";
import type { SecretStore } from "../base/secret-store.ts";
import type { ConfiguredServers } from "../config/configured-servers.ts";
import type { Config } from "../config/schema.ts";
import type { Decision } from "../gateway/audit.ts";
import type { Capacities, RateLimits } from "../gateway/limits.ts";
import type { Recording } from "../gateway/record.ts";
import type { ModulesOptions } from "../registry/modules.ts";
import type { NameStyle } from "../registry/shown-names.ts";
import type { FaceChoice } from "../server/faces.ts";
import type { StoreSettings } from "../store/open-store.ts";
import type { Call, Toolkit } from "../tool.ts";
import type { Language } from "../toolkits/programs/protocol.ts";
import type { SavedPrograms } from "../toolkits/programs/saved-toolkit.ts";
import type { PendingApproval } from "../trust/approvals.ts";
import type { PolicyFile } from "../trust/policy/parse.ts";
import type { TrustOptions } from "../trust/trust.ts";
import type { FleetOptions } from "../upstream/fleet.ts";
import type { Lock } from "../upstream/lock.ts";
import type { SandboxPolicy } from "../upstream/sandbox/policy.ts";
import type { Limits } from "../wire/channel.ts";
import type { WorkflowOptions } from "../workflow/workflow.ts";
import type { Together } from "./together/together.ts";

/** `sandbox`: the config's, for the process of the modules. */
export type ModuleOptions = Pick<ModulesOptions, "patterns" | "folder" | "loadMsMax"> &
  Pick<Config["defaults"], "sandbox">;

export interface HallOptions {
  /** The faces that clients see. Default: every tool as it is. */
  readonly faces?: FaceChoice;
  /** How names are listed. Default `dot`. */
  readonly names?: NameStyle;
  /** The groups, and their description for clients. Default: none. */
  readonly agents?: GroupSource;
  /** The planner of agents. Default: the client's model, if it supports sampling. */
  readonly planner?: PlannerConfig;
  /** How much of an agent's run is kept. Default `full`. */
  readonly runs?: Pick<RunStoreOptions, "keep" | "keepDays">;
  /** The folder of the built workers of programs, for halls that are not bundled. Default: beside the program. */
  readonly workers?: URL;
  /** The saved programs of a project. Default: none. */
  readonly savedPrograms?: SavedPrograms;
  /** The spec-driven workflow of a project. Default: none. */
  readonly workflow?: Pick<WorkflowOptions, "folder" | "roots" | "commands" | "agent" | "isListed">;
  /** Additional search words of tools, by full name. */
  readonly aliases?: Readonly<Record<string, readonly string[]>>;
  /** Default: the built-in toolkits. */
  readonly toolkits?: readonly Toolkit[];
  /** The upstreams, by name. */
  readonly servers?: ConfiguredServers;
  /** Upstreams that may start to be listed for the first time, not only for a call. Default: all. */
  readonly mayDiscover?: FleetOptions["mayDiscover"];
  /** How upstreams are reached. Default: processes and network connections. */
  readonly openCarrier?: FleetOptions["openCarrier"];
  /** Called for each line an upstream writes to stderr, and when it fails. */
  readonly printed?: FleetOptions["printed"];
  /** Runs servers in another sandbox than approved, to learn what they need. */
  readonly learning?: Partial<SandboxPolicy> | undefined;
  /** The offers of the upstreams at the last build. */
  readonly lock?: Lock;
  /** Globs of modules that export toolkits, relative to the folder. */
  readonly modules?: ModuleOptions | undefined;
  /** Rate limits, and how many calls a toolkit takes at once. Default: no limits. */
  readonly rates?: RateLimits;
  readonly capacities?: Capacities;
  /** Default: every 60 s, with a timeout of 5,000 ms. */
  readonly healthCheck?: { readonly intervalSeconds?: number; readonly timeoutMs?: number };
  /** Allows registered endpoints in private networks. */
  readonly allowPrivateEndpoints?: boolean;
  /** The policy files. Default: none, so that policies forbid nothing. */
  readonly policies?: readonly PolicyFile[];
  /** The approvals of this project. Without it no call requires approval. */
  readonly trust?: TrustOptions;
  /**
   * Set if people can answer approvals elsewhere while the hall runs: calls wait for them. Called for
   * each approval that no client asks its user for.
   */
  readonly approvalLeft?: (pending: PendingApproval) => void;
  /** Records a decision; resolves when it is durable. Default: the store's audit. */
  readonly audit?: (decision: Decision, call: Call) => Promise<void>;
  /** Where calls and the audit are stored. Default: memory. */
  readonly store?: StoreSettings | undefined;
  /** Of several halls that share the store. Default: this hall is alone. */
  readonly together?: Together | undefined;
  /** How much of a call is stored: a digest of its arguments, or everything. Default `digest`. */
  readonly record?: Recording["record"];
  /** Offers `guildhall://stats`, `health` and `trust`. Default true. */
  readonly hasOwnResources?: boolean;
  /** Lists `evaluate-lisp`. Default true. */
  readonly listsPrograms?: boolean;
  /** The languages of programs that are listed. Default `lisp`. */
  readonly languages?: readonly Language[];
  /** Where spans of calls are sent. Default: not sent. */
  readonly telemetry?: { readonly otlpUrl?: string | undefined };
  readonly isStatic?: boolean;
  readonly pageSize?: number;
  readonly limits?: Partial<Limits>;
  /** Deadline of tools that set none. Default 30,000. */
  readonly timeoutMs?: number;
  readonly log?: Log;
  /** Values the log hides; tokens of upstreams are added. */
  readonly secrets?: Secrets;
  /** Where logins to upstreams are stored. Default: the user's data folder. */
  readonly tokenFolder?: string;
  /** Where people's own secrets are kept. Default: the user's. */
  readonly secretStore?: SecretStore | undefined;
}
