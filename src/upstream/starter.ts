import { fullMessageOf, HallError } from "../base/errors.ts";
import type { Scope } from "../base/scope.ts";
import type { ServerConnection } from "../client/connection.ts";
import type { ServerConfig } from "../config/schema.ts";
import type { Outcome } from "../tool.ts";
import type { InstalledPackage } from "../trust/review.ts";
import type { Carrier } from "./carrier.ts";
import type { Opening } from "./opening.ts";
import { type StartLimits, startLimits } from "./program.ts";
import type { BoxPlan } from "./sandbox/box.ts";
import { approvalOf } from "./source.ts";
import type { UpstreamOptions } from "./upstream.ts";

/** The options that all connections to the server share. */
type Shared = Pick<
  Opening,
  "log" | "scrub" | "inputSchema" | "asked" | "listChanged" | "resourceUpdated"
>;

/** Starts one server: only if it is approved, and in its turn if it may have to install a package. */
export class Starter {
  readonly limits: StartLimits;
  readonly #name: string;
  readonly #config: ServerConfig;
  readonly #options: UpstreamOptions;
  readonly #shared: Shared;
  #carrier: Carrier | undefined;
  #box: BoxPlan | undefined;
  #isInstalling = false;

  constructor(name: string, config: ServerConfig, options: UpstreamOptions, shared: Shared) {
    this.limits = startLimits(config);
    this.#name = name;
    this.#config = config;
    this.#options = options;
    this.#shared = shared;
  }

  get isInstalling(): boolean {
    return this.#isInstalling;
  }

  /** The result of a failed call, with what the sandbox denied and how to allow it. */
  explainFailure(outcome: Outcome): Outcome {
    const texts = Array.isArray(outcome.content) ? outcome.content : [];
    const all = texts.map((item) => (item?.type === "text" ? item.text : "")).join("\n");
    const text = this.explain(all);
    return text === undefined
      ? outcome
      : { ...outcome, content: [...texts, { type: "text", text }] };
  }

  /** The same for an error response. */
  explainError(error: unknown): unknown {
    if (!(error instanceof HallError && error.relayed)) return error;
    const { code, message, relayed, cause, details, hint, next } = error;
    const text = this.explain(fullMessageOf(error));
    if (text === undefined) return error;
    const told = { ...relayed, message: `${relayed.message}\n${text}` };
    const options = { cause, details, hint, next, relayed: told };
    return new HallError(code, `${message}\n${text}`, options);
  }

  /** Names the access that the sandbox denied, if the text mentions it. */
  explain(text: string): string | undefined {
    return this.#box?.explain(text);
  }

  /** The last lines of stderr, also of a start that failed. */
  evidence(): readonly string[] {
    return this.#carrier?.evidence() ?? [];
  }

  /** Throws DENIED for a server that is not approved. */
  async open(scope: Scope, how: How): Promise<ServerConnection> {
    const source = approvalOf(this.#config);
    const requireApproval = (installed?: InstalledPackage): void => {
      const refusal = this.#options.mayStart?.(source, installed);
      if (refusal !== undefined)
        throw new HallError("DENIED", refusal, { next: [{ do: "verify", server: this.#name }] });
    };
    requireApproval();
    // The clock of the start is paused while others install.
    const release = this.limits.mayInstall
      ? await scope.pauseWhile(async () => this.#options.slots?.take())
      : undefined;
    try {
      return await this.#openApproved(scope, how, requireApproval);
    } finally {
      release?.();
    }
  }

  async #openApproved(
    scope: Scope,
    how: How,
    checkPackage: (installed: InstalledPackage) => void,
  ): Promise<ServerConnection> {
    const { limits, guard, authorizer, slots, printed, openCarrier, sandbox } = this.#options;
    const isBoxed = sandbox?.decide(this.#name, this.#config).kind === "box";
    this.#box = isBoxed
      ? await (await import("./sandbox/plan.ts")).planBox(this.#name, this.#config, sandbox)
      : undefined;
    const { startMs, installMs } = this.limits;
    // Loaded lazily: a hall that only answers from its lock never needs the transports.
    const { openServer } = await import("./opening.ts");
    return openServer({
      ...this.#shared,
      limits,
      guard,
      authorizer,
      ...how,
      openCarrier,
      config: how.config ?? this.#config,
      box: this.#box,
      printed: (line) => {
        printed?.(line);
        this.#box?.explain(line);
      },
      scope,
      startMs,
      connection: { name: this.#name },
      checkPackage,
      installing: {
        installMs,
        slots,
        changed: (isInstalling) => {
          this.#isInstalling = isInstalling;
        },
      },
      carried: (opened) => {
        this.#carrier = opened;
      },
    });
  }

  /** Shortly before its deadline a call stops waiting for an installation, which continues in the background. */
  async beforeInstalled<T>(used: Promise<T>, scope: Scope): Promise<T> {
    const waitMs = scope.remainingMs - answerMs;
    if (!Number.isFinite(waitMs)) return used;
    let timer: NodeJS.Timeout | undefined;
    const timeUp = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        if (this.#isInstalling) reject(stillInstalling(this.#name));
      }, waitMs);
    });
    // Avoids an unhandled rejection once we stop waiting for it.
    used.catch(() => {});
    return Promise.race([used, timeUp]).finally(() => clearTimeout(timer));
  }
}

/** `authorizer` and `config`: of a person with a login or secrets of their own. */
type How = Pick<Opening, "lost" | "prefers"> & {
  readonly authorizer?: Opening["authorizer"];
  readonly config?: ServerConfig | undefined;
};

/** Time left to answer a call. */
const answerMs = 500;

function stillInstalling(name: string): HallError {
  return new HallError("UNAVAILABLE", `the package of server "${name}" is still being installed`, {
    next: [{ do: "retry-after", seconds: 15 }],
  });
}
